#!/usr/bin/env python3
"""Memory of a server while eleven plugins use up their memory budgets repeatedly, and after they are disabled.

Usage: memory.py PUSHHOST FOLDER [SECONDS [IDLE]]. The exit status is 1 if more than twice the initial memory remains after a minute.
"""

import http.client
import os
import shutil
import subprocess
import sys
import threading
import time

PLUGINS, PORT, GOAL = 11, 18093, 2

# Each call fills the 32 MiB shared by all calls of a version: with small tables, with texts, or with one text that doubles.
FILLS = [
    "local kept = {} while true do kept[#kept + 1] = { #kept } end",
    "local kept = {} while true do kept[#kept + 1] = ('x'):rep(1000) .. #kept end",
    "local kept = 'x' while true do kept = kept .. kept end",
]

PLUGIN = """
return {{
  name = "{name}", version = "1.0",
  hooks = {{ before_send = {{ on_failure = "fail_open", cpu = "10s", timeout = "10s", run = function() {fill} end }} }},
  routes = {{
    {{ path = "/fill", auth = "open", cpu = "10s", timeout = "10s", run = function() {fill} end }},
    {{ path = "/here", auth = "open", run = function() return {{ json = {{}} }} end }},
  }},
}}
"""


def name(number):
    return f"hostile-{number:02}"


def write_list(folder, numbers):
    with open(f"{folder}/.draft", "w") as file:
        file.write("".join(f"- name: {name(number)}\n" for number in numbers) or "[]\n")
    os.rename(f"{folder}/.draft", f"{folder}/plugins.yaml")


def status(path):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def wait(what, path, wanted):
    until = time.monotonic() + 120
    while status(path) != wanted:
        if time.monotonic() > until:
            sys.exit(f"{what}: {path} does not answer {wanted}")
        time.sleep(0.1)


def resident(process):
    """The resident memory of the process in MB."""
    with open(f"/proc/{process.pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmRSS"].split()[0]) * 1024 / 1e6


def fill(number, until, counts):
    while time.monotonic() < until:
        counts.append(status(f"/plugins/{name(number)}/fill"))


def main():
    program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    idle = float(sys.argv[4]) if len(sys.argv) > 4 else 60
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(PLUGINS):
        os.makedirs(f"{folder}/plugins/{name(number)}")
        with open(f"{folder}/plugins/{name(number)}/init.lua", "w") as file:
            file.write(PLUGIN.format(name=name(number), fill=FILLS[number % len(FILLS)]))
    write_list(f"{folder}/plugins", range(PLUGINS))
    server = subprocess.Popen(
        [program, "serve", "--host", "127.0.0.1", "--port", str(PORT), "--tls-port", "none", "--data", f"{folder}/data"], cwd=folder,
        env=dict(os.environ, PUSHHOST_LOG_LEVEL="error"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for number in range(PLUGINS):
            wait("the server begins", f"/plugins/{name(number)}/here", 200)
        before = resident(server)
        counts, peak = [], before
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=fill, args=(number, until, counts)) for number in range(PLUGINS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            peak = max(peak, resident(server))
            time.sleep(0.02)
        live = resident(server)
        write_list(f"{folder}/plugins", [])
        for number in range(PLUGINS):
            wait("the plugins are disabled", f"/plugins/{name(number)}/here", 404)
        after = resident(server)
        time.sleep(idle)
        end = resident(server)
    finally:
        server.terminate()
        server.wait()
    failed = sum(count == 500 for count in counts)
    print(f"{PLUGINS} plugins fill their memory for {seconds:.0f} s: {len(counts)} calls, {failed} ended by their budgets")
    print(f"  resident: {before:.0f} MB before, {peak:.0f} at the peak, {live:.0f} when the calls have ended")
    print(f"  {after:.0f} MB when the plugins are disabled, {end:.0f} after {idle:.0f} s idle (goal: at most {GOAL} times that before)")
    sys.exit(1 if not failed or end > GOAL * before else 0)


main()
