"""Measures scripts/crowd.lua with 10,000 users of two devices each: CPU seconds and memory of the process, and time by step.

The goal is at most 20 CPU seconds and 1 GB.
"""
import os
import re
import subprocess
import sys

USERS = [1_000, 10_000]


def run(program, users):
    command = [program, "run", "scripts/crowd.lua", "--users", str(users), "--cpu-limit", "120s", "--timings"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} exited with {child.returncode}\n{output}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


for users in USERS:
    cpu, memory, output = run(sys.argv[1], users)
    print(f"scripts/crowd.lua, {users:,} users of 2 devices: {cpu:.1f} CPU s, {memory:.0f} MiB")
    for step, real in re.findall(r"^  . (.+?)  .*real ([\d.]+ (?:s|min)(?: [\d.]+ s)?)$", output, re.MULTILINE):
        print(f"  {step:45} {real}")
