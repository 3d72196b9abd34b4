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
        tested = {"SQLAlchemy", "Django", "Rails", "better-sqlite3", "node:sqlite"}
        self.assertEqual(set(re.findall(r"(?m)^## (.*)$", PAGE)), tested)

    def test_sqlalchemy(self):
        self.run_example("SQLAlchemy", self.python)

    def test_sqlalchemy_finds_nothing_by_36_characters(self):
        self.assert_fails("SQLAlchemy", self.python, uuid7_hex="uuid7_text")

    def test_sqlalchemy_with_the_bits_of_a_ulid(self):
        self.run_example("SQLAlchemy", self.python, **{"uuid7_hex": "ulid_hex", "    assert ids[0].version == 7\n": ""})

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
