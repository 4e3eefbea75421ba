#!/usr/bin/env python3
"""Measures the shape of the sources: cycles between folders, widths of types, protocols and initialisers.

    Tests/ArchitectureTests/measure.py [ROOT] [--detail]

Reads Swift by its tokens, without the compiler: a reference that never names its type (`.foo`) is not seen, so that cycles are
undercounted, and a name that two folders of a target declare counts for neither.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

WIDEST_PROTOCOL = 6
WIDEST_INITIALISER = 8
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


def block_end(text, start):
    """The offset after the block that begins with the first brace from `start` on."""
    depth, place = 0, text.find("{", start)
    while 0 <= place < len(text):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            return place
    return len(text)


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
    def __init__(self, path, root):
        self.path = path
        parts = path.relative_to(root / "Sources").parts
        self.target = parts[0]
        self.folder = parts[1] if len(parts) > 2 else "."
        self.text = stripped(path.read_text())
        self.lines = self.text.count("\n")
        self.declared, self.types, self.protocols, self.initialisers = set(), [], [], []
        self.read()
        self.words = set(re.findall(r"\b[A-Z]\w+", self.text))

    def read(self):
        depth_at, depth = [], 0
        for letter in self.text:
            depth_at.append(depth)
            depth += {"{": 1, "}": -1}.get(letter, 0)
        for match in DECLARATION.finditer(self.text):
            kind, name = match.groups()
            before = self.text[max(0, match.start() - 8):match.start()]
            if name in ("func", "var", "let", "subscript", "init") or before.rstrip().endswith((".", "some", "any")):
                continue
            if depth_at[match.start()] == 0:
                line = self.text[self.text.rfind("\n", 0, match.start()) + 1:match.start()]
                if kind != "extension" and "private" not in line:
                    self.declared.add(name)
                if kind != "typealias":
                    end = block_end(self.text, match.end())
                    body = self.text[match.start():end]
                    self.types.append((name.split(".")[0], body.count("\n") + 1))
                    if kind == "protocol":
                        self.protocols.append((name, len(re.findall(r"\b(?:func|subscript)\b|\binit\b\s*[(<?]", body))))
        for match in re.finditer(r"(?<![.\w])init[?!]?\s*(?:<[^>]*>)?\(", self.text):
            self.initialisers.append((self.owner(match.start(), depth_at), parameters(self.text, match.end() - 1)))

    def owner(self, place, depth_at):
        found = "?"
        for match in DECLARATION.finditer(self.text, 0, place):
            if depth_at[match.start()] < depth_at[place] and block_end(self.text, match.end()) > place:
                found = match.group(2)
        return found


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


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--detail"]
    detail = "--detail" in sys.argv
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parents[2])
    sources = [Source(path, root) for path in sorted((root / "Sources").rglob("*.swift"))]
    targets = sorted({source.target for source in sources})

    print("Folders of a target in a cycle (by names of types)")
    cyclic = 0
    for target in targets:
        files = [source for source in sources if source.target == target]
        homes = defaultdict(set)
        for source in files:
            for name in source.declared:
                homes[name].add(source.folder)
        edges, why = defaultdict(set), defaultdict(lambda: defaultdict(set))
        for source in files:
            for word in source.words:
                home = homes.get(word, set())
                if len(home) == 1:
                    (folder,) = home
                    if folder != source.folder:
                        edges[source.folder].add(folder)
                        why[source.folder, folder][word].add(source.path.name)
        for part in components(edges):
            cyclic += len(part)
            folders = {source.folder for source in files}
            print(f"  {target}: {len(part)} of {len(folders)}: {', '.join(part)}")
            if detail:
                inner = sorted((sum(map(len, why[a, b].values())), a, b) for a in part for b in edges[a] if b in part)
                for count, a, b in inner[:40]:
                    print(f"    {a} -> {b}: {count}: {', '.join(sorted(why[a, b]))[:160]}")
    print(f"  in all: {cyclic}")

    sizes, spread = defaultdict(int), defaultdict(set)
    for source in sources:
        for name, lines in source.types:
            sizes[source.target, name] += lines
            spread[source.target, name].add(source.path)
    print(f"Types of more than {LONGEST_TYPE} lines over all their files")
    for (target, name), lines in sorted(sizes.items(), key=lambda item: -item[1]):
        if lines > LONGEST_TYPE:
            print(f"  {target}.{name}: {lines} lines in {len(spread[target, name])} files")

    wide = [(count, name, source) for source in sources for name, count in source.protocols if count > WIDEST_PROTOCOL]
    print(f"Protocols of more than {WIDEST_PROTOCOL} methods: {len(wide)}")
    for count, name, source in sorted(wide, key=lambda item: (-item[0], item[1])):
        print(f"  {source.target}.{name}: {count}")

    long = [(count, name, source) for source in sources for name, count in source.initialisers if count > WIDEST_INITIALISER]
    print(f"Initialisers of more than {WIDEST_INITIALISER} parameters: {len(long)}")
    for count, name, source in sorted(long, key=lambda item: (-item[0], item[1])):
        print(f"  {source.target}.{name}: {count}")

    counts = defaultdict(int)
    for source in sources:
        counts[source.path.parent] += 1
    full = [(count, folder) for folder, count in counts.items() if count > MOST_FILES]
    print(f"Folders of more than {MOST_FILES} files: {len(full)}")
    for count, folder in sorted(full, key=lambda item: -item[0]):
        print(f"  {folder.relative_to(root)}: {count}")

    print(f"Files named X+Y.swift: {sum('+' in source.path.name for source in sources)}")
    print(f"Files: {len(sources)}, lines: {sum(source.lines for source in sources)}")


main()
