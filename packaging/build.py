"""Compiles the programs and the extension for every target, with zig as the linker and the compiler of C."""

import dataclasses
import functools
import platform

from project import EXTENSION_SIZE_MAX, PROGRAMS, ROOT, WORK, epoch, fresh, require, run
from tools import cargo_environment, rustc, source_paths, sysroot


@dataclasses.dataclass(frozen=True)
class Target:
    """A processor, a system and a C library."""

    name: str  # In the names of artifacts.
    triple: str
    glibc: str = ""  # The oldest glibc that it runs with.
    static: bool = False  # Whether the C library is linked into programs.

    @property
    def architecture(self):
        return self.name.split("-")[0]

    def flags(self):
        flags = ["-Clink-self-contained=no", f"-Ctarget-feature={'+' if self.static else '-'}crt-static"] if "musl" in self.triple else []
        return " ".join(flags + [f"--remap-path-prefix={folder}={name}" for folder, name in source_paths().items()])


PROGRAM_TARGETS = [
    Target("x86_64-linux", "x86_64-unknown-linux-musl", static=True),
    Target("aarch64-linux", "aarch64-unknown-linux-musl", static=True),
]
EXTENSION_TARGETS = [
    Target("x86_64-linux-gnu", "x86_64-unknown-linux-gnu", glibc="2.17"),
    Target("aarch64-linux-gnu", "aarch64-unknown-linux-gnu", glibc="2.17"),
    Target("x86_64-linux-musl", "x86_64-unknown-linux-musl"),
    Target("aarch64-linux-musl", "aarch64-unknown-linux-musl"),
]


def cargo(target, folder, manifest, profile, *arguments):
    """Runs `cargo zigbuild` for a target. Builds the standard library where the compiler has none."""
    # The extension takes SQLite's functions from the program that loads it: no SQLite of this machine may be found.
    environment = dict(cargo_environment(), RUSTFLAGS=target.flags(), SOURCE_DATE_EPOCH=str(epoch()), CARGO_TARGET_DIR=str(folder),
                       SQLITE3_NO_PKG_CONFIG="1")
    if target.static:
        # No panic passes through functions in C.
        environment[f"CFLAGS_{target.triple.replace('-', '_')}"] = "-fno-unwind-tables -fno-asynchronous-unwind-tables"
    if not (sysroot(rustc()) / "lib/rustlib" / target.triple / "lib").exists():
        # Without symbols a backtrace has nothing to say.
        arguments = [*arguments, "-Zbuild-std=std,panic_unwind", "-Zbuild-std-features=panic-unwind"]
        environment["RUSTC_BOOTSTRAP"] = "1"
    triple = f"{target.triple}.{target.glibc}" if target.glibc else target.triple
    run(WORK / "venv/bin/cargo-zigbuild", "zigbuild", "--locked", "--manifest-path", manifest, "--profile", profile,
        "--target", triple, *arguments, env=environment, cwd=manifest.parent)
    return folder / target.triple / profile


def strip(binary, folder, size_max):
    """Copies a binary without its symbols into a folder. Fails if it has more than `size_max` bytes."""
    stripped = folder / binary.name
    run("llvm-strip", "--strip-all", "--remove-section=.comment", binary, "-o", stripped)
    size = stripped.stat().st_size
    require(size <= size_max, f"{stripped} has {size:,} bytes, more than {size_max:,}")
    return stripped


@functools.cache
def programs(target):
    """Compiles and strips the programs. Returns the path of each by its name."""
    packages = [word for program in PROGRAMS for word in ("-p", program.package)]
    folder = cargo(target, WORK / "programs", ROOT / "Cargo.toml", "dist", *packages, "--features", "inorder-cli/full")
    stripped = fresh("stripped", target.name)
    found = {program.name: strip(folder / program.name, stripped, program.size_max) for program in PROGRAMS}
    for program in PROGRAMS:
        if program.size_aim and (size := found[program.name].stat().st_size) > program.size_aim:
            print(f"large    {program.name} for {target.name} has {size:,} bytes; the aim is {program.size_aim:,}", flush=True)
    return found


@functools.cache
def extension(target):
    """Compiles and strips the extension. Returns its path."""
    manifest = ROOT / "bindings/extension/Cargo.toml"
    library = cargo(target, WORK / "extension", manifest, "release") / "libinorder.so"
    return strip(library, fresh("stripped", f"extension-{target.name}"), EXTENSION_SIZE_MAX)


@functools.cache
def native():
    """The target whose programs run on this machine."""
    return next(target for target in PROGRAM_TARGETS if target.architecture == platform.machine())


@functools.cache
def manual(name):
    """The folder with the man pages and the completions of a program."""
    folder = fresh("manual", name)
    run(programs(native())[name], "manual", folder)
    return folder
