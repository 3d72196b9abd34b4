"""Facts of the project that the artifacts share, and the way commands are run."""

import dataclasses
import functools
import os
import pathlib
import subprocess
import threading
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "packaging"
DIST = ROOT / "dist"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
LICENCES = [ROOT / "LICENSE-APACHE", ROOT / "LICENSE-MIT"]
# Debian and RPM packages must name one.
MAINTAINER = os.environ.get("INORDER_MAINTAINER", "The inorder maintainers <inorder@packages.invalid>")


@dataclasses.dataclass(frozen=True)
class Program:
    """A command that is released."""

    name: str
    package: str  # The crate.
    summary: str
    guide: str  # The page that becomes its README.
    size_max: int  # Bytes. A larger program is no release.
    service: bool = False  # Whether it has a systemd unit.
    size_aim: int = 0  # Bytes. A release says by how much a program is larger.


MB = 1_000_000
PROGRAMS = [
    Program("inorder", "inorder-cli", "Measures and lowers the cost of primary keys", "README.md", 20 * MB),
    Program("inorder-couch", "inorder-couch", "Document server with CouchDB's protocol on SQLite", "apps/couch/README.md", 15 * MB, True,
            size_aim=12 * MB),
    Program("inorder-watch", "inorder-watch", "Watch list for friends in one SQLite file", "apps/watch/README.md", 20 * MB, True),
]
EXTENSION_SIZE_MAX = 500_000


class Failed(Exception):
    """A command failed, or an artifact is not as it must be."""


def run(*command, both=False, **options):
    """Returns the output of a command, with stderr if `both`. Raises `Failed` with everything that it printed if it fails."""
    words = [str(word) for word in command]
    errors = subprocess.STDOUT if both else subprocess.PIPE
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout}{done.stderr or ''}")
    return done.stdout


def once(function):
    """Keeps the results of a function, as `functools.cache` does. A thread that asks for one that is being made waits for it."""
    results, locks, looking = {}, {}, threading.Lock()

    @functools.wraps(function)
    def wrapped(*arguments):
        with looking:
            lock = locks.setdefault(arguments, threading.Lock())
        with lock:
            if arguments not in results:
                results[arguments] = function(*arguments)
            return results[arguments]

    return wrapped


def require(condition, message):
    """Raises `Failed` unless a condition holds."""
    if not condition:
        raise Failed(message)


def epoch():
    """The time in the files of a release, in seconds: that of the last commit, or `SOURCE_DATE_EPOCH`."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def fresh(*names):
    """Returns an empty folder below the work folder."""
    folder = WORK.joinpath(*names)
    if folder.exists():
        run("rm", "-rf", folder)
    folder.mkdir(parents=True)
    return folder
