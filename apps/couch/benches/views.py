#!/usr/bin/env python3
"""Measures views: what it costs a server to build an index, to update it and to query it, beside other servers in the same run.

    benches/views.py URL... [--films FILE | --documents 36273] [--queries 2000] [--csv FILE]

The servers listen on this machine; a URL may have a user and a password. Each server gets a database of its own, which is
deleted at the end. CPU is user and system time of the server's process and its children, from /proc; it is read when the
server is idle. FILE is JSON lines, gzip-compressed or not: titles, years, genres and casts of films.
"""

import argparse
import base64
import http.client
import json
import random
import re
import socket
import statistics
import time
import urllib.parse

import files
import processes

# Of the CSV; what a row doesn't measure is empty.
COLUMNS = ["server", "kind", "operation", "cpu_s", "wall_ms", "request_cpu_us", "request_us", "memory_bytes"]

MAP_TITLE = "function (doc) { emit([doc.year, doc.title], 1); }"
MAP_GENRE = "function (doc) { for (var i = 0; i < doc.genres.length; i++) emit([doc.genres[i], doc.year], doc.cast.length); }"

# The design documents that are built, one after the other.
DESIGNS = {
    "map": {"title": {"map": MAP_TITLE}},
    "map, _count and _sum": {"count": {"map": MAP_TITLE, "reduce": "_count"}, "sum": {"map": MAP_GENRE, "reduce": "_sum"}},
    "map and a reduce function": {
        "own": {"map": MAP_GENRE, "reduce": "function (keys, values, again) { return sum(values); }"}
    },
}

# Requests with 100 rows or as many groups as there are, by the design document and the view.
QUERIES = [
    ("100 rows", "map", "title", "limit=100&startkey=%5B1985%5D"),
    ("100 rows with documents", "map", "title", "limit=100&startkey=%5B1985%5D&include_docs=true"),
    ("one row by key, skip=10000", "map", "title", "limit=1&skip=10000"),
    ("_count of ten years", "map, _count and _sum", "count", "startkey=%5B1980%5D&endkey=%5B1990%5D"),
    ("_count by year", "map, _count and _sum", "count", "group_level=1"),
    ("_sum by genre", "map, _count and _sum", "sum", "group_level=1"),
    ("a reduce function by genre", "map and a reduce function", "own", "group_level=1"),
]

# A query is repeated --queries times, or for so long.
QUERY_SECONDS_MAX = 4


