#!/usr/bin/env python3
"""Measures the server by what a request costs it, beside others in the same run.

    benches/server.py target/release/inorder-couch [--peer NAME=COMMAND]... [--documents 10000] [--seconds 5]

COMMAND starts another server of CouchDB's protocol; {port} and {dir} in it are filled in, such as
`--peer pouchdb-server='node_modules/.bin/pouchdb-server --port {port} --dir {dir} --no-stdout-logs'`.
Needs wrk. CPU is user and system time of the server and its children, from /proc; requests are those wrk counted.
`hello` is the floor: the same HTTP stack answering 250 bytes, from `cargo run --release --example hello`.
"""

import argparse
import csv
import http.client
import json
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import processes

# Of the CSV; what a row doesn't measure is empty.
COLUMNS = ["server", "what", "requests_per_s", "request_cpu_us", "failed", "memory_bytes", "wall_ms"]


class Server:
    """A server in a folder and on a port of its own."""

    def __init__(self, name, command):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="inorder-couch-bench-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = command.format(port=self.port, dir=self.folder)
        self.first_start_seconds = self.start()
        self.end()
        self.start_seconds = self.start()

    def start(self):
        """Seconds until it answers."""
        begun = time.monotonic()
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(shlex.split(self.command), stdout=quiet, stderr=quiet, cwd=self.folder)
        while True:
            try:
                self.ask("GET", "/")
                return time.monotonic() - begun
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{self.name} ended: {self.command}")
                time.sleep(0.001)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json", "Accept": "application/json"})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.status >= 400:
            raise SystemExit(f"{self.name}: {method} {path}: {response.status} {data[:200]}")
        return data

    def cpu_seconds(self):
        return processes.cpu_seconds(self.process.pid)

    def memory_bytes(self):
        return processes.memory_bytes(self.process.pid)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def stop(self):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def documents(count):
    """Documents of about 250 bytes with random ids, always the same."""
    dice = random.Random(1)
    for _ in range(count):
        words = " ".join(dice.choice(["film", "actor", "scene", "light", "sound"]) for _ in range(24))
        yield {"_id": f"{dice.getrandbits(128):032x}", "title": words, "year": dice.randrange(1900, 2025), "votes": dice.random()}


def wrk(server, script, connections, seconds):
    """Returns requests per second, CPU microseconds per request, and the number of failures."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        before = server.cpu_seconds()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", file.name, f"http://127.0.0.1:{server.port}"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        used = server.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", text)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return rate, used / max(requests, 1) * 1e6, int(wrong[1]) if wrong else 0


def get_script(ids):
    listed = ",".join(f'"{one}"' for one in ids)
    return f'local ids = {{{listed}}}\nlocal at = 0\nfunction request() at = at % #ids + 1 return wrk.format("GET", "/bench/" .. ids[at]) end'


def put_script(seed):
    return f"""
math.randomseed({seed})
local body = '{{"title":"' .. string.rep("film ", 40) .. '","year":1979}}'
local headers = {{["Content-Type"] = "application/json"}}
function request()
  local id = string.format("%08x%08x%08x%08x", math.random(0, 4294967295), math.random(0, 4294967295), math.random(0, 4294967295), math.random(0, 4294967295))
  return wrk.format("PUT", "/bench/" .. id, headers, body)
