#!/usr/bin/env python3
"""Sends the same generated requests to two servers and prints the answers that differ.

    compare.py URL URL [--cases 100] [--seed 1] [--steps 40] [--only KIND]... [--known FILE]

Each URL has the name and password of an admin; one server is usually a CouchDB. A case is a new database on both servers and some
requests of different kinds to it. A case ends at its first difference, because what follows may differ for that reason alone. The exit
code is 0 where all answers were equal, 1 where some differ, 2 where the servers could not be asked.

Revisions are compared as they are. What no two servers have in common is left out: times, ids of databases, sequences, bookmarks, the
tags of lists and of local documents, and the reasons of refused requests. Where one server answers 500, the request is counted
and the case goes on. FILE has a regular expression per line; a difference that matches one is counted and not printed.
"""

import argparse
import base64
import hashlib
import http.client
import json
import random
import re
import sys
import urllib.parse

# Members that differ between any two servers.
LEFT_OUT = {"uuid", "instance_start_time", "sizes", "cluster", "disk_format_version", "execution_time_ms", "detail", "compact_running"}
LEFT_OUT |= {"seq", "last_seq", "update_seq", "purge_seq", "_local_seq", "bookmark", "ref"}
HEADERS = ["etag", "content-type", "content-encoding", "content-md5", "accept-ranges", "content-range"]

IDS = ["a", "b", "c", "d", "e", "aa", "ä", "z/1", "sp ace", "p+l%us", "ключ", "Z", "_design/x", "_local/l"]
KEYS = [None, False, True, 0, -1, 1, 1.5, 2, 10, 1e10, "", "a", "A", "b", "B", "aa", "ä", "Ä", "~", [], [1], [1, 2], ["a"], ["a", {}], {}, {"a": 1}, {"a": 2}, {"b": 1}]
TEXTS = ["", "plain", "text " * 30, "ü" * 20]

DESIGN = {
    "views": {
        "plain": {"map": "function (doc) { emit(doc.k, doc.n); }"},
        "twice": {"map": "function (doc) { emit(doc.k, 1); emit([doc.k, doc._id], {_id: doc.other}); }"},
        "count": {"map": "function (doc) { emit([doc.n, doc.k], doc.n); }", "reduce": "_count"},
        "sum": {"map": "function (doc) { if (typeof doc.n === 'number') emit([doc.n % 3, doc.k], doc.n); }", "reduce": "_sum"},
        "stats": {"map": "function (doc) { if (typeof doc.n === 'number') emit(doc.n, doc.n); }", "reduce": "_stats"},
        "own": {
            "map": "function (doc) { emit([String(doc.k)], 1); }",
            "reduce": "function (keys, values, again) { return again ? sum(values) : values.length; }",
        },
        "wrong": {"map": "function (doc) { emit(doc.no.such, 1); }"},
    },
    "filters": {"even": "function (doc, req) { return doc.n % 2 === 0; }", "asked": "function (doc, req) { return doc._id === req.query.id; }"},
    "shows": {"s": "function (doc, req) { return {json: {id: req.id, doc: doc, method: req.method, query: req.query}}; }"},
    "lists": {"l": "function (head, req) { var row, ids = []; while (row = getRow()) ids.push(row.id); return ids.join(','); }"},
    "updates": {"u": "function (doc, req) { if (!doc) return [null, 'none']; doc.n = 7; return [doc, 'done ' + doc._id]; }"},
    "validate_doc_update": "function (doc, old, user) { if (doc.n === 'forbidden') throw({forbidden: 'no ' + doc._id}); }",
}


class Server:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.address = (parts.hostname, parts.port)
        self.connection = http.client.HTTPConnection(*self.address, timeout=60)
        login = f"{urllib.parse.unquote(parts.username or '')}:{urllib.parse.unquote(parts.password or '')}"
        self.headers = {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()}

    def ask(self, method, path, body=None, headers=None):
        headers = {**self.headers, **(headers or {})}
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, body, headers)
                response = self.connection.getresponse()
                return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.connection.close()
                if attempt == 2:
                    raise


