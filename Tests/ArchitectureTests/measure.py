#!/usr/bin/env python3
"""Measures the shape of the sources: cycles between folders, widths of types, protocols, initialisers and functions.

    Tests/ArchitectureTests/measure.py [ROOT] [--detail | --json]

Cycles are those between the first folders of a target, and those between folders at each further depth. A folder and its subfolders are
one layer: they may refer to each other.

Reads Swift by its tokens, without the compiler: a reference that never names its type (`.foo`) is not seen, so that cycles are
undercounted, and a name that two folders of a target declare counts for neither.
"""

import bisect
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

WIDEST_PROTOCOL = 6
WIDEST_INITIALISER = 8
WIDEST_FUNCTION = 8
MOST_FILES = 30
LONGEST_TYPE = 600

DECLARATION = re.compile(r"\b(class|struct|enum|actor|protocol|typealias|extension)\s+([A-Za-z_][\w.]*)")


def stripped(text):
    """The source without comments, and with empty string literals; line breaks stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|#"""(?:.|\n)*?"""#|"""(?:\\.|.|\n)*?"""|#"(?:.)*?"#|"(?:\\\((?:[^()]|\([^()]*\))*\)|\\.|[^"\\\n])*"', re.S)

    def empty(match):
        found = match.group(0)
        return ('""' if not found.startswith("/") else "") + "\n" * found.count("\n")

    return pattern.sub(empty, text)


BRACE = re.compile(r"[{}]")


def block_end(text, start):
    """The offset after the block that begins with the first brace from `start` on."""
    depth = 0
    for match in BRACE.finditer(text, start):
        depth += 1 if match.group() == "{" else -1
        if depth <= 0:
            return match.end()
    return len(text)


def after_generics(text, place):
    """The offset after the generic parameters that begin at `place`, or `place` if there are none."""
    depth = 0
    while place < len(text) and (depth or text[place] == "<"):
        if text[place] == "<":
            depth += 1
        elif text[place] == ">" and text[place - 1] != "-":
            depth -= 1
        place += 1
    return place


def parameters(text, opening):
    """How many parameters stand in the parentheses that begin at `opening`."""
    depth, commas, has_any = 0, 0, False
    for place in range(opening, len(text)):
        letter = text[place]
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[place - 1] != "-"):
            depth -= 1
            if depth == 0:
                return commas + has_any
        elif letter == "," and depth == 1:
            commas += 1
        elif depth >= 1 and not letter.isspace():
            has_any = True
    return commas


class Source:
    """A source file. `memberwise` has the names of its structs without a written initialiser."""

    def __init__(self, path, root):
        self.path = path
        parts = path.relative_to(root / "Sources").parts
        self.target = parts[0]
        self.folder = "/".join(parts[1:-1]) or "."
        self.text = stripped(path.read_text())
        self.lines = self.text.count("\n")
        self.declared, self.types, self.protocols, self.initialisers, self.memberwise = set(), [], [], [], []
        self.methods, self.initialiser_calls, self.functions = [], [], []
        self.kinds = set()
        self.read()
        self.words = set(re.findall(r"\b[A-Z]\w+", self.text))

    def read(self):
        depths, depth = [(0, 0)], 0
        for match in BRACE.finditer(self.text):
            depth += 1 if match.group() == "{" else -1
            depths.append((match.end(), depth))
        offsets = [offset for offset, _ in depths]

        def depth_at(place):
            return depths[bisect.bisect_right(offsets, place) - 1][1]

        blocks = []
        for match in DECLARATION.finditer(self.text):
            kind, name = match.groups()
            before = self.text[max(0, match.start() - 8):match.start()]
            if name in ("func", "var", "let", "subscript", "init") or before.rstrip().endswith((".", "some", "any")):
                continue
            end = match.end() if kind == "typealias" else block_end(self.text, match.end())
            blocks.append((match.start(), end, name))
            if depth_at(match.start()) == 0:
                line = self.text[self.text.rfind("\n", 0, match.start()) + 1:match.start()]
                if kind != "extension" and "private" not in line:
                    self.declared.add(name)
                    self.kinds.add("protocol" if kind == "protocol" else "alias" if kind == "typealias" else "type")
                if kind != "typealias":
                    body = self.text[match.start():end]
                    self.types.append((name.split(".")[0], body.count("\n") + 1))
                    if kind == "protocol":
                        methods = len(re.findall(r"\b(?:func|subscript)\b|\binit\b\s*[(<?]", body))
                        self.methods.append((name, methods))
                        self.protocols.append((name, methods + len(re.findall(r"\bvar\b", body))))
        for match in re.finditer(r"\bstruct\s+(\w+)", self.text):
            body = self.text[match.end():block_end(self.text, match.end())]
            if not re.search(r"(?<![.\w])init[?!]?\s*[(<]", body):
                self.memberwise.append(match.group(1))
        for match in re.finditer(r"(?<![.\w])init[?!]?\s*(?:<[^>]*>)?\(", self.text):
            owners = [name for start, end, name in blocks if start < match.start() < end]
            self.initialisers.append((owners[-1] if owners else "?", parameters(self.text, match.end() - 1)))
        for match in re.finditer(r"\bfunc\s+(\w+|`[^`]+`|[^\s\w(`]+)\s*", self.text):
            owners = [name for start, end, name in blocks if start < match.start() < end]
            opening = after_generics(self.text, match.end())
            name = f"{owners[-1]}.{match.group(1)}" if owners else match.group(1)
            self.functions.append((name, parameters(self.text, self.text.index("(", opening))))
        # `Name.init(…)`, `self.init(…)`, and `.init(…)` of a type that the line does not name, which counts for the file.
        for match in re.finditer(r"(?:\b([A-Z]\w*)|\b[Ss]elf|(?<![\w)\]?]))\.init\(", self.text):
            owners = [name for start, end, name in blocks if start < match.start() < end]
            has_owner = match.group(0)[0] in "Ss" and owners
            name = match.group(1) if match.group(1) not in (None, "Self") else owners[-1] if has_owner else self.path.stem
            self.initialiser_calls.append((name, parameters(self.text, match.end() - 1)))


def memberwise_calls(sources):
    """The calls of initialisers that the compiler writes, each with its number of arguments. A struct is known by its name alone."""
    names = {name for source in sources for name in source.memberwise}
    return [
        (f"{source.target}.{match.group(1)}", parameters(source.text, match.end() - 1))
        for source in sources for match in re.finditer(r"\b([A-Z]\w*)\(", source.text) if match.group(1) in names
    ] + [(f"{source.target}.{name}", count) for source in sources for name, count in source.initialiser_calls]


def outer(folder, depth):
    """The folder at this depth of a target that contains the folder, or the folder itself if it is not as deep."""
    return "/".join(folder.split("/")[:depth])


def are_nested(one, other):
    """Whether a folder is the other or lies in it. The files that lie directly in a target are a folder beside the others, `.`."""
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def components(edges):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    for node in list(edges):
        if node not in index:
            visit(node)
    return found


def measured(root):
    """The figures of the sources, as a dictionary that has the same order each time."""
    sources = [Source(path, root) for path in sorted((root / "Sources").rglob("*.swift"))]
    cycles, why = {}, {}
    for target in sorted({source.target for source in sources}):
        files = [source for source in sources if source.target == target]
        homes = defaultdict(set)
        for source in files:
            for name in source.declared:
                homes[name].add(source.folder)
        found = set()
        for depth in range(1, max(source.folder.count("/") for source in files) + 2):
            edges = defaultdict(set)
            for source in files:
                here = outer(source.folder, depth)
                for word in source.words:
                    if len(homes.get(word, ())) != 1:
                        continue
                    there = outer(*homes[word], depth)
                    if not are_nested(there, here):
                        edges[here].add(there)
                        why.setdefault((target, here, there), defaultdict(set))[word].add(source.path.name)
            found.update(folder for part in components(edges) for folder in part)
        if found:
            cycles[target] = sorted(found)

    sizes, spread = defaultdict(int), defaultdict(set)
    for source in sources:
        for name, lines in source.types:
            sizes[f"{source.target}.{name}"] += lines
            spread[f"{source.target}.{name}"].add(source.path)
    counts = defaultdict(int)
    for source in sources:
        counts[str(source.path.parent.relative_to(root))] += 1

    def largest(pairs, limit):
        """The largest of each name, where it is beyond the limit."""
        found = defaultdict(int)
        for name, count in pairs:
            found[name] = max(found[name], count)
        return {name: count for name, count in sorted(found.items()) if count > limit}

    return {
        "cycles": cycles,
        "types": {name: lines for name, lines in sorted(sizes.items()) if lines > LONGEST_TYPE},
        "methods": largest(((f"{s.target}.{name}", count) for s in sources for name, count in s.methods), WIDEST_PROTOCOL),
        "protocols": largest(((f"{s.target}.{name}", count) for s in sources for name, count in s.protocols), WIDEST_PROTOCOL),
        "initialisers": largest(
            [(f"{s.target}.{name}", count) for s in sources for name, count in s.initialisers] + memberwise_calls(sources),
            WIDEST_INITIALISER),
        "functions": largest(((f"{s.target}.{name}", count) for s in sources for name, count in s.functions), WIDEST_FUNCTION),
        "folders": {folder: count for folder, count in sorted(counts.items()) if count > MOST_FILES},
        "ports": {str(source.path.relative_to(root)): 1 for source in sources if {"protocol", "type"} <= source.kinds},
        "parts": sum("+" in source.path.name for source in sources),
    }, why, len(sources), sum(source.lines for source in sources)


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parents[2])
    figures, why, files, lines = measured(root)
    if "--json" in sys.argv:
        # The limit of members includes that of methods.
        print(json.dumps({key: value for key, value in figures.items() if key != "methods"}, indent=1))
        return

    print("Folders of a target in a cycle (by names of types)")
    for target, folders in figures["cycles"].items():
        print(f"  {target}: {', '.join(folders)}")
        if "--detail" in sys.argv:
            inner = sorted(
                (sum(map(len, words.values())), a, b) for (t, a, b), words in why.items() if t == target and a in folders and b in folders)
            for count, a, b in inner[:40]:
                print(f"    {a} -> {b}: {count}: {', '.join(sorted(why[target, a, b]))[:160]}")
    print(f"  in all: {sum(map(len, figures['cycles'].values()))}")
    for title, key in [
        (f"Types of more than {LONGEST_TYPE} lines over all their files", "types"),
        (f"Protocols of more than {WIDEST_PROTOCOL} methods", "methods"),
        (f"Protocols of more than {WIDEST_PROTOCOL} members: methods and properties", "protocols"),
        (f"Initialisers of more than {WIDEST_INITIALISER} parameters, or calls of memberwise ones with as many arguments", "initialisers"),
        (f"Functions of more than {WIDEST_FUNCTION} parameters", "functions"),
        (f"Folders of more than {MOST_FILES} files", "folders"),
        ("Files that declare a protocol and another type that is not private", "ports"),
    ]:
        print(f"{title}: {len(figures[key])}")
        for name, count in sorted(figures[key].items(), key=lambda item: (-item[1], item[0])):
            print(f"  {name}: {count}")
    print(f"Files named X+Y.swift: {figures['parts']}")
    print(f"Files: {files}, lines: {lines}")


main()
