#!/usr/bin/env python3
"""Finds comparisons and searches of text for people in the sources.

    Tests/ArchitectureTests/comparisons.py [ROOT] [--json]

Such text is a property like `message` or `hint`, or a literal of more than two words. Comments are not read.
"""

import json
import re
import sys
from pathlib import Path

TEXT = r"\b(?:message|hint|explanation|sentence|advice)"
SEARCH = r"\b(?:contains|hasPrefix|hasSuffix|firstRange|ranges|range|split|starts|firstMatch|wholeMatch|matches)\("
LITERAL = r'"[^"]*[A-Za-z]+ [A-Za-z]+ [A-Za-z]+[^"]*"'
FORMS = [
    # error.message.hasPrefix(…), hint?.contains(…), message.lowercased().contains(…)
    rf"{TEXT}\??(?:\.lowercased\(\))?\.{SEARCH}",
    # error.message == …, but not hint == nil
    rf"\.{TEXT} (?:==|!=) (?!nil\b)",
    # … == error.message
    rf"(?:==|!=) [\w.$?]*\.{TEXT}\b",
    # sentences.contains(device.explanation)
    rf"\.contains\([\w.$?]*\.{TEXT}\)",
    rf"\bswitch [\w.$?]*\.{TEXT} \{{",
    # … == "the delivery was cancelled"
    rf"(?:==|!=|~=) {LITERAL}",
    rf"{SEARCH}(?:of: |with: )?{LITERAL}",
    rf"^\s*case {LITERAL}",
]
FORM = re.compile("|".join(FORMS))


def comparisons(root):
    """The lines of each file that compare text for people. Files are named without their folders, so that they may move."""
    found = {}
    for path in sorted((root / "Sources").rglob("*.swift")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.lstrip().startswith("//") and FORM.search(line):
                found.setdefault(path.name, []).append({"line": number, "text": line.strip()})
    return found


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--json"]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    found = comparisons(root)
    if "--json" in sys.argv:
        print(json.dumps({"comparisons": found}, ensure_ascii=False))
        return
    for name, lines in found.items():
        print(f"{name}: {len(lines)}")
        for one in lines:
            print(f"  {one['line']}: {one['text']}")


main()