def normal(value):
    """A value without what differs between any two servers."""
    if isinstance(value, dict):
        return {key: normal(item) for key, item in sorted(value.items()) if key not in LEFT_OUT}
    if isinstance(value, list):
        return [normal(item) for item in value]
    # In Python, 1 equals 1.0 and True.
    return f"float {value!r}" if isinstance(value, float) else value


def content(headers, body, is_seen):
    kind = headers.get("content-type", "").split(";")[0]
    if kind.startswith("multipart/"):
        boundary = re.search(r'boundary="?([^";]+)', headers["content-type"])
        return body.decode("latin-1").replace(boundary.group(1), "BOUNDARY") if boundary else body
    if not is_seen:
        return body
    try:
        return normal(json.loads(body))
    except ValueError:
        pass
    try:
        return [normal(json.loads(line)) for line in body.splitlines() if line.strip()]
    except ValueError:
        return body.decode("latin-1")


def answer(asked, path):
    status, headers, body = asked
    headers = {name: headers[name] for name in HEADERS if name in headers} | (
        {"location": urllib.parse.urlsplit(headers["location"]).path} if "location" in headers else {}
    )
    seen = content(headers, body, headers.get("content-encoding") is None)
    if headers.get("content-type", "").startswith("multipart/"):
        headers["content-type"] = headers["content-type"].split(";")[0]
    if path.startswith("/_"):
        headers.pop("etag", None)
    if status == 400 and isinstance(seen, dict):
        seen.pop("reason", None)
    return {"status": status, "headers": headers, "body": seen}


def quoted(text):
    return urllib.parse.quote(text, safe="")


def path_of(id):
    for prefix in ("_design/", "_local/"):
        if id.startswith(prefix):
            return prefix + quoted(id[len(prefix) :])
    return quoted(id)


