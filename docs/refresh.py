"""Writes the present output of every `$ ./pushhost …` in the documentation under it. `make docs` runs it; a test compares."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"```console\n(\$ (\./pushhost [^\n]*)\n)(?:.*?)```", re.DOTALL)


def run(match):
    shell = subprocess.run(
        ["bash", "-c", match.group(2) + " 2>&1"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    return f"```console\n{match.group(1)}{shell.stdout}```"


for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    text = page.read_text()
    refreshed = BLOCK.sub(run, text)
    if refreshed != text:
        page.write_text(refreshed)
        print("refreshed", page.relative_to(ROOT))
