#!/usr/bin/env python3
"""Compares the extension with others: CPU nanoseconds per row, in one process, without the time of the row source.

    cargo build --release && python3 bench/peers.py [--csv FILE]

Installs the peers (sqlite-ulid, sqlean.py, and apsw for SQLite's own uuid.c) from PyPI into target/peers. Each contender
has a connection of its own to the same SQLite, that of sqlean.py; they take turns, round after round, and the median
round counts. A ratio is that of the extension to the peer; `with source` is the ratio without subtracting anything.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers"
EXTENSION = os.environ.get("INORDER_EXTENSION", str(ROOT / "target" / "release" / "libinorder"))
ROWS = 200_000
ROUNDS = int(os.environ.get("INORDER_ROUNDS", "41"))

# Title, this extension's expression, the other extension, its expression, the largest allowed ratio.
CONTESTS = [
    ("ULID blob", "ulid()", "sqlite-ulid", "ulid_bytes()", 0.80),
    ("ULID text", "ulid_text()", "sqlite-ulid", "ulid()", 0.35),
    ("UUIDv7 blob", "uuid7()", "sqlean", "uuid_blob(uuid7())", 0.33),
    ("UUIDv7 text", "uuid7_text()", "sqlean", "uuid7()", 0.63),
    ("UUIDv4 blob", "uuid4()", "uuid.c", "uuid_blob(uuid())", None),
    ("UUIDv4 text", "uuid4_text()", "uuid.c", "uuid()", 0.55),
    ("UUIDv4 text", "uuid4_text()", "sqlean", "uuid4()", None),
]


def in_environment():
    """Restarts this script in an environment with the other extensions, and creates that if it is missing."""
    python = PEERS / "bin" / "python"
    if pathlib.Path(sys.prefix) == PEERS:
        return
    if not python.exists():
        venv.create(PEERS, with_pip=True)
    packages = ["sqlite-ulid", "sqlean.py", "apsw"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def connections():
    """Opens one connection per extension, by name."""
    import apsw.sqlite_extra
    import sqlean
    import sqlite_ulid

    def connect(load=None):
        connection = sqlean.connect(":memory:", isolation_level=None)
        connection.execute("CREATE TABLE source(n INTEGER PRIMARY KEY, id BLOB)")
        count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?)"
        connection.execute(f"{count} INSERT INTO source SELECT n, randomblob(16) FROM c", [ROWS])
        if load:
            connection.enable_load_extension(True)
            connection.execute("SELECT load_extension(?)", [load])
        return connection

    extras = pathlib.Path(apsw.sqlite_extra.__file__).parent
    uuid_c = next(extras.rglob("*uuid*.so"), None) or apsw.sqlite_extra.path("uuid")
    found = {
        "inorder": connect(EXTENSION),
        "sqlite-ulid": connect(sqlite_ulid.loadable_path()),
        "uuid.c": connect(str(uuid_c)),
    }
    sqlean.extensions.enable("uuid")
    found["sqlean"] = connect()
    return found


def nanoseconds(connection, sql):
    start = time.process_time_ns()
    connection.execute(sql).fetchall()
    return (time.process_time_ns() - start) / ROWS


def measure(statements, csv):
    """Returns the median of each statement's rounds in nanoseconds per row, and writes every round to a CSV file."""
    rounds = {key: [] for key in statements}
    for _ in range(ROUNDS):
        for key, (connection, sql) in statements.items():
            rounds[key].append(nanoseconds(connection, sql))
    if csv:
        lines = [f'{key[0]},"{statements[key][1]}",{time:.2f}' for key, times in rounds.items() for time in times]
        pathlib.Path(csv).write_text("\n".join(["contender,sql,row_ns", *lines]) + "\n")
    return {key: statistics.median(times) for key, times in rounds.items()}


def main():
    in_environment()
    contenders = connections()
    ours = contenders["inorder"]
    statements = {
        ("inorder", "source"): (ours, "SELECT count(n) FROM source"),
        ("inorder", "column"): (ours, "SELECT count(id) FROM source"),
        ("inorder", "batch"): (ours, f"SELECT count(key) FROM keys('ulid', {ROWS})"),
        ("inorder", "batch text"): (ours, f"SELECT count(key) FROM keys('ulid_text', {ROWS})"),
        ("inorder", "constant"): (ours, "SELECT count(randomblob(16)) FROM source"),
    }
    for _, own, peer, theirs, _ in CONTESTS:
        statements["inorder", own] = (ours, f"SELECT count({own}) FROM source")
        statements[peer, theirs] = (contenders[peer], f"SELECT count({theirs}) FROM source")
    csv = sys.argv[2] if sys.argv[1:2] == ["--csv"] else None
    found = measure(statements, csv)
    version = ours.execute("SELECT sqlite_version(), inorder_version()").fetchone()
    source = found["inorder", "source"]
    print(f"SQLite {version[0]}, inorder {version[1]}; {ROUNDS} rounds of {ROWS} rows, CPU ns per row")
    print(f"row source {source:.1f}, stored column {found['inorder', 'column']:.1f}, randomblob(16) {found['inorder', 'constant']:.1f}\n")
    print(f"{'':12} {'inorder':>8} {'peer':>8}  {'ratio':>5}  {'at most':>7}  {'with source':>11}")
    missed = False
    for title, own, peer, theirs, limit in CONTESTS:
        a, b = found["inorder", own], found[peer, theirs]
        ratio = (a - source) / (b - source)
        missed |= limit is not None and ratio > limit
        allowed = f"{limit:.2f}" if limit else ""
        print(f"{title:12} {a - source:8.1f} {b - source:8.1f}  {ratio:5.2f}  {allowed:>7}  {a / b:11.2f}  {peer} {theirs}")
    ratio = found["inorder", "batch"] / found["inorder", "column"]
    missed |= ratio > 1.5
    print(f"{'keys(), blob':12} {found['inorder', 'batch']:8.1f} {found['inorder', 'column']:8.1f}  {ratio:5.2f}  {1.5:7.2f}  {'':11}  the stored column")
    ratio = found["inorder", "batch text"] / found["inorder", "column"]
    print(f"{'keys(), text':12} {found['inorder', 'batch text']:8.1f} {found['inorder', 'column']:8.1f}  {ratio:5.2f}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
