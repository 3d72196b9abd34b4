"""Remembers which test binaries passed with which inputs, so that a local run skips those that nothing has changed for.

The inputs of a test binary are: the binary, the programs of its package, the files of the repository that are not of
another package, the variables that tests and programs read, the user, the kernel, and every installed Debian package.
Tests of the packages in `READ_ALL` read files of all packages.
"""

import functools
import hashlib
import json
import os
import pathlib
import platform
import subprocess

READ_ALL = {"inorder-cli"}
VARIABLES = ("INORDER_", "RUST_", "LANG", "LC_", "TZ", "PATH", "TMPDIR", "HOME")
# Where the data of servers are is no input.
IGNORED = {"INORDER_TEST_SERVERS"}


class Passed:
    """The keys of what passed last, in a file. Without a package list (`dpkg-query`) nothing is remembered."""

    def __init__(self, root, file, is_used):
        self.root = root
        self.file = file
        self.is_used = is_used
        self.keys = {}
        if is_used:
            try:
                self.keys = json.loads(file.read_text())
            except (OSError, ValueError):
                pass

    def has(self, title, key):
        return key is not None and self.keys.get(title) == key

    def add(self, title, key):
        if key is not None:
            self.keys[title] = key
            self.file.write_text(json.dumps(self.keys, indent=1, sort_keys=True))

    def remove(self, title):
        if self.keys.pop(title, None):
            self.file.write_text(json.dumps(self.keys, indent=1, sort_keys=True))

    def key(self, package, programs, arguments):
        """The key of a test binary, from its package's folder, its programs (itself first) and its arguments. None if it
        is not remembered."""
        if not self.is_used or machine() is None or files(self.root) is None:
            return None
        hashed = hashlib.sha256(machine().encode())
        hashed.update(json.dumps([arguments, *(digest(path) for path in programs)]).encode())
        for path, content in files(self.root):
            folder = owner(path)
            if folder is None or folder == package.relative_to(self.root) or package.name in READ_ALL:
                hashed.update(f"{path}\0{content}\n".encode())
        return hashed.hexdigest()


def owner(path):
    """The folder of the package that a file belongs to, if it belongs to one."""
    parts = pathlib.Path(path).parts
    return pathlib.Path(*parts[:2]) if len(parts) > 2 and parts[0] in ("apps", "crates") else None


@functools.cache
def machine():
    """What tests find on this machine."""
    try:
        packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    variables = sorted(item for item in os.environ.items() if item[0].startswith(VARIABLES) and item[0] not in IGNORED)
    return json.dumps([packages, platform.release(), os.getuid(), variables])


@functools.cache
def files(root):
    """The path and the digest of every file that Git lists, with new ones. None outside of a checkout."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [(path, digest(root / path)) for path in sorted(set(listed.split("\0"))) if path]


@functools.cache
def digest(path):
    """The digest of a file's content and its permissions; of a link's target; of nothing if the file is gone."""
    path = pathlib.Path(path)
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    hashed = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                hashed.update(chunk)
        return f"{hashed.hexdigest()} {path.stat().st_mode & 0o111:o}"
    except OSError:
        return "none"
