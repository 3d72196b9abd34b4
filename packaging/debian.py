"""Debian packages of the programs, one source package each, built by debhelper."""

import os
import pathlib
import shutil
import textwrap
from email.utils import formatdate

import archives
import build
import installed
import places
from artifact import Artifact, Check
from project import MAINTAINER, PROGRAMS, ROOT, VERSION, epoch, fresh, run


# Debian has the text of the Apache License in every system.
COPYRIGHT = """inorder is licensed under the Apache License 2.0 or the MIT License, at your option.

The Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0. The crates in the program and their licences are in the file
THIRD-PARTY-NOTICES beside this one. The MIT License:

"""


def write_lists(program, source):
    """Writes the lists of files and the texts that debhelper installs, for the tree in `files`."""
    prefix, files = source / "debian" / program.name, source / "files"
    pages = sorted(path.relative_to(source) for path in files.glob("usr/share/man/man1/*"))
    others = sorted(path.relative_to(source) for path in files.rglob("*") if path.is_file() and "usr/share/man" not in path.as_posix())
    pathlib.Path(f"{prefix}.manpages").write_text("\n".join(map(str, pages)) + "\n")
    lines = [f"{path} {path.relative_to('files').parent}" for path in others if path.suffix != ".service"]
    pathlib.Path(f"{prefix}.install").write_text("\n".join(lines) + "\n")
    pathlib.Path(f"{prefix}.copyright").write_text(COPYRIGHT + (ROOT / "LICENSE-MIT").read_text())
    pathlib.Path(f"{prefix}.lintian-overrides").write_text(
        f"# It runs on every distribution.\n{program.name}: statically-linked-binary [usr/bin/{program.name}]\n")
    if program.service:
        shutil.copy(installed.HERE / f"systemd/{program.name}.service", f"{prefix}.service")


def build_package(program, target):
    """Builds the Debian package of a program. Returns its folder."""
    above = fresh("debian", f"{program.name}-{target.name}")
    source = above / "inorder"
    shutil.copytree(installed.HERE / "debian", source / "debian", ignore=shutil.ignore_patterns("package"))
    (source / "debian/rules").chmod(0o755)
    installed.tree(program, target, source / "files")
    shutil.copy(archives.staged(program, target) / "LICENSE-THIRD-PARTY", source / f"files/usr/share/doc/{program.name}/THIRD-PARTY-NOTICES")
    write_lists(program, source)
    architecture = places.DEBIAN[target.architecture]
    package = installed.filled("debian/package", NAME=program.name, DEBIAN=architecture, SUMMARY=program.summary,
                               DESCRIPTION=textwrap.indent(installed.description_of(program), " "))
    (source / "debian/control").write_text(installed.filled("debian/control") + package)
    (source / "debian/changelog").write_text(
        f"inorder ({VERSION}-1) unstable; urgency=medium\n\n  * Release {VERSION}. CHANGELOG.md of the project lists the changes.\n\n"
        f" -- {MAINTAINER}  {formatdate(epoch())}\n")
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()))
    run("dpkg-buildpackage", "--build=any", "--no-sign", "--no-check-builddeps", f"--host-arch={architecture}", cwd=source, env=environment)
    return above


def debian_package(program, target):
    name = f"{program.name}_{VERSION}-1_{places.DEBIAN[target.architecture]}.deb"

    def check(file):
        run("lintian", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs", file)
        extra = f"test -f /usr/lib/systemd/system/{program.name}.service -o -f /lib/systemd/system/{program.name}.service\n" if program.service else ""
        places.check_program(target.architecture, program.name, file,
                             f"dpkg -i {{given}} > /dev/null; test -x /usr/bin/{program.name}\n{extra}")

    return Artifact(name, lambda file: shutil.copy(build_package(program, target) / name, file),
                    (Check(f"lintian; {places.where(target.architecture)}", check),))


ARTIFACTS = [debian_package(program, target) for target in build.PROGRAM_TARGETS for program in PROGRAMS]
