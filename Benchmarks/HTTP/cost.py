"""CPU time of `pushhost serve` per request, compared with a Go server that parses and stores the same, in turns.

    cost.py PUSHHOST RIVAL FOLDER [ROUNDS]

Both store with synchronous=FULL in commits that waiting requests share, and log nothing below a warning. FOLDER is the folder of the
data; its disk determines the cost of a sync.
"""
import base64
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from served import free_port, token  # noqa: E402

pushhost, rival, folder = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
here = os.path.dirname(os.path.abspath(__file__))
SECONDS, CONNECTIONS, GOAL = 4, 32, 2.0


class Server:
    def __init__(self, name, command, port):
        self.name, self.port = name, port
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=os.environ | {"PUSHHOST_LOG_LEVEL": "warning"})

    def wait(self):
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.child.poll() is not None:
                    sys.exit(f"{self.name} ended: {self.child.stdout.read()}")
                time.sleep(0.05)
        sys.exit(f"{self.name} does not listen")

    @property
    def cpu(self):
        """CPU seconds of the process."""
        fields = open(f"/proc/{self.child.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self):
        """The resident memory in MiB."""
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.child.pid}/status").read())[1]) / 1024

    def load(self, script, seconds=SECONDS):
        """CPU microseconds per request, and requests per second."""
        before = self.cpu
        done = subprocess.run(
            ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", f"{here}/{script}", f"http://localhost:{self.port}", "--", self.token],
            capture_output=True, text=True)
        count = re.search(r"(\d+) requests in", done.stdout)
        if done.stderr or not count or "Non-2xx" in done.stdout:
            sys.exit(f"{self.name}: {(done.stderr or done.stdout)[:400]}")
        # Accepted sends may still be in progress.
        while True:
            last = self.cpu
            time.sleep(0.3)
            if self.cpu - last < 0.02:
                break
        return (self.cpu - before) / int(count[1]) * 1e6, int(count[1]) / seconds

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(timeout=60)


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder, mode=0o700)
key = base64.b64encode(os.urandom(32)).decode()
ports = free_port(), free_port()
ours = Server(
    "pushhost",
    [pushhost, "serve", "--data", f"{folder}/pushhost", "--port", str(ports[0]), "--tls-port", "none", "--reveal"],
    ports[0])
theirs = Server("the rival", [rival, str(ports[1]), f"{folder}/rival.sqlite", "bench", key], ports[1])
try:
    screen = ""
    while "Ctrl-C" not in screen:
        line = ours.child.stdout.readline()
        if not line:
            sys.exit(f"pushhost ended: {screen}")
        screen += line
    name, secret = re.search(r"SharedAccessKeyName=(DefaultFull\w+);SharedAccessKey=(\S+)", screen).groups()
    ours.token, theirs.token = token(ports[0], name, secret), token(ports[1], "bench", key)
    theirs.wait()
    time.sleep(2)
    print(f"memory of an idle server: {ours.memory:.0f} MiB (goal: at most 60)\n")
    print("| request | PushHost, CPU µs | Go, CPU µs | ratio, median of rounds (goal: at most 2.0) | PushHost, a second | Go, a second |")
    print("|---|---:|---:|---:|---:|---:|")
    missed = False
    for script, request in [("put.lua", "PUT registration"), ("post.lua", "POST messages, durable")]:
        for server in (ours, theirs):
            server.load(script, 2)
        figures = [[server.load(script) for server in (theirs, ours)] for _ in range(rounds)]
        ratio = statistics.median(our[0] / their[0] for their, our in figures)
        missed |= ratio > GOAL
        their, our = ([statistics.median(one[i][j] for one in figures) for j in range(2)] for i in range(2))
        print(f"| {request} | {our[0]:.0f} | {their[0]:.0f} | {ratio:.2f} | {our[1]:,.0f} | {their[1]:,.0f} |")
    print(f"\nmemory after that: {ours.memory:.0f} MiB, the rival {theirs.memory:.0f} MiB")
    if missed:
        print("The goal is missed.")
finally:
    ours.stop()
    theirs.child.kill()
    shutil.rmtree(folder, ignore_errors=True)
