"""The function sets on real servers, each started privately, on a Unix socket, by an unprivileged user.

    /usr/bin/python3 -m unittest discover -s sql/tests

A server that is not installed is skipped, unless CI is set. INORDER_POSTGRES names another postgres than the newest installed.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SQL = pathlib.Path(__file__).resolve().parent.parent

# Vectors of RFC 9562, appendix A.6, and of the ULID specification.
UUID7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
ULID_AS_UUID = "01563e3a-b5d3-d676-4c61-efb99302bd5b"
WRONG_ULIDS = ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA", ULID + "\n"]


def program(pattern):
    """The newest program whose path fits, or where the search path has it."""
    found = sorted(glob.glob(pattern)) or [shutil.which(pathlib.Path(pattern).name)]
    return found[-1]


class Server:
    """A server in a folder of its own, and the clients that ask it."""

    needed = None

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="inorder-"))
        # Servers refuse to run as root; an unprivileged user owns the folder then.
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.initialise()
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, user=self.user, cwd=self.folder)
        until = time.monotonic() + 60
        while not self.is_up():
            if time.monotonic() > until or self.process.poll() is not None:
                self.stop()
                raise RuntimeError("the server does not come up")
            time.sleep(0.1)

    def as_user(self, *command):
        subprocess.run([str(word) for word in command], check=True, capture_output=True, user=self.user, cwd=self.folder)

    def is_up(self):
        return self.client("SELECT 1").returncode == 0

    def client(self, sql):
        return subprocess.run(self.ask, input=sql, capture_output=True, text=True)

    def rows(self, sql):
        done = self.client(sql)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.split()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgreSQL(Server):
    needed = os.environ.get("INORDER_POSTGRES") or program("/usr/lib/postgresql/*/bin/postgres")

    def initialise(self):
        initdb = pathlib.Path(self.needed).parent / "initdb"
        self.as_user(initdb, "-D", self.folder / "data", "-U", "test", "--no-sync", "-E", "UTF8", "--locale=C")
        self.ask = ["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-U", "test", "-d", "postgres"]

    def command(self):
        return [self.needed, "-D", str(self.folder / "data"), "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off"]


class MariaDB(Server):
    needed = program("/usr/sbin/mariadbd")

    def initialise(self):
        self.as_user("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data",
                     "--auth-root-authentication-method=normal", "--skip-test-db")
        self.ask = ["mariadb", "--no-defaults", "-N", "-u", "root", f"--socket={self.folder}/socket"]

    def command(self):
        return [self.needed, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/socket",
                "--skip-networking", f"--pid-file={self.folder}/pid", "--innodb-flush-log-at-trx-commit=0"]


class Functions:
    """What both sets are to do, in the words of each."""

    @classmethod
    def setUpClass(cls):
        if cls.server_class.needed is None:
            if os.environ.get("CI"):
                raise RuntimeError(f"{cls.server_class.__name__} is not installed")
            raise unittest.SkipTest(f"SKIPPED: {cls.server_class.__name__} is not installed")
        cls.server = cls.server_class()
        cls.addClassCleanup(cls.server.stop)
        cls.prepare()

    def rows(self, sql):
        return self.server.rows(sql)

    def assert_refused(self, *calls):
        for call in calls:
            done = self.server.client(self.use + f"SELECT {call}")
            self.assertNotEqual(done.returncode, 0, call)

    def test_ids_of_many_sessions_are_in_one_order(self):
        insert = self.use + "INSERT INTO t(a, b) " + self.thousand
        clients = [subprocess.Popen(self.server.ask, stdin=subprocess.PIPE, text=True) for _ in range(6)]
        for client in clients:
            client.stdin.write(insert)
            client.stdin.close()
        self.assertEqual([client.wait() for client in clients], [0] * 6)
        count = self.use + "SELECT count(DISTINCT a), count(DISTINCT b), count(*) FROM t"
        self.assertEqual(" ".join(self.rows(count)).replace("|", " "), "6000 6000 6000")
        # Rows made one after another, by different sessions.
        ids = [self.rows(self.use + f"SELECT {self.new_text}")[0] for _ in range(5)]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertGreater(ids[0], self.rows(self.use + f"SELECT max({self.a_text}) FROM t")[0])

    def test_ids_of_a_statement_are_in_order(self):
        a, b = self.use + self.generate.format("ulid"), self.use + self.generate.format("uuid7")
        for sql in [a, b]:
            ids = self.rows(sql)
            self.assertEqual(len(ids), 2000)
            self.assertEqual(ids, sorted(set(ids)))
        self.assertTrue(all(id[12] == "7" and id[16] in "89AB" for id in ids))

    def test_a_clock_that_was_ahead_changes_nothing(self):
        before, after = self.rows(self.use + self.ahead)[-2:]
        self.assertGreater(after, before)


class OnPostgreSQL(Functions, unittest.TestCase):
    server_class = PostgreSQL
    use = ""
    thousand = "SELECT ulid(), uuid7() FROM generate_series(1, 1000)"
    generate = "SELECT upper(replace({}()::text, '-', '')) FROM generate_series(1, 2000)"
    new_text, a_text = "ulid_text()", "uuid_to_ulid(a)"
    ahead = ("SELECT setval('inorder_last', (extract(epoch FROM clock_timestamp())::bigint * 1000 + 3600000) << 16);"
             "SELECT ulid_text(); SELECT ulid_text()")

    @classmethod
    def prepare(cls):
        for _ in range(2):  # It may be run again.
            cls.server.rows((SQL / "postgresql.sql").read_text())
        cls.server.rows("CREATE TABLE t(a uuid PRIMARY KEY DEFAULT ulid(), b uuid DEFAULT uuid7())")

    def test_vectors(self):
        for call, wanted in [
            (f"ulid_to_uuid('{ULID}')", ULID_AS_UUID),
            (f"ulid_to_uuid(lower('{ULID}'))", ULID_AS_UUID),
            (f"uuid_to_ulid('{ULID_AS_UUID}')", ULID),
            ("uuid_to_ulid('ffffffff-ffff-ffff-ffff-ffffffffffff')", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
            ("ulid_to_uuid('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            (f"uuid7_timestamp('{UUID7}') = '2022-02-22 19:22:22Z'", "t"),
            (f"ulid_timestamp('{ULID_AS_UUID}') = '2016-07-30T23:54:10.259Z'", "t"),
            ("uuid_to_ulid(ulid_min('2016-07-30T23:54:10.259Z'))", "01ARZ3NDEK0000000000000000"),
            ("uuid_to_ulid(ulid_max('2016-07-30T23:54:10.259999Z'))", "01ARZ3NDEKZZZZZZZZZZZZZZZZ"),
            ("uuid7_min('2022-02-22 19:22:22Z')", "017f22e2-79b0-7000-8000-000000000000"),
            ("uuid7_max('2022-02-22 19:22:22Z')", "017f22e2-79b0-7fff-bfff-ffffffffffff"),
            ("ulid_to_uuid(NULL) IS NULL AND ulid_valid(NULL) IS NULL AND ulid_min(NULL) IS NULL", "t"),
            ("count(*) FILTER (WHERE ulid_to_uuid(uuid_to_ulid(g)) = g) FROM (SELECT gen_random_uuid() AS g FROM generate_series(1, 500)) r", "500"),
            ("abs(extract(epoch FROM clock_timestamp() - uuid7_timestamp(uuid7()))) < 7200", "t"),
        ]:
            self.assertEqual(self.rows(f"SELECT {call}"), [wanted], call)

    def test_wrong_input_is_an_error(self):
        self.assert_refused(*[f"ulid_to_uuid(E'{wrong}')".replace("\n", "\\n") for wrong in WRONG_ULIDS])
        self.assert_refused("ulid_min('1969-12-31Z')", "uuid7_max('infinity')", f"uuid7_timestamp('{ULID_AS_UUID}')")
        for wrong in WRONG_ULIDS:
            self.assertEqual(self.rows("SELECT ulid_valid(E'{}')".format(wrong.replace("\n", "\\n"))), ["f"])


class OnMariaDB(Functions, unittest.TestCase):
    server_class = MariaDB
    use = "USE inorder;"
    thousand = "SELECT ulid(), uuid7() FROM seq_1_to_1000"
    generate = "SELECT HEX({}()) FROM seq_1_to_2000"
    new_text, a_text = "ulid_text(ulid())", "ulid_text(a)"
    ahead = ("SET @inorder_last = (UNIX_TIMESTAMP() * 1000 + 3600000) << 16;"
             "SELECT ulid_text(ulid()); SELECT ulid_text(ulid())")

    @classmethod
    def prepare(cls):
        cls.server.rows("CREATE DATABASE inorder")
        for _ in range(2):
            cls.server.rows(cls.use + "\n" + (SQL / "mariadb.sql").read_text())
        cls.server.rows(cls.use + "CREATE TABLE t(a BINARY(16) PRIMARY KEY, b BINARY(16));"
                        "CREATE TABLE u(id BINARY(16) PRIMARY KEY, n INT);"
                        "CREATE TRIGGER u_id BEFORE INSERT ON u FOR EACH ROW SET NEW.id = ulid()")

    def test_a_trigger_fills_a_key(self):
        ids = self.rows(self.use + "INSERT INTO u(n) VALUES (1), (2), (3); SELECT HEX(id) FROM u ORDER BY n")
        self.assertEqual((len(set(ids)), ids), (3, sorted(ids)))

    def test_vectors(self):
        for call, wanted in [
            (f"uuid_text(ulid_blob('{ULID}'))", ULID_AS_UUID),
            (f"uuid_text(ulid_blob(lower('{ULID}')))", ULID_AS_UUID),
            (f"ulid_text(uuid_blob('{ULID_AS_UUID}'))", ULID),
            ("ulid_text(uuid_blob('ffffffff-ffff-ffff-ffff-ffffffffffff'))", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
            ("uuid_text(ulid_blob('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'))", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            (f"uuid7_timestamp(uuid_blob('{UUID7.upper()}'))", "1645557742000"),
            (f"ulid_timestamp(ulid_blob('{ULID}'))", "1469922850259"),
            ("ulid_text(ulid_min(1469922850259))", "01ARZ3NDEK0000000000000000"),
            ("ulid_text(ulid_max(1469922850259))", "01ARZ3NDEKZZZZZZZZZZZZZZZZ"),
            ("uuid_text(uuid7_min(1645557742000))", "017f22e2-79b0-7000-8000-000000000000"),
            ("uuid_text(uuid7_max(1645557742000))", "017f22e2-79b0-7fff-bfff-ffffffffffff"),
            ("ulid_blob(NULL) IS NULL AND ulid_text(NULL) IS NULL AND uuid_blob(NULL) IS NULL AND ulid_min(NULL) IS NULL", "1"),
            ("SUM(ulid_blob(ulid_text(g)) = g AND uuid_blob(uuid_text(g)) = g) FROM (SELECT RANDOM_BYTES(16) AS g FROM seq_1_to_500) r", "500"),
            ("ABS(UNIX_TIMESTAMP() * 1000 - uuid7_timestamp(uuid7())) < 7200000", "1"),
        ]:
            self.assertEqual(self.rows(f"{self.use} SELECT {call}"), [wanted], call)

    def test_wrong_input_is_an_error(self):
        self.assert_refused(*[f"ulid_blob('{wrong}')".replace("\n", "\\n") for wrong in WRONG_ULIDS])
        self.assert_refused("uuid_blob('x')", "uuid_blob('{017f22e2-79b0-7cc3-98c4-dc0c0c0739}')", "ulid_min(-1)",
                            "uuid7_max(281474976710656)", f"uuid7_timestamp(ulid_blob('{ULID}'))")
        for wrong in WRONG_ULIDS:
            self.assertEqual(self.rows(self.use + "SELECT ulid_valid('{}')".format(wrong.replace("\n", "\\n"))), ["0"])


if __name__ == "__main__":
    unittest.main()
