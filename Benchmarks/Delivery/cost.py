"""CPU time of a push for its sender, on one connection, compared with other clients in turns.

    cost.py BENCHMARK SINK PYTHON [ROUNDS] [PUSHES] [DEVICES] [SERVICE…]

SINK runs on the first processor, the clients on the second. The figures of this project and of the Python clients cover the sending
only: for a connector from the queue item to the classified verdict, for the hub from the durable accept of a broadcast to DEVICES
devices to the last outcome on disk. Those of h2load cover the whole process. PYTHON has the Python clients; without them their rows are
skipped with a message.

Then the same connector sends to a SINK that resets a connection after every nth request, to count pushes that arrive more than once.
"""
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from served import free_port, make_certificate  # noqa: E402

benchmark, sink, python = sys.argv[1:4]
numbers = [int(word) for word in sys.argv[4:] if word.isdigit()]
rounds, pushes, devices = numbers + [5, 300_000, 1_000_000][len(numbers):]
wanted = [word for word in sys.argv[4:] if not word.isdigit()]
here = os.path.dirname(os.path.abspath(__file__))
SINK_CPU, CLIENT_CPU = "0", "1"
ID = "123e4567-e89b-42d3-a456-426614174000"
BODY = '{"aps":{"alert":{"title":"A title of usual length","body":"%s"},"sound":"default"}}'
BODY = BODY % ("x" * (210 - len(BODY) + 2))
# Requests of h2load, all the same; keys and tokens have the length of real ones.
REQUESTS = {
    "apns": (
        "/3/device/" + "0" * 64, BODY,
        ["authorization: bearer " + "e" * 210, "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 10",
         f"apns-id: {ID}"]),
    "fcm": (
        "/v1/projects/shop/messages:send",
        '{"message":{"token":"%s:APA91b%s","notification":{"title":"A title of usual length","body":"%s"}}}'
        % ("0" * 22, "e" * 134, "x" * 122),
        ["authorization: Bearer ya29." + "e" * 205, "content-type: application/json"]),
    "webpush": (
        "/wpush/v2/" + "0" * 180, "x" * (210 + 103),
        ["authorization: vapid t=" + "e" * 240 + ",k=" + "e" * 87, "ttl: 2419200", "content-encoding: aes128gcm",
         "content-type: application/octet-stream"]),
}


class Sink:
    def __init__(self, service, certificate, key, reset_every=None):
        self.port = free_port()
        options = [str(reset_every)] if reset_every else []
        self.child = subprocess.Popen(
            ["taskset", "-c", SINK_CPU, sink, str(self.port), certificate, key, service] + options, stdout=subprocess.PIPE, text=True)
        while self.child.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        sys.exit("the sink ended")

    def end(self):
        """The numbers of accepted requests and of reset connections."""
        self.child.send_signal(signal.SIGTERM)
        taken, resets = self.child.communicate()[0].split()
        return int(taken), int(resets)


