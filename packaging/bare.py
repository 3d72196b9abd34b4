"""Runs the commands of the README's quick start in a fresh Debian root, on a clone of the last commit.

The root has what the README asks for and nothing else: a C compiler, git to clone with, and the Rust of this machine. How this machine reaches
Debian's packages and other registries is copied into it.
"""

import os
import pathlib
import re
import shutil
import subprocess

import places
import tools
from project import ROOT, WORK, Failed, require, run

# What a clone and a build need. `./test` has to install the rest.
PACKAGES = "build-essential,ca-certificates,git"
# Files and folders that say how registries are reached, if they exist.
REACHED_BY = ["/etc/resolv.conf", "/etc/hosts", "/etc/apt/apt.conf.d", "/etc/apt/auth.conf.d", "/etc/apt/sources.list.d", "/etc/apt/keyrings",
              "/etc/pip.conf", "/etc/npmrc", "/etc/ssl/certs/ca-certificates.crt", "~/.npmrc", "~/.config/pip", "~/.cargo/config.toml"]
# Variables that do, by their beginnings.
VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PIP_", "NPM_", "SSL_CERT_", "CARGO_HTTP_", "RUSTUP_AUTO_INSTALL")

# Arguments: the root, the folder of the toolchains, the command, and the variables.
IN_ROOT = """
set -e
ip link set lo up 2> /dev/null || true
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount --rbind /dev "$1/dev"
mkdir -p "$1/opt/rustup"
mount --bind "$2" "$1/opt/rustup"
root=$1 command=$3
shift 3
exec chroot "$root" /usr/bin/env -i PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LANG=C.UTF-8 RUSTUP_HOME=/opt/rustup "$@" bash -ec "cd /root/inorder; $command"
"""


def commands():
    """The commands of the README's first block, without their comments."""
    block = re.search(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    require(block, "README.md has no block of commands")
    return [line.split("  #")[0].strip() for line in block[1].splitlines() if line.strip()]


def make(root):
    """Makes the root, with a clone of the last commit."""
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", root, places.MIRROR)
    for name in REACHED_BY:
        path = pathlib.Path(name).expanduser()
        target = root / ("root" / pathlib.Path(name).relative_to("~") if name.startswith("~") else path.relative_to("/"))
        if path.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            run("cp", "-rL", "--no-target-directory", path, target)
    if any((root / "etc/apt/sources.list.d").iterdir()):
        (root / "etc/apt/sources.list").unlink(missing_ok=True)
    (root / "root/.cargo").mkdir(parents=True, exist_ok=True)
    run("cp", "-a", pathlib.Path(shutil.which("cargo")).parent, root / "root/.cargo/bin")
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, root / "root/inorder")


def check(word=""):
    """Runs the commands that contain a word. Their output goes to stdout. The root is removed if all succeed."""
    chosen = [command for command in commands() if word in command]
    require(chosen, f"no command of the README's first block contains {word!r}")
    toolchains = pathlib.Path(os.environ.get("RUSTUP_HOME", "~/.rustup")).expanduser()
    require(toolchains.exists(), "Rust is not installed by rustup")
    tools.install_commands(["debootstrap"])
    root = WORK / "bare"
    run("rm", "-rf", "--one-file-system", root)
    root.parent.mkdir(parents=True, exist_ok=True)
    make(root)
    variables = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(VARIABLES)]
    for command in chosen:
        print(f"== {command}", flush=True)
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", IN_ROOT, "bare", root, toolchains, command, *variables],
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failed(f"{command}\nended with {done.returncode}; the root is {root}")
    run("rm", "-rf", "--one-file-system", root)
