#!/usr/bin/env python3
"""Finds words of the old vocabulary in the texts of the project.

    Tests/ArchitectureTests/words.py [ROOT] [--json]

Reads string literals and comments of the sources, the scripts, the examples, the benchmarks and the tools, comments and names of the
tests, and pages without their fenced blocks. Interpolations are cut out of literals; literals inside them are read. Pages that are
generated from the sources are not read, and neither is this file.
"""

import bisect
import json
import re
import sys
from pathlib import Path

# A word, what it looks like, and what to write instead.
WORDS = [
    ("whoever", r"\bwhom?ever\b", "a role, or you"),
    ("somebody", r"\b(?:some|any|every|no)body\b", "a role, or you"),
    ("anew", r"\banew\b", "again, new"),
    ("is no", r"(?<!\bthere\s)\bis no (?!longer\b|more\b|such\b)", "invalid or unknown x, is not a"),
    ("moment", r"\bmoments?\b", "time, due time"),
    ("in the manner of", r"\bin the manner of\b", "compatible with, like"),
    ("what becomes of", r"\bwhat (?:becomes|became|has become|had become|will become) of\b", "result, outcome"),
    # Only the noun. The verb is allowed: leave out, leaves unchanged.
    (
        "leave",
        r"\b(?:the|a|its|this|no|of|by|on|without|such|another's|else's|their|his|for|with|given|new|old|pending) leave\b(?! out\b)"
        r"|\bleave (?:covers?|from (?:some|any|no)body)\b"
        r"|\b(?:ask\w*|wait\w*|need\w*|giv\w*|gave|grant\w*|request\w*|got|gets?) (?:for )?leave\b(?! out\b)",
        "approval"),
]
PATTERNS = [(word, re.compile(pattern.replace(" ", r"\s+"), re.I), instead) for word, pattern, instead in WORDS]

# Occurrences that stay: a pattern of the path, a pattern of the text around the word, and the reason.
EXCEPTIONS = [
    (r"^Sources/Storage/SQLite/Migrations/NoticeMigration\.swift$", "", "sentences of older versions, which the migration reads"),
    (r"^Sources/Storage/SQLite/SQLiteSchema\.swift$", "^sends that wait for leave$", "the name of a stored migration"),
    (r"^Sources/Storage/Rows/ApprovalRow\.swift$", '^moment$|"moment": 1', "a key of stored approvals"),
    (r"^Sources/PushModel/Automation/RunTrigger\.swift$", "^moment$", "a key of stored runs and of the JSON interface"),
    (r"^Sources/WebAPI/Flows/RunRecordJSON\.swift$", r"^moment\?$", "a key of the JSON interface"),
    (r"^Sources/WebAPI/Flows/FlowInterface\.swift$", "^anybody$", "the stored name of callers of an open flow"),
    (r"^Sources/Storage/Records/OutcomeSentences\.swift$", "nobody knows whether", "a sentence of older versions"),
    (r"^Benchmarks/", """["':]nobody['"]""", "the name of a user without devices, and of the one that a hook rejects"),
    (r"^Sources/Bindings/Flows/SendReporter\.swift$", "^everybody$", "a word that users write where push.everyone is meant"),
]


# Pages that `make docs` writes from the sources.
GENERATED = {f"docs/reference/{name}.md" for name in ("errors", "lua", "phases", "settings")}


class Text:
    """A literal, a comment, or a page, with the line on which it begins."""

    def __init__(self, text, line, joins=False):
        self.text = text
        self.line = line
        # Whether a comment on the next line continues this one.
        self.joins = joins


# What may come next in code, and in a literal with its number signs: the end, or an escape.
COMMENT, LITERAL = re.compile(r"//[^\n]*|/\*.*?\*/", re.S), re.compile(r'(#*)("""(?=[ \t]*\n)|")')
REGEX = re.compile(r"(?<=[\s(,:=\[!])(?:#/(?:\\.|[^\n])*?/#|/(?![\s/*)])(?:\\.|[^/\n\\])+(?<!\s)/)")
TOKEN = re.compile(r'//|/\*|#*"|`[^`\n]*`|[()]|#?/')


def swift_texts(source, literals=True):
    """Comments and names of tests of Swift source, and its literals, in the order of their lines."""
    found = []
    line_starts = [0] + [match.end() for match in re.finditer("\n", source)]

    def line_of(offset):
        return bisect.bisect_right(line_starts, offset)

    def literal(start):
        """Reads the literal at `start`. Returns the offset after it."""
        pounds, quote = LITERAL.match(source, start).groups()
        end, escape = quote + pounds, "\\" + pounds
        next_part = re.compile(f"{re.escape(end)}|{re.escape(escape)}(.)", re.S)
        at, parts = start + len(end), []
        while match := next_part.search(source, at):
            parts.append(source[at:match.start()])
            at = match.end()
            if not match[1]:
                break
            if match[1] == "(":
                at = code(at, True)
                parts.append("…")
            else:
                parts.append("\n" if match[1] == "\n" else " " if match[1] in "nrtu" else match[1])
        if literals or source[max(0, start - 200):start].rstrip().endswith(("@Test(", "@Suite(")):
            found.append(Text("".join(parts), line_of(start)))
        return at

    def code(at, is_interpolation):
        """Reads code to its end. Returns the offset after it."""
        depth = 0
        while match := TOKEN.search(source, at):
            start, token = match.start(), match.group()
            at = match.end()
            if token in ("//", "/*"):
                at = COMMENT.match(source, start).end()
                found.append(Text(source[start:at].lstrip("/").strip(), line_of(start), token == "//"))
            elif token.endswith('"'):
                at = literal(start)
            elif " " in token:
                found.append(Text(token, line_of(start)))
            elif token.endswith("/"):
                regex = REGEX.match(source, start)
                at = regex.end() if regex else at
            elif token in ("(", ")"):
                depth += 1 if token == "(" else -1
                if is_interpolation and depth < 0:
                    break
        return at

    code(0, False)
    return merged(sorted(found, key=lambda text: text.line))