class Case:
    """The requests to one database, and what is known about it."""

    def __init__(self, number, seed):
        self.dice = random.Random(f"{seed}/{number}")
        self.db = f"/compare-{number}"
        # By id: the revisions that were seen.
        self.revs = {}
        # Requests that one of the servers answered with 500.
        self.errors = 0

    def some(self, items, most=3):
        return [self.dice.choice(items) for _ in range(self.dice.randrange(most + 1))]

    def maybe(self, chance):
        return self.dice.random() < chance

    def id(self):
        return self.dice.choice(IDS[:12] if self.maybe(0.93) else IDS)

    def rev(self, id):
        """A revision of the document, mostly the last, sometimes a wrong one."""
        known = self.revs.get(id)
        if not known or self.maybe(0.05):
            return self.dice.choice(["1-abc", "nonsense", "2-0123456789abcdef0123456789abcdef", "1-967a00dff5e02add41819138abb3284d", ""])
        return known[-1] if self.maybe(0.8) else self.dice.choice(known)

    def content(self):
        doc = {"k": self.dice.choice(KEYS), "n": self.dice.choice([0, 1, 2, 3, 4, 5.5, -7, "text", None, 1e-7, 123456789012])}
        if self.maybe(0.3):
            doc["other"] = self.dice.choice(IDS[:8])
        if self.maybe(0.2):
            doc["deep"] = {"a": {"b": self.dice.choice(KEYS)}, "list": self.some(KEYS)}
        if self.maybe(0.02):
            doc["n"] = "forbidden"
        if self.maybe(0.02):
            doc["_unknown"] = 1
        if self.maybe(0.1):
            doc["_attachments"] = {
                name: {"content_type": kind, "data": base64.b64encode(self.dice.choice(TEXTS).encode()).decode()}
                for name, kind in [("t.txt", "text/plain"), ("b.bin", "application/octet-stream")][: self.dice.randrange(1, 3)]
            }
        return doc

    def doc(self, id=None):
        id = id or self.id()
        doc = {"_id": id, **self.content()}
        if id in self.revs and self.maybe(0.85) or self.maybe(0.05):
            doc["_rev"] = self.rev(id)
        if self.maybe(0.1):
            doc["_deleted"] = True
        return doc

    def branch(self):
        """A document with a history of its own, as replicators write it."""
        id, depth = self.id(), self.dice.randrange(1, 5)
        branches = "".join(str(self.dice.randrange(2)) for _ in range(depth))
        # One revision has one history, as a hash of it would.
        ids = [hashlib.md5(branches[:length].encode()).hexdigest() for length in range(depth, 0, -1)]
        doc = {"_id": id, "_rev": f"{depth}-{ids[0]}", "_revisions": {"start": depth, "ids": ids}, "n": self.dice.randrange(9), "k": "branch"}
        if self.maybe(0.3):
            doc["_deleted"] = True
        return doc

    def query(self, *choices):
        """Some of the parameters, each with one of its values."""
        pairs = []
        for name, values in choices:
            if self.maybe(0.25):
                value = self.dice.choice(values)
                pairs.append(f"{name}={quoted(value if isinstance(value, str) else json.dumps(value))}")
        self.dice.shuffle(pairs)
        return "?" + "&".join(pairs) if pairs else ""

    # The kinds of requests: method, path after the database, body, headers.

    def put(self):
        id = self.id()
        doc = self.doc(id)
        query = self.query(("rev", [self.rev(id)]), ("new_edits", [False, True])) if self.maybe(0.1) else ""
        return "PUT", "/" + path_of(id) + query, doc, None

    def post(self):
        doc = self.doc()
        if self.maybe(0.1):
            doc = self.dice.choice([[], 1, "text", None, {"_id": 1}, {"_id": ""}, {"_id": "_x"}, {"_id": "ok", "_rev": 5}])
            return "POST", "", json.dumps(doc), {"Content-Type": "application/json"}
        return "POST", "", doc, None

    def delete(self):
        id = self.id()
        return "DELETE", f"/{path_of(id)}?rev={quoted(self.rev(id))}" if self.maybe(0.9) else f"/{path_of(id)}", None, None

    def copy(self):
        id, to = self.id(), self.id()
        target = path_of(to) + (f"?rev={self.rev(to)}" if self.maybe(0.6) else "")
        return "COPY", "/" + path_of(id) + self.query(("rev", [self.rev(id)])), None, {"Destination": target} if self.maybe(0.97) else {}

    def get(self):
        id = self.id()
        revs = [self.rev(id), self.rev(id)]
        query = self.query(
            ("rev", revs),
            ("revs", [True, False, "x"]),
            ("revs_info", [True]),
            ("open_revs", ["all", revs, revs[:1], [], ["x"], "bad"]),
            ("latest", [True]),
            ("conflicts", [True]),
            ("deleted_conflicts", [True]),
            ("local_seq", [True]),
            ("meta", [True]),
            ("attachments", [True]),
            ("att_encoding_info", [True]),
            ("atts_since", [revs, [], "x"]),
        )
        headers = {"Accept": self.dice.choice(["application/json", "*/*", "multipart/related", "text/plain"])} if self.maybe(0.5) else {}
        if self.maybe(0.1) and id in self.revs:
            headers["If-None-Match"] = f'"{self.revs[id][-1]}"'
        return self.dice.choice(["GET", "GET", "HEAD"]), "/" + path_of(id) + query, None, headers

    def bulk_docs(self):
        if self.maybe(0.4):
            docs = sorted((self.branch() for _ in range(self.dice.randrange(1, 5))), key=lambda doc: doc["_id"].encode())
            return "POST", "/_bulk_docs", {"docs": docs, "new_edits": False}, None
        # In order, because CouchDB gives sequences in this order.
        body = {"docs": sorted((self.doc() for _ in range(self.dice.randrange(5))), key=lambda doc: doc["_id"].encode())}
        if self.maybe(0.1):
            body = self.dice.choice([{}, {"docs": 1}, {"docs": [1]}, {"docs": [{"_id": 5}]}, {"docs": [], "new_edits": 1}, [], {"docs": [{"_id": "_bad"}]}])
        return "POST", "/_bulk_docs", body, None

    def bulk_get(self):
        docs = [{"id": id, **({"rev": self.rev(id)} if self.maybe(0.7) else {})} for id in self.some(IDS, 5)]
        if self.maybe(0.05):
            docs = self.dice.choice([[{}], [{"id": "a", "rev": "x"}], [{"id": 1}], 5])
        query = self.query(("revs", [True]), ("latest", [True]), ("attachments", [True]))
        return "POST", "/_bulk_get" + query, {"docs": docs}, None

    def revs_diff(self):
        ids = self.some(IDS, 4)
        body = {id: [self.rev(id) for _ in range(self.dice.randrange(1, 4))] for id in ids}
        return "POST", self.dice.choice(["/_revs_diff", "/_missing_revs"]), body, None

    def range(self, keys):
        return [
            ("key", keys),
            ("keys", [self.some(keys, 4)]),
            ("startkey", keys),
            ("endkey", keys),
            ("start_key", keys),
            ("end_key", keys),
            ("startkey_docid", IDS[:8]),
            ("endkey_docid", IDS[:8]),
            ("inclusive_end", [True, False]),
            ("descending", [True, False]),
            ("limit", [0, 1, 2, 5, -1, "x"]),
            ("skip", [0, 1, 2, 5, -1]),
            ("include_docs", [True]),
            ("conflicts", [True]),
            ("attachments", [True]),
            ("update_seq", [True]),
            ("sorted", [True]),
            ("stable", [True]),
            ("update", [True]),
        ]

    def few(self, choices):
        """Fewer parameters than there are: most requests of a client have two or three."""
        return self.query(*self.dice.sample(choices, min(len(choices), 8)))

    def all_docs(self):
        name = self.dice.choice(["_all_docs", "_all_docs", "_design_docs", "_local_docs"])
        ids = [*IDS, "_design", "_design0", "zz", ""]
        if self.maybe(0.2):
            return "POST", f"/{name}" + self.few(self.range(ids)), {"keys": self.some(ids, 5)}, None
        return "GET", f"/{name}" + self.few(self.range(ids)), None, None

    def changes(self):
        query = self.query(
            ("style", ["all_docs", "main_only"]),
            ("limit", [0, 1, 3]),
            ("descending", [True]),
            ("include_docs", [True]),
            ("conflicts", [True]),
            ("attachments", [True]),
            ("since", [0, "now"]),
            ("filter", ["x/even", "x/asked", "_design", "_doc_ids", "_selector", "_view", "x/none", "none/x", "bad"]),
            ("id", IDS[:6]),
            ("view", ["x/plain", "x/none"]),
            ("doc_ids", [self.some(IDS, 4)]),
        )
        if self.maybe(0.3):
            return "POST", "/_changes" + query, {"doc_ids": self.some(IDS, 4), "selector": self.selector()}, None
        return "GET", "/_changes" + query, None, None

    def view(self):
        name = self.dice.choice([*DESIGN["views"], "none"])
        choices = self.range(KEYS) + [("reduce", [True, False]), ("group", [True, False]), ("group_level", [0, 1, 2, "exact"])] * 2
        path = f"/_design/x/_view/{name}" + self.few(choices)
        if self.maybe(0.2):
            body = {"keys": self.some(KEYS, 4)} if self.maybe(0.6) else {"queries": [{"limit": 2}, {"key": self.dice.choice(KEYS)}]}
            return "POST", path, body, None
        return "GET", path, None, None

    def selector(self, depth=0):
        field = self.dice.choice(["k", "n", "other", "_id", "deep.a.b", "deep.list", "deep", "none", "_rev"])
        value = self.dice.choice(KEYS)
        kind = self.dice.randrange(12 if depth < 2 else 8)
        if kind < 2:
            return {field: value}
        if kind < 6:
            operator = self.dice.choice(["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"])
            return {field: {operator: value}}
        if kind == 6:
            operator, operand = self.dice.choice(
                [
                    ("$exists", True),
                    ("$exists", False),
                    ("$type", "string"),
                    ("$type", "number"),
                    ("$in", self.some(KEYS, 3)),
                    ("$nin", self.some(KEYS, 3)),
                    ("$size", 1),
                    ("$mod", [2, 1]),
                    ("$regex", "^a"),
                    ("$beginsWith", "a"),
                    ("$all", self.some(KEYS, 2)),
                    ("$elemMatch", {"$gt": 0}),
                    ("$allMatch", {"$gt": 0}),
                    ("$keyMapMatch", {"$eq": "a"}),
                    ("$bad", 1),
                    ("$in", 1),
                    ("$size", -1),
                ]
            )
            return {field: {operator: operand}}
        if kind == 7:
            return {field: {"$gt": value, "$lt": self.dice.choice(KEYS)}}
        if kind == 8:
            return {"$not": self.selector(depth + 1)}
        return {self.dice.choice(["$and", "$or", "$nor"]): [self.selector(depth + 1) for _ in range(self.dice.randrange(1, 3))]}

    def find(self):
        body = {"selector": self.selector() if self.maybe(0.97) else self.dice.choice([{}, [], 1, {"$or": []}])}
        for name, values in [
            ("fields", [["_id"], ["k", "n"], ["deep.a", "_rev"], "x", []]),
            ("limit", [0, 1, 3, -1]),
            ("skip", [0, 1, 2]),
            ("sort", [["k"], ["n"], [{"n": "desc"}], ["k", "n"], ["_id"], [{"_id": "desc"}], [{"k": "asc"}, {"n": "desc"}]]),
            ("conflicts", [True]),
            ("use_index", ["x", "k", ["k", "by-k"], "_design/none"]),
            ("unknown", [1]),
        ]:
            if self.maybe(0.15):
                body[name] = self.dice.choice(values)
        return "POST", "/_find" if self.maybe(0.8) else "/_explain", body, None

    def index(self):
        if self.maybe(0.3):
            return "GET", "/_index", None, None
        fields = self.dice.choice([["k"], ["n"], ["k", "n"], ["deep.a.b"], [{"n": "desc"}], [], "k"])
        index = {"index": {"fields": fields}, "ddoc": self.dice.choice(["k", "m"]), "name": self.dice.choice(["by-k", "other"])}
        if self.maybe(0.2):
            index["index"]["partial_filter_selector"] = {"n": {"$gt": 1}}
        return "POST", "/_index", index, None

    def attachment(self):
        id = self.id()
        name = self.dice.choice(["t.txt", "b.bin", "ü.txt", "dir/file"])
        path = f"/{path_of(id)}/{urllib.parse.quote(name)}"
        kind = self.dice.randrange(6)
        rev = f"?rev={quoted(self.rev(id))}" if self.maybe(0.8) else ""
        if kind < 2:
            headers = {"Content-Type": self.dice.choice(["text/plain", "application/octet-stream", "application/json"])}
            return "PUT", path + rev, self.dice.choice(TEXTS), headers
        if kind == 2:
            return "DELETE", path + rev, None, None
        headers = {"Accept-Encoding": "gzip"} if self.maybe(0.3) else {}
        if self.maybe(0.3):
            headers["Range"] = self.dice.choice(["bytes=0-1", "bytes=2-", "bytes=-3", "bytes=9-1", "bytes=1000-", "x"])
        return self.dice.choice(["GET", "GET", "HEAD"]), path + (rev if self.maybe(0.3) else ""), None, headers

    def local(self):
        path = "/_local/" + self.dice.choice(["l", "m", "x%20y"])
        kind = self.dice.randrange(4)
        if kind == 0:
            return "PUT", path, {"n": self.dice.randrange(9)}, None
        if kind == 1:
            return "DELETE", path, None, None
        return "GET", path, None, None

    def design_function(self):
        id = path_of(self.dice.choice(IDS[:6]))
        return self.dice.choice(
            [
                ("GET", f"/_design/x/_show/s/{id}", None, None),
                ("GET", "/_design/x/_show/s?a=1", None, None),
                ("GET", "/_design/x/_list/l/plain", None, None),
                ("POST", f"/_design/x/_update/u/{id}", "", None),
                ("POST", "/_design/x/_update/u", "", None),
                ("GET", "/_design/x/_show/none", None, None),
            ]
        )

    def maintenance(self):
        id = self.id()
        return self.dice.choice(
            [
                ("GET", "", None, None),
                ("HEAD", "", None, None),
                ("GET", "/_revs_limit", None, None),
                ("PUT", "/_revs_limit", self.dice.choice(["2", "1000", "0", "x"]), None),
                ("POST", "/_purge", {id: [self.rev(id)]}, None),
                ("GET", "/_security", None, None),
                ("POST", "/_compact", {}, None),
                ("POST", "/_ensure_full_commit", {}, None),
                ("POST", "/_view_cleanup", {}, None),
                ("GET", "/_nothing", None, None),
                ("PATCH", "/a", None, None),
                ("PUT", "/_all_docs", {}, None),
                ("POST", "/_all_docs/queries", {"queries": [{"limit": 1}, {"keys": self.some(IDS, 3)}]}, None),
            ]
        )

    def learn(self, path, body):
        """Notes the revisions of an answer."""

        def note(id, rev):
            if isinstance(id, str) and isinstance(rev, str) and "-" in rev and not id.startswith("_local/"):
                known = self.revs.setdefault(id, [])
                if rev in known:
                    known.remove(rev)
                known.append(rev)

        if isinstance(body, dict):
            note(body.get("id", body.get("_id")), body.get("rev", body.get("_rev")))
        if path == "/_bulk_docs" and isinstance(body, list):
            for row in body:
                if isinstance(row, dict):
                    note(row.get("id"), row.get("rev"))


