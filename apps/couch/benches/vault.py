#!/usr/bin/env python3
"""Measures the memory of the server with a vault of Obsidian LiveSync.

    benches/vault.py target/release/inorder-couch [--at NAME=URL]... [--notes 10000] [--csv FILE]

The documents have the form of the plugin's with end-to-end encryption: one per note, and 1.75 chunks of text per note. They are written
as a replication of PouchDB writes them, by `_bulk_docs` with `new_edits=false`, and read as one reads them, by `_changes` and
`_bulk_get`. A server at a URL runs already, `--at 'CouchDB 3.5.0=http://admin:secret@127.0.0.1:5984'`; it gets the database `vault`, which
is deleted at the end. Memory is the resident memory of the server and its children.
"""

import argparse
import base64
import itertools
import json
import pathlib
import random
import time

import files
from servers import Elsewhere, Started

COLUMNS = ["server", "what", "memory_bytes", "cpu_s", "wall_ms"]

# Documents per request.
BATCH = 250

# Bytes of a chunk's text before it is encoded.
CHUNK_BYTES = (400, 2300)


def encoded(dice, length):
    return "%=" + base64.b64encode(dice.randbytes(length)).decode()


def documents(notes):
    """The documents of a vault, always the same."""
    dice = random.Random(1)
    yield {"_id": "obsydian_livesync_version", "version": 12, "type": "versioninfo"}
    for at in range(notes):
        chunks = [f"h:+{dice.getrandbits(52):x}" for _ in range(dice.choice([1, 1, 2, 3]))]
        sizes = [dice.randint(*CHUNK_BYTES) for _ in chunks]
        for chunk, size in zip(chunks, sizes):
            yield {"_id": chunk, "data": encoded(dice, size), "type": "leaf", "e_": True}
        changed = 1_700_000_000_000 + at * 1000
        yield {
            "_id": f"f:{dice.getrandbits(256):064x}",
            "path": "/\\:" + encoded(dice, 150),
            "children": chunks,
            "ctime": changed,
            "mtime": changed,
            "size": sum(sizes),
            "type": "plain",
            "eden": {},
        }


def with_revision(document, dice):
    rev = f"{dice.getrandbits(128):032x}"
    return {**document, "_rev": "1-" + rev, "_revisions": {"start": 1, "ids": [rev]}}


def write(server, notes):
    dice = random.Random(2)
    docs = (with_revision(document, dice) for document in documents(notes))
    count = size = 0
    while batch := list(itertools.islice(docs, BATCH)):
        revs = {document["_id"]: [document["_rev"]] for document in batch}
        server.ask("POST", "/vault/_revs_diff", revs)
        body = json.dumps({"docs": batch, "new_edits": False}).encode()
        server.ask("POST", "/vault/_bulk_docs", body)
        count, size = count + len(batch), size + len(body)
    return count, size


def read(server):
    since, count = "0", 0
    while True:
        page = server.get(f"/vault/_changes?style=all_docs&since={since}&limit={BATCH}")
        if not page["results"]:
            return count
        wanted = [{"id": row["id"], "rev": change["rev"]} for row in page["results"] for change in row["changes"]]
        path = "/vault/_bulk_get?revs=true&latest=true&attachments=true"
        found = json.loads(server.ask("POST", path, {"docs": wanted})[2])["results"]
        count, since = count + len(found), page["last_seq"]


def measure(server, notes):
    rows = []

    def add(what, begun, used):
        row = {"server": server.name, "what": what, "memory_bytes": server.memory_bytes()}
        row |= {"cpu_s": round(server.cpu_seconds() - used, 2), "wall_ms": (time.monotonic() - begun) * 1000}
        rows.append(row)
        print(f"{server.name:16} {what:22} {row['memory_bytes'] / 1e6:7.1f} MB {row['cpu_s']:6.2f} CPU-s")

    server.create("/vault")
    add("after the start", time.monotonic(), server.cpu_seconds())
    begun, used = time.monotonic(), server.cpu_seconds()
    count, size = write(server, notes)
    print(f"{count} documents, {size / 1e6:.0f} MB of JSON")
    add("after writing all", begun, used)
    for what in ("after reading all", "after reading all again"):
        begun, used = time.monotonic(), server.cpu_seconds()
        if read(server) != count:
            raise SystemExit(f"{server.name}: not all documents were read")
        add(what, begun, used)
    server.ask("DELETE", "/vault")
    server.stop()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the server, built with --release")
    parser.add_argument("--at", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--csv", help="write the figures into this file, too")
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    rows = measure(Started("inorder-couch", f"{program} serve --dir {{dir}}/data --listen 127.0.0.1:{{port}} --log warn"), options.notes)
    for one in options.at:
        name, url = one.split("=", 1)
        rows += measure(Elsewhere(name, url, ""), options.notes)
    if options.csv:
        files.write_csv(options.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
