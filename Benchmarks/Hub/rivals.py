"""Finding the registrations of an expression among 1,000,000: the hub's index, PostgreSQL and SQLite, measured in turns.

    rivals.py HUB_BENCHMARK FOLDER [ROUNDS]

All engines have the same registrations, and must find the same number of ids with the same sum. The index returns the ids; the others
only count and add them. PostgreSQL has a text[] with a GIN index, in a temporary cluster in FOLDER that listens on a socket there.
SQLite has a table of tag and registration without row ids. An engine that is not installed is skipped.
"""
import glob
import os
import pwd
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

benchmark, folder = sys.argv[1], os.path.abspath(sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5

EXPRESSIONS = [
    ("E1", "(follows_RedSox || follows_Cardinals) && location_Boston && !muted"),
    ("E3", "promo && !muted"),
    ("E4", "location_Boston && version_5.0 && news"),
    ("one user", "username:u123456"),
]


class Index:
    name = "PushHost's index"

    def __init__(self):
        self.child = subprocess.Popen([benchmark, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, number):
        """The seconds, the number of ids, and their sum."""
        self.child.stdin.write(EXPRESSIONS[number][1] + "\n")
        self.child.stdin.flush()
        nanoseconds, count, total = self.child.stdout.readline().split()
        return int(nanoseconds) / 1e9, int(count), int(total)

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class PostgreSQL:
    name = "PostgreSQL, text[] and GIN"
    QUERIES = [
        "tags @> '{location_Boston}' AND tags && '{follows_RedSox,follows_Cardinals}' AND NOT tags @> '{muted}'",
        "tags @> '{promo}' AND NOT tags @> '{muted}'",
        "tags @> '{location_Boston,version_5.0,news}'",
        "tags @> '{username:u123456}'",
    ]

    def __init__(self, programs):
        self.programs, self.data = programs, f"{folder}/postgres"
        # A PostgreSQL server does not run as root, so Debian's user for it gets its own folder.
        user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        self.options = {"user": "postgres", "group": "postgres", "extra_groups": []} if user else {}
        shutil.rmtree(self.data, ignore_errors=True)
        os.makedirs(self.data, 0o700)
        if user:
            os.chown(self.data, user.pw_uid, user.pw_gid)
        self.run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--no-locale", "-D", f"{self.data}/cluster")
        settings = "-c listen_addresses= -c shared_buffers=1GB -c work_mem=256MB -c max_parallel_workers_per_gather=0 -c fsync=off"
        self.run(
            "pg_ctl", "start", "-w", "-D", f"{self.data}/cluster", "-l", f"{self.data}/log", "-o", f"-k {self.data} {settings}")
        self.psql = subprocess.Popen(
            [f"{programs}/psql", "-XqtA", "-h", self.data, "-d", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.data, **self.options)
        try:
            self.load()
        except BaseException:
            self.close()
            raise

    def run(self, program, *arguments):
        done = subprocess.run(
            [f"{self.programs}/{program}", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.data, text=True,
            **self.options)
        if done.returncode != 0:
            raise OSError(f"{program} ended with {done.returncode}: {done.stderr.strip()}")

    def load(self):
        write = self.psql.stdin.write
        write("CREATE TABLE registration (id integer PRIMARY KEY, tags text[] NOT NULL);\nCOPY registration FROM stdin;\n")
        rows = subprocess.Popen([benchmark, "rows"], stdout=subprocess.PIPE, text=True)
        shutil.copyfileobj(rows.stdout, self.psql.stdin)
        rows.wait()
        write("\\.\nCREATE INDEX ON registration USING gin (tags);\nVACUUM ANALYZE registration;\n\\timing on\n")

    def ask(self, number):
        self.psql.stdin.write(f"SELECT count(*), sum(id) FROM registration WHERE {self.QUERIES[number]};\n")
        self.psql.stdin.flush()
        answer = self.psql.stdout.readline()
        while "|" not in answer:
            if not answer:
                raise OSError("psql has ended")
            answer = self.psql.stdout.readline()
        count, total = answer.split("|")
        took = re.search(r"Time: ([\d.]+) ms", self.psql.stdout.readline())
        return float(took[1]) / 1000, int(count), int(total)

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()
        self.run("pg_ctl", "stop", "-w", "-m", "fast", "-D", f"{self.data}/cluster")
        shutil.rmtree(self.data, ignore_errors=True)


class SQLite:
    name = "SQLite, (tag, registration) without row ids"
    HAS = "EXISTS (SELECT 1 FROM tag AS other WHERE other.name = '{}' AND other.id = tag.id)"
    QUERIES = [
        f"name = 'location_Boston' AND ({HAS.format('follows_RedSox')} OR {HAS.format('follows_Cardinals')})"
        f" AND NOT {HAS.format('muted')}",
        f"name = 'promo' AND NOT {HAS.format('muted')}",
        f"name = 'version_5.0' AND {HAS.format('location_Boston')} AND {HAS.format('news')}",
        "name = 'username:u123456'",
    ]

    def __init__(self):
        self.file = f"{folder}/tags.sqlite"
        if os.path.exists(self.file):
            os.unlink(self.file)
        self.database = sqlite3.connect(self.file, isolation_level=None)
        execute = self.database.execute
        for pragma in ["journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000", "temp_store = MEMORY"]:
            execute(f"PRAGMA {pragma}").fetchall()
        execute("CREATE TABLE row (name TEXT, id INTEGER)")
        execute("CREATE TABLE tag (name TEXT, id INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID")
        rows = subprocess.Popen([benchmark, "rows"], stdout=subprocess.PIPE, text=True)
        execute("BEGIN")
        self.database.executemany(
            "INSERT INTO row VALUES (?, ?)",
            ((tag, int(id)) for id, tags in (line.rstrip("}\n").split("\t{") for line in rows.stdout) for tag in tags.split(",")))
        execute("INSERT INTO tag SELECT name, id FROM row ORDER BY name, id")
        execute("DROP TABLE row")
        execute("COMMIT")
        execute("ANALYZE")
        rows.wait()

    def ask(self, number):
        begin = time.perf_counter()
        count, total = self.database.execute(f"SELECT count(*), sum(id) FROM tag WHERE {self.QUERIES[number]}").fetchone()
        return time.perf_counter() - begin, count, total

    def close(self):
        self.database.close()
        os.unlink(self.file)


def text(seconds):
    for unit, size in [("s", 1), ("ms", 1e-3)]:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


os.makedirs(folder, exist_ok=True)
engines = [Index()]
skipped = []
programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
if programs:
    try:
        engines.append(PostgreSQL(programs[-1]))
    except (OSError, KeyError) as error:
        skipped.append(f"PostgreSQL does not start here: {error}")
else:
    skipped.append("PostgreSQL is not installed: apt-get install postgresql")
engines.append(SQLite())

times = {}
try:
    for turn in range(rounds + 1):
        for number, (name, expression) in enumerate(EXPRESSIONS):
            answers = [engine.ask(number) for engine in engines]
            if len({answer[1:] for answer in answers}) != 1:
                sys.exit(f"{name}: the engines do not agree: {[answer[1:] for answer in answers]}")
            # The first round warms up.
            for place, answer in enumerate(answers if turn else []):
                times.setdefault((number, place), []).append(answer[0])
            times[number] = answers[0][1]
finally:
    for engine in engines:
        engine.close()

print(f"\n| 1,000,000 registrations, median of {rounds} rounds | {' | '.join(name for name, _ in EXPRESSIONS)} |")
print(f"|---{'|---:' * len(EXPRESSIONS)}|")
for place, engine in enumerate(engines):
    cells = []
    for number in range(len(EXPRESSIONS)):
        median = statistics.median(times[number, place])
        ratio = f" ({median / statistics.median(times[number, 0]):,.0f} ×)" if place else ""
        cells.append(text(median) + ratio)
    print(f"| {engine.name} | {' | '.join(cells)} |")
print(f"| ids | {' | '.join(str(times[number]) for number in range(len(EXPRESSIONS)))} |")
for name, expression in EXPRESSIONS:
    print(f"{name}: {expression}")
for reason in skipped:
    print(f"Left out: {reason}")
