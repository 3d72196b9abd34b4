"""Python wheels with the extension and the command, and the source distribution."""

import os
import shutil

import archives
import build
import packed
import places
from artifact import Artifact, Check
from project import PROGRAMS, ROOT, VERSION, fresh, require, run
from tools import python

BINDING = ROOT / "bindings/python"
# The tag of each wheel, and the targets of its extension and its command.
PLATFORMS = {
    "manylinux2014_x86_64": ("x86_64-linux-gnu", "x86_64-linux"),
    "manylinux2014_aarch64": ("aarch64-linux-gnu", "aarch64-linux"),
    "musllinux_1_1_x86_64": ("x86_64-linux-musl", "x86_64-linux"),
    "musllinux_1_1_aarch64": ("aarch64-linux-musl", "aarch64-linux"),
}
# What a source distribution is built from.
SOURCES = [".cargo", "Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "apps", "bindings/extension", "crates", "experiments", "fuzz"]
USE = "import inorder, sqlite3; c = sqlite3.connect(':memory:'); inorder.load(c); print(c.execute('SELECT inorder_version()').fetchone()[0])"


def target_named(name, targets):
    return next(target for target in targets if target.name == name)


def project_in(folder):
    """Copies the files of the Python project."""
    tracked = run("git", "-C", ROOT, "ls-files", "bindings/python").split()
    for name in tracked:
        copy = folder / (ROOT / name).relative_to(BINDING)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)


def wheel(platform, extension, program):
    name = f"inorder-{VERSION}-py3-none-{platform}.whl"

    def make(file):
        folder = fresh("wheels", platform)
        project_in(folder)
        (folder / "source").symlink_to(ROOT)
        archives.add_licences(folder, archives.components.of_program(PROGRAMS[0], program.triple), with_musl=True)
        prebuilt = fresh("wheels", f"{platform}-prebuilt")
        shutil.copy(build.extension(extension), prebuilt)
        shutil.copy(build.program(program, PROGRAMS[0]), prebuilt)
        environment = dict(os.environ, INORDER_PREBUILT=str(prebuilt), INORDER_WHEEL_PLATFORM=platform,
                           SOURCE_DATE_EPOCH=str(packed.epoch()))
        run(python(), "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", file.parent, folder, env=environment)

    def check(file):
        if platform.startswith("manylinux"):
            shown = run(python(), "-m", "auditwheel", "show", file)
            require(f'"{platform.replace("manylinux2014", "manylinux_2_17")}"' in shown, shown)
        with places.folder() as folder:
            shutil.copy(file, folder)
            # pip refuses a wheel for musl on a system with glibc.
            install = "env/bin/pip install --no-index /given/*.whl" if platform.startswith("manylinux") else (
                "env/bin/python -m zipfile -e /given/*.whl wheel; chmod +x wheel/*.data/scripts/inorder; cp wheel/*.data/scripts/inorder env/bin")
            use = f'[ "$(env/bin/python -c "{USE}")" = {VERSION} ]' if platform.startswith("manylinux") else ""
            shutil.copy(places.CHECKS / "inorder.sh", folder)
            places.in_root(program.architecture, folder, f"python3 -m venv env; {install}; {use}\nPATH=/root/env/bin:$PATH; . /given/inorder.sh")

    return Artifact(name, make, (Check(places.where(program.architecture) + ", without Rust", check),))


def make_sdist(file):
    folder = fresh("sdist")
    project_in(folder)
    tracked = run("git", "-C", ROOT, "ls-files", *SOURCES).splitlines()
    for name in tracked:
        copy = folder / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    for licence in archives.LICENCES:
        shutil.copy(licence, folder)
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(packed.epoch()))
    run(python(), "setup.py", "--quiet", "egg_info", cwd=folder, env=environment)
    (information,) = folder.glob("*.egg-info")
    shutil.move(information / "PKG-INFO", folder)
    shutil.rmtree(information)
    packed.tar_gz(file, folder, f"inorder-{VERSION}")


def check_sdist(file):
    """Installs it with Cargo, as a user without a wheel does. Cargo's results are kept for the next time."""
    with places.folder() as folder:
        run("/usr/bin/python3", "-m", "venv", folder / "env")
        environment = dict(archives.build.cargo_environment(), PATH=f"{folder}/env/bin:{os.environ['PATH']}")
        run(folder / "env/bin/pip", "install", "--quiet", file, env=environment)
        require(run(folder / "env/bin/python", "-c", USE).strip() == VERSION, "the extension is another one")
        require(VERSION in run(folder / "env/bin/inorder", "--version"), "the command is another one")


ARTIFACTS = [
    wheel(platform, target_named(extension, build.EXTENSION_TARGETS), target_named(program, build.PROGRAM_TARGETS))
    for platform, (extension, program) in PLATFORMS.items()
]
ARTIFACTS.append(Artifact(f"inorder-{VERSION}.tar.gz", make_sdist, (Check("installed with Cargo, natively", check_sdist),)))
