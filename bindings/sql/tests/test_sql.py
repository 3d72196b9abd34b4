"""Tests the function sets on private servers, each on a Unix socket, run by an unprivileged user.

Parsing is checked with cases.tsv, as for SQLite's functions and the command.

    /usr/bin/python3 -m unittest discover -s bindings/sql/tests

A server that is not installed is skipped, unless CI is set. INORDER_POSTGRES names another postgres than the newest installed.
"""

import json
import os
import pathlib
import re
import subprocess
import time
import unittest

import make_cases
from servers import MariaDB, PostgreSQL, PostgreSQL18

SQL = pathlib.Path(__file__).resolve().parent.parent

# Vectors of RFC 9562, appendix A.6, and of the ULID specification.
UUID7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
ULID_AS_UUID = "01563e3a-b5d3-d676-4c61-efb99302bd5b"
POSTGRESQL, MARIADB = (SQL / "postgresql.sql").read_text(), (SQL / "mariadb.sql").read_text()
PAGE = (SQL.parent.parent / "docs" / "ids.md").read_text()


class Case:
    """A line of cases.tsv."""

    def __init__(self, line):
        self.line = line
        _, self.type, self.value, self.ulid, self.uuid, self.kind = line.split("\t")
        if self.type == "text":
            self.value = json.loads(self.value)

    def is_valid(self, id):
        return {"null": "null", "refused": "0"}.get(id, "1")


CASES = [Case(line) for line in make_cases.FILE.read_text().split("\n")[1:-1]]


def of(call, value):
    """Returns a call that parses x, for a value."""
    return re.sub(r"\bx\b", value, call)


def documented(column):
    """Returns the functions that a server has and lacks according to the table of docs/ids.md."""
    rows = re.search(r"\| SQLite \| PostgreSQL \| MariaDB \|\n.*\n((?:\|.*\n)+)", PAGE).group(1).splitlines()
    there, missing = set(), set()
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        if cells[column].startswith("not there: "):
            missing.add(cells[0].strip("`"))
        else:
            there.update(re.findall(r"`([a-z0-9_]+\([a-z, ]*\))`", cells[column]))
    return there, missing


class TheFile(unittest.TestCase):
    def test_the_cases_are_those_that_are_made(self):
        self.assertEqual(make_cases.FILE.read_text(), make_cases.make())
        self.assertGreater(len(CASES), 6000)


class Functions:
    """The tests of both function sets, with their different SQL."""

    @classmethod
    def setUpClass(cls):
        if cls.server_class.needed is None:
            if os.environ.get("CI"):
                raise RuntimeError(f"{cls.server_class.__name__} is not installed")
            raise unittest.SkipTest(f"SKIPPED: {cls.server_class.__name__} is not installed")
        cls.server = cls.server_class()
        cls.addClassCleanup(cls.server.stop)
        cls.prepare()

    def rows(self, sql, *options):
        return self.server.rows(sql, *options)

    def assert_refused(self, *calls):
        for call in calls:
            done = self.server.client(self.use + f"SELECT {call}")
            self.assertNotEqual(done.returncode, 0, call)

    def test_every_case_is_read_as_its_line_says(self):
        calls = {
            "text": [self.read_ulid, self.read_uuid, self.is_ulid, self.is_uuid, self.kind],
            "blob": [self.blob_as_ulid, self.blob_as_uuid],
        }
        read = 0
        for type, of_type in calls.items():
            cases = [case for case in CASES if case.type == type and self.can_hold(case)]
            answers = self.answers(type, [case.value for case in cases], of_type)
            self.assertEqual(len(answers), len(cases))
            for case, answer in zip(cases, answers):
                wanted = [case.ulid, case.uuid, case.is_valid(case.ulid), case.is_valid(case.uuid), case.kind]
                self.assertEqual(answer, wanted[: len(of_type)], case.line)
                read += 1
        self.assertGreater(read, 6000)

    def test_numbers_and_null_are_no_ids(self):
        for case in CASES:
            if case.type in ("integer", "real"):
                self.assert_refused(of(self.read_ulid, case.value), of(self.read_uuid, case.value))
        for call in (self.read_ulid, self.read_uuid, self.is_ulid, self.is_uuid, self.kind, self.blob_as_ulid):
            self.assertEqual(self.rows(self.use + f"SELECT ({of(call, 'NULL')}) IS NULL"), [self.true], call)

    def test_the_page_lists_what_is_there_and_what_is_not(self):
        there, missing = documented(self.column)
        self.assertEqual(self.functions(), there)
        self.assertEqual({call for call in missing if call in there} - self.same_call_other_meaning, set())
        self.assertGreater(len(there), 20)

    def test_the_version_is_that_of_the_project(self):
        version = re.search(r'(?m)^version = "(.*)"', (SQL.parent.parent / "Cargo.toml").read_text()).group(1)
        self.assertEqual(self.rows(self.use + "SELECT inorder_version()"), [version])

    def test_tokens_have_their_length(self):
        for n in (1, 13, 16, 20, 1023, 1024):
            self.assertEqual(self.rows(self.use + f"SELECT length(token({n})), length(token_text({n}))".replace(
                "),", f")*10000 +", 1)), [str(n * 10000 + 2 * n)])
        self.assert_refused("token(0)", "token(1025)", "token(-1)", "token_text(0)", "token('x')")
        tokens = self.rows(self.use + f"SELECT token_text(16) {self.from_thousand}")
        self.assertEqual(len(set(tokens)), 1000)
        self.assertEqual({digit for token in tokens for digit in token}, set("0123456789abcdef"))

    def test_ids_of_many_sessions_are_in_one_order(self):
        insert = self.use + "INSERT INTO t(a, b) " + self.thousand
        clients = [subprocess.Popen(self.server.ask, stdin=subprocess.PIPE, text=True) for _ in range(6)]
        for client in clients:
            client.stdin.write(insert)
            client.stdin.close()
        self.assertEqual([client.wait() for client in clients], [0] * 6)
        count = self.use + "SELECT count(DISTINCT a), count(DISTINCT b), count(*) FROM t"
        self.assertEqual(" ".join(self.rows(count)).replace("|", " "), "6000 6000 6000")
        # Consecutive rows from different sessions.
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

    def test_a_clock_that_was_less_than_a_minute_ahead_changes_nothing(self):
        for seconds in (1, 59):
            done = self.server.client(self.use + self.ahead(seconds) + self.new_and_time)
            before, after = done.stdout.split()[-4:-2], done.stdout.split()[-2:]
            self.assertGreater(after[0], before[0])
            self.assertGreater(int(after[1]) - time.time() * 1000, seconds * 1000 - 5000)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_wrong_unit_of_a_time_is_refused(self):
        calls = [call for call in documented(self.column)[0] if re.search(r"\((ms|s|timestamptz)\)", call)]
        self.assertEqual(len(calls), self.calls_with_a_time)
        asked = 0
        for call in calls:
            name, unit = re.fullmatch(r"(.*)\((.*)\)", call).groups()
            self.assertEqual(self.rows(f"{self.use} SELECT {name}(NULL) IS NULL"), [self.true])
            for right, ms in self.right_times[unit].items():
                found = self.rows(f"{self.use} SELECT {self.ms_of.format(f'{name}({right})')}")
                self.assertEqual(found, [str(ms)], f"{name}({right})")
            # One script, which goes on after an error: a session per call would take minutes.
            script = self.use + "".join(f"SELECT 'answered', '{i}', {name}({wrong}) IS NULL;\n" for i, wrong in enumerate(self.wrong_times[unit]))
            done = subprocess.run([*self.server.ask, *self.go_on], input=script, capture_output=True, text=True)
            answered = [self.wrong_times[unit][int(i)] for i in re.findall(r"answered\W(\d+)", done.stdout)]
            self.assertEqual(answered, [], call)
            errors = re.findall(r"(?m)^(?:psql:.*)?ERROR.*", done.stderr)
            self.assertEqual(len(errors), len(self.wrong_times[unit]), done.stderr)
            for error in errors:
                self.assertRegex(error, self.says_what_to_do, call)
            asked += len(errors)
        self.assertGreater(asked, 100)


