#!/usr/bin/env python3
"""Scripts that try to outlive their budgets: real seconds, CPU seconds, memory and output of the whole process.

Usage: bounds.py PUSHHOST [QUICK]. The exit status is 1 if a run exceeds its bound of time, memory or output. With QUICK
the budgets are small, for a debug build.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PHONE = "local push = require 'push' local p = push.device { name = 'p' } push.install('p', { device = p, tags = { 't' } }) "

# The name, the script, whether it catches every error.
RUNS = [
    ("sends with long texts", PHONE + "while true do push.send { to = 't', alert = ('x'):rep(3000) } end"),
    ("sends in one step", PHONE + "push.step('s', function() while true do push.send { to = 't', alert = ('x'):rep(3000) } end end)"),
    ("sends, errors caught", PHONE + "while true do pcall(push.send, { to = 't', alert = 'x' }) end"),
    ("schedules", PHONE + "while true do push.schedule { after = '6d', to = 't', alert = 'x' } end"),
    ("devices", "local push = require 'push' local i = 0 while true do i = i + 1 pcall(push.device, { name = 'd' .. i }) end"),
    ("retired handles", "local push = require 'push' local i = 0 while true do i = i + 1 local p = push.device { name = 'd' .. i, platform = 'browser' } for k = 1, 90 do p:rotate_token() end end"),
    ("handles of one device", PHONE + "while true do p:rotate_token() end"),
    ("unique tags", "local push = require 'push' local p = push.device { name = 'p' } local i = 0 while true do i = i + 1 local t = {} for k = 1, 500 do t[k] = 'tag-with-a-long-name-' .. i .. '-' .. k end push.install('i' .. i, { device = p, tags = t }) end"),
    ("faults", "local push = require 'push' while true do push.simulator.apns:fail { reason = 'Unregistered', next = 1 } end"),
    ("disconnects", "local push = require 'push' while true do push.simulator.apns:disconnect { next = 1 } end"),
    ("stored payloads", "local push = require 'push' for i = 1, 50 do push.install('i' .. i, { device = push.device { name = 'd' .. i, platform = 'fcm' }, tags = { 't' } }) end while true do push.send { to = 't', payload = { fcm = { data = { x = ('x'):rep(3000) } } } } end"),
    ("accounts", "local push = require 'push' local i = 0 while true do i = i + 1 pcall(push.account, { username = 'u' .. i, password = 'x' .. i }) end"),
    ("sends in tasks", "local push = require 'push' for i = 1, 300 do push.install('p' .. i, { device = push.device { name = 'd' .. i }, tags = { 't' } }) end while true do for i = 1, 9000 do push.spawn(function() pcall(push.send, { to = 't', alert = 'x' }) end) end push.sleep '1s' end"),
    ("traces in tasks", "local push = require 'push' local big = ('x'):rep(900000) while true do for i = 1, 2000 do push.spawn(function() pcall(push.trace, { notification = big .. i }) end) end push.sleep '1s' end"),
    ("waiting tasks", PHONE + "local big = ('x'):rep(900000) for i = 1, 9000 do push.spawn(function() p:wait_for { alert = big .. i, within = '1d' } end) end while true do push.sleep '1s' end"),
    ("plans in tasks", "local push = require 'push' while true do for i = 1, 2000 do push.spawn(function() pcall(push.plan, { to = ('t||'):rep(20000) .. 'a' .. i, alert = 'x' }) end) end push.sleep '1s' end"),
    ("flows in flows", "local push = require 'push' while true do pcall(push.run, 'child.lua') end"),
    ("modules", "while true do pcall(require, 'child') end"),
    ("log lines", "while true do pcall(print, ('x'):rep(1000)) end"),
]

# Memory of the process besides the budget: the program itself, and what the allocator has not returned.
BASE_MIB = 96


def measure(program, folder, arguments, limit):
    began = time.monotonic()
    with open(f"{folder}/out", "wb") as output:
        child = subprocess.Popen([program, "run", "s.lua"] + arguments, cwd=folder, stdout=output, stderr=subprocess.PIPE)
        killer = None
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - began > limit:
                child.kill()
                killer = True
                ended, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.02)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors = child.stderr.read().decode(errors="replace")
    code = re.search(r"error\[([a-z._]+)\]", errors)
    return {
        "real": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024,
        "output": os.path.getsize(f"{folder}/out"), "code": "killed" if killer else code.group(1) if code else f"exit {child.returncode}",
    }


def runs(program, cpu, memory, slack):
    failures = 0
    print(f"`pushhost run` with {cpu} s of CPU time and {memory} MiB")
    print(f"| script | ended by | real s | CPU s | MiB | output, KiB |\n|---|---|---:|---:|---:|---:|")
    for name, script in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {"s.lua": script, "child.lua": "return 1"}.items():
                with open(f"{folder}/{file}", "w") as out:
                    out.write(text)
            figures = measure(program, folder, ["--cpu-limit", f"{cpu}s", "--memory-limit", str(memory)], limit=10 * cpu + 60)
        is_bounded = (
            figures["code"].startswith("budget.") and figures["cpu"] <= cpu + slack and figures["mib"] <= BASE_MIB + 2 * memory
            and figures["output"] <= 6 << 20)
        failures += not is_bounded
        print(
            f"| {name} | {figures['code']} | {figures['real']:.1f} | {figures['cpu']:.1f} | {figures['mib']:.0f} | "
            f"{figures['output'] / 1024:.0f} |{'' if is_bounded else ' beyond its bounds'}", flush=True)
    return failures


def server(program, kind, port):
    """A looping flow in a server: how it ends at its timeout, and how the server shuts down during it."""
    body = {
        "schedules": "pcall(push.schedule, { after = '6d', to = 't', properties = { m = 'x' } })",
        "sends": "pcall(push.send, { to = 't', properties = { m = 'x' } })",
        "accounts": "i = (i or 0) + 1 pcall(push.account, { username = 'u' .. i, password = 'long enough ' .. i })",
    }[kind]
    results = []
    for timeout in ["1s", None]:
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/scripts")
            with open(f"{folder}/scripts/f.lua", "w") as file:
                file.write(f"local push = require 'push' local i while true do {body} end")
            with open(f"{folder}/pushhost.yaml", "w") as file:
                extra = f", timeout: {timeout}" if timeout else ""
                file.write(f"flows: [{{ name: f, script: scripts/f.lua, http: open{extra} }}]\nlog: {{ level: error }}\n")
            child = subprocess.Popen(
                [program, "serve", "--port", str(port), "--tls-port", "none"], cwd=folder, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            url = f"http://127.0.0.1:{port}"
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"{url}/health/ready").read()
                    break
                except OSError:
                    time.sleep(0.1)
            began = time.monotonic()
            request = urllib.request.Request(f"{url}/flows/f", data=b"{}", headers={"Prefer": "wait=60" if timeout else "respond-async"})
            try:
                urllib.request.urlopen(request, timeout=90).read()
            except OSError:
                pass  # a failing flow is answered with an error
            took = time.monotonic() - began
            if timeout:
                results.append(took)
            else:
                time.sleep(2)
            began = time.monotonic()
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(timeout=90)
                results.append(time.monotonic() - began)
            except subprocess.TimeoutExpired:
                child.kill()
                results.append(float("inf"))
    return results


# The name, the number of devices, the loop of a flow in a server; the flow may use as much CPU time as `pushhost run`. Sends go to
# groups of 20 devices in turn: the simulated service answers 429 for a device that gets too many, and the flow would wait.
FLOWS = [
    ("sends to 20 devices", 4000, "i = ((i or 0) + 1) % 200 push.send { to = 'g' .. i, alert = 'x' }"),
    ("sends to no device", 20, "push.send { to = 'nobody', alert = 'x' }"),
    ("schedules that are due at once", 20, "push.schedule { after = 0, to = 't', alert = 'x' }"),
    ("installations", 20, "i = (i or 100) + 1 push.install('i' .. i, { platform = 'apns', push_channel = ('%064x'):format(i) })"),
    ("patches", 20, "push.patch('i1', { { op = 'replace', path = '/tags', value = { 't' } } })"),
    ("plans", 20, "push.plan { to = 't', alert = 'x' }"),
    ("accounts", 20, "i = (i or 0) + 1 push.account { username = 'u' .. i, password = 'long enough ' .. i }"),
]


def flow_cpu(program, devices, loop, cpu, port, limit):
    """CPU time of a server's process while a flow loops until its budget ends it; infinity if it does not end."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/scripts")
        with open(f"{folder}/scripts/f.lua", "w") as file:
            file.write(
                "local push = require 'push' local i "
                f"for k = 1, {devices} do push.install('i' .. k, {{ platform = 'apns', "
                "push_channel = ('%064x'):format(k), tags = { 't', 'g' .. k % 200 } }) end "
                f"while true do pcall(function() {loop} end) end")
        with open(f"{folder}/pushhost.yaml", "w") as file:
            file.write(f"lab: on\nflows: [{{ name: f, script: scripts/f.lua, http: open, cpu_limit: {cpu}s }}]\nlog: {{ level: error }}\n")
        child = subprocess.Popen(
            [program, "serve", "--port", str(port), "--tls-port", "none"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def used():
            with open(f"/proc/{child.pid}/stat") as file:
                return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/health/ready").read()
                break
            except OSError:
                time.sleep(0.1)
        before = used()
        request = urllib.request.Request(f"{url}/flows/f", data=b"{}", headers={"Prefer": f"wait={limit}"})
        text, ended = b"", False
        try:
            text = urllib.request.urlopen(request, timeout=limit + 30).read()
        except urllib.error.HTTPError as error:
            text, ended = error.read(), True
        except OSError:
            pass
        took = used() - before
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
        return took if ended and b"budget.cpu" in text else float("inf")


def main():
    program = os.path.abspath(sys.argv[1])
    is_quick = len(sys.argv) > 2
    failures = runs(program, cpu=2 if is_quick else 10, memory=32 if is_quick else 256, slack=3 if is_quick else 2)
    print("\nA flow in `pushhost serve`\n| loop over | ended by `timeout: 1s` after | idle server ended after SIGTERM | "
          "busy server ended after SIGTERM |\n|---|---:|---:|---:|")
    for number, kind in enumerate(["schedules", "sends", "accounts"]):
        ended, idle, busy = server(program, kind, 22510 + number)
        failures += ended > 5 or busy > 38
        print(f"| {kind} | {ended:.1f} s | {idle:.1f} s | {busy:.1f} s |", flush=True)
    cpu = 2 if is_quick else 10
    print(f"\nCPU time of `pushhost serve --lab` until a flow with {cpu} s is ended\n| loop over | CPU s |\n|---|---:|")
    for number, (name, devices, loop) in enumerate(FLOWS):
        took = flow_cpu(program, devices, loop, cpu, 22520 + number, limit=100)
        is_bounded = took <= 2 * cpu + 2
        failures += not is_bounded
        print(f"| {name} | {took:.1f} |{'' if is_bounded else ' beyond its bound'}", flush=True)
    sys.exit(1 if failures else 0)


main()
