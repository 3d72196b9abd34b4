"""A folder in memory for the data of servers, which tests start by the hundred."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile

MEMORY = pathlib.Path("/dev/shm")
PREFIX = "inorder-test-"
BYTES_MIN = 4 << 30  # Free memory that must be there: three jobs use less than 3 GiB.


@contextlib.contextmanager
def folder(templates):
    """Yields a new folder in memory with a link to the folder `templates`, which keeps prepared data folders for later
    runs; None if there is too little memory. Removes the folder at the end."""
    remove_abandoned()
    if not is_enough():
        yield None
        return
    path, lock = locked_folder()
    try:
        templates.mkdir(parents=True, exist_ok=True)
        os.symlink(templates, os.path.join(path, "templates"))
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def locked_folder():
    """Creates a folder and locks it as long as this process lives. Another run may take it for abandoned before."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY)
        os.chmod(path, 0o711)  # Servers of root's tests run as other users.
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path):
            return path, lock
        os.close(lock)


def remove_abandoned():
    """Removes the folders of runs that were killed: nobody locks them."""
    for path in MEMORY.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def is_enough():
    """Whether there is memory for the servers of one job more, or of the first ones."""
    return free_bytes() >= BYTES_MIN


def free_bytes():
    """Memory that is available for files."""
    try:
        limits = os.statvfs(MEMORY)
        lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
        available = int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError):
        return 0
    # Half of it is for the compiler and the servers' processes.
    return min(limits.f_bavail * limits.f_frsize, available // 2)
