"""Ids of inorder-key with sqlx and diesel, in a SQLite file and on a private PostgreSQL server.

    /usr/bin/python3 -m unittest discover -s bindings/tests

Needs cargo. Without a PostgreSQL server the tests that use it are skipped, unless CI is set.
"""

import glob
import os
import pathlib
import sys
import tempfile
import unittest

from test_packages import PACKAGES, run

sys.path.insert(0, str(PACKAGES / "sql/tests"))
from test_sql import PostgreSQL  # noqa: E402

PROJECT = PACKAGES / "tests/drivers"
# The dependencies that both workspaces have in the same version and with the same features are compiled once. Profiles agree as well.
TARGET = PACKAGES.parent / "target"


def cargo_test(*arguments, **variables):
    with tempfile.TemporaryDirectory() as libraries:
        # Debian has the name by which libpq is linked in a package for developers only.
        for library in glob.glob("/usr/lib/*/libpq.so.5")[:1]:
            pathlib.Path(libraries, "libpq.so").symlink_to(library)
            variables["PQ_LIB_DIR"] = libraries
        # The one that ./test names writes documentation into the package.
        others = {name: value for name, value in os.environ.items() if name != "RUSTDOC"}
        return run("cargo", "test", "--quiet", "--locked", "--manifest-path", PROJECT / "Cargo.toml", *arguments,
                   env={**others, "CARGO_TARGET_DIR": str(TARGET), **variables})


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


if __name__ == "__main__":
    unittest.main()
