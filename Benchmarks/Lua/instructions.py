"""Counts instructions of the loops that run in the sandbox and in stock Lua, with valgrind's callgrind.

A loop's count is the difference between 2n and n rounds, divided by n, so that the start of the program cancels out.
Collisions of keys depend on the seed of Lua's hashes: each loop runs with the same few seeds, and the minimum counts.
With --check only loops with a goal run, and the exit status is 1 if a ratio exceeds its goal by more than a tenth.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


SEEDS = (1, 2, 3)


def instructions(program, loop, side, count, seed, folder):
    """Instructions of a whole process that runs this many rounds of a loop."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{loop}.{side}.{count}.{seed}",
               program, "count", loop, side, str(count), str(seed)]
    # The seed also depends on addresses on the stack, and so on the size of the environment.
    result = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)} failed:\n{result.stderr}")
    return int(found.group(1))


def per_round(program, loop, side, count, folder):
    return min(instructions(program, loop, side, 2 * count, seed, folder) - instructions(program, loop, side, count, seed, folder)
               for seed in SEEDS) / count


def main():
    is_check = "--check" in sys.argv
    program = sys.argv[-1]
    if not shutil.which("valgrind"):
        print("\nInstructions were not counted: valgrind is not installed.")
        sys.exit(1 if is_check else 0)
    print("Counting instructions …" if is_check else "", flush=True)
    beyond = False
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        # valgrind 3.19 cannot read the debugging information of newer compilers.
        stripped = os.path.join(folder, "benchmark")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        loops = [line.split("\t") for line in subprocess.run(
            [program, "loops"], check=True, capture_output=True, text=True).stdout.splitlines()]
        if is_check:
            loops = [loop for loop in loops if loop[2] != "-"]
        counts = {}
        for loop, iterations, *_ in loops:
            count = max(1, int(iterations) // 10)
            for side in ("ours", "stock"):
                counts[loop, side] = pool.submit(per_round, stripped, loop, side, count, folder)
        print("\nInstructions for each call or round\n\n| | ours | stock Lua and C | ratio | goal |\n|---|---|---|---|---|")
        for loop, _, goal, title in loops:
            ours, stock = counts[loop, "ours"].result(), counts[loop, "stock"].result()
            ratio = ours / stock
            missed = goal != "-" and ratio > float(goal)
            beyond |= goal != "-" and ratio > float(goal) * 1.1
            text = "–" if goal == "-" else f"≤ {goal} ×" + (", **missed**" if missed else "")
            print(f"| {title} | {ours:.0f} | {stock:.0f} | {ratio:.2f} | {text} |", flush=True)
    sys.exit(1 if beyond and is_check else 0)


main()
