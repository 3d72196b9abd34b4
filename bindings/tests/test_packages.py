"""Builds, installs and uses the packages as their documentation says.

    /usr/bin/python3 -m unittest discover -s bindings/tests

Needs cargo, npm, the command target/debug/inorder, and a python3 with venv whose sqlite3 loads extensions. Takes better-sqlite3 from
bindings/extension/target/node, where the tests of the extension have put it.
"""

import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import venv

PACKAGES = pathlib.Path(__file__).resolve().parent.parent
MODULES = PACKAGES / "extension" / "target" / "node" / "node_modules"

USE = """
CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID;
INSERT INTO note(n) VALUES (1), (2), (3);
"""
READ = "SELECT group_concat(n) AS n FROM (SELECT n FROM note ORDER BY id)"


def run(*command, **options):
    """Returns the output of a command. The test fails if the command does."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} gave {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def installed():
    """Builds and installs both packages in a folder with `env`, a virtual environment, and `node_modules`."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="inorder-packages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    prebuilt = folder / "prebuilt"
    prebuilt.mkdir()
    shutil.copy(PACKAGES / "extension/target/release/libinorder.so", prebuilt)
    shutil.copy(PACKAGES.parent / "target/debug/inorder", prebuilt)
    environment = {**os.environ, "INORDER_PREBUILT": str(prebuilt)}
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, PACKAGES / "python", env=environment)
    (wheel,) = folder.glob("inorder-0.1.0-py3-none-*.whl")
    run(python, "-m", "pip", "install", "--quiet", wheel)
    run("npm", "pack", "--pack-destination", folder, cwd=PACKAGES / "npm")
    run("npm", "install", "--prefix", folder, folder / "inorder-0.1.0.tgz")
    return folder


class Packages(unittest.TestCase):
    def test_the_wheel(self):
        script = (
            "import inorder, sqlite3, sys; c = sqlite3.connect(':memory:'); inorder.load(c);"
            "c.executescript(sys.argv[1]); print(c.execute(sys.argv[2]).fetchone()[0])"
        )
        python = installed() / "env" / "bin" / "python"
        self.assertEqual(run(python, "-c", script, USE, READ, cwd=installed()), "1,2,3\n")

    def test_the_wheel_has_the_command(self):
        self.assertEqual(run(installed() / "env" / "bin" / "inorder", "--version"), "inorder 0.1.0\n")

    def test_the_npm_package(self):
        script = (
            "const db = require('inorder').load(new (require('better-sqlite3'))(':memory:'));"
            "db.exec(process.argv[1]); console.log(db.prepare(process.argv[2]).get().n)"
        )
        environment = {**os.environ, "NODE_PATH": f"{installed() / 'node_modules'}:{MODULES}"}
        self.assertEqual(run("node", "-e", script, USE, READ, env=environment, cwd=installed()), "1,2,3\n")


if __name__ == "__main__":
    unittest.main()
