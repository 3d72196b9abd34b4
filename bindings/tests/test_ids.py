"""Ids made in Python and in JavaScript, read by the SQL functions of the extension.

    /usr/bin/python3 -m unittest discover -s bindings/tests
"""

import json
import os
import unittest

from test_packages import installed, run

# Makes many ids of each kind: at the real time, with a clock that is set back, and with one that stands still.
PYTHON = """
import inorder, json, time
from inorder import ids
made = {kind: [] for kind in ("ulid", "uuid7", "typeid", "tsid", "token")}
def make(n):
    for _ in range(n):
        made["ulid"].append(inorder.ulid()); made["uuid7"].append(str(inorder.uuid7()))
        made["typeid"].append(inorder.typeid("pre_fix")); made["token"].append(inorder.token())
begin = time.time_ns() // 1_000_000
make(20_000)
made["tsid"] += [inorder.tsid_text(inorder.tsid()) for _ in range(20_000)]
end = time.time_ns() // 1_000_000
class Clock:
    now = time.time_ns() - 3_600_000_000_000
    time_ns = staticmethod(lambda: Clock.now)
    sleep = time.sleep
ids.time = Clock
make(70_000)
made["tsid"] += [inorder.tsid_text(inorder.tsid()) for _ in range(10_000)]
assert inorder.tsid(9) >> 12 & 1023 == 9
print(json.dumps([begin, end, made]))
"""

JAVASCRIPT = """
const ids = require("inorder/ids");
const made = { ulid: [], uuid7: [], typeid: [], tsid: [], token: [] };
function make(n) {
  for (let i = 0; i < n; i += 1) {
    made.ulid.push(ids.ulid()); made.uuid7.push(ids.uuid7()); made.typeid.push(ids.typeid("pre_fix")); made.token.push(ids.token());
  }
}
const begin = Date.now();
make(20_000);
for (let i = 0; i < 20_000; i += 1) made.tsid.push(ids.tsidText(ids.tsid()));
const end = Date.now();
Date.now = () => end - 3_600_000;
make(70_000);
for (let i = 0; i < 10_000; i += 1) made.tsid.push(ids.tsidText(ids.tsid()));
if ((ids.tsid(9) >> 12n & 1023n) !== 9n) throw new Error("node");
console.log(JSON.stringify([begin, end, made]));
"""

# What SQL says of an id: its kind, its time, and its form as the functions write it.
READ = {
    "ulid": "key_kind(x), ulid_timestamp(x), ulid_text(x)",
    "uuid7": "key_kind(x), uuid7_timestamp(x), uuid_text(x)",
    "typeid": "key_kind(x), uuid7_timestamp(typeid_uuid(x)), typeid_prefix(x) || '_' || typeid_suffix(typeid_blob(x))",
    "tsid": "key_kind(x), tsid_timestamp(x), tsid_text(x)",
    "token": "key_kind(x), NULL, x",
}
CHECK = """
import inorder, json, sqlite3, sys
c = sqlite3.connect(":memory:"); inorder.load(c)
read, made = json.load(sys.stdin)
c.execute("CREATE TABLE t(x TEXT)")
found = {}
for kind, ids in made.items():
    c.execute("DELETE FROM t"); c.executemany("INSERT INTO t VALUES (?)", [(x,) for x in ids])
    found[kind] = c.execute(f"SELECT {read[kind]} FROM t ORDER BY rowid").fetchall()
print(json.dumps(found))
"""

# Children of a process whose other threads make ids: none waits for a lock for ever, and none makes the parent's ids.
FORKS = """
import inorder, os, threading, time
def make():
    while True: inorder.ulid()
for _ in range(4): threading.Thread(target=make, daemon=True).start()
inorder.tsid()
for child in range(40):
    if os.fork() == 0:
        made = [inorder.ulid() for _ in range(100)] + [str(inorder.uuid7()) for _ in range(100)]
        os.write(1, ("".join(f"id {id}\\n" for id in made) + f"node {inorder.tsid() >> 12 & 1023}\\n").encode())
        os._exit(0)
    os.wait()
os._exit(0)
"""

# A start-up snapshot has one script, as a bundler makes it.
SNAPSHOT = """
require("v8").startupSnapshot.setDeserializeMainFunction(() => {
  console.log(JSON.stringify([exports.token(), exports.ulid().slice(-12), Number(exports.tsid() >> 12n & 1023n)]));
});
"""

