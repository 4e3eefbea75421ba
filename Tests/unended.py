"""Prints the tests of a log of `swift test` that have begun and not ended."""

import re
import sys

begun = {}
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    if match := re.match(r'◇ Test (".*"|\S+\(.*\)) started\.$', line):
        begun[match[1]] = begun.get(match[1], 0) + 1
    elif match := re.search(r'[✔✘] Test (".*"|\S+\(.*?\))(?: with \d+ test cases?)? (?:passed|failed) after ', line):
        begun[match[1]] = begun.get(match[1], 0) - 1
print("\n".join(f"  {name}" for name, count in begun.items() if count > 0))
