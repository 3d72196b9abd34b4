#!/usr/bin/env python3
"""Loaders of a CSV into an SQLite table, side by side: CPU, time, memory and bytes written of each.

    cargo build --profile dist -p inorder-cli && cargo build --profile dist -p inorder-load --example rusqlite
    python3 crates/inorder-load/benches/loaders.py                    # 5,000,000 rows, 530 MB: about 25 minutes
    python3 crates/inorder-load/benches/loaders.py --rows 1000000 --slow            # all loaders: 10 minutes
    python3 crates/inorder-load/benches/loaders.py --rows 1000000 --only inorder,import --repeat 5
    python3 crates/inorder-load/benches/loaders.py --skip sqlite-utils,python --csv loaders.csv
    python3 crates/inorder-load/benches/loaders.py --list

The same file for all: an id of 40 hex digits in no order and a payload of 64. Two tables: WITHOUT ROWID with the id
as its key, and one with rowids and the id as its PRIMARY KEY. Loaders that take minutes run only with --slow, or if
--only names them. Nothing is ended early unless --seconds-max says so. The loaders run by turns, --repeat times each, what is
slow once: a machine whose speed changes changes it for all. Of several runs the table has the one of median CPU, and the
last column is the quotient of two medians. The input is read before each run, so that it is in the cache: some systems
drop pages that nobody reads for a minute.

Whatever was loaded is checked after the loader has ended: the number of rows, that a walk along the key meets every id
once and in order, a thousand rows by their keys, and what `inorder` wrote by PRAGMA integrity_check; of further runs
the number of rows. A load that fails or is wrong makes the exit code 1. A loader that is not there is said so and left out.

CPU is user and system time of the process and all it started; bytes are `wchar` of /proc/PID/io, which counts every
write, to a pipe too (Linux); memory is the largest process's, 20 MB at least. --csv writes every figure of every
run, as soon as it is known.
"""

import argparse
import csv as csv_files
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
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

# Its extension comes as a package of PyPI: DuckDB's own host of extensions isn't needed.
DUCKDB = """
import duckdb, duckdb_extension_sqlite_scanner, pathlib, sys
folder = pathlib.Path(duckdb_extension_sqlite_scanner.__file__).parent
db = duckdb.connect()
db.execute(f"LOAD '{next(folder.rglob('*.duckdb_extension'))}'")
db.execute(f"ATTACH '{sys.argv[2]}' AS app (TYPE sqlite)")
db.execute(f"INSERT INTO app.t SELECT * FROM read_csv('{sys.argv[1]}', all_varchar = true) {sys.argv[3]}")
"""

PACKAGES = {"sqlite-utils": ["sqlite-utils"], "duckdb": ["duckdb", "duckdb-extension-sqlite-scanner"]}


@dataclass
class Loader:
    name: str
    command: list
    # What has to be there: a program, or one of PACKAGES.
    needs: str = ""
    # Whether it makes the table itself, in a database that isn't there yet.
    is_new: bool = False
    # Whether it takes minutes.
    is_slow: bool = False

    @property
    def is_ours(self):
        return self.name.startswith("inorder")


def shell(text):
    return ["sh", "-e", "-c", text]


def loaders(args, table, csv, db, python):
    """Every loader. The first is what the others are compared with."""
    sqlite = args.sqlite3
    load = [args.inorder, "load", csv, db, "--table", "t", "--quiet"]
    create = load + ["--create", "--key", "id", "--layout", table]
    body = f"tail -n +2 {csv}"
    sort = f"LC_ALL=C sort -t, -k1,1 -T {Path(db).parent}"
    # The shell's output of the PRAGMA goes to stdout.
    cached = f"{sqlite} -csv {db} 'PRAGMA cache_size=-1048576' 'PRAGMA journal_mode=OFF' '.import --skip 1 {csv} t' >/dev/null"
    duckdb = [python, "-c", DUCKDB, csv, db]
    return [
        Loader("inorder", create, args.inorder, is_new=True),
        Loader("inorder --threads 1", create + ["--threads", "1"], args.inorder, is_new=True),
        Loader("inorder --memory 128M", create + ["--memory", "128M"], args.inorder, is_new=True),
        Loader("inorder, a database with other tables", load, args.inorder),
        Loader("inorder --writer statements", load + ["--writer", "statements"], args.inorder),
        Loader("inorder --order input", load + ["--order", "input", "--writer", "statements"], args.inorder, is_slow=True),
        Loader("rusqlite, sorted, 50 rows a statement", [args.rusqlite, csv, db], args.rusqlite),
        Loader("import", shell(f"{body} | {sqlite} -csv {db} '.import /dev/stdin t'"), sqlite),
        Loader("import, 1 GB cache, no journal", shell(cached), sqlite),
        Loader("import after sort", shell(f"{body} | {sort} | {sqlite} -csv {db} '.import /dev/stdin t'"), sqlite),
        Loader("python executemany", [sys.executable, "-c", EXECUTEMANY, csv, db], is_slow=True),
        Loader("sqlite-utils", [python, "-m", "sqlite_utils", "insert", db, "t", csv, "--csv", "--silent"], "sqlite-utils", is_slow=True),
        Loader("duckdb", duckdb + [""], "duckdb"),
        Loader("duckdb ORDER BY", duckdb + ["ORDER BY id"], "duckdb"),
    ]


