#!/usr/bin/env python3
"""Compares `inorder rekey` with the migration script and VACUUM in the `sqlite3` shell.

Usage: rekey.py INORDER MIGRATION [MB] [FOLDER] [PLAN...]

INORDER is the command, MIGRATION the example `migration` of inorder-advise; MB is the size of the database (1000).
PLAN names plans below; without one, `all` is taken. Both change a copy of the same database by the same plan. CPU time,
bytes that the kernel counts as written to the disk, and wall time are those of the child process. Each copy is made just
before its run, so that its pages are in the cache: some systems drop those that nobody reads for a minute. The content of
both results is compared in the end.
"""
import json, os, resource, shutil, sqlite3, subprocess, sys, tempfile, time

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
    return {"cpu_seconds": user + system, "user_seconds": user, "system_seconds": system, "written_mb": (after.ru_oublock - before.ru_oublock) * 512 / 1e6, "wall_seconds": wall}


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


def compare(path, inorder, migration, plan):
    """Makes the changes of a plan in both ways and prints what they took."""
    with open(path("plan.json"), "w") as file:
        json.dump({"changes": PLANS[plan]}, file)
    with open(path("script.sql"), "w") as script:
        subprocess.run([migration, path("small.db"), path("plan.json")], stdout=script, check=True)
    original, shell, rekey = (path(f"{name}.db") for name in ("app", "shell", "rekey"))
    by_shell = measured(["sqlite3", shell], original, shell, stdin=path("script.sql"))
    by_rekey = measured([inorder, "rekey", rekey, "--plan", path("plan.json"), "--quiet"], original, rekey)
    before = os.path.getsize(original) / 1e6
    shell_content, shell_schema, shell_size = content(shell)
    rekey_content, rekey_schema, rekey_size = content(rekey)
    assert shell_content == rekey_content, f"the contents differ: {shell_content} {rekey_content}"
    assert shell_schema == rekey_schema, f"the schemas differ: {shell_schema} {rekey_schema}"
    print(f"{plan}: {before:.0f} MB before; {shell_size / 1e6:.1f} MB by the script, {rekey_size / 1e6:.1f} MB by rekey; same content")
    print("| | script and VACUUM | rekey | ratio |\n| --- | --- | --- | --- |")
    for what in by_shell:
        ratio = by_shell[what] / by_rekey[what] if by_rekey[what] else float("inf")
        print(f"| {what} | {by_shell[what]:.1f} | {by_rekey[what]:.1f} | {ratio:.1f} |", flush=True)


def main():
    inorder, migration = sys.argv[1:3]
    mb = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    with tempfile.TemporaryDirectory(dir=sys.argv[4] if len(sys.argv) > 4 else None) as folder:
        path = lambda name: os.path.join(folder, name)
        make(path("app.db"), mb)
        # The script is the same for any number of rows.
        make(path("small.db"), 1)
        for plan in sys.argv[5:] or ["all"]:
            compare(path, inorder, migration, plan)


if __name__ == "__main__":
    main()
