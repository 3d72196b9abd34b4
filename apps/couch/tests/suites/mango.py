#!/usr/bin/env python3
"""Runs the Mango suite of a clone of apache/couchdb (src/mango/test) against a running server.

    mango.py CLONE URL [--only TEXT] [--failures FILE]

URL has the name and password of an admin. Needs the Python packages requests and hypothesis. The exit code is 0 where every test
passed, 1 where one failed, 2 where the suite could not be run.
"""

import argparse
import importlib.util
import io
import os
import pathlib
import sys
import time
import unittest
import urllib.parse


def settings():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("url")
    parser.add_argument("--only", default="", metavar="TEXT", help="only tests with this text in their names")
    parser.add_argument("--failures", type=pathlib.Path, metavar="FILE", help="write the failures into this file")
    given = parser.parse_args()
    given.folder = given.clone / "src/mango/test"
    if not (given.folder / "mango.py").exists():
        parser.error(f"{given.folder} is not the Mango suite")
    return given


def connect(url):
    """The suite reads the address of the server from these variables."""
    parts = urllib.parse.urlsplit(url)
    os.environ["COUCH_HOST"] = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    os.environ["COUCH_USER"] = parts.username or ""
    os.environ["COUCH_PASS"] = parts.password or ""


def tests(folder, only):
    """The names of the files are no names of modules, so `unittest` cannot find them itself."""
    sys.path.insert(0, str(folder))
    # This file has the name of the suite's own module.
    sys.modules.pop("mango", None)
    suite = unittest.TestSuite()
    for file in sorted(folder.glob("[0-9]*.py")):
        name = file.stem.replace("-", "_")
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        for group in unittest.defaultTestLoader.loadTestsFromModule(module):
            chosen = [test for test in group if only in test.id()]
            if chosen:
                suite.addTest(unittest.TestSuite(chosen))
    return suite


class Result(unittest.TestResult):
    """Also counts what passed and the tests of a class that could not be set up. Keeps one message for each test."""

    def __init__(self, of_class):
        super().__init__()
        self.passed = 0
        self.not_started = 0
        self.of_class = of_class
        self.lines = {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        class_name = test.id().partition("(")[2].rstrip(")")
        if class_name in self.of_class:
            self.not_started += self.of_class[class_name]
        self.note(test, err)

    def note(self, test, err):
        message = " ".join(f"{err[0].__name__}: {err[1]}".split())[:200]
        body = getattr(getattr(err[1], "response", None), "text", "")
        self.lines.setdefault(test.id(), f"{message} {' '.join(body.split())[:200]}".rstrip())


def main():
    given = settings()
    connect(given.url)
    suite = tests(given.folder, given.only)
    of_class = {}
    for group in suite:
        for test in group:
            name = f"{type(test).__module__}.{type(test).__qualname__}"
            of_class[name] = of_class.get(name, 0) + 1
    count = sum(of_class.values())
    if count == 0:
        print("no test has this name", file=sys.stderr)
        return 2
    result = Result(of_class)
    begun = time.monotonic()
    output, sys.stdout = sys.stdout, io.StringIO()
    suite.run(result)
    sys.stdout = output
    skipped = len(result.skipped)
    failed = count - result.passed - skipped - result.not_started
    print("suite        tests passed failed skipped not-started seconds")
    print(f"mango        {count:5} {result.passed:6} {failed:6} {skipped:7} {result.not_started:11} {time.monotonic() - begun:7.0f}")
    lines = "".join(f"mango\t{name}\t{message}\n" for name, message in result.lines.items())
    print(lines, end="")
    if given.failures:
        given.failures.write_text(lines)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