def generate(path, rows):
    """Writes the input; the same for the same number of rows. Returns a thousand of its rows."""
    dice = random.Random(1)
    every = max(1, rows // 1000)
    known = []
    with open(path, "w") as file:
        file.write("id,payload\n")
        for row in range(rows):
            id, payload = "%040x" % dice.getrandbits(160), "%064x" % dice.getrandbits(256)
            file.write(f"{id},{payload}\n")
            if row % every == 0:
                known.append((id, payload))
    return known


def install(folder, wanted):
    """A Python with the packages that are wanted, and why each that is missing is."""
    python = folder / "bin" / "python"
    try:
        if wanted and not python.exists():
            venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return str(python), {tool: f"no venv: {error}" for tool in wanted}
    missing = {}
    for tool in sorted(wanted):
        said = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES[tool]], capture_output=True, text=True)
        if said.returncode != 0:
            missing[tool] = "pip: " + (said.stderr.strip().splitlines() or ["failed"])[-1]
    return str(python), missing


def measure(command, seconds_max):
    """Runs a command; its costs, or why it failed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        # Its counters are there as long as nobody has asked for its end.
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if seconds_max and time.monotonic() - began > seconds_max:
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
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "user": usage.ru_utime,
        "system": usage.ru_stime,
        "wall": wall,
        "memory_bytes": usage.ru_maxrss * 1024,
        "written_bytes": next(int(line.split()[1]) for line in io.splitlines() if line.startswith("wchar")),
    }


def check(db, rows, known, is_ours):
    """What is wrong with what was loaded, if anything is; without known rows only whether all are there."""
    connection = sqlite3.connect(db)
    try:
        (stored,) = connection.execute("SELECT count(*) FROM t NOT INDEXED").fetchone()
        if stored != rows or not known:
            return None if stored == rows else f"{stored} rows"
        if is_ours:
            (health,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if health != "ok":
                return health
        count, before = 0, ""
        for (id,) in connection.execute("SELECT id FROM t ORDER BY id"):
            if not before < id:
                return f"{id} comes after {before}"
            before = id
            count += 1
        if count != rows:
            return f"{count} rows along the key"
        for id, payload in known:
            if connection.execute("SELECT payload FROM t WHERE id = ?", [id]).fetchall() != [(payload,)]:
                return f"{id} has another payload"
    except sqlite3.Error as error:
        return str(error)
    finally:
        connection.close()
    return None


def warm(path):
    """Reads a file, so that its pages are in the cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def run_once(loader, table, csv, db, rows, known, seconds_max):
    """One load, from an empty folder to an empty folder."""
    if not loader.is_new:
        connection = sqlite3.connect(db)
        connection.executescript(f"CREATE TABLE other(a); INSERT INTO other VALUES (1); {TABLES[table]}")
        connection.close()
    warm(csv)
    result = measure(loader.command, seconds_max)
    if "failed" not in result:
        result["file_bytes"] = Path(db).stat().st_size
        wrong = check(db, rows, known, loader.is_ours)
        if wrong:
            result = {"failed": f"WRONG: {wrong}"}
    for file in Path(db).parent.glob("app.db*"):
        file.unlink()
    return result