KINDS = {
    "put": 8,
    "post": 2,
    "delete": 2,
    "copy": 2,
    "get": 8,
    "bulk_docs": 5,
    "bulk_get": 3,
    "revs_diff": 2,
    "all_docs": 5,
    "changes": 5,
    "view": 8,
    "find": 8,
    "index": 2,
    "attachment": 5,
    "local": 2,
    "design_function": 2,
    "maintenance": 2,
}
WRITES = ["put", "post", "bulk_docs"]


def run(case, servers, options):
    """Sends the requests of a case. Returns the number of requests, and the first difference with its request."""
    for server in servers:
        server.ask("DELETE", case.db)
        status, _, body = server.ask("PUT", case.db + options.create)
        if status not in (201, 202):
            raise SystemExit(f"{server.address}: PUT {case.db}: {status} {body[:200]}")
    kinds = [kind for kind in KINDS if not options.only or kind in options.only or kind in WRITES]
    weights = [KINDS[kind] for kind in kinds]
    sent = 0
    steps = [("PUT", "/_design/x", DESIGN, None)]
    found = None
    while sent < options.steps and found is None:
        kind = case.dice.choices(kinds, weights)[0]
        step = steps.pop() if steps else getattr(case, kind)()
        answers = [server.ask(step[0], case.db + step[1], *step[2:]) for server in servers]
        sent += 1
        first, second = (answer(one, step[1]) for one in answers)
        if first == second:
            case.learn(step[1], first["body"])
        elif 500 in (first["status"], second["status"]) and sent > 1:
            case.errors += 1
        else:
            found = (step, first, second)
    for server in servers:
        server.ask("DELETE", case.db)
    return sent, found


