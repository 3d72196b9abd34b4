"""Runs the examples of docs/orms.md with the real packages.

    /usr/bin/python3 -m unittest discover -s bindings/tests

Needs cargo, npm, and a python3 with venv whose sqlite3 loads extensions. Takes what npm installs from
bindings/extension/target/node, where the tests of the extension have put it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from test_packages import MODULES, PACKAGES, installed, run

PAGE = (PACKAGES.parent / "docs" / "orms.md").read_text()
REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"


NOT_LOADED = """
import asyncio, inorder, sqlite3
import aiosqlite
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

class Promising:
    def enable_load_extension(self, _): return asyncio.get_running_loop().create_future()

async def main():
    engine, async_engine = create_engine("sqlite://"), create_async_engine("sqlite+aiosqlite://")
    async with aiosqlite.connect(":memory:") as connection, async_engine.connect() as async_connection:
        given = [connection, Promising(), engine, engine.connect(), async_engine, async_connection, sqlite3, None, "notes.db"]
        for x in given:
            try:
                inorder.load(x)
                print("passed over:", x)
            except TypeError as error:
                assert "load_async" in str(error) or "connect" in str(error), error
                print("refused:", error)
        # What can be loaded is.
        await inorder.load_async(connection)
        ((version,),) = await connection.execute_fetchall("SELECT inorder_version()")
        own = sqlite3.connect(":memory:")
        await inorder.load_async(own)
        raw = engine.raw_connection()
        inorder.load(raw)
        assert own.execute("SELECT inorder_version()").fetchone() == (version,)
        assert raw.cursor().execute("SELECT inorder_version()").fetchone() == (version,)
        own.close(); raw.close(); given[3].close()
    await async_engine.dispose(); engine.dispose()
asyncio.run(main())
"""


def example(heading):
    """Returns the code under a heading of the page."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```(?:python|js|ruby)\n(.*?)```", section, re.DOTALL)
    return code


def node_with_sqlite():
    """Returns a Node with node:sqlite: the one installed for the tests, or the system's."""
    installed = sorted(MODULES.glob("node-linux-*/bin/node"))
    for node in [*installed, shutil.which("node")]:
        probe = [str(node), "--no-warnings", "-e", "require('node:sqlite')"]
        if subprocess.run(probe, capture_output=True).returncode == 0:
            return node
    return None


class Orms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.packages = installed()
        cls.python = cls.packages / "env" / "bin" / "python"
        run(cls.python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_example(self, heading, *program, **changes):
        """Runs an example in an empty folder, with some words replaced."""
        code = example(heading)
        for word, other in changes.items():
            self.assertIn(word, code)
            code = code.replace(word, other)
        file = pathlib.Path(self.folder) / "example"
        file.write_text(code)
        environment = {**os.environ, "NODE_PATH": f"{self.packages / 'node_modules'}:{MODULES}"}
        run(*program, file, cwd=self.folder, env=environment)
        self.assertGreater((pathlib.Path(self.folder) / "notes.db").stat().st_size, 0)

    def assert_fails(self, *arguments, **options):
        with self.assertRaises(AssertionError):
            self.run_example(*arguments, **options)

    def test_every_example_is_run(self):
        tested = {"SQLAlchemy", "SQLAlchemy, async engine", "aiosqlite", "Django", "Rails", "better-sqlite3", "node:sqlite"}
        self.assertEqual(set(re.findall(r"(?m)^## (.*)$", PAGE)), tested)

    def test_sqlalchemy(self):
        self.run_example("SQLAlchemy", self.python)

    def test_sqlalchemy_finds_nothing_by_36_characters(self):
        self.assert_fails("SQLAlchemy", self.python, uuid7_hex="uuid7_text")

    def test_sqlalchemy_with_the_bits_of_a_ulid(self):
        self.run_example("SQLAlchemy", self.python, **{"uuid7_hex": "ulid_hex", "    assert ids[0].version == 7\n": ""})

    def test_sqlalchemy_async(self):
        self.run_example("SQLAlchemy, async engine", self.python)

    def test_aiosqlite(self):
        self.run_example("aiosqlite", self.python)

    def test_a_connection_that_loads_nothing_is_an_error(self):
        """Every object that a user could take for a connection, with warnings as errors: none is passed over in silence."""
        said = run(self.python, "-W", "error", "-c", NOT_LOADED, cwd=self.folder).splitlines()
        self.assertEqual([line for line in said if not line.startswith("refused: ")], [])
        self.assertEqual(len(said), 9)

    def test_django(self):
        self.run_example("Django", self.python)

    def test_django_finds_nothing_by_36_characters(self):
        self.assert_fails("Django", self.python, uuid7_hex="uuid7_text")

    def test_rails(self):
        library = PACKAGES / "extension/target/release/libinorder"
        self.run_example("Rails", "/usr/bin/ruby", **{"/usr/local/lib/libinorder": str(library)})

    def test_better_sqlite3(self):
        self.run_example("better-sqlite3", "node")

    def test_node_sqlite(self):
        node = node_with_sqlite()
        if node is None and not os.environ.get("CI"):
            raise unittest.SkipTest("SKIPPED: no Node with node:sqlite")
        self.run_example("node:sqlite", node, "--no-warnings")


if __name__ == "__main__":
    unittest.main()
