#!/usr/bin/env python3
"""Records the replication ids that a CouchDB computes, for tests/replication_ids.rs.

    record.py http://admin:secret@127.0.0.1:5984 > ids.jsonl

The CouchDB must have the uuid 0123456789abcdef0123456789abcdef and no other replications. The program creates the database
`replication_ids` and deletes it at the end. A line has the body of `POST /_replicate`, the code of its filter function if it
has one, and the id or the error of CouchDB's answer. The bodies are generated from a fixed seed.
"""

import base64
import json
import random
import sys
import urllib.error
import urllib.parse
import urllib.request

RANDOM = random.Random(4)
LINES = 300

CODES = {
    "plain": "function(doc, req) { return true; }",
    "spaces": "   function(doc) { return doc.a; }  ",
    "lines": "  function(doc) {\n  return true;\n}  ",
    "end": "  (doc) => true \n",
    "ends": " (doc) => true \n\n",
    "tab": "\t(doc) => true\t",
    "unicode": "function(doc) { return doc.a == 'ü€'; }",
}


# Negations below operators of their own, and the same elsewhere.
NEGATIONS = [
    {"z": {"$elemMatch": {"$nor": [{"z": {"$regex": "^a.*"}, "b": {"c": {"$ne": None}}}]}}},
    {"z": {"$elemMatch": {"$nor": [{"a": 1}, {"b": 2}]}}},
    {"z": {"$elemMatch": {"$nor": [{"$gt": 1}, {"$lt": 0}]}}},
    {"z": {"$elemMatch": {"$nor": []}}},
    {"z": {"$elemMatch": {"$not": {"a": 1}}}},
    {"z": {"$elemMatch": {"$not": {"$gt": 1}}}},
    {"a": {"$allMatch": {"$nor": [{"b": {"$not": {"$regex": "a"}}}]}}},
    {"a": {"$nor": [{"$lt": 1}]}},
]


def basic(credentials):
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def pick(*choices):
    return RANDOM.choice(choices)


def url():
    scheme = pick("http", "http", "https")
    user = pick("", "", "", "anna:secret@", "anna:p%40ss@", "a%40b:c@", "anna@", ":@", "anna:@")
    host = pick("127.0.0.1", "host.invalid", "HOST.Invalid", "[::1]", "10.0.0.1", "xn--bcher-kva.invalid")
    port = pick("", "", ":5984", ":80", ":443", ":6984", ":1", ":")
    path = pick("", "/", "/db", "/db/", "/a%2Fb", "/a/b/", "/db//", "/db?x=1", "/db/?x=1", "/DB", "?x=1", "/db#f", "/d:b", "/d@b")
    return f"{scheme}://{user}{host}{port}{path}"


def headers():
    all_headers = {
        "x-one": "1",
        "X-Two": "zwei",
        "Accept": "application/json",
        "accept": "text/plain",
        "User-Agent": "me",
        "Cookie": "AuthSession=abc",
        "Authorization": pick(basic("bert:pw"), basic("bert:p:w"), "Basic ???", "Bearer abc", "basic " + basic("c:d")[6:], basic("nocolon")),
        "authorization": basic("dora:pw"),
        "X-ONE": "2",
        "Empty": "",
    }
    names = RANDOM.sample(sorted(all_headers), pick(1, 1, 2, 3))
    return {name: all_headers[name] for name in names}


def auth():
    return pick(
        {"basic": {"username": "emil", "password": "pw"}},
        {"basic": {"username": "emil@x", "password": "p%40"}},
        {"basic": {"username": "", "password": ""}},
        {"basic": {"username": "ü", "password": "ö"}},
        {"basic": {"username": 1, "password": "x"}},
        {"basic": {}},
        {},
    )


def endpoint():
    if RANDOM.random() < 0.5:
        return url()
    made = {"url": url()}
    if RANDOM.random() < 0.5:
        made["headers"] = headers()
    if RANDOM.random() < 0.4:
        made["auth"] = auth()
    return made


def scalar():
    return pick(0, 1, 255, 256, -1, 2**31, 2**40, 2**63, 1.0, 2.5, -0.1, 1e22, "", "a", "ü", True, False, None)


def value(depth=0):
    if depth > 2 or RANDOM.random() < 0.6:
        return scalar()
    if RANDOM.random() < 0.5:
        return [value(depth + 1) for _ in range(RANDOM.randrange(4))]
    return {pick("a", "b", "c", "ü", "z"): value(depth + 1) for _ in range(RANDOM.randrange(4))}