def text(value):
    return json.dumps(value, ensure_ascii=False, default=repr)[:700]


def shown(step, first, second):
    method, path, body, headers = step
    lines = [f"{method} {path} {json.dumps(headers) if headers else ''} {json.dumps(body, ensure_ascii=False) if body is not None else ''}"]
    for name in first:
        if first[name] != second[name]:
            lines += [f"  {name}", f"    1: {text(first[name])}", f"    2: {text(second[name])}"]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs=2, metavar="URL")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40, help="requests per case")
    parser.add_argument("--only", action="append", choices=KINDS, help="only this kind, and writes")
    parser.add_argument("--create", default="", help="parameters for creating a database, such as ?q=1")
    parser.add_argument("--known", help="a file with regular expressions of known differences")
    options = parser.parse_args()
    known = [re.compile(line) for line in open(options.known).read().splitlines() if line] if options.known else []
    servers = [Server(url) for url in options.servers]
    requests, differences, expected, errors = 0, 0, 0, 0
    for number in range(options.first, options.first + options.cases):
        case = Case(number, options.seed)
        sent, found = run(case, servers, options)
        requests, errors = requests + sent, errors + case.errors
        if found:
            text = shown(*found)
            if any(pattern.search(text) for pattern in known):
                expected += 1
                continue
            differences += 1
            print(f"case {number}, request {sent}: {text}", flush=True)
    print(f"{options.cases} cases, {requests} requests, {differences} differences, {expected} known, {errors} answered 500 by one")
    return 1 if differences else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, http.client.HTTPException) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
