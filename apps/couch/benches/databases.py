#!/usr/bin/env python3
"""Measures a folder of many databases, and a large database.

    benches/databases.py target/release/inorder-couch [--many 10000] [--large 10000000] [--folder /var/tmp] [--csv FILE]

The server runs in a new folder below --folder, which is removed at the end. The databases are created over HTTP. The documents
of the large one have 250 bytes and ids in ascending order, as the server's own ids are; `_bulk_docs` writes 1,000 per request.
CPU is user and system time of the server and its children, from /proc. Needs wrk.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import tempfile
import time

import files
import processes
from servers import Load, Started, wrk

# Of the CSV; what a row doesn't measure is empty.
COLUMNS = ["subject", "kind", "what", "wall_ms", "memory_bytes", "file_bytes", "cpu_s", *Load._fields]

# Databases of many that are asked for after the start.
ASKED = 1000

TEXT = "film actor scene light sound " * 6


class Measurement:
    """The figures: shown at once, and written into the CSV at the end."""

    def __init__(self, options, subject):
        self.options, self.subject, self.rows = options, subject, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="inorder-couch-bench-", dir=options.folder))
        program = pathlib.Path(options.program).resolve()
        command = f"{program} serve --dir {{dir}}/data --listen 127.0.0.1:{{port}} --log warn"
        self.server = Started("inorder-couch", command, folder=str(self.folder))

    def add(self, what, **figures):
        shown = "  ".join(f"{name} {value:,.1f}" for name, value in figures.items())
        print(f"{self.subject:24} {what:40} {shown}", flush=True)
        self.rows.append({"subject": self.subject, "kind": processes.kind(figures), "what": what, **figures})

    def restart(self):
        self.server.end()
        times = []
        for _ in range(5):
            times.append(self.server.start())
            self.server.end()
        self.add("start, the median of 5", wall_ms=sorted(times)[2] * 1000)
        self.server.start()
        # What runs in the background after the start ends within this time.
        time.sleep(2)
        self.add("after the start", memory_bytes=self.server.memory_bytes())

    def end(self):
        self.server.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def many(options):
    subject = Measurement(options, f"{options.many} databases")
    server = subject.server
    begun, used = time.monotonic(), server.cpu_seconds()
    names = [f"/db{at:06}" for at in range(options.many)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: server.ask("PUT", name), names))
    took, used = time.monotonic() - begun, server.cpu_seconds() - used
    subject.add("PUT of a database, 8 connections", requests_per_s=options.many / took, request_cpu_us=used / options.many * 1e6)
    subject.restart()
    begun = time.monotonic()
    server.ask("GET", "/_all_dbs")
    subject.add("_all_dbs", wall_ms=(time.monotonic() - begun) * 1000)
    used = server.cpu_seconds()
    step = max(options.many // ASKED, 1)
    for name in names[::step]:
        server.ask("GET", name)
    count = len(names[::step])
    subject.add(f"GET of {count} databases, each the first", request_cpu_us=(server.cpu_seconds() - used) / count * 1e6)
    subject.add("after the requests", memory_bytes=server.memory_bytes())
    subject.end()
    return subject.rows


def large(options):
    subject = Measurement(options, f"{options.large} documents")
    server = subject.server
    server.create("/bench")
    begun, used = time.monotonic(), server.cpu_seconds()
    for first in range(0, options.large, 1000):
        docs = ",".join(
            f'{{"_id":"{at:032x}","title":"{TEXT}","year":{1900 + at % 120},"votes":{at * 7 % 1000}}}'
            for at in range(first, min(first + 1000, options.large))
        )
        server.ask("POST", "/bench/_bulk_docs", f'{{"docs":[{docs}]}}'.encode())
    took, used = time.monotonic() - begun, server.cpu_seconds() - used
    subject.add("_bulk_docs, all", wall_ms=took * 1000, cpu_s=used)
    subject.restart()
    files = sum(file.stat().st_size for file in (subject.folder / "data").iterdir() if file.is_file())
    subject.add("files", file_bytes=files)
    suffix = server.get("/bench/_changes?descending=true&limit=1")["last_seq"].split("-", 1)[1]
    random = f"math.random(0, {options.large - 200})"
    scripts = {
        "GET": f'wrk.format("GET", "/bench/" .. string.format("%032x", {random}))',
        "_all_docs?limit=100&startkey=": f"""wrk.format("GET", '/bench/_all_docs?limit=100&startkey=%22' .. string.format("%032x", {random}) .. '%22')""",
        "_changes?limit=100&since=": f'wrk.format("GET", "/bench/_changes?limit=100&since=" .. {random} .. "-{suffix}")',
        "PUT": f"""wrk.format("PUT", "/bench/" .. string.format("%032x", {options.large} + math.random(1, 2147483647)), nil, '{{"title":"{TEXT}"}}')""",
    }
    for what, script in scripts.items():
        for connections in (1, 16):
            lua = f'math.randomseed({connections})\nwrk.headers["Content-Type"] = "application/json"\nfunction request() return {script} end'
            load = wrk(server, lua, connections, options.seconds)
            if load.failed:
                raise SystemExit(f"{what}: {load.failed} requests failed")
            subject.add(f"{what} c={connections}", **load._asdict())
    subject.add("after the requests", memory_bytes=server.memory_bytes())
    subject.end()
    return subject.rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the server, built with --release")
    parser.add_argument("--many", type=int, default=10_000, help="databases; 0 leaves them out")
    parser.add_argument("--large", type=int, default=10_000_000, help="documents; 0 leaves them out")
    parser.add_argument("--folder", default=None, help="below which the databases are")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--csv", help="write the figures into this file, too")
    options = parser.parse_args()
    rows = (many(options) if options.many else []) + (large(options) if options.large else [])
    if options.csv:
        files.write_csv(options.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