def run(command):
    """The output, the elapsed seconds, and the CPU seconds of the whole process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["taskset", "-c", CLIENT_CPU] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after, passed = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stdout[-2000:]}")
    return done.stdout, passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def reported(output):
    """The figures that a program reports: accepted pushes, elapsed seconds, CPU seconds."""
    accepted, passed, used = output.split()[-3:]
    return int(accepted), float(passed), float(used)


def connector(service, streams):
    def measure(port, folder):
        key = "rsa.pem" if service == "fcm" else "key.pem"
        # Encryption takes long.
        count = pushes // 10 if service == "webpush" else pushes
        command = [benchmark, "connector", service, str(port), f"{folder}/certificate.pem", f"{folder}/{key}", str(streams), str(count)]
        return reported(run(command)[0])

    return measure


def hub(port, folder):
    shutil.copy(f"{folder}/hub.sqlite", f"{folder}/sending.sqlite")
    try:
        output, _, _ = run(
            [benchmark, "pipeline", "apns", str(port), f"{folder}/certificate.pem", f"{folder}/key.pem", "500", f"{folder}/sending.sqlite"])
    finally:
        for suffix in "", "-wal", "-shm":
            if os.path.exists(f"{folder}/sending.sqlite{suffix}"):
                os.unlink(f"{folder}/sending.sqlite{suffix}")
    *figures, memory = output.split()
    memories.append(int(memory))
    return reported(" ".join(figures))


def curve(port, folder):
    return reported(run([benchmark, "curve", str(pushes // 10)])[0])


def h2load(service, streams):
    def measure(port, folder):
        path, body, fields = REQUESTS[service]
        with open(f"{folder}/body", "w") as file:
            file.write(body)
        output, passed, used = run(
            ["h2load", "-n", str(pushes), "-c", "1", "-m", str(streams), "-t", "1", "-d", f"{folder}/body"]
            + [word for field in fields for word in ("-H", field)] + [f"https://127.0.0.1:{port}{path}"])
        return int(re.search(r"(\d+) succeeded", output).group(1)), passed, used

    return measure


def rival(service, *options):
    def measure(port, folder):
        count = max(2_000, pushes // 50)
        return reported(run([python, f"{here}/rivals/{service}.py", str(port), folder, str(count), *options])[0])

    return measure


def has(package):
    if subprocess.run([python, "-c", f"import {package}"], stderr=subprocess.DEVNULL).returncode == 0:
        return True
    print(f"{package} is not installed in {python}: its rows are left out\n")
    return False


def rows(service):
    rows = {f"hub, a broadcast to {devices:,}": hub} if service == "apns" else {}
    for streams in 500, 100:
        rows[f"connector, {streams} in flight"] = connector(service, streams)
    if service == "webpush":
        rows["a new key and the shared secret alone"] = curve
    for streams in 500, 100:
        rows[f"h2load, {streams} in flight"] = h2load(service, streams)
    if service == "apns" and has("aioapns"):
        rows["aioapns, 500 in flight"] = rival(service)
    if service == "fcm" and has("firebase_admin"):
        rows["firebase-admin, HTTP/2 with httpx"] = rival(service, "async")
        rows["firebase-admin, HTTP/1.1 in threads"] = rival(service, "threads")
    if service == "webpush" and has("pywebpush"):
        rows["pywebpush, one connection, VAPID signed once"] = rival(service, "once")
        rows["pywebpush, one connection"] = rival(service, "session")
        rows["pywebpush as its documentation has it"] = rival(service, "plain")
    return rows


def compare(service, folder):
    measures = rows(service)
    results = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            server = Sink(service, f"{folder}/certificate.pem", f"{folder}/key.pem")
            try:
                count, passed, used = measure(server.port, folder)
            finally:
                taken, _ = server.end()
            if measure is not curve and (count == 0 or taken < count):
                sys.exit(f"{name}: {count} accepted, the sink has taken {taken}")
            results[name].append((used / count * 10_000, count / passed))
    base = [used for used, _ in results["connector, 500 in flight"]]
    print(f"| {TITLES[service]} | CPU s per 10,000 pushes, median | least | of the connector's, median of rounds | pushes a second |")
    print("|---|---:|---:|---:|---:|")
    for name, figures in results.items():
        used = [one for one, _ in figures]
        ratio = statistics.median(one / other for one, other in zip(used, base))
        rate = statistics.median(rate for _, rate in figures)
        print(f"| {name} | {statistics.median(used):.4f} | {min(used):.4f} | {ratio:.2f} | {rate:,.0f} |")
    print()


# The number of requests per reset connection, and the number the connector sends before measuring.
RESETS, FIRST = (5, 50, 500), 1_000


def break_off(service, folder):
    """The number of pushes that arrive more than once, per reset connection."""
    print(f"| {TITLES[service]}, one request in … resets its connection | pushes | resets | repeats | a reset (goal: at most 1) |")
    print("|---|---:|---:|---:|---:|")
    for every in RESETS:
        server = Sink(service, f"{folder}/certificate.pem", f"{folder}/key.pem", every)
        try:
            key = "rsa.pem" if service == "fcm" else "key.pem"
            count, _, _ = reported(run(
                [benchmark, "connector", service, str(server.port), f"{folder}/certificate.pem", f"{folder}/{key}", "500", "20000"])[0])
        finally:
            taken, resets = server.end()
        if resets == 0 or taken < count + FIRST:
            sys.exit(f"one in {every}: {count} accepted, the sink has taken {taken} and reset {resets}")
        repeats = taken - count - FIRST
        print(f"| {every:,} | {count + FIRST:,} | {resets:,} | {repeats:,} | {repeats / resets:.2f} |")
    print()


TITLES = {"apns": "APNs", "fcm": "FCM", "webpush": "Web Push, with encryption"}
memories = []


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder)
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", f"{folder}/rsa.pem"], check=True,
            stderr=subprocess.DEVNULL)
        for service in wanted or TITLES:
            if service == "apns":
                subprocess.run([benchmark, "prepare", f"{folder}/hub.sqlite", str(devices)], check=True)
            compare(service, folder)
            break_off(service, folder)
    if memories:
        print(f"Resident memory of the hub at most: {max(memories)} MiB")


main()
