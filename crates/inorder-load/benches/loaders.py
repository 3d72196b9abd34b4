#!/usr/bin/env python3
"""Loaders of a CSV into an SQLite table, side by side: CPU, time, memory and bytes written of each.

    cargo build --release
    python3 crates/inorder-load/benches/loaders.py                    # 5,000,000 rows, 530 MB, all loaders
    python3 crates/inorder-load/benches/loaders.py --rows 1000000 --only inorder,import

The same file for all: an id of 40 hex digits in no order and a payload of 64. Two tables: WITHOUT ROWID with the id
as its key, and one with rowids and the id as its PRIMARY KEY. What a loader wrote is counted and checked by SQLite
after it has ended. A loader that is not there is said so and left out. CPU is user and system time of the process
and all it started; bytes are `wchar` of /proc/PID/io, which counts every write, to a pipe too (Linux).
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

TABLES = {
    "without-rowid": "CREATE TABLE t(id TEXT PRIMARY KEY, payload TEXT) WITHOUT ROWID",
    "rowid": "CREATE TABLE t(id TEXT PRIMARY KEY, payload TEXT)",
}

EXECUTEMANY = """
import csv, sqlite3, sys
db = sqlite3.connect(sys.argv[2])
with open(sys.argv[1], newline="") as file:
    rows = csv.reader(file)
    next(rows)
    db.executemany("INSERT INTO t VALUES (?, ?)", rows)
db.commit()
"""

DUCKDB = """
import duckdb, sys
db = duckdb.connect()
db.execute("INSTALL sqlite; LOAD sqlite")
db.execute(f"ATTACH '{sys.argv[2]}' AS app (TYPE sqlite)")
db.execute(f"INSERT INTO app.t SELECT * FROM read_csv('{sys.argv[1]}', all_varchar = true) {sys.argv[3]}")
"""


def generate(path, rows):
    """Writes the input; the same for the same number of rows."""
    dice = random.Random(1)
    with open(path, "w") as file:
        file.write("id,payload\n")
        for _ in range(rows):
            file.write("%040x,%064x\n" % (dice.getrandbits(160), dice.getrandbits(256)))


def shell(text):
    return ["sh", "-e", "-c", text]


def loaders(args, table, csv, db, python, tools):
    """Every loader: its name, and its command or why it can't run. Those named "new file" find no database."""
    inorder = [args.inorder, "load", csv, db, "--table", "t", "--quiet"]
    create = inorder + ["--create", "--key", "id", "--layout", table]
    sqlite = args.sqlite3
    plain = f"tail -n +2 {csv} | {sqlite} -csv {db} '.import /dev/stdin t'"
    cached = f"{sqlite} -csv {db} 'PRAGMA cache_size=-1048576' 'PRAGMA journal_mode=OFF' '.import --skip 1 {csv} t'"
    # The shell's -csv output of the PRAGMA goes to the terminal otherwise.
    cached += " >/dev/null"
    ordered = f"tail -n +2 {csv} | LC_ALL=C sort -t, -k1,1 -T {Path(db).parent} | {sqlite} -csv {db} '.import /dev/stdin t'"
    yield "inorder, new file", create
    yield "inorder, new file, --memory 128M", create + ["--memory", "128M"]
    yield "inorder, into a database", inorder
    yield "inorder --writer statements", inorder + ["--writer", "statements"]
    yield "inorder --order input", inorder + ["--order", "input", "--writer", "statements"]
    yield "import", shell(plain) if shutil.which(sqlite) else f"{sqlite} is not there"
    yield "import, 1 GB cache, no journal", shell(cached) if shutil.which(sqlite) else f"{sqlite} is not there"
    yield "sort, import", shell(ordered) if shutil.which(sqlite) else f"{sqlite} is not there"
    yield "python executemany", [sys.executable, "-c", EXECUTEMANY, csv, db]
    missing = tools.get("sqlite-utils")
    yield "sqlite-utils", missing or [python, "-m", "sqlite_utils", "insert", db, "t", csv, "--csv", "--silent"]
    missing = tools.get("duckdb")
    yield "duckdb", missing or [python, "-c", DUCKDB, csv, db, ""]
    yield "duckdb ORDER BY", missing or [python, "-c", DUCKDB, csv, db, "ORDER BY id"]


def install(folder):
    """A Python with the tools that come from PyPI, and why each that is missing is."""
    python = folder / "bin" / "python"
    missing = {}
    try:
        if not python.exists():
            venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = f"no venv: {error}"
        return str(python), {"sqlite-utils": why, "duckdb": why}
    packages = {"sqlite-utils": ["sqlite-utils"], "duckdb": ["duckdb", "duckdb-extension-sqlite-scanner"]}
    for tool, names in packages.items():
        said = subprocess.run([python, "-m", "pip", "install", "-q", *names], capture_output=True, text=True)
        if said.returncode != 0:
            missing[tool] = "pip: " + (said.stderr.strip().splitlines() or ["failed"])[-1]
    return str(python), missing


