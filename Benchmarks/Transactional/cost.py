"""CPU time and latency of one notification to one user, compared with a Go server that does the same, in turns.

    cost.py PUSHHOST TOOLS FOLDER [ROUNDS] [SECONDS]

TOOLS is the folder of the built programs rival, load, watch and sink. Each is a process of its own, as is PUSHHOST; all use loopback.
FOLDER is the folder of the data; its disk determines the cost of a sync. A durable POST of a notification to the tag of a user is followed
by its delivery to the user's only device, over TLS and HTTP/2, and by the stored outcome. Every run checks that each send got 201, that it
arrived at the service exactly once, and that its final state is stored.

- The CPU time is that of the server process alone, as the kernel counts it, until the last outcome of the run is stored.
- Sends a second: sends ÷ time from the first request to the last stored outcome.
- Latency is measured in separate runs of twice SECONDS with 32 connections, at a fixed rate for both servers: half of the sends a second
  that PushHost reached with 32 connections in the case. The payload has a number that the sink records with its time of arrival. Outcomes
  are observed by a process that reads the database every 200 µs (watch.c). All times are from CLOCK_MONOTONIC of this machine.
"""
import array
import base64
import ctypes
import hashlib
import http.client
import json
import operator
import os
import re
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from served import free_port, make_certificate, token  # noqa: E402

pushhost, tools, folder = (os.path.abspath(word) for word in sys.argv[1:4])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 1.25
USERS, WIDTH = 1_000, 32
# In seconds since the start, of the rounds for CPU time and for latency, and of the whole.
COST_LIMIT, LATENCY_LIMIT, LIMIT = 205, 265, 290
TOPIC, KEY_ID, TEAM_ID = "com.example.app", "KEY0000001", "TEAM000001"
NONE, ACCEPTED, REFUSED, LOWERED = "user without a device", "accepted", "rejected (BadDeviceToken)", "rejected, one stream after that"
# The name in the tags of each case, the first digits of its device tokens, by which the sink chooses its answer, and the answer's status.
TAGS = {NONE: "nobody", ACCEPTED: "user", REFUSED: "refused", LOWERED: "lowered"}
DEVICES = {ACCEPTED: "00", REFUSED: "badbad00", LOWERED: "badbad01"}
STATUS = {ACCEPTED: 200, REFUSED: 400, LOWERED: 400}
LOADS = [(case, width) for case in (NONE, ACCEPTED, REFUSED) for width in (1, WIDTH, 256)] + [(LOWERED, WIDTH)]
began = time.monotonic()


def numbers(path, width):
    """The records of a file of 64-bit numbers, WIDTH numbers each."""
    read = array.array("Q")
    with open(path, "rb") as file:
        read.frombytes(file.read())
    return [tuple(read[i:i + width]) for i in range(0, len(read), width)]


def wait_for(condition, what, limit=30):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"timed out after {limit} s: {what}")
        time.sleep(0.02)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


class Process:
    def __init__(self, name, command):
        self.name = name
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=folder)

    def check(self):
        if self.child.poll() is not None:
            sys.exit(f"{self.name} ended: {self.child.stdout.read()[-2000:]}")
        return True

    def line(self):
        line = self.child.stdout.readline()
        if not line:
            self.child.wait()
            self.check()
        return line

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.communicate()[0]


class Sink(Process):
    """The push service. It records every request."""

    def __init__(self):
        self.port = free_port()
        self.path = f"{folder}/arrivals"
        super().__init__(
            "the sink", [f"{tools}/sink", str(self.port), f"{folder}/certificate.pem", f"{folder}/key.pem", "apns", "0", self.path])
        wait_for(lambda: self.check() and listens(self.port), "the sink listens")
        self.read = 0

    def arrivals(self, count):
        """The records of the next COUNT requests: the number of the send, its time, the status of the answer."""
        size = count * 24
        wait_for(lambda: self.check() and os.path.getsize(self.path) >= self.read + size, f"{count} requests arrive at the service")
        read = array.array("Q")
        with open(self.path, "rb") as file:
            file.seek(self.read)
            read.frombytes(file.read())
        self.read += len(read) * 8
        return [tuple(read[i:i + 3]) for i in range(0, len(read), 3)]