end"""


def path_script(path):
    return f'function request() return wrk.format("GET", "{path}") end'


def measure(server, options):
    rows = []

    def row(what, rate, micros, wrong=0):
        note = f"  {wrong} failed" if wrong else ""
        print(f"{server.name:16} {what:28} {rate:10,.0f}/s {micros:10,.1f} us CPU{note}", flush=True)
        rows.append({"server": server.name, "what": what, "requests_per_s": rate, "request_cpu_us": micros, "failed": wrong})

    def memory(what):
        rows.append({"server": server.name, "what": what, "memory_bytes": server.memory_bytes()})

    def run(what, script, counts=(1, 16)):
        for connections in counts:
            row(f"{what} c={connections}", *wrk(server, script, connections, options.seconds))

    first, start = server.first_start_seconds * 1000, server.start_seconds * 1000
    print(f"{server.name:16} start {start:.0f} ms (the first, in a new folder, {first:.0f} ms), idle {server.memory_bytes() / 1e6:.1f} MB", flush=True)
    rows.append({"server": server.name, "what": "first start, in a new folder", "wall_ms": first})
    rows.append({"server": server.name, "what": "start", "wall_ms": start})
    memory("idle")
    if server.name == "hello":
        run("GET", path_script("/"))
        return rows
    server.ask("PUT", "/bench")
    docs = list(documents(options.documents))
    batches = [docs[at : at + 1000] for at in range(0, len(docs), 1000)]
    begun, used = time.monotonic(), server.cpu_seconds()
    for batch in batches:
        server.ask("POST", "/bench/_bulk_docs", {"docs": batch})
    took, used = time.monotonic() - begun, server.cpu_seconds() - used
    row("_bulk_docs of 1000", len(batches) / took, used / len(batches) * 1e6)
    run("GET", get_script([doc["_id"] for doc in docs]))
    run("_all_docs?limit=100", path_script("/bench/_all_docs?limit=100"))
    run("_changes?limit=100", path_script("/bench/_changes?limit=100"))
    for connections in (1, 16):
        run("PUT", put_script(connections), (connections,))
    print(f"{server.name:16} then {server.memory_bytes() / 1e6:.1f} MB", flush=True)
    memory("after the run")
    if options.feeds:
        each, wall = feeds(server, options.feeds)
        rows.append({"server": server.name, "what": f"{options.feeds} feeds", "memory_bytes": each, "wall_ms": wall})
    return rows


# An edit that has not reached all feeds by then is given up.
FEED_SECONDS_MAX = 60


def feeds(server, count):
    """Bytes of memory of a continuous feed, and milliseconds until an edit has reached all of them."""
    server.ask("GET", "/bench")
    before = server.memory_bytes()
    request = f"GET /bench/_changes?feed=continuous&since=now&heartbeat=60000 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    open_feeds = []
    for _ in range(count):
        feed = socket.create_connection(("127.0.0.1", server.port), timeout=FEED_SECONDS_MAX)
        feed.sendall(request.encode())
        if not feed.recv(4096).startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{server.name}: no feed")
        open_feeds.append(feed)
    each = (server.memory_bytes() - before) / count
    try:
        wall, cpu = min(reach(server, open_feeds, at) for at in range(5))
        reached = f"an edit reaches all in {wall * 1000:.0f} ms ({cpu * 1000:.0f} ms CPU)"
    except TimeoutError:
        wall = FEED_SECONDS_MAX
        reached = f"an edit does not reach all in {FEED_SECONDS_MAX} s"
    print(f"{server.name:16} {count} feeds: {each / 1000:.1f} kB each; {reached}", flush=True)
    for feed in open_feeds:
        feed.close()
    return each, wall * 1000


def reach(server, open_feeds, at):
    """Seconds, and those of CPU, until an edit has reached all feeds."""
    used, begun = server.cpu_seconds(), time.monotonic()
    server.ask("PUT", f"/bench/feed-{at}", {})
    for feed in open_feeds:
        while f"feed-{at}".encode() not in feed.recv(65536):
            if time.monotonic() - begun > FEED_SECONDS_MAX:
                raise TimeoutError
    return time.monotonic() - begun, server.cpu_seconds() - used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the server, built with --release")
    parser.add_argument("--hello", help="the floor: target/release/examples/hello")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--csv", help="write the figures into this file, too")
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    serve = "{program} serve --dir {{dir}}/data --listen 127.0.0.1:{{port}}{more}"
    commands = [
        ("inorder-couch", serve.format(program=program, more="")),
        ("inorder-couch relaxed", serve.format(program=program, more=" --relaxed")),
    ]
    if options.hello:
        commands.insert(0, ("hello", f"{pathlib.Path(options.hello).resolve()} {{port}}"))
    commands += [tuple(peer.split("=", 1)) for peer in options.peer]
    rows = []
    for name, command in commands:
        server = Server(name, command)
        try:
            rows += measure(server, options)
        finally:
            server.stop()
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