class Server:
    """A server that runs already."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.port = parts.port
        self.connection = http.client.HTTPConnection(parts.hostname, self.port, timeout=600)
        self.headers = {"Content-Type": "application/json"}
        if parts.username:
            login = f"{parts.username}:{parts.password}".encode()
            self.headers["Authorization"] = "Basic " + base64.b64encode(login).decode()
        self.pid = processes.listener(self.port)
        self.database = "/views-bench"
        welcome = self.ask("GET", "/")
        self.name = f"{welcome.get('vendor', {}).get('name', 'server')} {welcome.get('version', '')}".strip()

    def ask(self, method, path, body=None, wanted=(200, 201, 202)):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, self.headers)
        response = self.connection.getresponse()
        data = response.read()
        if response.status not in wanted:
            raise SystemExit(f"port {self.port}: {method} {path}: {response.status} {data[:200]}")
        return json.loads(data)

    def repeat(self, path, count_max, seconds_max):
        """Asks for a path again and again on a connection of its own, which costs little here. Returns the seconds of each request."""
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        request = ("\r\n".join(lines) + "\r\n\r\n").encode()
        took, end = [], time.monotonic() + seconds_max
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while len(took) < count_max and time.monotonic() < end:
                begun = time.perf_counter()
                connection.sendall(request)
                read_answer(connection)
                took.append(time.perf_counter() - begun)
        return took

    def cpu_seconds(self):
        return processes.cpu_seconds(self.pid)

    def memory_bytes(self):
        return processes.memory_bytes(self.pid)


def read_answer(connection):
    """Reads an answer to its end: its length or its last chunk says where that is."""
    data = b""
    while (at := data.find(b"\r\n\r\n")) < 0:
        data += received(connection)
    head, at = data[:at].lower(), at + 4
    if not head.startswith(b"http/1.1 200"):
        raise SystemExit(head.decode("latin-1"))
    if (length := re.search(rb"content-length: *(\d+)", head)) is not None:
        while len(data) < at + int(length[1]):
            data += received(connection)
        return
    while True:
        while (line := data.find(b"\r\n", at)) < 0:
            data += received(connection)
        size = int(data[at:line], 16)
        at = line + 4 + size
        while len(data) < at:
            data += received(connection)
        if size == 0:
            return


def received(connection):
    data = connection.recv(1 << 18)
    if not data:
        raise SystemExit("the server ended the connection")
    return data


def films(options):
    if options.films:
        return files.films(options.films)
    dice = random.Random(1)
    words = ["light", "night", "river", "stone", "return", "garden", "winter", "letter", "shadow", "harbor"]
    genres = ["Comedy", "Drama", "Western", "Horror", "Romance", "Action", "Crime"]
    return [
        {
            "_id": f"{at:08}",
            "title": " ".join(dice.choices(words, k=3)),
            "year": dice.randrange(1900, 2020),
            "cast": dice.choices(words, k=dice.randrange(5)),
            "genres": dice.sample(genres, dice.randrange(3)),
        }
        for at in range(options.documents)
    ]


def design(name):
    return "_design/" + re.sub(r"\W+", "-", name)


def measure(server, docs, options):
    rows = []

    def row(operation, **figures):
        rows.append({"server": server.name, "kind": processes.kind(figures), "operation": operation, **figures})
        shown = "  ".join(f"{name} {value:,.3f}" for name, value in figures.items())
        print(f"{server.name:24} {operation:44} {shown}", flush=True)

    def timed(operation, work):
        used, begun = server.cpu_seconds(), time.monotonic()
        work()
        took = time.monotonic() - begun
        row(operation, cpu_s=server.cpu_seconds() - used, wall_ms=took * 1000)

    db = server.database
    server.ask("DELETE", db, wanted=(200, 404))
    server.ask("PUT", db + options.create)
    for at in range(0, len(docs), 1000):
        server.ask("POST", db + "/_bulk_docs", {"docs": docs[at : at + 1000]})
    row("memory before", memory_bytes=server.memory_bytes())
    for name, views in DESIGNS.items():
        server.ask("PUT", f"{db}/{design(name)}", {"views": views})
        view = next(iter(views))
        timed(f"build: {name}", lambda: server.ask("GET", f"{db}/{design(name)}/_view/{view}?limit=0"))
    row("memory after the builds", memory_bytes=server.memory_bytes())
    some = server.ask("POST", db + "/_all_docs", {"keys": [doc["_id"] for doc in docs[::36]], "include_docs": True})
    edits = [{**found["doc"], "year": found["doc"]["year"] + 1} for found in some["rows"]]
    server.ask("POST", db + "/_bulk_docs", {"docs": edits})
    for name, views in DESIGNS.items():
        view = next(iter(views))
        path = f"{db}/{design(name)}/_view/{view}?limit=0"
        timed(f"update after {len(edits)} edits: {name}", lambda: server.ask("GET", path))
    for operation, name, view, parameters in QUERIES:
        path = f"{db}/{design(name)}/_view/{view}?{parameters}"
        for _ in range(20):
            server.ask("GET", path)
        used = server.cpu_seconds()
        took = server.repeat(path, options.queries, QUERY_SECONDS_MAX)
        used = server.cpu_seconds() - used
        row(operation, request_cpu_us=used / len(took) * 1e6, request_us=statistics.median(took) * 1e6)
    row("memory after the queries", memory_bytes=server.memory_bytes())
    server.ask("DELETE", db)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+", metavar="URL")
    parser.add_argument("--films", help="a file of films instead of generated ones")
    parser.add_argument("--documents", type=int, default=36_273)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=1, help="the servers take turns so often")
    parser.add_argument("--create", default="", help="parameters for creating a database, such as ?q=1")
    parser.add_argument("--csv", help="write the figures into this file, too")
    options = parser.parse_args()
    docs, rows = films(options), []
    for _ in range(options.rounds):
        for url in options.servers:
            rows += measure(Server(url), docs, options)
    if options.csv:
        files.write_csv(options.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
