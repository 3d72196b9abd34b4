#!/usr/bin/env python3
"""Copies of an SQLite database, side by side: CPU, memory and time of `inorder copy` and of `.dump | sqlite3`.

    cargo build --release
    python3 crates/inorder-copy/benches/into_sqlite.py                    # 4 tables, 4,000,000 rows
    python3 crates/inorder-copy/benches/into_sqlite.py --rows 400000 --repeat 3
    python3 crates/inorder-copy/benches/into_sqlite.py --older OTHER/inorder --csv copy.csv

The tables have integers, floating-point numbers, texts and NULLs. Two have a key of integers, one a key of text in no
order, one a key of two columns, and each has an index. The copiers run by turns. CPU is user and system time of the
process and all it started; memory is the largest process's. What was copied is checked by counts, sums and
`PRAGMA integrity_check`. `inorder copy` also reads all rows back and compares their hashes; `.dump` does not. --older
names the program of another build, which is measured too.
"""

import argparse
import csv as csv_files
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

COLUMNS = "customer INTEGER NOT NULL, name TEXT, ratio REAL, note TEXT, size INTEGER"
TABLES = {
    "a": f"CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, {COLUMNS}); CREATE INDEX a_customer ON a(customer)",
    "b": f"CREATE TABLE b(id INTEGER PRIMARY KEY, {COLUMNS}); CREATE INDEX b_name ON b(name)",
    "c": f"CREATE TABLE c(id TEXT PRIMARY KEY, {COLUMNS}) WITHOUT ROWID; CREATE INDEX c_size ON c(size, customer)",
    "d": f"CREATE TABLE d(id INTEGER, {COLUMNS}, PRIMARY KEY (customer, id)) WITHOUT ROWID; CREATE INDEX d_ratio ON d(ratio)",
}

FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
    INSERT INTO {table} SELECT {id}, i * 7919 % 100003, 'name ' || hex(i * 2654435761 % 4294967296), i / 7.0,
        iif(i % 10 = 0, NULL, 'a note of some words, number ' || i * 31), i % 5 FROM n"""

CHECK = "SELECT count(*), count(DISTINCT id), sum(customer), sum(length(name)), sum(ratio), count(note), sum(length(note)), sum(size) FROM {table}"


def fill(path, rows):
    with sqlite3.connect(path) as db:
        db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -500000")
        for table, sql in TABLES.items():
            db.executescript(sql)
            id = "printf('%08x-%d', i * 2654435761 % 4294967296, i)" if table == "c" else "i"
            db.execute(FILL.format(table=table, rows=rows // len(TABLES), id=id))


def measure(command, log):
    """Runs a command; its costs, those of its children included."""
    began = time.monotonic()
    with open(log, "w") as said:
        child = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]}: {Path(log).read_text()[-2000:]}")
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "wall_s": time.monotonic() - began,
        "memory_bytes": usage.ru_maxrss * 1024,
    }


def check(source, copy):
    """Ends the program if a copy is not like its source."""
    with sqlite3.connect(source) as own, sqlite3.connect(copy) as other:
        for table in TABLES:
            rows = [db.execute(CHECK.format(table=table)).fetchone() for db in (own, other)]
            if rows[0] != rows[1]:
                sys.exit(f"{copy}: table {table}: {rows[0]} and {rows[1]}")
        if other.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            sys.exit(f"{copy}: it is damaged")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of all tables")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--inorder", default=str(ROOT / "target/release/inorder"))
    parser.add_argument("--older", help="the program of another build")
    parser.add_argument("--sqlite3", default="sqlite3")
    parser.add_argument("--folder", help="for the databases; default: the system's temporary folder")
    parser.add_argument("--csv", help="write all figures to this file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="inorder-copy-", dir=args.folder) as folder:
        source, copy = f"{folder}/from.db", f"{folder}/to.db"
        fill(source, args.rows)
        commands = {"inorder": [args.inorder, "copy", source, copy, "--quiet"]}
        if args.older:
            commands["inorder, older"] = [args.older, "copy", source, copy, "--quiet"]
        commands["dump"] = ["sh", "-e", "-c", f"{args.sqlite3} {source} .dump | {args.sqlite3} {copy}"]
        figures = []
        for run in range(args.repeat):
            for name, command in commands.items():
                Path(copy).unlink(missing_ok=True)
                figure = {"copier": name, "run": run, "rows": args.rows // len(TABLES) * len(TABLES), **measure(command, f"{folder}/log")}
                check(source, copy)
                figures.append(figure)
                print(", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figure.items()), flush=True)
        cpu = {name: statistics.median(figure["cpu_s"] for figure in figures if figure["copier"] == name) for name in commands}
        for name in list(commands)[1:]:
            print(f"{name} takes {cpu[name] / cpu['inorder']:.1f} times the CPU of inorder")
        if args.csv:
            with open(args.csv, "w", newline="") as file:
                writer = csv_files.DictWriter(file, figures[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(figures)


if __name__ == "__main__":
    main()