class OnPostgreSQL(Functions, unittest.TestCase):
    server_class = PostgreSQL
    use, true, column = "", "t", 1
    thousand = "SELECT ulid(), uuid7() FROM generate_series(1, 1000)"
    from_thousand = "FROM generate_series(1, 1000)"
    generate = "SELECT upper(replace({}()::text, '-', '')) FROM generate_series(1, 2000)"
    new_text, a_text = "ulid_text()", "uuid_to_ulid(a)"
    new_and_time = ("SELECT uuid_to_ulid(id) || ' ' || floor(extract(epoch FROM ulid_timestamp(id)) * 1000)::bigint"
                    " FROM (SELECT ulid() AS id OFFSET 0) AS made;") * 2
    calls_with_a_time = 6
    go_on = ["-F", " ", "-v", "ON_ERROR_STOP=0"]
    ms_of = "floor(extract(epoch FROM ulid_timestamp({})) * 1000)::bigint"
    right_times = {"timestamptz": {"'2024-05-01Z'": 1714521600000, "to_timestamp(1714521600)": 1714521600000, "'epoch'": 0,
                                   "timestamptz '2024-05-01 12:30:45.678999Z'": 1714566645678}}
    wrong_times = {"timestamptz": ["0", "1714521600", "1714521600::bigint", "1714521600000", "1714521600.5", "1714521600::float8", "-1",
                                   "'1714521600'", "'1714521600000'", "'1714521600000000'", "'1714521600.5'", "'171452160'", "'-1'", "'2024'",
                                   "to_timestamp(1714521600000)", "to_timestamp(-1)", "'infinity'", "'-infinity'", "'1969-12-31Z'",
                                   "extract(epoch FROM now())", "to_char(now(), 'YYYYMMDDHH24MISS')", "''", "'x'"]}
    # Of a number PostgreSQL itself says which argument does not fit.
    says_what_to_do = "does not exist|invalid input syntax|out of range|no id is of"
    read_ulid, read_uuid = "encode(uuid_send(ulid_to_uuid(x)), 'hex')", "replace(uuid_text(x), '-', '')"
    is_ulid, is_uuid, kind = "ulid_valid(x)::int", "uuid_valid(x)::int", "key_kind(x)"
    blob_as_ulid = blob_as_uuid = "encode(uuid_send(encode(x, 'hex')::uuid), 'hex')"
    # The call is SQLite's, but its argument is a `uuid`.
    same_call_other_meaning = set()

    def can_hold(self, case):
        """Text has no zero byte in PostgreSQL."""
        return case.type != "text" or "\0" not in case.value

    def answers(self, type, values, calls):
        """Returns the result of each call for each value, in order."""
        kind = {"text": "text", "blob": "bytea"}[type]
        for i, call in enumerate(calls):
            self.rows(f"""CREATE OR REPLACE FUNCTION ask_{i}(x {kind}) RETURNS text LANGUAGE plpgsql AS $$
                BEGIN RETURN coalesce(({call})::text, 'null');
                EXCEPTION WHEN invalid_text_representation THEN RETURN 'refused'; END $$""")
        # Each byte is encoded separately, so that no client conversion can change it.
        stored = [value.encode().hex() if type == "text" else value for value in values]
        value = {"text": "convert_from(decode(hex, 'hex'), 'UTF8')", "blob": "decode(hex, 'hex')"}[type]
        fill = "".join(f"{i}\t{hex}\n" for i, hex in enumerate(stored))
        asked = " || '|' || ".join(f"ask_{i}({value})" for i in range(len(calls)))
        lines = self.server.lines("CREATE TEMP TABLE given(n int, hex text);\nCOPY given FROM STDIN;\n" + fill
                                  + f"\\.\nSELECT {asked} FROM given ORDER BY n")
        return [line.split("|") for line in lines.splitlines()]

    def functions(self):
        listed = self.rows("""SELECT proname || '(' || array_to_string(proargtypes::regtype[], ', ') || ')' FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace AND (proname !~ '^(inorder|ask)_' OR proname = 'inorder_version')
            """.replace("array_to_string(proargtypes::regtype[], ', ')", "replace(replace(pg_get_function_identity_arguments(oid), "
                        "' ', '~'), 'timestamp~with~time~zone', 'timestamptz')"))
        # `x~uuid` is a parameter with its type.
        return {re.sub(r"\b[a-z]+~", "", call) for call in listed}

    @classmethod
    def prepare(cls):
        for _ in range(2):  # It may be run again.
            cls.server.rows(POSTGRESQL)
        cls.server.rows("CREATE TABLE t(a uuid PRIMARY KEY DEFAULT ulid(), b uuid DEFAULT uuid7(), c uuid DEFAULT ulid_shared())")

    @staticmethod
    def ahead(seconds):
        return f"SET inorder.last = {int((time.time() + seconds) * 1000) << 16};"

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
            # Times over the whole range until 10889, to the millisecond.
            ("count(*) FILTER (WHERE uuid_to_ulid(ulid_min(ulid_timestamp(id))) = uuid_to_ulid(id)) FROM (SELECT (lpad(to_hex("
             "n * 281474976710655 / 5000 - n % 3), 12, '0') || repeat('0', 20))::uuid AS id FROM generate_series(1, 5000) AS n) AS r", "5000"),
        ]:
            self.assertEqual(self.rows(f"SELECT {call}"), [wanted], call)

    def test_the_type_uuid_reads_the_same_ids(self):
        """PostgreSQL's own input has no urn:uuid:, and takes braces and a hyphen after any group of four digits."""
        own_forms = re.compile("(?a)([{])?[0-9A-Fa-f]{4}(-?[0-9A-Fa-f]{4}){7}(?(1)[}])")
        cases = [case for case in CASES if case.type == "text" and self.can_hold(case)]
        bare = [re.sub("(?ai)^urn:uuid:(?![{u])", "", case.value) for case in cases]
        answers = self.answers("text", bare, ["encode(uuid_send(x::uuid), 'hex')"])
        for case, value, [answer] in zip(cases, bare, answers):
            if case.uuid != "refused" or not own_forms.fullmatch(value):
                self.assertEqual(answer, case.uuid, case.line)
            else:
                self.assertEqual(answer, re.sub("[-{}]", "", value).lower(), case.line)
        self.assertGreater(sum(case.uuid != "refused" for case in cases), 700)

    def test_wrong_input_is_an_error(self):
        self.assert_refused("ulid_min('1969-12-31Z')", "uuid7_max('infinity')", f"uuid7_timestamp('{ULID_AS_UUID}')",
                            "ulid_at('1969-12-31Z')", f"ulid_to_uuid('{UUID7}')", f"uuid_text('{ULID}')")

    def test_other_collations_change_nothing(self):
        self.rows("CREATE COLLATION ignoring(provider = icu, locale = 'und-u-ks-level1', deterministic = false);"
                  "CREATE TABLE collated(x text COLLATE ignoring);"
                  f"INSERT INTO collated VALUES ('{ULID}'), ('{UUID7}'), ('URN:UUID:{UUID7}')")
        found = self.rows("SELECT ulid_valid(x), uuid_valid(x), uuid7_valid(x), key_kind(x) FROM collated")
        self.assertEqual(found, ["t|f|f|ulid", "f|t|t|uuid7", "f|t|t|uuid7"])
        self.assertEqual(self.rows("SELECT ulid_text(x) FROM collated WHERE ulid_valid(x)"), [ULID])
        self.assertEqual(self.rows("SELECT DISTINCT uuid_text(x) FROM collated WHERE uuid_valid(x)"), [UUID7])
        self.assert_refused("ulid_text('01\u00c5RZ3NDEKTSV4RRFFQ69G5FAV' COLLATE ignoring)")

    def filled(self, database, schema):
        """Creates a database that uses every function, in a schema."""
        path = f"SET search_path = {schema};"
        every = {
            "ulid_text(text)": "ulid_text(text)", "ulid_to_uuid(text)": "ulid_to_uuid(text)", "ulid_valid(text)": "ulid_valid(text)",
            "uuid_text(text)": "uuid_text(hex)", "uuid_valid(text)": "uuid_valid(text)", "uuid7_valid(text)": "uuid7_valid(text)",
            "key_kind(text)": "key_kind(text)", "key_kind(uuid)": "key_kind(id)", "uuid_version(uuid)": "uuid_version(id)",
            "uuid_to_ulid(uuid)": "uuid_to_ulid(id)", "ulid_timestamp(uuid)": "ulid_timestamp(id)",
            "uuid7_timestamp(uuid)": "uuid7_timestamp(other)", "ulid_min(timestamptz)": "ulid_min(at)",
            "ulid_max(timestamptz)": "ulid_max(at)", "uuid7_min(timestamptz)": "uuid7_min(at)",
            "uuid7_max(timestamptz)": "uuid7_max(at)", "inorder_version()": "inorder_version()",
        }
        made = {"ulid()", "uuid7()", "ulid_shared()", "uuid7_shared()", "ulid_text()", "ulid_at(timestamptz)", "uuid7_at(timestamptz)", "token(integer)", "token_text(integer)"}
        self.assertEqual({*every, *made}, documented(self.column)[0], "every function is in the dump")
        columns = ", ".join(f"g{i} text GENERATED ALWAYS AS (({call})::text COLLATE \"C\") STORED" if "timestamp(" not in call else
                            f"g{i} timestamptz GENERATED ALWAYS AS ({call}) STORED" for i, call in enumerate(every.values()))
        indexes = "".join(f"CREATE INDEX ON kept(({call}));" for call in every.values())
        self.rows(f"CREATE DATABASE {database}")
        self.rows(("" if schema == "public" else f"CREATE SCHEMA {schema};") + path + POSTGRESQL + path
                  + f"""CREATE TABLE kept(id uuid PRIMARY KEY DEFAULT ulid(), text text DEFAULT ulid_text(), other uuid DEFAULT uuid7(),
                    hex text DEFAULT token_text(16), past uuid DEFAULT ulid_at('2024-01-01Z'), gone uuid DEFAULT uuid7_at('2024-01-01Z'),
                    secret bytea DEFAULT token(20), a uuid DEFAULT ulid_shared(), b uuid DEFAULT uuid7_shared(), at timestamptz DEFAULT '2024-01-01Z', n int, {columns},
                    CHECK (uuid_version(other) = 7 AND ulid_valid(text)));
                    CREATE VIEW seen AS SELECT ulid_text() AS new, uuid_to_ulid(id) AS ulid FROM kept;
                    {indexes} INSERT INTO kept(n) SELECT i FROM generate_series(1, 100) AS i""", "-d", database)

    def test_a_dump_restores_with_all_rows_and_goes_on(self):
        for schema in ("public", "ids"):
            whole = f"SET search_path = {schema}; SELECT * FROM kept ORDER BY n"
            source, copy = f"source_{schema}", f"copy_{schema}"
            self.filled(source, schema)
            dump = self.server.run("pg_dump", "-d", source)
            self.rows(f"CREATE DATABASE {copy}")
            self.rows(dump, "-d", copy)
            rows = self.server.lines(whole, "-d", copy)
            self.assertEqual((rows.count("\n"), rows), (100, self.server.lines(whole, "-d", source)))
            # Ids made in the copy follow the restored ones, without a search path.
            self.rows(f"SET search_path = ''; INSERT INTO {schema}.kept(n) VALUES (101), (102)", "-d", copy)
            order = f"SELECT string_agg(n::text, ',' ORDER BY id) = string_agg(n::text, ',' ORDER BY n) FROM {schema}.kept"
            self.assertEqual(self.rows(order, "-d", copy), ["t"])
            self.assertEqual(self.rows(f"SET search_path = ''; SELECT count(DISTINCT new) FROM {schema}.seen", "-d", copy), ["102"])
            # A second copy from the first, in parallel, with pg_restore.
            archive = self.server.folder.parent / f"{self.server.folder.name}-{schema}.dump"
            self.addCleanup(archive.unlink)
            self.server.run("pg_dump", "-Fc", "-f", str(archive), "-d", copy)
            self.rows(f"CREATE DATABASE again_{schema}")
            self.server.run("pg_restore", "--exit-on-error", "-j", "2", "-d", f"again_{schema}", str(archive))
            self.assertEqual(self.server.lines(whole, "-d", f"again_{schema}"), self.server.lines(whole, "-d", copy))
            self.rows(f"REINDEX DATABASE again_{schema}; VACUUM FULL ANALYZE", "-d", f"again_{schema}")

    def test_an_upgrade_keeps_what_uses_the_functions(self):
        self.filled("upgraded", "public")
        # What an earlier version of the file had.
        self.rows("GRANT USAGE ON SEQUENCE inorder_last TO PUBLIC; CREATE FUNCTION inorder_advance() RETURNS bigint LANGUAGE sql RETURN 1;"
                  "CREATE OR REPLACE FUNCTION ulid() RETURNS uuid LANGUAGE sql VOLATILE RETURN (repeat(inorder_advance()::text, 32))::uuid",
                  "-d", "upgraded")
        self.rows(POSTGRESQL + "INSERT INTO kept(n) VALUES (101)", "-d", "upgraded")
        left = "SELECT count(*) FROM pg_proc WHERE proname = 'inorder_advance'; SELECT relacl::text LIKE '%,=%' FROM pg_class WHERE relname = 'inorder_last'"
        self.assertEqual(self.rows(left, "-d", "upgraded"), ["0", "f"])
        self.assertEqual(self.rows("SELECT count(*) FROM kept", "-d", "upgraded"), ["101"])

    def test_every_role_makes_ids_and_none_changes_the_mark(self):
        for schema in ("public", "others"):
            database = f"roles_{schema}"
            self.filled(database, schema)
            self.rows(f"DROP ROLE IF EXISTS guest_{schema}; CREATE ROLE guest_{schema} LOGIN;"
                      f"GRANT USAGE ON SCHEMA {schema} TO guest_{schema}; GRANT INSERT, SELECT ON {schema}.kept TO guest_{schema}",
                      "-d", database)
            guest = ["-d", database, "-U", f"guest_{schema}"]
            for path in ("''", schema, "pg_catalog"):
                # Idle for some milliseconds, so that the mark has to be set to the clock.
                self.rows(f"SET search_path = {path}; SELECT pg_sleep(0.02);"
                          f"INSERT INTO {schema}.kept(n) VALUES (101); INSERT INTO {schema}.kept(n) SELECT {schema}.uuid_version(other) FROM {schema}.kept;"
                          f"SELECT pg_sleep(0.02), {schema}.ulid(), {schema}.uuid7(), {schema}.ulid_text(), {schema}.ulid_shared()", *guest)
            for new in ("ulid()", "ulid_shared()"):
                late = f"SELECT abs(extract(epoch FROM clock_timestamp() - {schema}.ulid_timestamp({schema}.{new}))) < 60"
                self.assertEqual(self.rows(late, *guest), ["t"])
            for attempt in (f"SELECT setval('{schema}.inorder_last', 1)", f"SELECT nextval('{schema}.inorder_last')",
                            f"SELECT {schema}.inorder_raise('{schema}.inorder_last', '{schema}.inorder_turn')", f"SELECT {schema}.inorder_reset()",
                            f"ALTER SEQUENCE {schema}.inorder_last RESTART", f"DROP FUNCTION {schema}.ulid()",
                            f"ALTER TABLE {schema}.inorder_turn ADD x int", f"SELECT * FROM {schema}.inorder_turn FOR UPDATE"):
                done = self.server.client(attempt, *guest)
                self.assertNotEqual(done.returncode, 0, attempt)
                self.assertRegex(done.stderr, "permission denied|must be owner", attempt)

    def test_no_role_keeps_others_from_making_ids(self):
        self.filled("blocked", "public")
        self.rows("CREATE ROLE mallory LOGIN; GRANT USAGE ON SCHEMA public TO mallory", "-d", "blocked")
        mallory = ["-d", "blocked", "-U", "mallory"]
        for mode in ("ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE",
                     "ACCESS EXCLUSIVE"):
            done = self.server.client(f"BEGIN; LOCK TABLE inorder_turn IN {mode} MODE", *mallory)
            self.assertIn("permission denied", done.stderr, mode)
        # No id takes an advisory lock. One that a role holds, and its ids in a transaction that stays open, are in nobody's way.
        fresh = "SELECT pg_sleep(0.02), ulid(), uuid7(), ulid_shared(), uuid7_shared();"
        self.assertEqual(self.rows(f"BEGIN; {fresh} SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' OR mode > 'F' AND mode LIKE '%Exclusive%'"
                                   " AND relation = 'inorder_turn'::regclass", "-d", "blocked")[-1:], ["0"])
        holder = subprocess.Popen([*self.server.ask, *mallory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.communicate)
        holder.stdin.write("BEGIN; SELECT pg_advisory_lock(hashtext('inorder_last'), c.oid::int) FROM pg_class AS c WHERE relname LIKE 'inorder%';\n"
                           + fresh + "\\echo held\n")
        holder.stdin.flush()
        while holder.stdout.readline() != "held\n":
            pass
        for _ in range(3):
            done = self.server.client("SET statement_timeout = '10s';" + fresh, "-d", "blocked")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_clock_that_was_far_ahead_is_followed_with_a_warning(self):
        for seconds in (62, 3600, 315360000):
            done = self.server.client(self.ahead(seconds) + self.new_and_time)
            self.assertRegex(done.stderr, r"\AWARNING: +the clock was set back by \d+ seconds.*\n\Z")
            first, at, second, _ = done.stdout.split()
            self.assertLess(abs(int(at) / 1000 - time.time()), 60)
            self.assertGreater(second, first)

    def test_a_rollback_takes_no_order_away(self):
        ids = self.rows("SELECT ulid_text(); BEGIN; SELECT ulid_text(); ROLLBACK; SELECT ulid_text(); BEGIN; SAVEPOINT a; SELECT ulid_text();"
                        "ROLLBACK TO a; SELECT ulid_text(); COMMIT; RESET ALL; SELECT ulid_text(); DISCARD ALL; SELECT ulid_text()")
        self.assertEqual((len(ids), ids), (7, sorted(ids)))

    def test_a_mark_that_is_far_ahead_is_an_error_until_its_owner_resets_it(self):
        self.rows("DROP ROLE IF EXISTS caller; CREATE ROLE caller LOGIN")
        for seconds, is_error in ((50, False), (3600, True), (315360000, True)):
            before = self.rows("SELECT uuid_to_ulid(ulid_shared())")[0]
            self.rows(f"SELECT setval('inorder_last', {int((time.time() + seconds) * 1000) << 16})")
            for make in ("ulid_shared()", "uuid7_shared()"):
                done = self.server.client(f"SELECT uuid_to_ulid({make})", "-U", "caller")
                self.assertEqual(done.returncode != 0, is_error, done.stdout)
                if is_error:
                    self.assertIn("seconds ahead of the clock", done.stderr)
                    self.assertIn("inorder_reset()", done.stderr)
                else:
                    self.assertGreater(done.stdout.strip(), before)
            # The other ids do not depend on the mark.
            self.assertEqual(self.rows("SELECT abs(extract(epoch FROM now() - ulid_timestamp(ulid()))) < 60", "-U", "caller"), ["t"])
            self.assertIn("permission denied", self.server.client("SELECT inorder_reset()", "-U", "caller").stderr)
            self.rows("SELECT inorder_reset()")
            self.assertEqual(self.rows("SELECT abs(extract(epoch FROM now() - ulid_timestamp(ulid_shared()))) < 60", "-U", "caller"), ["t"])

    def test_shared_ids_of_many_sessions_are_in_one_order(self):
        """Each session makes ids one by one, with pauses in which the mark falls behind the clock."""
        make = "SELECT replace(ulid_shared()::text, '-', ''), pg_sleep(random() * 0.004);\n" * 200
        clients = [subprocess.Popen(self.server.ask, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
        for client in clients:
            client.stdin.write(make)
            client.stdin.close()
        ids = [[line.rstrip("|\n") for line in client.stdout] for client in clients]
        self.assertEqual([client.wait() for client in clients], [0] * 6)
        for made in ids:
            self.assertEqual((len(made), made), (200, sorted(made)))
        # Two sessions with the same count would differ in random bits only.
        counts = {id[:16] for made in ids for id in made}
        self.assertEqual(len(counts), 1200)

    def test_ids_go_on_after_a_crash(self):
        before = self.rows("SELECT uuid_to_ulid(ulid_shared()), ulid_text()", "-F", "\n")
        self.rows(f"SELECT setval('inorder_last', {int((time.time() + 40) * 1000) << 16}), pg_switch_wal()")
        ahead = self.rows("CREATE TABLE IF NOT EXISTS crashed(id uuid); INSERT INTO crashed SELECT ulid_shared() RETURNING uuid_to_ulid(id)")
        self.server.crash()
        after = self.rows("SELECT uuid_to_ulid(ulid_shared()), ulid_text()", "-F", "\n")
        self.assertGreater(after[0], ahead[0])
        self.assertGreater(after[1], before[1])
        self.rows("SELECT inorder_reset()")

    def test_an_id_writes_no_log_and_a_shared_id_one_record(self):
        for make, bytes_max in (("ulid()", 0), ("uuid7()", 0), ("ulid_shared()", 180)):
            pauses = f"SELECT pg_sleep(0.002), {make};\n" * 50
            lsn = "SELECT pg_current_wal_insert_lsn();\n"
            found = []
            for _ in range(5):  # Another process may write meanwhile.
                lines = self.rows(lsn + pauses + lsn)
                [(high, low), (end_high, end_low)] = [[int(part, 16) for part in line.split("/")] for line in (lines[0], lines[-1])]
                found.append(((end_high - high) << 32) + end_low - low)
            self.assertLessEqual(min(found) / 50, bytes_max, make)

    def test_a_search_path_of_the_caller_runs_nothing_as_the_owner(self):
        self.filled("hostile", "public")
        self.rows("CREATE ROLE eve LOGIN; CREATE SCHEMA eve AUTHORIZATION eve;", "-d", "hostile")
        trap = ("LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'eve' THEN RAISE 'trapped as %', current_user; END IF;"
                "RAISE 'trapped'; END $$;")
        eve = ["-d", "hostile", "-U", "eve"]
        self.rows("CREATE FUNCTION eve.nextval(regclass) RETURNS bigint " + trap
                  + "CREATE FUNCTION eve.setval(regclass, bigint) RETURNS bigint " + trap
                  + "CREATE FUNCTION eve.pg_sequence_last_value(regclass) RETURNS bigint " + trap
                  + "CREATE FUNCTION eve.date_part(text, timestamptz) RETURNS float8 " + trap
                  + "CREATE FUNCTION eve.inorder_raise(regclass, regclass) RETURNS bigint " + trap
                  + "CREATE FUNCTION eve.below(bigint, bigint) RETURNS boolean " + trap
                  + "CREATE OPERATOR eve.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = eve.below)", *eve)
        for _ in range(3):
            made = self.rows("SET search_path = eve, pg_catalog; SELECT pg_sleep(0.02), public.inorder_shared()", *eve)
            self.assertEqual(len(made), 1)


class OnPostgreSQL18(OnPostgreSQL):
    """On the version that has a function of its own; parsing does not depend on the version."""

    server_class = PostgreSQL18
    # pg_dump is that of an earlier version.
    test_a_dump_restores_with_all_rows_and_goes_on = None
    test_every_case_is_read_as_its_line_says = test_the_type_uuid_reads_the_same_ids = test_numbers_and_null_are_no_ids = None

    def test_the_own_function_of_the_server_gives_ids_that_the_functions_read(self):
        found = self.rows("SELECT uuid_version(id), abs(extract(epoch FROM uuid7_timestamp(id) - now())) < 60, id BETWEEN uuid7_min(now() - interval '1 h')"
                          " AND uuid7_max(now() + interval '1 h') FROM (SELECT uuidv7() AS id OFFSET 0) AS made")
        self.assertEqual(found, ["7|t|t"])


class OnMariaDB(Functions, unittest.TestCase):
    server_class = MariaDB
    use, true, column = "USE inorder;", "1", 2
    thousand = "SELECT ulid(), uuid7() FROM seq_1_to_1000"
    from_thousand = "FROM seq_1_to_1000"
    generate = "SELECT HEX({}()) FROM seq_1_to_2000"
    new_text, a_text = "ulid_text(ulid())", "ulid_text(a)"
    new_and_time = "SET @id = ulid(); SELECT ulid_text(@id), ulid_timestamp(@id);" * 2
    calls_with_a_time = 12
    go_on = ["--force"]
    ms_of = "ulid_timestamp({})"
    # The digits that the functions of all engines accept and refuse: crates/inorder-sqlite/tests/times.rs has them too.
    right_times = {
        "ms": {"1714521600000": 1714521600000, "'1714521600000.0'": 1714521600000, "100000000000": 100000000000, "0": 0, "'0'": 0,
               "281474976710655": 281474976710655, "'000000000001'": 1, "1714521600000e0": 1714521600000,
               "CAST(UNIX_TIMESTAMP('2024-05-01 00:00:00') * 0 + 1714521600000 AS SIGNED)": 1714521600000},
        "s": {"1714521600": 1714521600000, "'1714521600'": 1714521600000, "1714521600.25": 1714521600250, "'1714521600.2599'": 1714521600259,
              "100000000": 100000000000, "0": 0, "281474976710": 281474976710000},
    }
    wrong_times = {
        "ms": ["1", "1714521600", "'1714521600'", "1714521600.5", "1714521600e0", "99999999999", "171452160000.5", "UNIX_TIMESTAMP()",
               "UNIX_TIMESTAMP(NOW(3))", "1714521600000000", "'1714521600000000'", "1714521600000000000", "-1", "-1714521600000", "'-0'",
               "281474976710656", "20240501", "202405011230", "20240501123045", "'20240501123045'", "NOW() + 0", "NOW()", "CURDATE()", "CURDATE() + 0",
               "2024", "'2024-05-01'", "19844", "2460431.5", "'12:30'", "''", "' '", "'x'", "x'ff'", "1e300", "'1714521600000\n'"],
        "s": ["1", "1714521600000", "'1714521600000'", "99999999", "281474976711", "1714521600000000", "1714521600000000000", "-1", "-1714521600",
              "20240501", "202405011230", "20240501123045", "NOW() + 0", "NOW()", "CURDATE()", "19844", "2460431.5", "2024", "'2024-05-01'", "''",
              "'1714521600.'", "'.5'", "'x'", "x'ff'", "1e300"],
    }
    says_what_to_do = "take the function with"
    read_ulid, read_uuid = "LOWER(HEX(ulid_blob(x)))", "LOWER(HEX(uuid_blob(x)))"
    is_ulid, is_uuid, kind = "ulid_valid(x)", "uuid_valid(x)", "key_kind(x)"
    blob_as_ulid, blob_as_uuid = "LOWER(HEX(ulid_blob(HEX(ulid_blob(ulid_text(x))))))", "LOWER(HEX(uuid_blob(uuid_text(x))))"
    # MariaDB has ulid_text(x), but not ulid_text().
    same_call_other_meaning = set()

    @classmethod
    def prepare(cls):
        cls.server.rows("CREATE DATABASE inorder")
        for _ in range(2):
            cls.server.rows(cls.use + "\n" + MARIADB)
        cls.server.rows(cls.use + "CREATE TABLE t(a BINARY(16) PRIMARY KEY, b BINARY(16));")

    def can_hold(self, case):
        return True

    def answers(self, type, values, calls):
        """Returns the result of each call for each value, in order, in every SQL mode: the caller's mode converts arguments."""
        stored = [value.encode().hex() if type == "text" else value for value in values]
        rows = ",".join(f"({i}, x'{hex}')" for i, hex in enumerate(stored))
        x = {"text": "CONVERT(bytes USING utf8mb4)", "blob": "bytes"}[type]
        asked = ", ".join(f"ask_{i}({x})" for i in range(len(calls)))
        parameter = {"text": "LONGTEXT CHARSET utf8mb4", "blob": "LONGBLOB"}[type]
        found = []
        for mode in ("STRICT_ALL_TABLES", "", "ANSI,NO_BACKSLASH_ESCAPES"):
            wrappers = "".join(f"""CREATE OR REPLACE FUNCTION ask_{i}(x {parameter}) RETURNS TEXT CHARSET utf8mb4 NO SQL
                BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RETURN 'refused'; RETURN COALESCE({call}, 'null'); END //
                """ for i, call in enumerate(calls))
            lines = self.server.lines(f"""USE inorder; SET sql_mode = '{mode}';\nDELIMITER //
                {wrappers}\nDELIMITER ;
                CREATE TEMPORARY TABLE given(n INT PRIMARY KEY, bytes LONGBLOB); INSERT INTO given VALUES {rows};
                SELECT {asked} FROM given ORDER BY n;""")
            found.append([line.split("\t") for line in lines.splitlines()])
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])
        return found[0]

    def functions(self):
        names = self.server.lines("""SELECT CONCAT(r.routine_name, '(', COALESCE(GROUP_CONCAT(p.parameter_name), ''), ')')
            FROM information_schema.routines r LEFT JOIN information_schema.parameters p
            ON p.specific_schema = r.routine_schema AND p.specific_name = r.specific_name AND p.ordinal_position > 0
            WHERE r.routine_schema = 'inorder' AND r.routine_name NOT REGEXP '^(ask|inorder)_' OR
            r.routine_schema = 'inorder' AND r.routine_name = 'inorder_version' GROUP BY r.routine_name""")
        return set(names.split())

    @staticmethod
    def ahead(seconds):
        return f"SET @inorder_last = {int((time.time() + seconds) * 1000) << 16};"

    def test_a_clock_that_was_far_ahead_is_an_error_until_the_session_follows_it(self):
        for seconds in (62, 3600, 315360000):
            use = self.use + self.ahead(seconds)
            for make in ("ulid()", "uuid7()"):
                done = self.server.client(use + f"SELECT {make}")
                self.assertIn("SET @inorder_last = NULL", done.stderr)
            _, at, _, _ = self.rows(use + "SET @inorder_last = NULL;" + self.new_and_time)
            self.assertLess(abs(int(at) / 1000 - time.time()), 60)

    def test_literals_of_every_character_set_are_read(self):
        forms = {ULID: ULID_AS_UUID, ULID.lower(): ULID_AS_UUID, ULID_AS_UUID.replace("-", ""): ULID_AS_UUID}
        for text, uuid in forms.items():
            for set in ("utf8mb4", "latin1", "ascii", "utf8mb3", "cp1251", "sjis", "binary"):
                call = f"SELECT uuid_text(ulid_blob(CONVERT('{text}' USING {set}))), ulid_valid(CONVERT('{text}' USING {set}))"
                self.assertEqual(self.rows(self.use + call), [uuid, "1"], set)
        # The Turkish i and the Kelvin sign, in collations that treat them as ASCII letters.
        for wrong in ("01AR\u017f3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDE\u212aTSV4RRFFQ69G5FAV"):
            for collation in ("utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_turkish_ci", "utf8mb4_uca1400_ai_ci", "utf8mb4_bin"):
                self.assertEqual(self.rows(f"{self.use} SELECT ulid_valid('{wrong}' COLLATE {collation})"), ["0"], collation)
                self.assert_refused(f"ulid_blob('{wrong}' COLLATE {collation})")

    def test_blobs_are_neither_padded_nor_cut(self):
        readers = ("ulid_text", "uuid_text", "uuid_hex", "uuid_version", "ulid_timestamp", "uuid7_timestamp")
        self.assertEqual({f"{reader}(id)" for reader in readers}, {call for call in documented(2)[0] if call.endswith("(id)")})
        for mode in ("STRICT_ALL_TABLES", ""):
            for reader in readers:
                for length in (0, 1, 15, 17, 20, 26, 32, 36, 300):
                    for blob in (f"REPEAT(CHAR(1), {length})", f"REPEAT(x'00', {length})"):
                        done = self.server.client(f"{self.use} SET sql_mode = '{mode}'; SELECT {reader}({blob})")
                        self.assertNotEqual(done.returncode, 0, f"{reader}({blob})")
                        self.assertIn("bytes" if reader != "uuid7_timestamp" or "bytes" in done.stderr else "version", done.stderr)

    def test_times_are_whole_milliseconds_in_every_mode(self):
        for mode in ("STRICT_ALL_TABLES", "", "ANSI", "ORACLE"):
            use = f"{self.use} SET sql_mode = '{mode}';"
            for call in documented(2)[0]:
                if call.endswith("(ms)"):
                    name = call.split("(")[0]
                    for ms in ("1645557742000", "1645557742000.0", "'1645557742000'", "1645557742000e0", "281474976710655", "0"):
                        self.assertEqual(self.rows(f"{use} SELECT ulid_timestamp({name}({ms})) = {ms}"), ["1"], f"{name}({ms})")
                    for ms in ("-1", "281474976710656", "1.5", "'abc'", "''", "'12 '", "'1\n'", "1e300", "'2024-01-01'", "x'ff'", "9e18"):
                        done = self.server.client(f"{use} SELECT {name}({ms})")
                        self.assertNotEqual(done.returncode, 0, f"{name}({ms}): {done.stdout}")
            for n in ("1.5", "0", "1025", "'abc'", "'1\n6'", "-1", "1e9"):
                self.assertNotEqual(self.server.client(f"{use} SELECT token({n})").returncode, 0, n)
            self.assertEqual(self.rows(f"{use} SELECT LENGTH(token(16.0)), LENGTH(token('16'))"), ["16", "16"])

    def trigger(self):
        """The table and the trigger of the documentation, which are also in the SQL file."""
        statements = re.search(r"```mysql\n(CREATE TABLE note.*?)```", PAGE, re.DOTALL).group(1)
        for line in statements.splitlines():
            self.assertIn(line, MARIADB)
        return statements.replace("text TEXT", "text TEXT, n INT")

    def test_the_trigger_of_the_page_keeps_the_ids_of_the_caller(self):
        given = "x'11223344556677889900AABBCCDDEE00'"
        for mode in ("STRICT_ALL_TABLES", "", "TRADITIONAL", "ANSI", "ORACLE", "NO_BACKSLASH_ESCAPES"):
            use = f"{self.use} SET sql_mode = '{mode}';"
            self.rows(use + "DROP TABLE IF EXISTS note;" + self.trigger())
            # Every way to omit the id, then every way to supply it.
            self.rows(use + f"""INSERT INTO note(n) VALUES (1), (2); INSERT INTO note(id, n) VALUES (DEFAULT, 3), (NULL, 4);
                INSERT INTO note SET n = 5; INSERT INTO note(n) SELECT 6; INSERT INTO note SELECT NULL, NULL, 7;
                REPLACE INTO note(n) VALUES (8); INSERT IGNORE INTO note(n) VALUES (9);
                INSERT INTO note(n) VALUES (10) ON DUPLICATE KEY UPDATE n = 100; INSERT INTO note(id, n) VALUES ('', 11);
                INSERT INTO note(id, n) VALUES ({given}, 12);
                INSERT INTO note(id, n) VALUES ({given}, 13) ON DUPLICATE KEY UPDATE n = n + 1;
                INSERT IGNORE INTO note(id, n) VALUES ({given}, 14); REPLACE INTO note(id, n) VALUES ({given}, 15);
                INSERT INTO note(id, n) SELECT x'00000000000000000000000000000001', 16;""")
            self.assertEqual(self.rows(use + "SELECT n FROM note ORDER BY n"), [str(n) for n in (*range(1, 12), 15, 16)], mode)
            made = self.rows(use + "SELECT key_kind(HEX(id)) IN ('ulid', 'uuid4') OR key_kind(HEX(id)) LIKE 'UUID%' FROM note WHERE n < 12"
                             " AND ABS(ulid_timestamp(id) - UNIX_TIMESTAMP() * 1000) < 60000 ORDER BY n")
            self.assertEqual(made, ["1"] * 11, mode)
            self.assertEqual(self.rows(use + "SELECT n FROM note WHERE n < 12 ORDER BY id"), [str(n) for n in range(1, 12)], mode)
            self.assertEqual(self.rows(use + f"SELECT n FROM note WHERE id = {given}"), ["15"], mode)
            self.assertEqual(self.rows(use + "SELECT HEX(id) FROM note WHERE n = 16"), ["0" * 31 + "1"], mode)

    def assert_each_call_answers(self, schema, *options):
        """Every documented function exists and can be called."""
        arguments = {"(id)": "(x'017F22E279B07CC398C4DC0C0C07398F')", "(x)": f"('{UUID7.replace('-', '')}')",
                     "(ms)": "(1645557742000)", "(s)": "(1645557742)", "(n)": "(16)"}
        calls = sorted(documented(2)[0])
        self.assertGreater(len(calls), 20)
        for call in calls:
            for parameter, argument in arguments.items():
                call = call.replace(parameter, argument)
            self.assertEqual(self.rows(f"SELECT {schema}{call} IS NOT NULL", *options), ["1"], call)

    def test_a_dump_restores_without_the_user_who_made_it(self):
        self.rows("CREATE DATABASE source; CREATE USER maker@localhost; GRANT ALL ON source.* TO maker@localhost")
        maker = ["-u", "maker", "source"]
        self.rows("SET sql_mode = 'ORACLE';" + MARIADB + self.trigger() + "SELECT @@sql_mode", *maker)
        self.rows("INSERT INTO note(n) SELECT seq FROM seq_1_to_100", *maker)
        dump = self.server.run("mariadb-dump", "--no-defaults", "--routines", "--hex-blob", "source")
        before = self.rows("SELECT HEX(id), n FROM source.note ORDER BY id")
        self.assertEqual(len(before), 200)
        # The trigger runs with its definer's rights, the functions with the caller's.
        self.rows("DROP DATABASE source; DROP USER maker@localhost; CREATE DATABASE copy")
        definer = "DEFINER=([`\"])maker\\1@\\1localhost\\1"
        self.assertGreater(len(re.findall(definer, dump)), 20)
        lines = [re.sub(definer, "", line) if "TRIGGER" in line else line for line in dump.splitlines()]
        self.rows("\n".join(lines), "copy")
        self.assertEqual(self.rows("SELECT HEX(id), n FROM copy.note ORDER BY id"), before)
        self.rows("INSERT INTO copy.note(n) VALUES (101)")
        self.assertEqual(self.rows("SELECT n FROM copy.note ORDER BY id DESC LIMIT 1"), ["101"])
        self.assert_each_call_answers("copy.")
        # They were created in a session with another mode, and keep that mode.
        modes = "SELECT DISTINCT sql_mode FROM information_schema.routines WHERE routine_schema = 'copy'"
        self.assertEqual(self.rows(modes), ["STRICT_ALL_TABLES"])

    def test_with_the_binary_log_the_file_says_what_a_user_lacks_and_changes_nothing(self):
        self.rows("CREATE DATABASE logged; CREATE USER plain@localhost; GRANT ALL ON logged.* TO plain@localhost")
        self.rows(MARIADB, "logged")
        listed = "SELECT COUNT(*), MD5(GROUP_CONCAT(routine_name, created ORDER BY 1)) FROM information_schema.routines WHERE routine_schema = 'logged'"
        before = self.rows(listed)
        self.rows("SET GLOBAL log_bin_trust_function_creators = 0")
        self.addCleanup(self.rows, "SET GLOBAL log_bin_trust_function_creators = 1")
        done = self.server.client(MARIADB, "-u", "plain", "logged")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "ERROR 1419.* SUPER .*log_bin_trust_function_creators = 1")
        self.assertEqual(self.rows(listed), before)
        self.rows("SET GLOBAL log_bin_trust_function_creators = 1")
        self.rows(MARIADB + self.trigger(), "-u", "plain", "logged")
        # A replica gets the rows, not statements that would make other ids.
        self.rows("SET SESSION binlog_format = 'MIXED'; INSERT INTO logged.note(n) VALUES (1), (2); UPDATE logged.note SET id = logged.uuid7() WHERE n = 1")
        log = self.rows("SHOW MASTER STATUS")[0]
        events = [line.split("\t") for line in self.server.lines(f"SHOW BINLOG EVENTS IN '{log}'").splitlines() if line.count("\t") == 5]
        kinds = [event[2] for event in events]
        self.assertTrue(any(kind.startswith("Write_rows") for kind in kinds) and any(kind.startswith("Update_rows") for kind in kinds), kinds[-20:])
        self.assertFalse([event for event in events if event[2] == "Query" and re.search("(?i)(insert into|update) logged", event[-1])])

    def test_users_need_no_more_than_execute(self):
        self.rows(self.use + "DROP TABLE IF EXISTS note;" + self.trigger() + """CREATE USER reader@localhost, writer@localhost;
            GRANT EXECUTE ON inorder.* TO reader@localhost; GRANT INSERT, SELECT ON inorder.note TO writer@localhost""")
        self.assert_each_call_answers("", "-u", "reader", "inorder")
        self.rows("INSERT INTO note(n) VALUES (1), (2)", "-u", "writer", "inorder")
        self.assertEqual(self.rows("SELECT n FROM note ORDER BY id", "-u", "writer", "inorder"), ["1", "2"])
        self.assertNotEqual(self.server.client("SELECT ulid()", "-u", "writer", "inorder").returncode, 0)

    def test_regular_expressions_that_match_lines_change_nothing(self):
        self.rows("SET GLOBAL default_regex_flags = 'DOTALL,EXTENDED,EXTENDED_MORE,MULTILINE,UNGREEDY'")
        self.addCleanup(self.rows, "SET GLOBAL default_regex_flags = DEFAULT")
        self.test_every_case_is_read_as_its_line_says()
        lines = f"abc\\n{UUID7.replace('-', '')}", f"1\\n2", f"{ULID[:24]}\\n{ULID[0]}"
        for text in lines:
            found = self.rows(f"{self.use} SELECT ulid_valid('{text}'), uuid_valid('{text}'), key_kind('{text}')")
            self.assertEqual(found, ["0", "0", "no", "id"], text)

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

    def test_the_time_is_that_of_the_system_whatever_the_session_says(self):
        for setting in ("timestamp = 86400", "time_zone = '+05:30'", "timestamp = 86400, time_zone = '-12:00'"):
            found = self.rows(f"{self.use} SET {setting}; SELECT ulid_timestamp(ulid()), uuid7_timestamp(uuid7())")
            for ms in found:
                self.assertLess(abs(int(ms) / 1000 - time.time()), 60, setting)

    def test_wrong_input_is_an_error(self):
        self.assert_refused("uuid_blob('x')", "ulid_min(-1)", "uuid7_max(281474976710656)", f"uuid7_timestamp(ulid_blob('{ULID}'))",
                            f"ulid_blob('{UUID7}')", f"uuid_blob('{ULID}')", "uuid_text('0123456789')")


if __name__ == "__main__":
    unittest.main()
