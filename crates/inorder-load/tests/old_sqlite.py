"""Files that `inorder load` builds page by page, in an old SQLite: 3.34.0, of December 2020.

    cargo build -p inorder-cli && /usr/bin/python3 crates/inorder-load/tests/old_sqlite.py

Needs cc, npm (whose package better-sqlite3 7.1.2 has that SQLite's source), and a python3 whose sqlite3 module takes
SQLite from a shared library, as Debian's does. What is fetched and built goes to target/.
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILT = ROOT / "target" / "old_sqlite"
INORDER = ROOT / "target" / "debug" / "inorder"

TABLES = {
    "without rowid": ["--key", "id"],
    "rowid": ["--key", "id", "--layout", "rowid"],
    "no key": [],
}

# What an application does with its database, in whatever SQLite it has.
USE = """
import sqlite3, sys
path, version = sys.argv[1:]
assert version in ("any", sqlite3.sqlite_version), sqlite3.sqlite_version
db = sqlite3.connect(path)
one = lambda sql: db.execute(sql).fetchone()[0]
def whole():
    assert one("PRAGMA integrity_check") == "ok"
    return one("SELECT count(*) FROM t"), one("SELECT count(DISTINCT length(payload)) FROM t")
rows, lengths = whole()
assert rows == 20_000 and lengths > 90, (rows, lengths)
assert one("SELECT count(*) FROM t WHERE id = printf('%040d', 77)") == 1
db.executemany("INSERT INTO t VALUES (printf('%040d', ?), ?)", [(n, "x" * (n % 5000)) for n in range(-500, 0)])
db.execute("DELETE FROM t WHERE length(payload) % 3 = 1")
db.execute("UPDATE t SET payload = payload || payload WHERE length(payload) % 3 = 2")
db.commit()
left = whole()
db.execute("VACUUM")
assert whole() == left
copy = sqlite3.connect(":memory:")
db.backup(copy)
db = copy
assert whole() == left
print(sqlite3.sqlite_version)
"""


def run(*command, **options):
    """What a command prints; it fails the test if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} gave {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def old_sqlite():
    """SQLite 3.34.0 as a shared library."""
    library = BUILT / "libsqlite3.so.0"
    if not library.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        run("npm", "pack", "better-sqlite3@7.1.2", cwd=BUILT)
        with tarfile.open(BUILT / "better-sqlite3-7.1.2.tgz") as package:
            package.extractall(BUILT)
        with tarfile.open(BUILT / "package" / "deps" / "sqlite3.tar.gz") as source:
            source.extractall(BUILT)
        # Python's module asks for what some builds leave out.
        has = [f"-DSQLITE_ENABLE_{name}" for name in ("DESERIALIZE", "COLUMN_METADATA", "LOAD_EXTENSION")]
        new = library.with_suffix(".new")
        run("cc", "-O1", "-shared", "-fPIC", *has, "-o", new, BUILT / "sqlite3.c", "-lm", "-ldl", "-lpthread")
        new.rename(library)
    return library


class OldSqlite(unittest.TestCase):
    def test_built_files_are_read_and_changed_by_old_and_new(self):
        library = old_sqlite()
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "t.csv"
            # In no order, some with overflow pages.
            lines = [f"{n * 7919 % 20_000:040d},{'y' * (n * 31 % 97 + (n % 1000 == 0) * 9000)}\n" for n in range(20_000)]
            csv.write_text("id,payload\n" + "".join(lines))
            for table, options in TABLES.items():
                for version, environment in [("3.34.0", {"LD_PRELOAD": str(library)}), ("any", {})]:
                    with self.subTest(table=table, version=version):
                        path = pathlib.Path(folder) / f"{table} {version}.db"
                        said = run(INORDER, "load", csv, path, "--table", "t", "--create", *options)
                        self.assertIn("writer     direct", said)
                        run(sys.executable, "-c", USE, path, version, env={**os.environ, **environment})


if __name__ == "__main__":
    unittest.main()
