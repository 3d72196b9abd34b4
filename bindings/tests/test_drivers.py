"""Ids of inorder-key with sqlx and diesel, in a SQLite file and on a private PostgreSQL server.

    /usr/bin/python3 -m unittest discover -s bindings/tests

Needs cargo. Without a PostgreSQL server the tests that use it are skipped, unless CI is set.
"""

import glob
import json
import os
import re
import sys
import unittest

from test_packages import PACKAGES, run

sys.path.insert(0, str(PACKAGES / "sql/tests"))
from test_sql import PostgreSQL  # noqa: E402

PROJECT = PACKAGES / "tests/drivers"
# The dependencies that both workspaces have in the same version and with the same features are compiled once. Profiles agree as well.
TARGET = PACKAGES.parent / "target"
# What Cargo says of the main workspace, written by ./test.
BUILT = TARGET / "test-built.json"
LIBRARIES = TARGET / "tmp" / "drivers"
# What both workspaces have, with features that only one of them should have. All are small.
TWICE = {"crypto_common", "digest", "either", "getrandom", "inorder_key", "sha2", "spin", "tracing"}


def link_libraries():
    """Links SQLite and libpq by the names that a linker looks for. Debian has these in packages for developers only."""
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    for name in ["libpq.so.5", "libsqlite3.so.0"]:
        for library in glob.glob(f"/usr/lib/*/{name}")[:1]:
            link = LIBRARIES / name.rpartition(".")[0]
            link.unlink(missing_ok=True)
            link.symlink_to(library)


def cargo_test(*arguments, **variables):
    link_libraries()
    if (LIBRARIES / "libpq.so").exists():
        variables["PQ_LIB_DIR"] = str(LIBRARIES)
    if (LIBRARIES / "libsqlite3.so").exists():
        # The SQLite that sqlx brings along would be compiled for this test alone.
        variables |= {"LIBSQLITE3_SYS_USE_PKG_CONFIG": "1", "SQLITE3_LIB_DIR": str(LIBRARIES)}
    # The one that ./test names writes documentation into the package.
    others = {name: value for name, value in os.environ.items() if name != "RUSTDOC"}
    return run("cargo", "test", "--quiet", "--locked", "--manifest-path", PROJECT / "Cargo.toml", "--tests", *arguments,
               env={**others, "CARGO_TARGET_DIR": str(TARGET), **variables})


def compiled(text):
    """Returns the files of each library and macro that Cargo names, by its name and the part of the version that must agree."""
    messages = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    files = {}
    for message in messages:
        if message["reason"] == "compiler-artifact" and message["target"]["kind"][0] in ("lib", "proc-macro") and not message["profile"]["test"]:
            major, minor, _ = re.split("[#@]", message["package_id"])[-1].split(".", 2)
            key = message["target"]["name"], major if major != "0" else f"0.{minor}"
            files.setdefault(key, set()).update(message["filenames"])
    return files


class Drivers(unittest.TestCase):
    def test_in_a_sqlite_file(self):
        self.assertEqual(cargo_test().count("1 passed"), 2)

    def test_on_a_postgresql_server(self):
        if PostgreSQL.needed is None:
            if os.environ.get("CI"):
                raise RuntimeError("PostgreSQL is not installed")
            raise unittest.SkipTest("SKIPPED: PostgreSQL is not installed")
        server = PostgreSQL()
        self.addCleanup(server.stop)
        url = f"postgres://test@localhost/postgres?host={server.folder}"
        self.assertEqual(cargo_test("--", "--ignored", INORDER_TEST_POSTGRES=url).count("1 passed"), 2)

    def test_what_both_workspaces_have_is_compiled_once(self):
        if not BUILT.exists():
            if os.environ.get("CI"):
                raise RuntimeError(f"there is no {BUILT}")
            raise unittest.SkipTest("SKIPPED: ./test has not built the main workspace")
        main, own = compiled(BUILT.read_text()), compiled(cargo_test("--no-run", "--message-format", "json"))
        twice = {name for name, version in main.keys() & own.keys() if not own[name, version] <= main[name, version]}
        self.assertEqual(twice - TWICE, set(), "the features or the versions in Cargo.lock differ: see bindings/tests/drivers/Cargo.toml")


if __name__ == "__main__":
    unittest.main()
