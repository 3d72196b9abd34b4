"""The seconds from nothing to a first answer, in a Debian root without Rust, compilers and network."""

import dataclasses
import os
import shutil

import places
from npm import NODE
from project import DIST, VERSION, run

ARCHITECTURE = "x86_64"
BENCH = "inorder bench same-millisecond --repetitions 1 --budget 20s --dir run"
# The npm of the checks, beside their Node.
NPM = "npm@11.19.1"
USE = """
const { DatabaseSync } = require("node:sqlite");
const database = require("inorder").load(new DatabaseSync(":memory:", { allowExtension: true }));
database.exec("CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), text); INSERT INTO note(text) VALUES ('first')");
console.log(database.prepare("SELECT ulid_text(id) AS id FROM note").get().id);
"""


@dataclasses.dataclass(frozen=True)
class Way:
    """What a user types. The file of an artifact is below /given."""

    name: str
    install: str
    answer: str


WAYS = [
    Way("pip", f"python3 -m venv env; env/bin/pip install --quiet --no-index /given/inorder-{VERSION}-py3-none-manylinux2014_{ARCHITECTURE}.whl",
        f"PATH=/root/env/bin:$PATH; {BENCH}"),
    Way("npm", f"npm install --offline --no-audit --no-fund /given/inorder-{VERSION}.tgz /given/inorder-linux-x64-gnu-{VERSION}.tgz",
        "cp /given/use.js . && node --no-warnings use.js"),  # Node looks for the package beside the script.
    Way("dpkg", f"dpkg -i /given/inorder_{VERSION}-1_{places.DEBIAN[ARCHITECTURE]}.deb", BENCH),
]
# Prints the seconds of both parts.
TIMED = """
PATH=/given/bin:$PATH
if command -v rustc || command -v cc || command -v gcc; then exit 1; fi
began=$(date +%s%N)
{{ {install}; }} > said 2>&1 || {{ cat said; exit 1; }}
installed=$(date +%s%N)
{{ {answer}; }} > answer 2>&1 || {{ cat answer; exit 1; }}
test -s answer
ended=$(date +%s%N)
echo $((installed - began)) $((ended - installed))
"""


def give_node(folder):
    """Puts Node and npm, as npm itself installs them, into the folder `bin`."""
    (folder / "package.json").write_text('{ "private": true }\n')
    node = NODE[ARCHITECTURE]
    run("npm", "install", "--prefer-offline", node, NPM, cwd=folder, env=dict(os.environ, NPM_CONFIG_USERCONFIG="/dev/null"))
    (folder / "bin").mkdir()
    (folder / "bin/node").symlink_to(f"../node_modules/{node.split('@')[0]}/bin/node")
    (folder / "bin/npm").symlink_to("../node_modules/npm/bin/npm-cli.js")


def answers():
    """Returns the way, the seconds of its installation and those of its first answer, for each way."""
    with places.folder() as folder:
        give_node(folder)
        (folder / "use.js").write_text(USE)
        for file in DIST.glob("inorder[-_]*"):
            if file.suffix in (".whl", ".tgz", ".deb"):
                shutil.copy(file, folder)
        for way in WAYS:
            took = places.in_root(ARCHITECTURE, folder, TIMED.format(install=way.install, answer=way.answer)).split()[-2:]
            yield way.name, *(round(int(nanoseconds) / 1e9, 2) for nanoseconds in took)