class Server(Process):
    # Queries with the same results for both: ids and final states of notifications after ?1, unfinished ones, and new outcomes.
    def __init__(self, name, command, port, database, ended, unfinished, outcomes):
        super().__init__(name, command)
        self.port, self.database, self.outcomes = port, database, outcomes
        self.ended, self.unfinished = ended, unfinished

    def open(self, key_name, key):
        """Waits until it listens, and registers one device for each user."""
        self.token = token(self.port, key_name, key)
        wait_for(lambda: self.check() and listens(self.port), f"{self.name} listens")
        time.sleep(1)
        self.memory_idle = self.memory("VmRSS")
        self.reader = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        failures = []
        writers = [threading.Thread(target=self.register, args=(range(i, USERS, 8), failures)) for i in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        if failures:
            sys.exit(f"{self.name}: {failures[0]}")

    def register(self, users, failures):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=30)
        for user in users:
            for case, start in DEVICES.items():
                tag = TAGS[case]
                body = json.dumps({
                    "installationId": f"{tag}-{user}", "platform": "apns", "tags": [f"{tag}:{user}"],
                    "pushChannel": start + hashlib.sha256(f"{tag}{user}".encode()).hexdigest()[len(start):]})
                try:
                    connection.request(
                        "PUT", f"/hub/installations/{tag}-{user}?api-version=2020-06", body,
                        {"Authorization": self.token, "Content-Type": "application/json"})
                    answer = connection.getresponse()
                    text = answer.read()
                except OSError as error:
                    return failures.append(str(error))
                if answer.status != 200:
                    return failures.append(f"PUT installation answered {answer.status} {text[:300]}")

    @property
    def cpu(self):
        """CPU seconds of the process: what /proc/PID/stat shows, but not rounded to 10 ms."""
        clock = ctypes.c_int()
        if libc.clock_getcpuclockid(self.child.pid, ctypes.byref(clock)) != 0:
            self.check()
        return time.clock_gettime(clock.value)

    def memory(self, field):
        """In MiB: VmRSS, resident now, or VmHWM, at most."""
        return int(re.search(rf"{field}:\s+(\d+)", open(f"/proc/{self.child.pid}/status").read())[1]) / 1024

    def send(self, case, width, duration, rate=0, times=None):
        """Sends for a duration in seconds. Returns the sends, the seconds until the last outcome is stored, CPU seconds, the arrivals, and
        the largest delay of the load generator in ms."""
        global next_send
        last = self.reader.execute("SELECT max(key) FROM notification").fetchone()[0] or 0
        before, start = self.cpu, time.monotonic()
        done = subprocess.run(
            [f"{tools}/load", str(self.port), str(width), str(duration), str(rate), str(next_send), str(USERS), TAGS[case], self.token]
            + ([times] if times else []), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {done.stderr}")
        count, _, delay = (float(word) for word in done.stdout.split())
        count = int(count)
        # Everything accepted is in the database by now.
        wait_for(lambda: self.check() and not self.reader.execute(self.unfinished).fetchone(), f"{self.name} ends its deliveries", 60)
        passed = time.monotonic() - start
        used = self.cpu - before
        arrived = sink.arrivals(count) if case in STATUS else []
        expected = range(next_send, next_send + count) if case in STATUS else []
        if sorted(number for number, _, _ in arrived) != list(expected) or any(status != STATUS[case] for _, _, status in arrived):
            sys.exit(f"{self.name}: {count} sends, {len(arrived)} requests at the service, not one for each")
        ended = self.reader.execute(self.ended, (last,)).fetchall()
        states = {state for state, _ in ended}
        if sum(number for _, number in ended) != count or states != {"NoTargetFound" if case == NONE else "Completed"}:
            sys.exit(f"{self.name}: of {count} sends {case}, the stored states are {ended}")
        next_send += count
        return count, passed, used, arrived, delay

    def load(self, case, width):
        """CPU microseconds per send, and sends per second."""
        count, passed, used, _, _ = self.send(case, width, seconds)
        return used / count * 1e6, count / passed

    def latency(self, case, rate):
        """Milliseconds from the request to its arrival at the service, and to the stored outcome: p50 and p99 each. Then the
        largest delay of the load generator in starting a send."""
        watch = Process("watch", [f"{tools}/watch", self.database, self.outcomes, f"{folder}/outcomes"])
        try:
            watch.line()
            count, _, _, arrived, delay = self.send(case, WIDTH, 2 * seconds, rate, f"{folder}/times")
            time.sleep(0.01)
        finally:
            watch.stop()
        stored = dict(reversed(numbers(f"{folder}/outcomes", 2)))
        arrivals = {number: time for number, time, _ in arrived}
        sends = numbers(f"{folder}/times", 4)
        if len(stored) != count or any(notification not in stored for _, _, _, notification in sends):
            sys.exit(f"{self.name}: {count} sends, {len(stored)} stored outcomes")
        return [
            figure for waits in (
                [arrivals[number] - start for number, start, _, _ in sends],
                [stored[notification] - start for _, start, _, notification in sends])
            for figure in percentiles(waits)] + [delay]


def percentiles(waits):
    waits = sorted(waits)
    return [waits[min(len(waits) - 1, int(len(waits) * part))] / 1e6 for part in (0.5, 0.99)]


def spread(values, digits=0):
    """The median, and in brackets the smallest and the largest value."""
    text = f"{{:,.{digits}f}}"
    return text.format(statistics.median(values)) + " (" + "–".join(text.format(one) for one in (min(values), max(values))) + ")"


def in_rounds(measure, keys, limit):
    """ROUNDS results per key and server, in turns. Rounds that would probably not end before the limit are left out."""
    results = {(key, server): [] for key in keys for server in servers}
    longest = 0
    for number in range(rounds):
        start = time.monotonic()
        if number and start + longest > began + limit:
            print(f"{number} of {rounds} rounds: the others would exceed the limit of time\n")
            break
        for key in keys:
            # Neither server is always the first.
            for server in servers[::1 if number % 2 else -1]:
                results[key, server].append(measure(server, key))
        longest = max(longest, time.monotonic() - start)
    return results


def compare_costs():
    for case in TAGS:
        for server in servers:
            server.load(case, WIDTH)
    results = in_rounds(lambda server, key: server.load(*key), LOADS, COST_LIMIT)
    print(
        "| send | connections | PushHost, CPU µs | Go, CPU µs | ratio, median of rounds (goal: at most 1.0) | PushHost, a second "
        "| Go, a second |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for case, width in LOADS:
        our, their = (results[(case, width), server] for server in servers)
        ratio = [one[0] / other[0] for one, other in zip(our, their)]
        cells = [spread([one[0] for one in figures]) for figures in (our, their)]
        rates = [f"{statistics.median(one[1] for one in figures):,.0f}" for figures in (our, their)]
        print(f"| {case} | {width} | {' | '.join(cells)} | {spread(ratio, 2)} | {' | '.join(rates)} |")
    print()
    print("| of the sends with 32 connections, median of rounds | PushHost | Go |")
    print("|---|---:|---:|")

    def row(name, case, other, combine, digits):
        cells = []
        for server in servers:
            pairs = zip(results[(case, WIDTH), server], results[(other, WIDTH), server])
            cells.append(spread([combine(one[0], another[0]) for one, another in pairs], digits))
        print(f"| {name} | {' | '.join(cells)} |")

    row("the push's share: accepted − without a device, CPU µs (goal: at most 15)", ACCEPTED, NONE, operator.sub, 0)
    row("rejected ÷ accepted (goal: at most 1.2)", REFUSED, ACCEPTED, operator.truediv, 2)
    row("rejected, one stream after that ÷ accepted (goal: at most 1.2)", LOWERED, ACCEPTED, operator.truediv, 2)
    print()
    return {case: statistics.median(one[1] for one in results[(case, WIDTH), ours]) for case in TAGS}


def compare_latencies(rates):
    cases = [ACCEPTED, LOWERED]
    results = in_rounds(lambda server, case: server.latency(case, rates[case] / 2), cases, LATENCY_LIMIT)
    print(
        "| latency in ms, at a fixed rate | sends a second | server | POST → service, p50 | p99 | POST → stored outcome, p50 | p99 "
        "| load generator late by at most |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for case in cases:
        for server in servers:
            cells = [spread(column, 2) for column in zip(*results[case, server])]
            print(f"| {case} | {rates[case] / 2:,.0f} | {server.name} | {' | '.join(cells)} |")
    print("\nGoals: POST → service at most 1 and 5, POST → stored outcome at most 2 and 8.\n")


def make_keys():
    make_certificate(folder)
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{folder}/apns.p8"], check=True,
        stderr=subprocess.DEVNULL)


def start_pushhost():
    with open(f"{folder}/pushhost.yaml", "w") as file:
        file.write(f"""apns:
  key: {folder}/apns.p8
  key_id: {KEY_ID}
  team_id: {TEAM_ID}
  topic: {TOPIC}
  address: https://127.0.0.1:{sink.port}
  roots: {folder}/certificate.pem
network:
  allow_private: true
log:
  level: error
""")
    port = free_port()
    data = f"{folder}/pushhost"
    server = Server(
        "PushHost",
        [pushhost, "serve", "--config", f"{folder}/pushhost.yaml", "--data", data, "--port", str(port), "--tls-port", "none", "--reveal"],
        port, f"{data}/{DATABASE}", "SELECT state, count(*) FROM notification WHERE key > ? AND is_final = 1 GROUP BY state",
        "SELECT 1 FROM notification WHERE hub = 1 AND is_final = 0 LIMIT 1",
        f"SELECT id, notification & {(1 << 44) - 1} FROM outcome_batch WHERE id > ?1 ORDER BY id")
    processes.append(server)
    screen = ""
    while "Ctrl-C" not in screen:
        screen += server.line()
    server.open(*re.search(r"SharedAccessKeyName=(DefaultFull\w+);SharedAccessKey=(\S+)", screen).groups())
    return server


def start_rival():
    port, key = free_port(), base64.b64encode(os.urandom(32)).decode()
    server = Server(
        "Go",
        [f"{tools}/rival", str(port), f"{folder}/rival.sqlite", "bench", key, f"https://127.0.0.1:{sink.port}", f"{folder}/certificate.pem",
         f"{folder}/apns.p8", KEY_ID, TEAM_ID, TOPIC],
        port, f"{folder}/rival.sqlite", "SELECT state, count(*) FROM notification WHERE key > ? AND is_final = 1 GROUP BY state",
        "SELECT 1 FROM notification WHERE is_final = 0 LIMIT 1", "SELECT id, notification FROM outcome WHERE id > ?1 ORDER BY id")
    processes.append(server)
    server.open("bench", key)
    return server


def too_late(*_):
    raise SystemExit(f"ended: it took longer than {LIMIT} s")


DATABASE = "pushhost.sqlite"
processes = []
next_send = 1_000_000
libc = ctypes.CDLL(None)
signal.signal(signal.SIGALRM, too_late)
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
signal.alarm(LIMIT)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder, mode=0o700)
try:
    make_keys()
    sink = Sink()
    processes.append(sink)
    servers = ours, theirs = start_pushhost(), start_rival()
    print(f"{rounds} rounds of {seconds:g} s, one device for each of {USERS:,} users. In brackets: the smallest and the largest round.\n")
    rates = compare_costs()
    memory = {server: server.memory("VmHWM") for server in servers}
    compare_latencies(rates)
    print("| resident memory, MiB | PushHost | Go |")
    print("|---|---:|---:|")
    print(f"| idle, before devices register | {ours.memory_idle:.0f} | {theirs.memory_idle:.0f} |")
    print(f"| at most, during the runs for CPU time | {memory[ours]:.0f} | {memory[theirs]:.0f} |")
    print(f"| at the end | {ours.memory('VmRSS'):.0f} | {theirs.memory('VmRSS'):.0f} |")
finally:
    signal.alarm(0)
    for process in reversed(processes):
        process.stop()
    shutil.rmtree(folder, ignore_errors=True)