def selector(depth=0):
    kind = RANDOM.randrange(9)
    field = pick("a", "b.c", "type", "z", "_id", "a\\.b")
    if depth < 3 and kind == 0:
        return {pick("$and", "$or", "$nor"): [selector(depth + 1) for _ in range(RANDOM.randrange(1, 4))]}
    if depth < 3 and kind == 1:
        return {"$not": selector(depth + 1)}
    if depth < 3 and kind == 2:
        return {field: {pick("$elemMatch", "$allMatch"): selector(depth + 1)}}
    if kind == 3:
        return {field: {"$in": [scalar() for _ in range(3)]}, pick("k", "y"): value()}
    if kind == 4:
        return {field: {"$gt": scalar(), "$lte": scalar()}}
    if kind == 5:
        return {field: {"$exists": pick(True, False)}}
    if kind == 6:
        return {field: {"$regex": "^a.*"}, "b": {"c": {"$ne": scalar()}}}
    if kind == 7:
        return {field: value()}
    return pick({}, {field: {"$size": 2}}, {field: {"$type": "string"}}, {field: {"$mod": [3, 1]}}, {field: {"$all": [1, 2]}}, {field: {"$beginsWith": "x"}})


def query_params():
    names = RANDOM.sample(["b", "a", "key", "view", "ü"], pick(0, 1, 2, 3))
    return {name: pick("1", "x y", "app/v", "", "ü") for name in names}


def body(base):
    made = {"source": endpoint(), "target": endpoint(), "continuous": True}
    kind = RANDOM.randrange(10)
    if kind in (0, 1):
        made["doc_ids"] = [pick("a", "b", "a%20b", "a+b", "ü", "%zz", "_design/x", "100%", "B") for _ in range(RANDOM.randrange(5))]
    elif kind in (2, 3, 4):
        made["selector"] = selector()
    elif kind == 5:
        made["filter"] = pick("_design", "_view", "_doc_ids", "x", "", "_")
    elif kind in (6, 7):
        made["filter"] = "app/" + pick(*sorted(CODES))
        made["source"] = base + "/replication_ids"
    if RANDOM.random() < (0.7 if "filter" in made else 0.1):
        made["query_params"] = query_params()
    if RANDOM.random() < 0.15:
        made["create_target"] = pick(True, False)
    if RANDOM.random() < 0.15:
        made["winning_revs_only"] = pick(True, False)
    if RANDOM.random() < 0.1:
        made["since_seq"] = pick(0, "5-abc")
    if RANDOM.random() < 0.1:
        made[pick("worker_processes", "worker_batch_size", "http_connections", "connection_timeout", "retries_per_request", "checkpoint_interval")] = pick(1, "2")
    wrong = {
        "continuous": "yes", "create_target": 1, "winning_revs_only": "x", "doc_ids": "a", "selector": [], "query_params": [],
        "use_bulk_get": 1, "create_target_params": [], "cancel": 1,
    }
    if RANDOM.random() < 0.08:
        name = pick(*sorted(wrong))
        made[name] = wrong[name]
    if RANDOM.random() < 0.03:
        made[pick("source", "target")] = pick({}, {"url": "http://"}, {"url": "http://host:x/"}, "http://[x]/")
    return made


def ask(server, authorization, method, path, content=None):
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(server + path, data, {"content-type": "application/json", "authorization": authorization}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def main():
    given = urllib.parse.urlsplit(sys.argv[1])
    server = f"http://{given.hostname}:{given.port}"
    authorization = basic(f"{given.username}:{given.password}")
    ask(server, authorization, "DELETE", "/replication_ids")
    ask(server, authorization, "PUT", "/replication_ids")
    ask(server, authorization, "PUT", "/replication_ids/_design/app", {"filters": CODES})
    bodies = [body(sys.argv[1].rstrip("/")) for _ in range(LINES)]
    ends = {"source": "http://127.0.0.1:1/a", "target": "http://127.0.0.1:1/b", "continuous": True}
    for made in bodies + [{**ends, "selector": selector} for selector in NEGATIONS]:
        status, answer = ask(server, authorization, "POST", "/_replicate", made)
        line = {"body": made}
        name = made.get("filter")
        if isinstance(name, str) and name.startswith("app/"):
            line["code"] = CODES[name[4:]]
        if status == 202:
            line["id"] = answer["_local_id"]
            ask(server, authorization, "POST", "/_replicate", {"cancel": True, "id": answer["_local_id"]})
        elif "Could not open source database" in str(answer.get("reason")):
            continue  # The machine is busy.
        else:
            line |= {"status": status, "error": answer["error"], "reason": answer.get("reason")}
        print(json.dumps(line, ensure_ascii=False))
    ask(server, authorization, "DELETE", "/replication_ids")


main()
