"""Compiles the programs and the extension for every target. zig is the linker and the compiler of C, but for Windows."""

import dataclasses
import platform
import shutil

from project import EXTENSION_SIZE_MAX, PROGRAMS, ROOT, WORK, epoch, fresh, once, require, run
from tools import cargo_environment, source_paths


@dataclasses.dataclass(frozen=True)
class Target:
    """A processor, a system and a C library."""

    name: str  # In the names of artifacts.
    triple: str
    glibc: str = ""  # The oldest glibc that it runs with.
    static: bool = False  # Whether the C library is linked into programs.
    mingw: str = ""  # The prefix of the names of the compiler and the linker for Windows.

    @property
    def architecture(self):
        return self.name.split("-")[0]

    @property
    def is_apple(self):
        return "apple" in self.triple

    @property
    def library(self):
        """The name of the extension's file."""
        return "inorder.dll" if self.mingw else "libinorder.dylib" if self.is_apple else "libinorder.so"

    def flags(self):
        flags = ["-Clink-self-contained=no"] if self.mingw or "musl" in self.triple else []
        if "musl" in self.triple:
            flags.append(f"-Ctarget-feature={'+' if self.static else '-'}crt-static")
        if self.is_apple:
            # The linker strips, because it also signs, and the file has no other name than its own.
            flags += ["-Clink-arg=-s", f"-Clink-arg=-Wl,-install_name,@rpath/{self.library}"]
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
# The extension for other systems, of which there are archives only.
OTHER_TARGETS = [
    Target("x86_64-windows", "x86_64-pc-windows-gnu", mingw="x86_64-w64-mingw32-"),
    Target("aarch64-macos", "aarch64-apple-darwin"),
    Target("x86_64-macos", "x86_64-apple-darwin"),
]
# The standard library is compiled too: the compiler has it for no other target, and what prints backtraces takes 200 kB, but has nothing
# to say without symbols.
STANDARD = ["-Zbuild-std=std,panic_unwind", "-Zbuild-std-features=panic-unwind"]


def cargo(target, folder, manifest, profile, *arguments):
    """Runs `cargo zigbuild`, or `cargo build` for Windows."""
    # The extension takes SQLite's functions from the program that loads it: no SQLite of this machine may be found.
    environment = dict(cargo_environment(), RUSTFLAGS=target.flags(), SOURCE_DATE_EPOCH=str(epoch()), CARGO_TARGET_DIR=str(folder),
                       SQLITE3_NO_PKG_CONFIG="1", RUSTC_BOOTSTRAP="1", CARGO_PROFILE_RELEASE_STRIP="none")
    if target.static:
        # No panic passes through functions in C.
        environment[f"CFLAGS_{target.triple.replace('-', '_')}"] = "-fno-unwind-tables -fno-asynchronous-unwind-tables"
    triple = f"{target.triple}.{target.glibc}" if target.glibc else target.triple
    build = [WORK / "venv/bin/cargo-zigbuild", "zigbuild"]
    if target.mingw:
        environment[f"CARGO_TARGET_{target.triple.replace('-', '_').upper()}_LINKER"] = f"{target.mingw}gcc"
        build = [environment["CARGO"], "build"]
    run(*build, "--locked", "--manifest-path", manifest, "--profile", profile, "--target", triple, *STANDARD, *arguments,
        env=environment, cwd=manifest.parent)
    return folder / target.triple / profile


def strip(target, binary, folder, size_max):
    """Copies a binary without its symbols into a folder. Fails if it has more than `size_max` bytes."""
    stripped = folder / binary.name
    if target.is_apple:
        shutil.copy(binary, stripped)
    else:
        run(f"{target.mingw or 'llvm-'}strip", "--strip-all", "--remove-section=.comment", binary, "-o", stripped)
    size = stripped.stat().st_size
    require(size <= size_max, f"{stripped} has {size:,} bytes, more than {size_max:,}")
    return stripped


@once
def program(target, wanted):
    """Compiles and strips a program. Returns its path."""
    # The features of dependencies are those of all programs together, whichever is compiled.
    packages = [word for each in PROGRAMS for word in ("-p", each.package)]
    # A folder of its own per target: two can be compiled at a time.
    work = WORK / ("programs" if target == native() else f"programs-{target.architecture}")
    folder = cargo(target, work, ROOT / "Cargo.toml", "dist", *packages, "--features", "inorder-cli/full", "--bin", wanted.name)
    stripped = strip(target, folder / wanted.name, fresh("stripped", f"{wanted.name}-{target.name}"), wanted.size_max)
    if wanted.size_aim and (size := stripped.stat().st_size) > wanted.size_aim:
        print(f"large    {wanted.name} for {target.name} has {size:,} bytes; the aim is {wanted.size_aim:,}", flush=True)
    return stripped


@once
def extension(target):
    """Compiles and strips the extension. Returns its path."""
    manifest = ROOT / "bindings/extension/Cargo.toml"
    library = cargo(target, WORK / "extension", manifest, "release") / target.library
    return strip(target, library, fresh("stripped", f"extension-{target.name}"), EXTENSION_SIZE_MAX)


@once
def native():
    """The target whose programs run on this machine."""
    return next(target for target in PROGRAM_TARGETS if target.architecture == platform.machine())


@once
def manual(wanted):
    """The folder with the man pages and the completions of a program."""
    folder = fresh("manual", wanted.name)
    run(program(native(), wanted), "manual", folder)
    return folder