def summary(runs):
    """All runs of a loader, and that of median CPU; of one that failed only why."""
    failed = [run for run in runs if "failed" in run]
    if failed:
        return failed[0]
    runs = sorted(runs, key=lambda run: run["cpu"])
    return {**runs[(len(runs) - 1) // 2], "cpu_best": runs[0]["cpu"], "runs": runs}


# The figures of a run: columns of the CSV, and what `measure` calls them.
COLUMNS = {
    "cpu_s": "cpu", "user_s": "user", "system_s": "system", "wall_s": "wall",
    "memory_bytes": "memory_bytes", "written_bytes": "written_bytes", "file_bytes": "file_bytes",
}


def write_csv(path, rows, results):
    """Every run of every loader that has been measured."""
    with open(path, "w", newline="") as file:
        out = csv_files.writer(file, lineterminator="\n")
        out.writerow(["table", "rows", "loader", *COLUMNS])
        for table, loaders_of in results.items():
            for name, result in loaders_of.items():
                for run_of in result.get("runs", []):
                    figures = [run_of[key] for key in COLUMNS.values()]
                    out.writerow([table, rows, name, *(round(figure, 3) for figure in figures)])


def show(table, rows, results, csv_bytes):
    print(f"\n{table}: {rows:,} rows, {csv_bytes / 1e6:.0f} MB of CSV")
    print("| loader | CPU s | best | user | system | wall s | MB of memory | MB written | file MB | CPU, times the first |")
    print("| --- |" + " ---: |" * 9)
    measured = [result for result in results.values() if "cpu" in result]
    for name, result in results.items():
        if "cpu" not in result:
            print(f"| {name} | {result.get('skipped') or result.get('failed')} |" + " |" * 8)
            continue
        cells = [f"{result[key]:.2f}" for key in ("cpu", "cpu_best", "user", "system")] + [f"{result['wall']:.1f}"]
        cells += [f"{result[key] / 1e6:.0f}" for key in ("memory_bytes", "written_bytes", "file_bytes")]
        print(f"| {name} | " + " | ".join(cells) + f" | {result['cpu'] / measured[0]['cpu']:.1f} |", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--dir", type=Path, help="folder for input and databases; a temporary one where it isn't said")
    parser.add_argument("--only", default="", help="loaders whose names begin with one of these, by commas or semicolons")
    parser.add_argument("--skip", default="", help="loaders that are left out, likewise")
    parser.add_argument("--list", action="store_true", help="name the loaders and end")
    parser.add_argument("--table", choices=TABLES, action="append", help="one table in place of both")
    parser.add_argument("--slow", action="store_true", help="also the loaders that take minutes")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each loader that is not slow")
    parser.add_argument("--inorder", default=str(ROOT / "target/dist/inorder"))
    parser.add_argument("--rusqlite", default=str(ROOT / "target/dist/examples/rusqlite"))
    parser.add_argument("--sqlite3", default="sqlite3")
    parser.add_argument("--venv", type=Path, help="a folder for Python packages, kept for the next time")
    parser.add_argument("--seconds-max", type=float, help="a loader that takes longer is ended, and has failed")
    parser.add_argument("--csv", type=Path, help="write the figures of every run to this file too")
    return parser.parse_args()


def chosen(args, table, csv, db, python):
    """The loaders that are wanted for a table."""
    # A name may have a comma.
    split = lambda names: tuple(filter(None, names.split(";" if ";" in names else ",")))
    only, skip = split(args.only), split(args.skip)
    for loader in loaders(args, table, csv, db, python):
        is_wanted = not only or loader.name.startswith(only)
        is_worth_it = args.slow or only or not loader.is_slow
        if is_wanted and is_worth_it and not loader.name.startswith(skip or ("\n",)):
            yield loader


def turns(jobs, tables, repeat):
    """All runs in their order: of a table the loaders by turns, and last those that take minutes."""
    for table in tables:
        for turn in range(repeat):
            yield from ((turn, of, loader) for of, loader in jobs if of == table and not loader.is_slow)
    yield from ((0, table, loader) for table, loader in jobs if loader.is_slow)


def main():
    args = arguments()
    tables = args.table or list(TABLES)
    if args.list:
        print("\n".join(loader.name for loader in loaders(args, tables[0], "", "", "")))
        return 0
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        folder = Path(folder)
        csv, db = str(folder / "rows.csv"), str(folder / "app.db")
        packages = {l.needs for t in tables for l in chosen(args, t, csv, db, "")} & PACKAGES.keys()
        python, missing = install(args.venv or folder / "venv", packages)
        known = generate(csv, args.rows)
        jobs = [(table, loader) for table in tables for loader in chosen(args, table, csv, db, python)]
        results = {table: {loader.name: {} for of, loader in jobs if of == table} for table in tables}
        for table, loader in jobs:
            why = missing.get(loader.needs)
            if loader.needs and loader.needs not in PACKAGES and not shutil.which(loader.needs):
                why = f"{loader.needs} is not there"
            if why:
                results[table][loader.name] = {"skipped": f"SKIPPED: {why}"}
        runs = {}
        for turn, table, loader in turns(jobs, tables, args.repeat):
            if {"skipped", "failed"} & results[table][loader.name].keys():
                continue
            result = run_once(loader, table, csv, db, args.rows, known if turn == 0 else [], args.seconds_max)
            print(f"{table}, {loader.name}: {json.dumps(result)}", file=sys.stderr)
            of = runs.setdefault((table, loader.name), [])
            of.append(result)
            results[table][loader.name] = summary(of)
            if args.csv:
                write_csv(args.csv, args.rows, results)
        for table in tables:
            show(table, args.rows, results[table], Path(csv).stat().st_size)
    return int(any("failed" in result for table in results.values() for result in table.values()))


if __name__ == "__main__":
    sys.exit(main())
