"""Writes the present output of every `$ ./pushhost …` in the documentation under it. `make docs` runs it; a test compares.

The commands of a block "console new-folder" run one after the other in an empty folder, with pushhost on the path.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
for program in ["pushhost", ".build/debug/pushhost"]:
    if not os.access(ROOT / program, os.X_OK):
        sys.exit(f"there is no {program}, so that every example would show that; make demo builds and links it")
BLOCK = re.compile(r"```console\n(\$ (\./pushhost [^\n]*)\n)(?:.*?)```", re.DOTALL)


SESSION = re.compile(r"```console new-folder\n(.*?)```", re.DOTALL)


def converse(match):
    commands = [line[2:] for line in match.group(1).splitlines() if line.startswith("$ ")]
    script = "".join(f"printf '%s\\n' {shlex.quote('$ ' + command)}\n{command} 2>&1\n" for command in commands)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        os.mkdir(f"{folder}/work")
        os.symlink(ROOT / ".build/debug/pushhost", f"{folder}/bin/pushhost")
        path = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        shell = subprocess.run(
            ["bash", "-c", script], cwd=f"{folder}/work", env=path, stdout=subprocess.PIPE, text=True, check=False
        )
    return f"```console new-folder\n{shell.stdout}```"


def run(match):
    shell = subprocess.run(
        ["bash", "-c", match.group(2) + " 2>&1"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    return f"```console\n{match.group(1)}{shell.stdout}```"


# Written by `pushhost reference`; their blocks are parts of scripts.
GENERATED = [ROOT / f"docs/reference/{name}.md" for name in ["errors", "lua", "phases", "settings"]]

for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    if page in GENERATED:
        continue
    text = page.read_text()
    refreshed = SESSION.sub(converse, BLOCK.sub(run, text))
    if refreshed != text:
        page.write_text(refreshed)
        print("refreshed", page.relative_to(ROOT))
