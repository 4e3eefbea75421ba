"""CPU seconds (user and system) of whole processes, measured in turns so that other work affects all commands alike."""
import os
import statistics
import subprocess
import sys

ROUNDS = 60


def cpu(command):
    """CPU milliseconds of one run of the command."""
    with open(os.devnull, "wb") as sink:
        child = subprocess.Popen(command, stdout=sink)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} exited with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def main():
    rivals = {
        "python3 -c ''": ["/usr/bin/python3", "-c", ""],
        "pushhost --version": [sys.argv[1], "--version"],
        "pushhost run scripts/notify_users.lua": [sys.argv[1], "run", "scripts/notify_users.lua"],
    }
    times = {name: [] for name in rivals}
    for _ in range(ROUNDS):
        for name, command in rivals.items():
            times[name].append(cpu(command))
    floor = statistics.median(times["python3 -c ''"])
    print(f"CPU milliseconds of the whole process, {ROUNDS} interleaved rounds")
    print(f"{'':40} {'median':>8} {'least':>8} {'ratio':>7}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:40} {median:8.2f} {min(values):8.2f} {median / floor:7.2f}")


main()
