#!/usr/bin/env python3
"""Finds files, types and members that pages for contributors name and that do not exist.

    Tests/ArchitectureTests/pages.py [ROOT] [--json]

Reads what stands in backticks, outside of fenced blocks. A path starts at the root or at `Sources/`; a file without a folder is in the
folder of the file before it on the same line. Names with an ellipsis are patterns and are not checked.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(next((a for a in sys.argv[1:] if not a.startswith("-")), Path(__file__).resolve().parent.parent.parent))

# Pages, and whether their capitalised names are types; in the others they are also outcomes and headers.
PAGES = {"docs/explanation/architecture.md": True, "docs/explanation/delivery.md": False, "CONTRIBUTING.md": True}

DECLARATION = re.compile(r"\b(?:class|struct|enum|actor|protocol|typealias|func|var|let|case|extension) +`?([\w.]+)")
CASES = re.compile(r"\bcase +(\w.*)")

# Capitalised names of Swift and of the field.
KNOWN = {"Sendable"}


def declared():
    names = {"Sources", "Tests"}
    for root in ("Sources", "Tests"):
        names.update(folder.name for folder in (ROOT / root).iterdir())
    for folder in ("Sources", "Tests"):
        for file in (ROOT / folder).rglob("*.swift"):
            text = file.read_text(encoding="utf-8")
            for name in DECLARATION.findall(text):
                names.update(name.split("."))
            for line in CASES.findall(text):
                names.update(re.findall(r"\w+", line))
    return names


def exists(path):
    return (ROOT / path).exists() or (ROOT / "Sources" / path).exists()


def missing():
    names = declared()
    targets = "|".join(sorted(folder.name for folder in (ROOT / "Sources").iterdir()))
    for page, has_types in PAGES.items():
        is_fenced = False
        for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("```"):
                is_fenced = not is_fenced
            if is_fenced:
                continue
            folder = None
            for text in re.findall(r"`([^`]+)`", line):
                if "…" in text or " " in text:
                    continue
                if re.fullmatch(r"[\w./+-]+\.(?:swift|c|h|py|json)", text):
                    if "/" in text:
                        folder = text.rpartition("/")[0]
                    path = text if "/" in text else f"{folder}/{text}"
                    if not exists(path):
                        yield {"page": page, "line": number, "name": text, "why": "no such file"}
                elif re.fullmatch(rf"(?:Sources|Tests|{targets})(?:/[\w+-]+)+/?", text):
                    if not exists(text):
                        yield {"page": page, "line": number, "name": text, "why": "no such folder"}
                elif has_types and re.fullmatch(r"[A-Z][A-Za-z0-9]+(?:\.\w+)*", text) and re.search("[a-z]", text):
                    for part in text.split("."):
                        if part not in names and part not in KNOWN:
                            yield {"page": page, "line": number, "name": text, "why": f"{part} is not declared"}


if __name__ == "__main__":
    found = list(missing())
    if "--json" in sys.argv:
        print(json.dumps({"missing": found}))
    else:
        for one in found:
            print(f"{one['page']}:{one['line']}: {one['name']}: {one['why']}")
        print(f"in all: {len(found)}")
