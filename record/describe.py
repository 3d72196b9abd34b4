#!/usr/bin/env python3
"""Writes the source.toml of a record: what was measured, by which command, and on which machine.

    record/describe.py record/2026-11-22-ids --what "CPU time per id" --command "cargo bench ..." --version "SQLite 3.53.2"

Call it on the machine that measures, when the program has ended, from the tree that it was built from.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def field(file, name):
    """The first value of a name in a file of /proc or /etc."""
    lines = pathlib.Path(file).read_text().splitlines()
    pairs = (line.replace("=", ":", 1).split(":", 1) for line in lines if ":" in line or "=" in line)
    return next((value.strip().strip('"') for key, value in pairs if key.strip() == name), "unknown")


def revision():
    """The revision of the tree, marked where files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=-changed"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def filesystem(folder):
    """The type of the file system that a folder is on."""
    command = ["df", "--output=fstype", folder]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]


def machine(folder):
    return {
        "CPU": field("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": field("/proc/meminfo", "MemTotal"),
        "system": field("/etc/os-release", "PRETTY_NAME"),
        "kernel": platform.release(),
        "filesystem": filesystem(folder),
        "load average": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path, help="the folder of the record")
    parser.add_argument("--what", required=True, help="what was measured, in one sentence without its full stop")
    parser.add_argument("--command", required=True, help="the command that measured it")
    parser.add_argument("--revision", help="of the source it was built from; this tree's where it isn't said")
    parser.add_argument("--version", action="append", default=[], help="the name and version of what took part")
    parser.add_argument("--note", help="what else a reader has to know")
    parser.add_argument("--files", default="/tmp", help="a folder on the file system that was written to")
    options = parser.parse_args()
    # A string of JSON is one of TOML, too.
    quoted = lambda text: json.dumps(text, ensure_ascii=False)
    facts = {**machine(options.files), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}
    lines = [f"{name} = {quoted(value)}" for name, value in (
        ("what", options.what), ("command", options.command), ("revision", options.revision or revision()), ("samples", "kept"),
        ("note", options.note)) if value]
    lines += ["", "[machine]"]
    lines += [f"{quoted(name)} = {quoted(value)}" for name, value in facts.items()]
    if options.version:
        lines.append(f"versions = {quoted(', '.join(options.version))}")
    options.record.mkdir(exist_ok=True)
    (options.record / "source.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
