"""CPU time and memory of a server: sums over its process and the children of it, from Linux's /proc."""

import os
import pathlib
import re

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and its children, at all depths."""
    pids, found = [pid], []
    while pids:
        pid = pids.pop()
        found.append(pid)
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            pids += map(int, task.read_text().split())
    return found


def cpu_seconds(pid):
    """User and system time, also of children that have ended."""
    ticks = 0
    for one in family(pid):
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS_PER_SECOND


def memory_bytes(pid):
    """Resident memory."""
    total = 0
    for one in family(pid):
        status = pathlib.Path(f"/proc/{one}/status").read_text()
        total += int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024
    return total


def listener(port):
    """The process that listens on a port."""
    wanted = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(file).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                wanted.add(f"socket:[{fields[9]}]")
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) in wanted:
                return int(link.parts[2])
        except OSError:
            pass
    raise SystemExit(f"nobody listens on port {port}, or not as this user")


# What a row of a CSV measures, by a quantity that it has.
KINDS = {"memory_bytes": "memory", "file_bytes": "file", "request_cpu_us": "request", "cpu_s": "operation", "wall_ms": "time"}


def kind(figures):
    """The kind of a row: tables select rows by it."""
    return next(kind for quantity, kind in KINDS.items() if quantity in figures)
