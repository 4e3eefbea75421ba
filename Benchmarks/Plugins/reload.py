#!/usr/bin/env python3
"""A thousand requests per second at a plugin's route while its file changes every tenth of a second.

Usage: reload.py PUSHHOST FOLDER [SECONDS]. The exit status is 1 if a request fails, or is answered by parts of two versions.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time

RATE, THREADS, PORT, CHANGE = 1000, 10, 18092, 0.1

PLUGIN = """
local push = require "push"
local begun = {number}
return {{
  name = "whole", version = "1.{number}",
  routes = {{ {{ path = "/whole", auth = "open", run = function()
    push.sleep "2ms"
    return {{ json = {{ begun = begun, ended = {number} }} }}
  end }} }},
}}
"""


def write(folder, number):
    with open(f"{folder}/.draft", "w") as file:
        file.write(PLUGIN.format(number=number))
    os.rename(f"{folder}/.draft", f"{folder}/init.lua")


def ask(until, answers, failures):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    moment = time.monotonic()
    while moment < until:
        time.sleep(max(0, moment - time.monotonic()))
        begun = time.monotonic()
        try:
            connection.request("GET", "/plugins/whole/whole")
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                failures.append(f"{response.status}: {body}")
            else:
                answer = json.loads(body)
                answers.append((time.monotonic() - begun, answer["begun"], answer["ended"]))
        except (OSError, http.client.HTTPException) as error:
            failures.append(repr(error))
            connection.close()
        moment += THREADS / RATE


def main():
    program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    shutil.rmtree(folder, ignore_errors=True)
    plugin = f"{folder}/plugins/whole"
    os.makedirs(plugin)
    with open(f"{folder}/plugins/plugins.yaml", "w") as file:
        file.write("- name: whole\n")
    write(plugin, 0)
    server = subprocess.Popen(
        [program, "serve", "--port", str(PORT), "--tls-port", "none", "--data", f"{folder}/data"], cwd=folder,
        env=dict(os.environ, PUSHHOST_LOG_LEVEL="error"), stdout=subprocess.DEVNULL)
    answers, failures = [], []
    try:
        for _ in range(100):
            try:
                http.client.HTTPConnection("127.0.0.1", PORT, timeout=1).request("GET", "/plugins/whole/whole")
                break
            except OSError:
                time.sleep(0.1)
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=ask, args=(until, answers, failures)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        number, moment = 0, time.monotonic()
        while moment < until:
            number += 1
            write(plugin, number)
            moment += CHANGE
            time.sleep(max(0, moment - time.monotonic()))
        for thread in threads:
            thread.join()
    finally:
        server.terminate()
        server.wait()
    times = sorted(time for time, _, _ in answers)
    versions = {ended for _, _, ended in answers}
    mixed = [(begun, ended) for _, begun, ended in answers if begun != ended]
    print(f"a route whose file changes every {CHANGE * 1000:.0f} ms, {len(answers) / seconds:.0f} requests per second for {seconds:.0f} s")
    print(f"  {len(answers)} answers by {len(versions)} of {number + 1} versions, {len(failures)} failed, {len(mixed)} by parts of two versions")
    print(f"  median {times[len(times) // 2] * 1000:.1f} ms, 99 of 100 within {times[len(times) * 99 // 100] * 1000:.1f} ms, all within {times[-1] * 1000:.1f} ms")
    for failure in failures[:5]:
        print(f"  {failure}")
    sys.exit(1 if failures or mixed else 0)


main()