THREADS = """
import inorder, threading
from inorder import ids
def make(f): made[f] += [[f() for _ in range(5000)]]
for f in (inorder.ulid, inorder.uuid7, inorder.tsid):
    made = {f: []}
    threads = [threading.Thread(target=make, args=(f,)) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert all(part == sorted(part) for part in made[f]), f
    assert len({id for part in made[f] for id in part}) == 40_000, f
print("in order")
"""


def python(script, **options):
    return run(installed() / "env" / "bin" / "python", "-c", script, cwd=installed(), **options)


def node(script):
    return run("node", "-e", script, cwd=installed())


class Ids(unittest.TestCase):
    def check(self, text):
        begin, end, made = json.loads(text)
        found = json.loads(python(CHECK, input=json.dumps([READ, made])))
        for kind, ids in made.items():
            says = found[kind]
            self.assertEqual(len(set(ids)), len(ids), kind)
            self.assertEqual([x for _, _, x in says], ids, kind)
            self.assertEqual({name for name, _, _ in says}, {{"typeid": "TypeID", "token": "token160"}.get(kind, kind)})
            if kind == "token":
                continue
            self.assertEqual(ids, sorted(ids), kind)
            # A clock that is set back: the ids go on from the last one, and ahead only as far as their number demands.
            times = [ms for _, ms, _ in says]
            self.assertTrue(all(begin <= ms <= end for ms in times[:20_000]), kind)
            self.assertTrue(all(ms <= end + 10 for ms in times), kind)

    def test_python(self):
        self.check(python(PYTHON))
        self.assertEqual(python(THREADS), "in order\n")
        self.assertTrue(list((installed() / "env" / "lib").glob("python*/site-packages/inorder/py.typed")))

    def test_javascript(self):
        self.check(node(JAVASCRIPT))

    def test_wrong_arguments_are_errors(self):
        for prefix in ("User", "_", "a_", "_a", "a" * 64, "a1", "a b", "é", "a\n"):
            self.assertIn("prefix", python(f"""
import inorder
try: inorder.typeid({prefix!r})
except ValueError as error: print(error)
"""), prefix)
            text = json.dumps(prefix)
            self.assertIn("prefix", node(f"try {{ require('inorder/ids').typeid({text}) }} catch (e) {{ console.log(e.message) }}"), prefix)
        for wrong in ("", "undefined", "null", "[]", "true", "7"):
            said = node(f"try {{ console.log(require('inorder/ids').typeid({wrong})) }} catch (e) {{ console.log(e.name, e.message) }}")
            self.assertTrue(said.startswith("TypeError the prefix of a TypeID is a string"), said)
        for call in ("tsid(1024)", "tsid(-1)", "token(0)", "token(1025)", "tsid_text(-1)", "tsid_text(1 << 63)"):
            with self.assertRaises(AssertionError, msg=call):
                python(f"import inorder; inorder.{call}")
        for call in ("tsid(1024)", "tsid(0.5)", "token(0)", "token(1025)", "tsidText(-1n)", "tsidText(1n << 63n)", "tsidText(1)"):
            with self.assertRaises(AssertionError, msg=call):
                node(f"require('inorder/ids').{call}")

    def test_processes_of_one_snapshot_make_other_ids(self):
        module = (installed() / "node_modules/inorder/ids.js").read_text()
        script = installed() / "snapshot.js"
        script.write_text(f"const exports = {{}};\n{module}\nexports.token(); exports.ulid(); exports.tsid();\n{SNAPSHOT}")
        run("node", "--snapshot-blob", "snapshot.blob", "--build-snapshot", script, cwd=installed())
        made = [json.loads(run("node", "--snapshot-blob", "snapshot.blob", cwd=installed())) for _ in range(6)]
        tokens, tails, nodes = ({str(part) for part in parts} for parts in zip(*made))
        self.assertEqual((len(tokens), len(tails)), (6, 6))
        self.assertGreater(len(nodes), 3)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_children_of_a_fork_make_other_ids(self):
        lines = python(FORKS).splitlines()
        ids = [line for line in lines if line.startswith("id ")]
        self.assertEqual((len(ids), len(set(ids))), (8000, 8000))
        nodes = {line for line in lines if line.startswith("node ")}
        self.assertGreater(len(nodes), 20)


if __name__ == "__main__":
    unittest.main()
