#!/usr/bin/env python3
"""Measures what a debug build repeats after an edit: files, lines and seconds.

    Tests/ArchitectureTests/rebuild.py [--rounds N]

Edits one line of a file, or adds a method to the hub, builds `pushhost`, and restores the file; the rest of the tree stays as it is. The
seconds are the median of the rounds. Run it on a quiet machine, with a build that is up to date.
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

HUB = "Sources/PushHub/Hub/NotificationHub.swift"
# What is edited: a name, a file, and whether a method is added to the type that the file declares.
EDITS = [
    ("nothing", None, False),
    ("one line of the hub", HUB, False),
    ("a method added to the hub", HUB, True),
    ("one line of a connector", "Sources/Delivery/APNs/APNsConnector.swift", False),
    ("one line of a command", "Sources/PushHost/Commands/CheckCommand.swift", False),
]

COMPILED = re.compile(r"Compiling (\w+) (.+)$", re.M)


def build():
    """Builds the program; its output, seconds and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    run = subprocess.run(
        ["swift", "build", "--product", "pushhost"], cwd=ROOT, capture_output=True, text=True)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f"the build fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return run.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def edited(text, number, adds_method):
    """The source with a statement in its first initialiser, or with a method before its last brace. Both differ in each round."""
    if adds_method:
        end = text.rstrip().rindex("}")
        return f"{text[:end]}\n    func rebuilt{number}() -> Int {{ {number} }}\n{text[end:]}"
    match = re.search(r"\n    (?:[\w@()]+ )*(?:func|init)\b[^{]*\{(?= *\n)", text)
    if not match:
        sys.exit("no function with a body of its own lines")
    return f"{text[:match.end()]}\n        _ = {number}{text[match.end():]}"


def lines(output):
    """The files and lines that were compiled again."""
    names = {(target, name) for target, names in COMPILED.findall(output) for name in re.findall(r"\w[\w+]*\.swift", names)}
    count = 0
    for target, name in names:
        for path in (ROOT / "Sources" / target).rglob(name):
            count += path.read_text().count("\n")
    return len(names), count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    build()
    print(f"{'edit':28} {'files':>6} {'lines':>8} {'seconds':>8} {'CPU s':>7}")
    for name, path, adds_method in EDITS:
        found = []
        for number in range(1, rounds + 1):
            source = (ROOT / path).read_text() if path else ""
            try:
                if path:
                    (ROOT / path).write_text(edited(source, number, adds_method))
                output, seconds, cpu = build()
            finally:
                if path:
                    (ROOT / path).write_text(source)
            found.append((*lines(output), seconds, cpu))
        files, count, seconds, cpu = (statistics.median(values) for values in zip(*found))
        print(f"{name:28} {files:6.0f} {count:8,.0f} {seconds:8.1f} {cpu:7.1f}", flush=True)
        build()


if __name__ == "__main__":
    main()
