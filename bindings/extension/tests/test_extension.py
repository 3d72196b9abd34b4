"""Loads the extension into the sqlite3 shell, Python, Node, and a program with an older SQLite.

    cargo build --release && /usr/bin/python3 -m unittest discover tests

Needs sqlite3, cc, node, npm, and a python3 whose sqlite3 loads extensions, as Debian's does; what npm installs goes to
target/.
"""

import ctypes
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
TARGET = TESTS.parent / "target"
EXTENSION = TARGET / "release" / "libinorder"

# Number of the system call `clone`.
CLONE = {"x86_64": 56, "aarch64": 220}
TABLE = "CREATE TABLE t(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID"
COUNT = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?)"


def run(*command, **options):
    """Returns the output of a command. The test fails if the command does."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} gave {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def connect(path=":memory:"):
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.enable_load_extension(True)
    connection.load_extension(str(EXTENSION))
    connection.enable_load_extension(False)
    return connection


def make(connection, sql, n):
    return [id for (id,) in connection.execute(f"{COUNT} SELECT {sql} FROM c", [n])]


class Shell(unittest.TestCase):
    def shell(self, *statements):
        return run("sqlite3", "-batch", ":memory:", f".load {EXTENSION}", *statements).split()

    def test_a_default_works_with_and_without_a_trusted_schema(self):
        for trusted in ["on", "off"]:
            returned = self.shell(
                f"PRAGMA trusted_schema={trusted}",
                TABLE,
                "CREATE TABLE u(x, y AS (ulid_timestamp(x)) STORED)",
                "CREATE INDEX i ON u(ulid_text(x))",
                "INSERT INTO t(n) VALUES (1), (2), (3) RETURNING hex(id)",
                "INSERT INTO u SELECT id FROM t",
                "SELECT hex(id) FROM t ORDER BY n",
                "SELECT count(*) FROM u INDEXED BY i WHERE ulid_text(x) > ''",
            )
            self.assertEqual(returned[:3], returned[3:6])
            self.assertEqual(returned[:3], sorted(returned[:3]))
            self.assertEqual(returned[6:], ["3"])

    def test_keys_fills_a_table(self):
        self.assertEqual(
            self.shell(TABLE, "INSERT INTO t SELECT key, rowid FROM keys('ulid', 100000)",
                       "SELECT count(*), sum(n = place) FROM (SELECT n, row_number() OVER (ORDER BY id) AS place FROM t)"),
            ["100000|100000"],
        )

    def test_wrong_input_is_an_error_and_the_shell_goes_on(self):
        done = subprocess.run(
            ["sqlite3", ":memory:"], capture_output=True, text=True,
            input=f".load {EXTENSION}\nSELECT ulid_min('1969-12-31');\nSELECT ulid_text('8ZZZZZZZZZZZZZZZZZZZZZZZZZ');\nSELECT 'here';\n",
        )
        self.assertIn("ulid_min(): millisecond -86400000 is in no id", done.stderr)
        self.assertIn("ulid_text(): a ULID begins with 0 to 7", done.stderr)
        self.assertEqual(done.stdout, "here\n")


class Python(unittest.TestCase):
    def test_eight_connections_in_eight_threads_are_in_order(self):
        spans, lock = [], threading.Lock()

        def work():
            connection = connect()
            for _ in range(20):
                with lock:
                    begin = len(spans)
                    spans.append(None)
                ids = make(connection, "ulid()", 1000)
                with lock:
                    spans[begin] = (begin, len(spans), ids)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(len({id for _, _, ids in spans for id in ids}), 8 * 20 * 1000)
        for _, end, ids in spans:
            self.assertEqual(ids, sorted(ids))
            later = [other for begin, _, other in spans[end:]]
            self.assertTrue(all(ids[-1] < other[0] for other in later))

    def test_order_outlives_the_last_connection(self):
        connection = connect()
        before = make(connection, "ulid()", 100_000)[-1]
        connection.close()
        self.assertLess(before, make(connect(), "ulid()", 1)[0])

    def test_a_hundred_children_make_ids_of_their_own(self):
        connection = connect()
        wanted = ["ulid()", "uuid7()", "uuid4()", "token(16)"]
        seen = set(id for sql in wanted for id in make(connection, sql, 100))
        for _ in range(100):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with os.fdopen(writer, "wb") as out:
                    out.write(b"".join(id for sql in wanted for id in make(connection, sql, 100)))
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader, "rb") as out:
                ids = out.read()
            os.waitpid(child, 0)
            seen.update(ids[i : i + 16] for i in range(0, len(ids), 16))
        self.assertEqual(len(seen), 101 * 4 * 100)

    @unittest.skipUnless(sys.platform == "linux" and os.uname().machine in CLONE, "no number of the system call")
    def test_children_of_a_bare_system_call_make_ids_of_their_own(self):
        """The C library does not see such a fork, and runs no handlers."""
        connection = connect()
        wanted = ["ulid()", "uuid7()", "uuid4()", "token(16)"]
        seen = set(id for sql in wanted for id in make(connection, sql, 20))
        nodes, system_call = set(), ctypes.CDLL(None).syscall
        for _ in range(50):
            reader, writer = os.pipe()
            if system_call(CLONE[os.uname().machine], int(signal.SIGCHLD), 0, 0, 0, 0) == 0:
                ids = b"".join(id for sql in wanted for id in make(connection, sql, 20))
                os.write(writer, ids + make(connection, "tsid()", 1)[0].to_bytes(8, "big"))
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader, "rb") as out:
                ids = out.read()
            os.wait()
            seen.update(ids[i : i + 16] for i in range(0, len(ids) - 8, 16))
            nodes.add(int.from_bytes(ids[-8:], "big") >> 12 & 1023)
        self.assertEqual(len(seen), 51 * 4 * 20)
        self.assertGreater(len(nodes), 25)

    def test_the_node_of_the_variable_is_that_of_the_process_and_of_no_fork(self):
        script = (
            "import os, test_extension as t; c = t.connect(); ask = lambda: c.execute('SELECT tsid() >> 12 & 1023').fetchone()[0]\n"
            "def say():\n try: print(ask(), flush=True)\n except Exception as error: print(error, flush=True)\n"
            "say(); say()\n"
            "if os.fork() == 0: say(); os._exit(0)\n"
            "os.wait(); say()"
        )
        for value in ("0", "7", "1023"):
            said = run(sys.executable, "-c", script, cwd=TESTS, env={**os.environ, "INORDER_NODE": value}).splitlines()
            self.assertEqual([said[0], said[1], said[3]], [value] * 3)
            self.assertIn(f"node {value} of INORDER_NODE is that of the process that forked this one", said[2])
        for wrong in ("1024", "-1", "x", "7 ", "1.5"):
            said = run(sys.executable, "-c", script, cwd=TESTS, env={**os.environ, "INORDER_NODE": wrong})
            self.assertEqual(said.count("the nodes of TSIDs are 0 to 1023"), 4, said)
        # Without the variable, or with an empty one, the node is random, and that of a child another.
        for value in ({}, {"INORDER_NODE": ""}):
            nodes = [run(sys.executable, "-c", script, cwd=TESTS, env={**os.environ, **value}).split() for _ in range(4)]
            self.assertTrue(all(parent == again == at_last for parent, again, _, at_last in nodes), nodes)
            self.assertTrue(any(parent != child for parent, _, child, _ in nodes), nodes)

    def test_tsids_of_48_processes_with_their_own_nodes_are_unique(self):
        script = (
            "import sys, test_extension as t; c = t.connect();"
            "print(*[id for id in t.make(c, f'tsid({sys.argv[1]})', 500)], sep='\\n')"
        )
        processes = [subprocess.Popen([sys.executable, "-c", script, str(node)], cwd=TESTS, stdout=subprocess.PIPE, text=True) for node in range(48)]
        ids = [[int(line) for line in process.communicate()[0].split()] for process in processes]
        self.assertTrue(all(len(made) == 500 and made == sorted(made) for made in ids))
        self.assertEqual(len({id for made in ids for id in made}), 48 * 500)

    def test_a_clock_that_stands_still_or_steps_back_changes_nothing(self):
        script = (
            "import test_extension as t; c = t.connect(); d = t.connect();"
            "ids = [id for _ in range(50) for k in (c, d) for id in t.make(k, 'ulid()', 2000)];"
            "assert all(a < b for a, b in zip(ids, ids[1:])); print(len(set(ids)))"
        )
        with tempfile.TemporaryDirectory() as folder:
            clock = pathlib.Path(folder) / "clock.so"
            run("cc", "-shared", "-fPIC", "-O1", "-o", clock, TESTS / "clock.c")
            for kind in ["frozen", "backward"]:
                environment = {**os.environ, "LD_PRELOAD": str(clock), "CLOCK": kind}
                self.assertEqual(run(sys.executable, "-c", script, env=environment, cwd=TESTS), "200000\n")

    def test_processes_that_share_a_database_share_its_order(self):
        script = (
            "import sys, test_extension as t; c = t.connect(sys.argv[1]); c.execute('PRAGMA busy_timeout = 60000');"
            "[c.execute('INSERT INTO t(n) VALUES (NULL)') for _ in range(100)]"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "shared.db")
            connection = connect(path)
            connection.executescript(
                "PRAGMA journal_mode = wal; PRAGMA synchronous = off;"
                "CREATE TABLE inorder_high_water(one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) WITHOUT ROWID;"
                "CREATE TABLE t(n INTEGER PRIMARY KEY, id BLOB DEFAULT (ulid_shared()))"
            )
            writers = [subprocess.Popen([sys.executable, "-c", script, path], cwd=TESTS) for _ in range(4)]
            self.assertEqual([writer.wait() for writer in writers], [0] * 4)
            ids = [id for (id,) in connection.execute("SELECT id FROM t ORDER BY n")]
            self.assertEqual((len(ids), ids), (400, sorted(ids)))


def node_modules():
    """Returns the folder with the packages of tests/node/package-lock.json, and installs missing ones for this Node."""
    folder = TARGET / "node"
    wanted, installed = TESTS / "node" / "package-lock.json", folder / "package-lock.json"
    probe = ["node", "-e", "new (require('better-sqlite3'))(':memory:')"]
    environment = {**os.environ, "NODE_PATH": str(folder / "node_modules")}
    is_same = installed.exists() and installed.read_bytes() == wanted.read_bytes()
    if not is_same or subprocess.run(probe, env=environment, capture_output=True).returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in ["package.json", "package-lock.json"]:
            shutil.copy(TESTS / "node" / file, folder)
        # npm compiles SQLite for better-sqlite3. Optimisation would take most of that time.
        unoptimised = {**os.environ, "CFLAGS": "-O0 -g0", "CXXFLAGS": "-O0 -g0"}
        run("npm", "ci", "--no-audit", "--no-fund", cwd=folder, env=unoptimised)
    return folder / "node_modules"


class Node(unittest.TestCase):
    # better-sqlite3 11 is the last version for Node 18 of Debian 12.
    def test_better_sqlite3_loads_it(self):
        environment = {**os.environ, "NODE_PATH": str(node_modules())}
        script = (
            "const db = new (require('better-sqlite3'))(':memory:'); db.loadExtension(process.argv[1]);"
            f"db.exec(`PRAGMA trusted_schema=off; {TABLE}; INSERT INTO t(n) VALUES (1), (2)`);"
            "console.log(db.prepare('SELECT group_concat(n) AS n FROM (SELECT n FROM t ORDER BY id)').get().n)"
        )
        self.assertEqual(run("node", "-e", script, EXTENSION, env=environment), "1,2\n")

    def test_numbers_of_javascript_are_integers(self):
        script = (
            "const assert = require('node:assert'), db = new (require('better-sqlite3'))(':memory:'); db.loadExtension(process.argv[1]);"
            "const ask = (sql, ...values) => db.prepare(sql).pluck().get(...values), ms = 1645557742000;"
            "for (const f of ['ulid_min', 'ulid_max', 'ulid_at']) assert.equal(ask(`SELECT ulid_timestamp(${f}(?))`, ms), ms);"
            "for (const f of ['uuid7_min', 'uuid7_max', 'uuid7_at']) assert.equal(ask(`SELECT uuid7_timestamp(${f}(?))`, ms), ms);"
            "assert.equal(ask('SELECT length(token(?))', 20), 20); assert.equal(ask('SELECT length(token_text(?))', 20), 40);"
            "assert.equal(ask(\"SELECT count(*) FROM keys('ulid', ?)\", 300), 300); assert.equal(ask('SELECT key_kind(?)', 17), 'integer');"
            "assert.equal(ask('SELECT ulid_timestamp(ulid_min(?))', BigInt(ms)), ms);"
            "assert.equal(ask('SELECT ulid_timestamp(ulid_min_s(?))', ms / 1000 + 0.25), ms + 250);"
            "for (const wrong of [0.5, -1, 2 ** 48, 1e300, Infinity, ms / 1000, ms / 1000 + 0.5, ms * 1000, 20240501123045])"
            "  assert.throws(() => ask('SELECT ulid_min(?)', wrong), /ulid_min\\(\\): /);"
            "console.log('done')"
        )
        environment = {**os.environ, "NODE_PATH": str(node_modules())}
        self.assertEqual(run("node", "-e", script, EXTENSION, env=environment), "done\n")


class OldHost(unittest.TestCase):
    def test_an_old_sqlite_is_refused_with_a_message(self):
        said = run("cargo", "run", "--quiet", "--locked", "--target-dir", TARGET / "old_host", "--", EXTENSION,
                   cwd=TESTS / "old_host")
        self.assertIn("inorder needs SQLite 3.34.1 or later; this is 3.33.0", said)
        self.assertIn("still running: 3.33.0", said)


if __name__ == "__main__":
    unittest.main()
