"""Where artifacts are tried out: fresh Debian roots without compilers, also of another processor."""

import contextlib
import os
import pathlib
import tempfile

from project import ROOT, VERSION, WORK, once, require, run
from tools import python, registry

CHECKS = pathlib.Path(__file__).resolve().parent / "checks"
MIRROR = "http://deb.debian.org/debian"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
# The ELF header of a program for aarch64, and the bits of it that count.
ELF_AARCH64 = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
ELF_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
BINFMT = pathlib.Path("/proc/sys/fs/binfmt_misc")


@contextlib.contextmanager
def folder():
    """A temporary folder."""
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK) as path:
        yield pathlib.Path(path)


@once
def emulate(architecture):
    """Makes the kernel run programs of another processor with qemu, as Debian's package qemu-user-static does where systemd runs."""
    if architecture == native() or list(BINFMT.glob(f"qemu-{architecture}*")):
        return
    if not (BINFMT / "register").exists():
        run("mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT)
    require(architecture == "aarch64", f"programs for {architecture} cannot be run here")
    (BINFMT / "register").write_text(f":qemu-aarch64:M::{ELF_AARCH64}:{ELF_MASK}:/usr/bin/qemu-aarch64-static:F")


@once
def native():
    return run("uname", "-m").strip()


@once
def root(architecture):
    """A Debian without compilers, with Python and SQLite."""
    emulate(architecture)
    path = WORK / "roots" / architecture
    if not (path / "complete").exists():
        run("rm", "-rf", path)
        path.parent.mkdir(parents=True, exist_ok=True)
        run("debootstrap", f"--arch={DEBIAN[architecture]}", "--variant=minbase", "--include=python3,python3-venv,sqlite3,musl",
            "bookworm", path, MIRROR)
        (path / "complete").touch()
    return path


# Arguments: the root, a folder that becomes /given, and a script.
IN_ROOT = """
set -e
ip link set lo up
work=$(mktemp -d)
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount -t proc proc "$work/root/proc"
mount --rbind /dev "$work/root/dev"
mkdir "$work/root/given"
mount --bind "$2" "$work/root/given"
exec chroot "$work/root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 sh -ec "cd /root; $3"
"""


def in_root(architecture, given, script):
    """Runs a script in a copy of a root, without a network. The folder `given` is /given. Returns the output."""
    return run("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", IN_ROOT, "in-root", root(architecture),
               given, script)


def check_program(architecture, name, given, install):
    """Runs the script of a program in a fresh root after the script `install`, which puts the program on the PATH."""
    with folder() as checks:
        run("cp", "-a", *CHECKS.iterdir(), given, checks)
        return in_root(architecture, checks, f"{install.format(given=f'/given/{pathlib.Path(given).name}')}\n. /given/{name}.sh")


def where(architecture):
    """What the checks of a processor run on."""
    return f"in a fresh Debian 12 ({DEBIAN[architecture]}{'' if architecture == native() else ', by qemu'})"


def run_host(target, extension, at):
    """Loads the extension into a small program that is compiled for the target."""
    program = at / "host"
    sqlite = next(registry().glob("*/libsqlite3-sys-*/sqlite3/sqlite3.c"))
    run(python(), "-m", "ziglang", "cc", "-target", f"{target.architecture}-linux-musl", "-O1", "-dynamic", "-I", sqlite.parent, CHECKS / "host.c", sqlite,
        "-o", program)
    run("cp", extension, at)
    in_root(target.architecture, at, f"/given/host /given/{extension.name} {VERSION}")


def run_wine(target, extension, at):
    """Loads the extension into the small program, compiled for Windows and run by wine.

    Wine 8 has no bcryptprimitives.dll, from which Rust takes random bytes: it gets one.
    """
    sqlite = next(registry().glob("*/libsqlite3-sys-*/sqlite3/sqlite3.c"))
    compile = [f"{target.mingw}gcc", "-O1", "-static"]
    run(*compile, "-I", sqlite.parent, CHECKS / "host.c", sqlite, "-o", at / "host.exe")
    run(*compile, "-shared", CHECKS / "bcryptprimitives.c", "-ladvapi32", "-o", at / "bcryptprimitives.dll")
    run("cp", extension, at)
    run("wine", "host.exe", extension.name, VERSION, cwd=at, env=dict(os.environ, WINEPREFIX=str(at / "wine"), WINEDEBUG="-all"))


# Words of the names of the extension's tests. The others need a compiler or Node.
EXTENSION_TESTS = ["Shell", "threads", "last_connection", "children", "share_a_database"]


def run_python(target, extension, at):
    """Runs the tests of the extension in Debian's Python and its sqlite3 shell."""
    (at / "target/release").mkdir(parents=True)
    run("cp", extension, at / "target/release")
    run("cp", "-r", ROOT / "bindings/extension/tests", CHECKS / "extension.py", at)
    chosen = " ".join(f"-k {word}" for word in EXTENSION_TESTS)
    in_root(target.architecture, at, f"""python3 /given/extension.py /given/target/release/{extension.name} | grep -qx {VERSION}
        cd /given/tests
        python3 -m unittest {chosen} test_extension""")


# Arguments: the root, the user, a file of variables, and the health check. The rest is the server.
IMAGE = """
ip link set lo up
root=$1 user=$2 settings=$3 health=$4
shift 4
in_root() { env -i $(cat "$settings") chroot --userspec="$user:$user" "$root" "$@"; }
in_root "$@" > "$settings.log" 2>&1 &
for attempt in $(seq 50); do
  sleep 0.2
  if in_root $health 2> /dev/null; then exit 0; fi
done
cat "$settings.log"
exit 1
"""


def run_image(root, process, settings, health):
    """Starts the server of an unpacked image as its user, with further variables, until its health check succeeds."""
    emulate(process["architecture"])
    variables = root.parent / "variables"
    variables.write_text("\n".join([*process["env"], *settings]))
    run("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", IMAGE, "image", root, process["user"]["uid"],
        variables, health, *process["args"])
