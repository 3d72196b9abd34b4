"""The packages, built, installed and used as their readers would.

    /usr/bin/python3 -m unittest discover -s packages/tests

Needs cargo, npm, and a python3 with venv whose sqlite3 loads extensions. Takes better-sqlite3 from
extension/target/node, where the tests of the extension have put it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import venv

PACKAGES = pathlib.Path(__file__).resolve().parent.parent
MODULES = PACKAGES.parent / "extension" / "target" / "node" / "node_modules"

USE = """
CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID;
INSERT INTO note(n) VALUES (1), (2), (3);
"""
READ = "SELECT group_concat(n) AS n FROM (SELECT n FROM note ORDER BY id)"


def run(*command, **options):
    """What a command prints; it fails the test if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} gave {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_wheel(self):
        venv.create(self.folder / "env", with_pip=True)
        python = self.folder / "env" / "bin" / "python"
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", self.folder, PACKAGES / "python")
        (wheel,) = self.folder.glob("inorder-0.1.0-py3-none-*.whl")
        run(python, "-m", "pip", "install", "--quiet", wheel)
        script = (
            "import inorder, sqlite3, sys; c = sqlite3.connect(':memory:'); inorder.load(c);"
            "c.executescript(sys.argv[1]); print(c.execute(sys.argv[2]).fetchone()[0])"
        )
        self.assertEqual(run(python, "-c", script, USE, READ, cwd=self.folder), "1,2,3\n")

    def test_the_npm_package(self):
        run("npm", "pack", "--pack-destination", self.folder, cwd=PACKAGES / "npm")
        run("npm", "install", "--prefix", self.folder, self.folder / "inorder-0.1.0.tgz")
        script = (
            "const db = require('inorder').load(new (require('better-sqlite3'))(':memory:'));"
            "db.exec(process.argv[1]); console.log(db.prepare(process.argv[2]).get().n)"
        )
        environment = {**os.environ, "NODE_PATH": f"{self.folder / 'node_modules'}:{MODULES}"}
        self.assertEqual(run("node", "-e", script, USE, READ, env=environment, cwd=self.folder), "1,2,3\n")


if __name__ == "__main__":
    unittest.main()
