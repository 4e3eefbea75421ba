"""CPU time that a push costs its sender, on one connection, beside other clients in rounds that take turns.

    cost.py BENCHMARK SINK PYTHON [ROUNDS] [PUSHES] [DEVICES]

SINK answers from the first processor, the clients have the second. Our figures are those of the sending: of the connector from the
queue item to the classified verdict, of the hub from the durable accept of a broadcast to DEVICES devices to the last outcome on disk.
Theirs are those of the whole process. PYTHON has aioapns, or that row is left out and it is said.
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

benchmark, sink, python = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
pushes = int(sys.argv[5]) if len(sys.argv) > 5 else 300_000
devices = int(sys.argv[6]) if len(sys.argv) > 6 else 1_000_000
here = os.path.dirname(os.path.abspath(__file__))
SINK_CPU, CLIENT_CPU = "0", "1"
BODY = '{"aps":{"alert":{"title":"A title of usual length","body":"%s"},"sound":"default"}}'
PATH = "/3/device/" + "0" * 64
# Of the length that a signed token has.
BEARER = "bearer " + "e" * 210
ID = "123e4567-e89b-42d3-a456-426614174000"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Sink:
    def __init__(self, certificate, key):
        self.port = free_port()
        self.child = subprocess.Popen(
            ["taskset", "-c", SINK_CPU, sink, str(self.port), certificate, key], stdout=subprocess.PIPE, text=True)
        while self.child.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        sys.exit("the sink ended")

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        return int(self.child.communicate()[0])


def run(command):
    """What it printed, the seconds that passed, and the CPU seconds of the whole process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["taskset", "-c", CLIENT_CPU] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after, passed = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stdout[-2000:]}")
    return done.stdout, passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def connector(streams):
    def measure(port, folder):
        output, _, _ = run(
            [benchmark, "connector", str(port), f"{folder}/certificate.pem", f"{folder}/key.pem", str(streams), str(pushes)])
        accepted, passed, used = output.split()
        return int(accepted), float(passed), float(used)

    return measure


def hub(port, folder):
    shutil.copy(f"{folder}/hub.sqlite", f"{folder}/sending.sqlite")
    try:
        output, _, _ = run(
            [benchmark, "pipeline", str(port), f"{folder}/certificate.pem", f"{folder}/key.pem", "500", f"{folder}/sending.sqlite"])
    finally:
        for suffix in "", "-wal", "-shm":
            if os.path.exists(f"{folder}/sending.sqlite{suffix}"):
                os.unlink(f"{folder}/sending.sqlite{suffix}")
    sent, passed, used, memory = output.split()
    memories.append(int(memory))
    return int(sent), float(passed), float(used)


def h2load(streams):
    def measure(port, folder):
        output, passed, used = run(
            ["h2load", "-n", str(pushes), "-c", "1", "-m", str(streams), "-t", "1", "-d", f"{folder}/body.json",
             "-H", f"authorization: {BEARER}", "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert",
             "-H", "apns-priority: 10", "-H", f"apns-id: {ID}", f"https://127.0.0.1:{port}{PATH}"])
        return int(re.search(r"(\d+) succeeded", output).group(1)), passed, used

    return measure


def aioapns(port, folder):
    count = max(2_000, pushes // 50)
    output, passed, used = run([python, f"{here}/rival.py", str(port), folder, str(count)])
    return int(output.split()[-1]), passed, used


memories = []


def main():
    rows = {
        f"hub, a broadcast to {devices:,}": hub,
        "connector, 500 under way": connector(500), "connector, 100 under way": connector(100),
        "h2load, 500 under way": h2load(500), "h2load, 100 under way": h2load(100),
    }
    if subprocess.run([python, "-c", "import aioapns"], stderr=subprocess.DEVNULL).returncode == 0:
        rows["aioapns, 500 under way"] = aioapns
    else:
        print(f"aioapns is not installed in {python}: its row is left out\n")
    results = {name: [] for name in rows}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/key.pem", "-out",
             f"{folder}/certificate.pem"], check=True, stderr=subprocess.DEVNULL)
        with open(f"{folder}/body.json", "w") as file:
            file.write(BODY % ("x" * (210 - len(BODY) + 2)))
        subprocess.run([benchmark, "prepare", f"{folder}/hub.sqlite", str(devices)], check=True)
        for _ in range(rounds):
            for name, measure in rows.items():
                server = Sink(f"{folder}/certificate.pem", f"{folder}/key.pem")
                try:
                    count, passed, used = measure(server.port, folder)
                finally:
                    answered = server.end()
                if count == 0 or answered < count:
                    sys.exit(f"{name}: {count} accepted, the sink has answered {answered}")
                results[name].append((used / count * 10_000, count / passed))
    base = [used for used, _ in results["h2load, 500 under way"]]
    print("| client, one connection | CPU s per 10,000 pushes, median | least | of h2load's, median of rounds | pushes a second |")
    print("|---|---:|---:|---:|---:|")
    for name, figures in results.items():
        used = [one for one, _ in figures]
        ratio = statistics.median(one / other for one, other in zip(used, base))
        rate = statistics.median(rate for _, rate in figures)
        print(f"| {name} | {statistics.median(used):.4f} | {min(used):.4f} | {ratio:.2f} | {rate:,.0f} |")
    print(f"\nResident memory of the hub at most: {max(memories)} MiB")


main()
