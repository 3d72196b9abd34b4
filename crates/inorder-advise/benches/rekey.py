#!/usr/bin/env python3
"""Compares `inorder rekey` with the migration script and VACUUM in the `sqlite3` shell.

    cargo build --profile dist -p inorder-cli && cargo build --release -p inorder-advise --example migration
    python3 crates/inorder-advise/benches/rekey.py                                # 990 MB, three runs: about 6 minutes
    python3 crates/inorder-advise/benches/rekey.py --mb 100 --repeat 1 index blobs
    python3 crates/inorder-advise/benches/rekey.py --repeat 5 --csv rekey.csv

Both change a copy of the same database by the same plan. CPU time, bytes that the kernel counts as written to the disk,
and wall time are those of the child process. Each copy is made just before its run, so that its pages are in the cache:
some systems drop those that nobody reads for a minute. The contents of both results are compared after the first run.
Of several runs the table has the medians; the ratio is that of each pair of runs, from the least to the largest.
"""
import argparse
import csv
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

SCHEMA = """
CREATE TABLE event(id TEXT PRIMARY KEY, user INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT);
CREATE INDEX event_user ON event(user);
CREATE INDEX event_user_at ON event(user, at);
CREATE INDEX event_old ON event(body) WHERE 0;
CREATE TABLE item(id INT PRIMARY KEY, name TEXT, price REAL, note TEXT);
CREATE INDEX item_name ON item(name);
CREATE TABLE tag(item INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(tag, item));
CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, line TEXT, UNIQUE(id, at));
CREATE INDEX log_at ON log(at);
"""
PLANS = {
    "all": [
        {"change": "drop-index", "index": "event_user"},
        {"change": "drop-unique", "table": "log", "columns": ["id", "at"]},
        {"change": "without-rowid", "table": "event"},
        {"change": "without-rowid", "table": "tag"},
        {"change": "integer-primary-key", "table": "item", "column": "id"},
    ],
    "index": [{"change": "drop-index", "index": "event_user"}],
    "without-rowid": [{"change": "without-rowid", "table": "event"}],
    "integer-key": [{"change": "integer-primary-key", "table": "item", "column": "id"}],
    # The script needs SQLite 3.41 for this one.
    "blobs": [{"change": "ids-to-blobs", "columns": [{"table": "event", "column": "id", "form": "hex"}]}],
    "page-size": [{"change": "page-size", "bytes": 8192}],
}
# Rows of each table per MB of the file, as INSERT ... SELECT of a number n.
ROWS = {
    "event": (1450, "lower(hex(randomblob(16))), n * 7919 % 10007, 1700000000 + n, 'kind ' || n % 20, hex(randomblob(30))"),
    "item": (1300, "(n * 2654435761) % 4294967291, 'name ' || hex(randomblob(6)), n / 4.0, hex(randomblob(15))"),
    "tag": (4200, "n % 50021, 'tag ' || hex(randomblob(4))"),
    "log": (2500, "n, 1700000000 + n, 'line ' || hex(randomblob(25))"),
}


def make(path, mb):
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;" + SCHEMA)
    for table, (rows, values) in ROWS.items():
        numbers = f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows * mb})"
        database.execute(f"{numbers} INSERT OR IGNORE INTO {table} SELECT {values} FROM c")
    database.close()


def measured(command, original, copy, stdin=None):
    """Runs a command that changes the copy of a database."""
    shutil.copy(original, copy)
    # The copy is on the disk then: its pages in the cache are not written at the expense of whoever syncs next.
    os.sync()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(stdin or os.devnull) as script:
        subprocess.run(command, stdin=script, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    written = (after.ru_oublock - before.ru_oublock) * 512
    return {"cpu_s": user + system, "user_s": user, "system_s": system, "wall_s": wall, "written_bytes": written}


def content(path):
    database = sqlite3.connect(path)
    ordered = {"event": "id", "item": "id", "tag": "tag, item", "log": "id"}
    sums = {}
    for table, key in ordered.items():
        digest = 0
        for row in database.execute(f"SELECT * FROM {table} ORDER BY {key}"):
            digest = hash((digest, row))
        sums[table] = digest
    schema = sorted(" ".join(row[0].replace('"', "").split()) for row in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
    return sums, schema, os.path.getsize(path)


def compare(path, options, plan):
    """Makes the changes of a plan in both ways. Returns what each run took, rekey's and the shell's."""
    with open(path("plan.json"), "w") as file:
        json.dump({"changes": PLANS[plan]}, file)
    with open(path("script.sql"), "w") as script:
        subprocess.run([options.migration, path("small.db"), path("plan.json")], stdout=script, check=True)
    original, shell, rekey = (path(f"{name}.db") for name in ("app", "shell", "rekey"))
    command = [options.inorder, "rekey", rekey, "--plan", path("plan.json"), "--quiet"]
    runs = []
    for number in range(options.repeat):
        by_shell = measured([options.sqlite3, shell], original, shell, stdin=path("script.sql"))
        by_rekey = measured(command, original, rekey)
        runs.append((by_rekey, by_shell))
        ratio = by_shell["cpu_s"] / by_rekey["cpu_s"]
        print(f"{plan}, run {number + 1}: {by_shell['cpu_s']:.2f} s and {by_rekey['cpu_s']:.2f} s of CPU, {ratio:.1f} times less", flush=True)
        if number == 0:
            contents = content(shell), content(rekey)
            assert contents[0][:2] == contents[1][:2], f"the contents differ: {contents}"
            sizes = [os.path.getsize(original), contents[0][2], contents[1][2]]
        os.unlink(shell)
        os.unlink(rekey)
    before, by_script, by_rekey = (size / 1e6 for size in sizes)
    print(f"{plan}: {before:.0f} MB before; {by_script:.1f} MB by the script, {by_rekey:.1f} MB by rekey; same content")
    print("| | script and VACUUM | rekey | ratio |\n| --- | --- | --- | --- |")
    for what in runs[0][0]:
        medians = [statistics.median(run[side][what] for run in runs) for side in (1, 0)]
        ratios = sorted(shell[what] / rekey[what] if rekey[what] else float("inf") for rekey, shell in runs)
        print(f"| {what} | {medians[0]:.2f} | {medians[1]:.2f} | {ratios[0]:.1f} to {ratios[-1]:.1f} |", flush=True)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="*", default=["all"], metavar="PLAN", help=f"of {', '.join(PLANS)}; `all` where none is said")
    parser.add_argument("--mb", type=int, default=1100, help="a measure of the database's size; 1100 gives 990 MB")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each")
    parser.add_argument("--dir", help="folder for the databases; a temporary one where it isn't said")
    parser.add_argument("--csv", help="write the figures of every run to this file")
    parser.add_argument("--inorder", default=str(ROOT / "target/dist/inorder"))
    parser.add_argument("--migration", default=str(ROOT / "target/release/examples/migration"))
    parser.add_argument("--sqlite3", default="sqlite3")
    options = parser.parse_args()
    for plan in options.plans:
        if plan not in PLANS:
            parser.error(f"no plan {plan}: one of {', '.join(PLANS)}")
    rows = []
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        path = lambda name: os.path.join(folder, name)
        make(path("app.db"), options.mb)
        # The script is the same for any number of rows.
        make(path("small.db"), 1)
        for plan in options.plans:
            for rekey, shell in compare(path, options, plan):
                rows += [{"plan": plan, "program": "inorder rekey", **rekey}, {"plan": plan, "program": "script and VACUUM", **shell}]
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            out = csv.DictWriter(file, rows[0], lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
