# Starts the server, writes and reads documents, checks its health and stops it. Needs `inorder-couch` on the PATH and python3.
cat > couch.py <<'PYTHON'
import json
import urllib.request

def ask(method, path, body=None):
    request = urllib.request.Request("http://127.0.0.1:5984" + path, method=method, headers={"Content-Type": "application/json"},
                                     data=None if body is None else json.dumps(body).encode())
    return json.load(urllib.request.urlopen(request))

assert ask("PUT", "/films")["ok"]
written = ask("POST", "/films/_bulk_docs", {"docs": [{"_id": f"film{n}", "year": 1900 + n} for n in range(100)]})
assert all(answer["ok"] for answer in written)
assert ask("GET", "/films/film79")["year"] == 1979
assert len(ask("GET", "/films/_changes")["results"]) == 100
found = ask("POST", "/films/_find", {"selector": {"year": {"$gte": 1990}}})
assert [film["year"] for film in found["docs"]] == list(range(1990, 2000))
view = {"views": {"decades": {"map": "function (doc) { emit(Math.floor(doc.year / 10), 1) }", "reduce": "_count"}}}
assert ask("PUT", "/films/_design/all", view)["ok"]
rows = ask("GET", "/films/_design/all/_view/decades?group=true")["rows"]
assert [(row["key"], row["value"]) for row in rows] == [(decade, 10) for decade in range(190, 200)]
PYTHON
if inorder-couch health 2> down; then exit 1; fi
grep -q "does not answer" down
inorder-couch serve --dir data 2> log &
server=$!
for _ in $(seq 100); do inorder-couch health 2> down && break; sleep 0.1; done
inorder-couch health
python3 couch.py
kill -TERM $server
wait $server
