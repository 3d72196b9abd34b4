"""The files of Debian and RPM packages, as they are installed."""

import pathlib
import shutil
import textwrap

import archives
from project import MAINTAINER, VERSION

HERE = pathlib.Path(__file__).resolve().parent
COMPLETIONS = {"{}.bash": "usr/share/bash-completion/completions/{}", "_{}": "usr/share/zsh/vendor-completions/_{}",
               "{}.fish": "usr/share/fish/vendor_completions.d/{}.fish"}
DESCRIPTIONS = {
    "inorder": "Reports what the keys, layouts and indexes of a database cost, measures key kinds, makes ids that arrive in order, "
               "loads files and copies databases in key order.",
    "inorder-couch": "A document server for PouchDB, Obsidian LiveSync and other clients of CouchDB. Each database is one SQLite file. "
                     "The package has a systemd unit, which is not enabled by the installation.",
    "inorder-watch": "What to Watch is a web application for watch lists of friends. The package has a systemd unit, which is not "
                     "enabled by the installation.",
}


def filled(template, **values):
    text = (HERE / template).read_text()
    for name, value in {"MAINTAINER": MAINTAINER, "VERSION": VERSION, **values}.items():
        text = text.replace(f"@{name}@", value)
    return text


def tree(program, target, folder):
    """Writes the files of a package as they are installed. The folder must be empty."""
    source = archives.staged(program, target)
    name = program.name
    installed = {name: f"usr/bin/{name}", "README.md": f"usr/share/doc/{name}/README.md"}
    installed.update({f"completions/{script}".format(name): place.format(name) for script, place in COMPLETIONS.items()})
    installed.update({f"man/{page.name}": f"usr/share/man/man1/{page.name}" for page in source.glob("man/*.1")})
    for origin, place in installed.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / origin, folder / place)
    if program.service:
        (folder / "usr/lib/systemd/system").mkdir(parents=True)
        shutil.copy(HERE / f"systemd/{name}.service", folder / "usr/lib/systemd/system")


def description_of(program):
    return textwrap.fill(DESCRIPTIONS[program.name], 78)
