"""A user's program with each package, checked by `mypy --strict` and by `tsc`.

    /usr/bin/python3 -m unittest discover -s bindings/tests

Takes the compiler of TypeScript from bindings/extension/target/node, where the tests of the extension have put it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from test_packages import MODULES, installed, run

TYPED = pathlib.Path(__file__).resolve().parent / "typed"
# The oldest Python of the package, as far as mypy knows it, and a new one.
PYTHONS = ["3.10", "3.14"]


class Types(unittest.TestCase):
    def test_mypy_accepts_what_is_right_and_refuses_what_is_wrong(self):
        python = installed() / "env/bin/python"
        run(python, "-m", "pip", "install", "--quiet", "-r", TYPED / "requirements.txt")
        wrong = [number for number, line in enumerate((TYPED / "use.py").read_text().splitlines(), 1) if line.endswith("# error")]
        for version in PYTHONS:
            checked = subprocess.run([python, "-m", "mypy", "--strict", "--python-version", version, "--cache-dir", os.devnull, "use.py"],
                                     cwd=TYPED, capture_output=True, text=True)
            refused = [int(line) for line in re.findall(r"^use\.py:(\d+): error", checked.stdout, re.MULTILINE)]
            self.assertEqual(refused, wrong, checked.stdout + checked.stderr)

    def test_tsc_accepts_what_is_right_and_refuses_what_is_wrong(self):
        """With both ways in which it finds the types of a package: that of Node, and that of bundlers."""
        folder = installed()
        shutil.copy(TYPED / "use.ts", folder)
        for name in ["better-sqlite3", "@types"]:
            link = folder / "node_modules" / name
            if not link.exists():
                link.symlink_to(MODULES / name)
        for module, resolution in [("nodenext", "nodenext"), ("esnext", "bundler")]:
            run("node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--esModuleInterop", "--target", "es2022", "--types", "node",
                "--module", module, "--moduleResolution", resolution, "use.ts", cwd=folder)


if __name__ == "__main__":
    unittest.main()
