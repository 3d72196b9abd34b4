#!/usr/bin/env python3
"""A load into a table that has as many rows already: merged, beside sorted inserts.

    cargo build --release
    python3 crates/inorder-load/benches/merge.py                   # 2,000,000 rows into 2,000,000, half a minute
    python3 crates/inorder-load/benches/merge.py --rows 5000000 --dir /fast/disk --threads 1

The rows are those of loaders.py, whose columns are explained there. Both loads get copies of one database. Afterwards the
databases must have the same rows, and pass PRAGMA integrity_check.
"""

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from loaders import ROOT, TABLES, generate, measure


def halves(folder, rows):
    """The input as two files of as many rows, in no order."""
    whole = folder / "rows.csv"
    generate(whole, 2 * rows)
    paths = [folder / "old.csv", folder / "new.csv"]
    with open(whole) as lines:
        header = next(lines)
        for path in paths:
            with open(path, "w") as out:
                out.write(header)
                out.writelines(next(lines) for _ in range(rows))
    whole.unlink()
    return paths


def content(db):
    """What has to be equal, and whether the database is whole."""
    connection = sqlite3.connect(db)
    (health,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    rows = connection.execute("SELECT count(*), sum(length(payload)), max(id), min(id) FROM t").fetchone()
    first = connection.execute("SELECT id, payload FROM t ORDER BY id LIMIT 1000 OFFSET 5000").fetchall()
    connection.close()
    return health, rows, first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows that are there, and rows that come")
    parser.add_argument("--dir", type=Path, help="folder for input and databases; a temporary one where it isn't said")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--inorder", default=str(ROOT / "target/release/inorder"))
    args = parser.parse_args()
    print("| table | way | CPU s | user | system | wall s | MB of memory | MB written | file MB |")
    print("| --- | --- |" + " ---: |" * 7)
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        folder = Path(folder)
        old, new = halves(folder, args.rows)
        for table, schema in TABLES.items():
            before, db = folder / "before.db", folder / "app.db"
            connection = sqlite3.connect(before)
            connection.execute(schema)
            connection.close()
            load = [args.inorder, "load", "--table", "t", "--quiet", "--threads", args.threads, "--append"]
            subprocess.run([*load, old, before], check=True)
            found = {}
            for way in ("direct", "statements"):
                runs = []
                for _ in range(args.repeat):
                    shutil.copy(before, db)
                    result = measure([*load, "--writer", way, new, db], None)
                    if "failed" in result:
                        sys.exit(f"{table}, {way}: {result['failed']}")
                    runs.append(result)
                found[way] = content(db)
                run = sorted(runs, key=lambda run: run["cpu"])[(len(runs) - 1) // 2]
                cells = [f"{run[key]:.2f}" for key in ("cpu", "user", "system")] + [f"{run['wall']:.1f}"]
                cells += [f"{size / 1e6:.0f}" for size in (run["memory_bytes"], run["written_bytes"], db.stat().st_size)]
                print(f"| {table} | {way} | " + " | ".join(cells) + " |", flush=True)
            if found["direct"] != found["statements"] or found["direct"][0] != "ok":
                sys.exit(f"{table}: the databases differ")
            before.unlink()


if __name__ == "__main__":
    main()