def merged(texts):
    """Joins comments on consecutive lines, because a sentence may be on several."""
    result = []
    for text in texts:
        last = result[-1] if result else None
        if last and text.joins and last.joins and last.line + last.text.count("\n") + 1 == text.line:
            last.text += "\n" + text.text
        else:
            result.append(text)
    return result


LUA = re.compile(
    r"--\[(=*)\[.*?\]\1\]|--[^\n]*|\[(=*)\[.*?\]\2\]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
C = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|\"(?:\\.|[^\"\\\n])*\"", re.S)


# Python, shell scripts, makefiles, and files of settings. A `#` inside a word is not a comment.
DOCUMENTED = re.compile(r"\"\"\".*?\"\"\"|(?<!\S)#[^\n]*", re.S)
HASHED = re.compile(DOCUMENTED.pattern + r"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.S)
HASHED_SUFFIXES = (".py", ".sh", ".yml", ".yaml", ".service", ".conf", "")


def other_texts(source, pattern, marker):
    """Literals and comments of source in another language."""
    found = []
    for match in pattern.finditer(source):
        joins = re.match(marker + r"(?!\[)", match.group()) is not None
        text = match.group().lstrip(marker).strip() if joins else match.group()
        found.append(Text(text, source.count("\n", 0, match.start()) + 1, joins))
    return merged(found)


def page_texts(source):
    """A page without its fenced blocks; the lines stay."""
    return [Text(re.sub(r"^( *)(```+).*?^ *\2[^\n]*$", lambda match: "\n" * match.group().count("\n"), source, flags=re.S | re.M), 1)]


def texts(path, kind):
    source = path.read_text()
    match path.suffix:
        case ".swift":
            return swift_texts(source, literals=kind == "sources")
        case ".lua":
            return other_texts(source, LUA, "--")
        case ".md":
            return page_texts(source)
        case suffix if suffix in HASHED_SUFFIXES:
            # Literals of the tests are mostly values, as in Swift.
            return other_texts(source, DOCUMENTED if kind == "tests" else HASHED, "#")
        case _:
            return other_texts(source, C, "//")


def files(root):
    """The files with texts, each with its kind: sources, tools, tests, scripts or pages."""
    for folder in ("Sources", "Examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".swift", ".lua", ".c", ".h") and ".build" not in path.parts:
                yield path, "sources"
    for path in sorted((root / "Benchmarks").rglob("*")):
        if path.suffix in (".swift", ".lua", ".c", ".h", ".go", ".py", ".sh") and not {".build", "node_modules"} & set(path.parts):
            yield path, "sources"
    for path in [root / "Makefile"] + sorted((root / "Packaging").rglob("*")):
        if path.is_file() and path.suffix in HASHED_SUFFIXES:
            yield path, "tools"
    for folder in ("Tests/ArchitectureTests", "Tests", "docs"):
        for path in sorted((root / folder).glob("*.py")):
            if path.name != Path(__file__).name:
                yield path, "tools"
    for path in sorted((root / "Tests/EndToEnd").rglob("*.py")):
        yield path, "tests"
    for path in sorted((root / "Tests").rglob("*.swift")):
        yield path, "tests"
    for folder in ("plugins", "scripts", "docs"):
        for path in sorted((root / folder).rglob("*.lua")):
            yield path, "scripts"
    for path in sorted(root.glob("*.md")) + sorted(path for f in ("docs", "Sources", "Benchmarks", "Packaging") for path in (root / f).rglob("*.md")):
        if str(path.relative_to(root)) not in GENERATED:
            yield path, "pages"


def occurrences(root):
    used, found = set(), []
    for path, kind in files(root):
        name = str(path.relative_to(root))
        for text in texts(path, kind):
            for word, pattern, instead in PATTERNS:
                for match in pattern.finditer(text.text):
                    start = max(text.text.rfind("\n", 0, match.start()) + 1, match.start() - 60)
                    around = " ".join(text.text[start:match.end() + 60].split())
                    exception = next(
                        (i for i, (where, what, _) in enumerate(EXCEPTIONS) if re.search(where, name) and re.search(what, around)), None)
                    if exception is not None:
                        used.add(exception)
                        continue
                    line = text.line + text.text.count("\n", 0, match.start())
                    found.append({"file": name, "line": line, "kind": kind, "word": word, "text": around, "instead": instead})
    unused = [f"{where}: {what}" for i, (where, what, _) in enumerate(EXCEPTIONS) if i not in used]
    return found, unused


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    root = Path(arguments[0] if arguments else Path(__file__).resolve().parents[2])
    found, unused = occurrences(root)
    if "--json" in sys.argv:
        print(json.dumps({"occurrences": found, "unusedExceptions": unused}, indent=1))
        return
    for one in found:
        print(f"{one['file']}:{one['line']}: {one['word']} (instead: {one['instead']}): {one['text']}")
    for exception in unused:
        print(f"not needed any more: the exception {exception}")
    counts = {}
    for one in found:
        counts[one["kind"], one["word"]] = counts.get((one["kind"], one["word"]), 0) + 1
    for (kind, word), count in sorted(counts.items()):
        print(f"{kind}: {word}: {count}")
    print(f"in all: {len(found)}")


main()
