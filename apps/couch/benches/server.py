#!/usr/bin/env python3
"""Measures the server by what a request costs it, beside others in the same run.

    benches/server.py target/release/inorder-couch [--peer NAME=COMMAND]... [--at NAME=URL]... [--films FILE] [--rounds 1]

COMMAND starts another server of CouchDB's protocol; {port} and {dir} in it are filled in, such as
`--peer pouchdb-server='node_modules/.bin/pouchdb-server --port {port} --dir {dir} --no-stdout-logs'`. URL is that of a server
that runs already, with the name and password of an admin: `--at 'CouchDB 3.5.0=http://admin:secret@127.0.0.1:5984'`. It gets
the databases `bench` and `films`, and a user; they are deleted at the end.
Needs wrk. CPU is user and system time of the server and its children, from /proc; requests are those wrk counted.
`hello` is the floor: the same HTTP stack answering 250 bytes, from `cargo run --release --example hello`.
With "users" there is an admin, every request needs a user, and the database is for one user, who sends the requests, with a
session cookie or with Basic authentication. A server at a URL is measured in this way only.
"""

import argparse
import json
import pathlib
import random
import socket
import time

import files
import processes
from servers import ADMIN, PASSWORD, Elsewhere, Load, Started, wrk

# Of the CSV; what a row doesn't measure is empty.
COLUMNS = ["server", "kind", "what", *Load._fields, "memory_bytes", "wall_ms"]


def documents(count):
    """Documents of about 250 bytes with random ids, always the same."""
    dice = random.Random(1)
    for _ in range(count):
        words = " ".join(dice.choice(["film", "actor", "scene", "light", "sound"]) for _ in range(24))
        yield {"_id": f"{dice.getrandbits(128):032x}", "title": words, "year": dice.randrange(1900, 2025), "votes": dice.random()}


def get_script(ids):
    listed = ",".join(f'"{one}"' for one in ids)
    return f'local ids = {{{listed}}}\nlocal at = 0\nfunction request() at = at % #ids + 1 return wrk.format("GET", "/bench/" .. ids[at]) end'


def put_script(seed):
    return f"""
math.randomseed({seed})
local body = '{{"title":"' .. string.rep("film ", 40) .. '","year":1979}}'
wrk.headers["Content-Type"] = "application/json"
function request()
  local id = string.format("%08x%08x%08x%08x", math.random(0, 4294967295), math.random(0, 4294967295), math.random(0, 4294967295), math.random(0, 4294967295))
  return wrk.format("PUT", "/bench/" .. id, nil, body)
end"""


def path_script(path):
    return f'function request() return wrk.format("GET", "{path}") end'


class Rows:
    """The figures of a server: shown at once, and written into the CSV at the end."""

    def __init__(self, server):
        self.server, self.rows = server, []

    def add(self, what, **figures):
        shown = "  ".join(f"{name} {value:,.1f}" for name, value in figures.items())
        print(f"{self.server.name:22} {what:34} {shown}", flush=True)
        self.rows.append({"server": self.server.name, "kind": processes.kind(figures), "what": what, **figures})

    def memory(self, what):
        self.add(what, memory_bytes=self.server.memory_bytes())

    def run(self, what, script, seconds, counts=(1, 16)):
        for connections in counts:
            self.add(f"{what} c={connections}", **wrk(self.server, script, connections, seconds)._asdict())

    def bulk(self, what, database, batches):
        begun, used = time.monotonic(), self.server.cpu_seconds()
        for batch in batches:
            self.server.ask("POST", database + "/_bulk_docs", {"docs": batch}, self.server.headers)
        took, used = time.monotonic() - begun, self.server.cpu_seconds() - used
        self.add(what, requests_per_s=len(batches) / took, request_cpu_us=used / len(batches) * 1e6)


def in_batches(docs):
    return [docs[at : at + 1000] for at in range(0, len(docs), 1000)]


def measure(server, options):
    rows = Rows(server)
    if server.is_started:
        rows.add("first start, in a new folder", wall_ms=server.first_start_seconds * 1000)
        rows.add("start", wall_ms=server.start_seconds * 1000)
    rows.memory("idle")
    if server.name == "hello":
        rows.run("GET", path_script("/"), options.seconds)
        return rows.rows
    server.log_in()
    if options.films:
        server.create("/films")
        rows.bulk("_bulk_docs of 1000 films", "/films", in_batches(files.films(options.films)))
        rows.memory("with the films")
    server.create("/bench")
    docs = list(documents(options.documents))
    rows.bulk("_bulk_docs of 1000", "/bench", in_batches(docs))
    seconds = options.seconds
    rows.run("GET", get_script([doc["_id"] for doc in docs]), seconds)
    rows.run("_all_docs?limit=100", path_script("/bench/_all_docs?limit=100"), seconds)
    rows.run("_changes?limit=100", path_script("/bench/_changes?limit=100"), seconds)
    for connections in (1, 16):
        rows.run("PUT", put_script(connections), seconds, (connections,))
    rows.memory("after the run")
    if options.feeds:
        each, wall = feeds(server, options.feeds)
        rows.add(f"a waiting feed, of {options.feeds}", memory_bytes=each)
        rows.add(f"an edit reaches {options.feeds} feeds", wall_ms=wall)
    for database in ("/bench", "/films"):
        server.ask("DELETE", database, wanted=(200, 404))
    server.log_out()
    return rows.rows


# An edit that has not reached all feeds by then is given up.
FEED_SECONDS_MAX = 60


def feeds(server, count):
    """Bytes of memory of a continuous feed, and milliseconds until an edit has reached all of them."""
    server.ask("GET", "/bench")
    before = server.memory_bytes()
    headers = {"Host": f"127.0.0.1:{server.port}", **server.headers}
    lines = ["GET /bench/_changes?feed=continuous&since=now&heartbeat=60000 HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    request = "\r\n".join(lines) + "\r\n\r\n"
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
    parser.add_argument("--at", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--only", action="append", help="measures only the servers with this name")
    parser.add_argument("--films", metavar="FILE", help="JSON lines, gzip-compressed or not; measured beside the other documents")
    parser.add_argument("--rounds", type=int, default=1, help="the servers take turns so often")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--feeds", type=int, default=1000)
    parser.add_argument("--csv", help="write the figures into this file, too")
    options = parser.parse_args()
    rows = []
    for _ in range(options.rounds):
        for name, make in contenders(options):
            if options.only and name not in options.only:
                continue
            server = make()
            try:
                rows += measure(server, options)
            finally:
                server.stop()
    if options.csv:
        files.write_csv(options.csv, COLUMNS, rows)


def contenders(options):
    """The servers to measure: a name, and what starts it."""
    program = pathlib.Path(options.program).resolve()
    serve = f"{program} serve --dir {{dir}}/data --listen 127.0.0.1:{{port}} --log warn"
    secured = f"env INORDER_COUCH_PASSWORD={PASSWORD} {serve} --admin {ADMIN}"

    def started(name, command, login=""):
        return name, lambda: Started(name, command, login)

    if options.hello:
        yield started("hello", f"{pathlib.Path(options.hello).resolve()} {{port}}")
    yield started("inorder-couch", serve)
    yield started("users, cookie", secured, "cookie")
    yield started("users, Basic", secured, "basic")
    yield started("relaxed", serve + " --relaxed")
    for peer in options.peer:
        yield started(*peer.split("=", 1))
    for peer in options.at:
        name, url = peer.split("=", 1)
        yield name, lambda name=name, url=url: Elsewhere(name, url, "cookie")


if __name__ == "__main__":
    main()
