#!/usr/bin/env python3
"""Measures `inorder advise` on a database of 20 tables and 40 indexes.

Usage: advise.py INORDER [MB] [FOLDER] [ARGUMENT...]

INORDER is the command, MB the size of the database (1000), FOLDER where it is made and copied. A database that is
there already (FOLDER/advise-MB.db) is used again. Further arguments go to the command, such as --sample.
CPU time, peak memory, bytes that the kernel counts as written and wall time are those of the child process; the peak
of the copies is the allocated size of all files in TMPDIR, polled every 20 ms.
"""
import multiprocessing, os, random, resource, sqlite3, subprocess, sys, tempfile, time

# Name, CREATE statements, rows per MB of the file, and the values of row n.
GROUPS = [
    ("event", """CREATE TABLE {t}(id INTEGER PRIMARY KEY, user INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, body TEXT);
        CREATE INDEX {t}_user ON {t}(user); CREATE INDEX {t}_user_at ON {t}(user, at); CREATE INDEX {t}_kind ON {t}(kind);""",
     350, lambda n, r: (n, r.getrandbits(32) % 10007, f"kind {r.getrandbits(4)}", 1700000000 + n, f"{r.getrandbits(320):080x}")),
    ("item", """CREATE TABLE {t}(id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT, at INTEGER);
        CREATE INDEX {t}_owner ON {t}(owner);""",
     240, lambda n, r: (uuid4(r.getrandbits(128)), uuid4((n % 5003) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128),
                        f"title {r.getrandbits(96):024x}", 1700000000 + n)),
    ("link", """CREATE TABLE {t}(a INTEGER NOT NULL, b INTEGER NOT NULL, weight REAL, PRIMARY KEY(a, b));
        CREATE INDEX {t}_b ON {t}(b);""",
     700, lambda n, r: (r.getrandbits(30) % 60013, n, r.random())),
    ("doc", """CREATE TABLE {t}(id BIGINT PRIMARY KEY, name TEXT, parent INTEGER, body TEXT);
        CREATE INDEX {t}_parent ON {t}(parent);""",
     62, lambda n, r: (n * 3, f"name {n}", None, f"{r.getrandbits(3200):0800x}")),
    ("reading", """CREATE TABLE {t}(sensor INTEGER NOT NULL, at INTEGER NOT NULL, value REAL, note TEXT);
        CREATE INDEX {t}_sensor ON {t}(sensor, at);""",
     900, lambda n, r: (n % 401, 1700000000 + n, r.random(), None)),
]
COPIES = 4


def uuid4(bits):
    digits = f"{bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def make(path, mb):
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN")
    for group, schema, per_mb, values in GROUPS:
        for copy in range(COPIES):
            table, dice = f"{group}_{copy}", random.Random(f"{group} {copy}")
            statements = schema.format(t=table).split(";")
            database.execute(statements[0])
            rows = (values(n, dice) for n in range(1, per_mb * mb * 105 // 100))
            marks = ", ".join("?" * len(values(1, random.Random(1))))
            database.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)
            for statement in statements[1:]:
                database.execute(statement)
    database.execute("COMMIT")
    database.close()


def allocated(folder):
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(root, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def main():
    inorder, mb = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    folder = sys.argv[3] if len(sys.argv) > 3 else tempfile.gettempdir()
    path = os.path.join(folder, f"advise-{mb}.db")
    if not os.path.exists(path):
        # In a process of its own: the command would begin with the peak memory of the process that starts it.
        maker = multiprocessing.Process(target=make, args=(path + ".part", mb))
        maker.start()
        maker.join()
        assert maker.exitcode == 0, maker.exitcode
        os.rename(path + ".part", path)
    size = os.path.getsize(path)
    with tempfile.TemporaryDirectory(dir=folder) as copies:
        began, peak = time.monotonic(), 0
        command = [inorder, "advise", path, "--quiet", "--output", os.path.join(copies, "advice.txt"), *sys.argv[4:]]
        child = subprocess.Popen(command, env={**os.environ, "TMPDIR": copies})
        while child.poll() is None:
            peak = max(peak, allocated(copies))
            time.sleep(0.02)
        wall, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert child.returncode == 0, child.returncode
        with open(os.path.join(copies, "advice.txt")) as advice:
            print(advice.read())
    print("| file MB | CPU s | wall s | peak memory MB | written MB | peak of the copies, in sizes of the file |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(f"| {size / 1e6:.0f} | {used.ru_utime + used.ru_stime:.1f} | {wall:.1f} | {used.ru_maxrss * 1024 / 1e6:.0f} "
          f"| {used.ru_oublock * 512 / 1e6:.0f} | {peak / size:.2f} |")


if __name__ == "__main__":
    main()
