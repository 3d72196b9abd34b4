"""The programs that a release needs: where they are found, and how missing ones are installed."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

from project import ROOT, WORK, Failed, run

HERE = pathlib.Path(__file__).resolve().parent
# The Debian package of each command.
COMMANDS = {
    "aarch64-linux-gnu-objdump": "binutils-aarch64-linux-gnu",
    "buildah": "buildah",
    "cpio": "cpio",
    "dh": "debhelper",
    "debootstrap": "debootstrap",
    "file": "file",
    "git": "git",
    "ip": "iproute2",
    "lintian": "lintian",
    "llvm-strip": "llvm",
    "man": "man-db",
    "npm": "npm",
    "qemu-aarch64-static": "qemu-user-static",
    "rpmbuild": "rpm",
    "skopeo": "skopeo",
    "umoci": "umoci",
    "update-ca-certificates": "ca-certificates",
    "wine": "wine",
    "x86_64-linux-gnu-objdump": "binutils-x86-64-linux-gnu",
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64",
}
# A compiler with the source of its standard library, from which that of other targets is built.
RUST = ["rustc-web", "cargo-web", "rust-web-src"]


def sysroot(rustc):
    return pathlib.Path(run(rustc, "--print", "sysroot", cwd="/").strip())


def has_source(rustc):
    return rustc and pathlib.Path(rustc).exists() and (sysroot(rustc) / "lib/rustlib/src/rust/library/std").exists()


def find_rustc():
    """The compiler of the PATH if its installation has the source of the standard library, or Debian's."""
    return next((path for path in [shutil.which("rustc"), "/usr/bin/rustc"] if has_source(path)), None)


@functools.cache
def rustc():
    found = find_rustc()
    if found is None:
        raise Failed("no Rust with the source of its standard library: rustup component add rust-src")
    return pathlib.Path(found)


def python_of_system():
    """Debian's Python, or the one that runs this program."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def install_commands(commands, others=()):
    """Installs the Debian packages of commands that are missing, and other packages."""
    missing = [COMMANDS[command] for command in commands if not shutil.which(command, path=f"{os.environ['PATH']}:/usr/sbin")]
    missing += others
    if missing and os.geteuid() != 0:
        raise Failed(f"missing: apt-get install {' '.join(missing)}")
    if missing:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        run("apt-get", "update", "-q", env=environment)
        run("apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-qy", "--no-install-recommends", *missing, env=environment)


def install():
    """Installs what is missing: Debian packages as root, Python packages into a virtual environment of the work folder."""
    others = RUST if find_rustc() is None else []
    if subprocess.run([python_of_system(), "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode != 0:
        others = [*others, "python3-venv"]
    install_commands(COMMANDS, others)
    wanted, installed = HERE / "requirements.txt", WORK / "venv" / "requirements.txt"
    if not installed.exists() or installed.read_text() != wanted.read_text():
        run("rm", "-rf", WORK / "venv")
        run(python_of_system(), "-m", "venv", WORK / "venv")
        run(WORK / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted)
        shutil.copy(wanted, installed)


def python():
    """The Python with the packages of `requirements.txt`."""
    return WORK / "venv/bin/python"


def cargo_environment():
    """The environment in which Cargo finds one compiler and one linker, whatever the user has configured."""
    path = [WORK / "venv/bin", rustc().parent, "/usr/bin", "/bin"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO_", "RUST"))}
    keep = {name: os.environ[name] for name in ["CARGO_HOME", "CARGO_BUILD_JOBS", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] if name in os.environ}
    return {**environment, **keep, "PATH": ":".join(map(str, path)), "RUSTC": str(rustc()), "CARGO": str(rustc().parent / "cargo")}


def registry():
    """The folder where Cargo unpacks the sources of dependencies."""
    return pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo") / "registry" / "src"


def source_paths():
    """Folders whose names must not be in a binary, and what stands for them."""
    return {ROOT: "/inorder", registry(): "/registry", sysroot(rustc()) / "lib/rustlib/src/rust": "/rust"}