def measure(command, seconds_max):
    """Runs a command; its costs, or why it failed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        while True:
            # Its counters are there as long as nobody has asked for its end.
            ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is not None:
                break
            if time.monotonic() - began > seconds_max:
                child.kill()
            time.sleep(0.01)
        wall = time.monotonic() - began
        io = Path(f"/proc/{child.pid}/io").read_text()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace").strip()
    if child.returncode != 0:
        return {"failed": (text.splitlines() or [f"exit code {child.returncode}"])[-1]}
    written = next(int(line.split()[1]) for line in io.splitlines() if line.startswith("wchar"))
    return {
        "user": usage.ru_utime,
        "system": usage.ru_stime,
        "wall": wall,
        "memory_bytes": usage.ru_maxrss * 1024,
        "written_bytes": written,
    }


def check(db, rows):
    """What is wrong with what was loaded, if anything is."""
    connection = sqlite3.connect(db)
    try:
        (count,) = connection.execute("SELECT count(*) FROM t").fetchone()
        (health,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    finally:
        connection.close()
    if count != rows:
        return f"{count} rows"
    return None if health == "ok" else health


def show(table, rows, results, csv_bytes):
    print(f"\n{table}: {rows:,} rows, {csv_bytes / 1e6:.0f} MB of CSV")
    print("| loader | CPU s | user | system | wall s | MB of memory | MB written | file MB | CPU, times inorder |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    first = next((r for r in results.values() if "user" in r), None)
    for name, r in results.items():
        if "user" not in r:
            print(f"| {name} | {r.get('skipped') or r.get('failed')} | | | | | | | |")
            continue
        cpu = r["user"] + r["system"]
        times = cpu / (first["user"] + first["system"])
        cells = [f"{cpu:.2f}", f"{r['user']:.2f}", f"{r['system']:.2f}", f"{r['wall']:.1f}"]
        cells += [f"{r[key] / 1e6:.0f}" for key in ("memory_bytes", "written_bytes", "file_bytes")]
        print(f"| {name} | " + " | ".join(cells) + f" | {times:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--dir", type=Path, help="folder for input and databases; a temporary one where it isn't said")
    parser.add_argument("--only", default="", help="loaders whose names begin with one of these, by commas")
    parser.add_argument("--table", choices=TABLES, action="append", help="one table in place of both")
    parser.add_argument("--inorder", default=str(ROOT / "target/release/inorder"))
    parser.add_argument("--sqlite3", default="sqlite3")
    parser.add_argument("--venv", type=Path, help="a folder for Python packages, kept for the next time")
    parser.add_argument("--seconds-max", type=float, default=1800, help="a loader that takes longer is ended")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    args = parser.parse_args()
    if not Path(args.inorder).exists():
        sys.exit(f"{args.inorder} is not there: cargo build --release")
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        folder = Path(folder)
        wanted = [name for name in args.only.split(",") if name]
        needs_python = not wanted or any(name.startswith(("sqlite-utils", "duckdb")) for name in wanted)
        python, missing = install(args.venv or folder / "venv") if needs_python else (sys.executable, {})
        csv, db = str(folder / "rows.csv"), str(folder / "app.db")
        generate(csv, args.rows)
        all_results = {}
        for table in args.table or TABLES:
            results = all_results[table] = {}
            for name, command in loaders(args, table, csv, db, python, missing):
                if wanted and not name.startswith(tuple(wanted)):
                    continue
                if isinstance(command, str):
                    results[name] = {"skipped": f"SKIPPED: {command}"}
                    continue
                if "new file" not in name:
                    connection = sqlite3.connect(db)
                    connection.execute(TABLES[table])
                    connection.close()
                result = results[name] = measure(command, args.seconds_max)
                if "user" in result:
                    result["file_bytes"] = Path(db).stat().st_size
                    wrong = check(db, args.rows)
                    if wrong:
                        results[name] = {"failed": f"WRONG: {wrong}"}
                print(f"{table}, {name}: {json.dumps(results[name])}", file=sys.stderr)
                for file in folder.glob("app.db*"):
                    file.unlink()
            show(table, args.rows, results, Path(csv).stat().st_size)
        if args.json:
            args.json.write_text(json.dumps({"rows": args.rows, "results": all_results}, indent=2))


if __name__ == "__main__":
    main()
