"""Debian packages of the programs, built by debhelper."""

import functools
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


@functools.cache
def debian_packages(target):
    """Builds the Debian packages of all programs. Returns their folder."""
    above = fresh("debian", target.name)
    source = above / "inorder"
    shutil.copytree(installed.HERE / "debian", source / "debian", ignore=shutil.ignore_patterns("package"))
    (source / "debian/rules").chmod(0o755)
    architecture = places.DEBIAN[target.architecture]
    control = installed.filled("debian/control")
    for program in PROGRAMS:
        description = textwrap.indent(installed.description_of(program), " ")
        control += installed.filled("debian/package", NAME=program.name, DEBIAN=architecture, SUMMARY=program.summary, DESCRIPTION=description)
        package = source / "files" / program.name
        installed.tree(program, target, package)
        shutil.copy(archives.staged(program, target) / "LICENSE-THIRD-PARTY", package / f"usr/share/doc/{program.name}/THIRD-PARTY-NOTICES")
        prefix = source / "debian" / program.name
        pages = sorted(path.relative_to(source) for path in package.glob("usr/share/man/man1/*"))
        others = sorted(path.relative_to(source) for path in package.rglob("*") if path.is_file() and "usr/share/man" not in path.as_posix())
        pathlib.Path(f"{prefix}.manpages").write_text("\n".join(map(str, pages)) + "\n")
        lines = [f"{path} {path.relative_to('files').relative_to(program.name).parent}" for path in others if path.suffix != ".service"]
        pathlib.Path(f"{prefix}.install").write_text("\n".join(lines) + "\n")
        pathlib.Path(f"{prefix}.copyright").write_text(COPYRIGHT + (ROOT / "LICENSE-MIT").read_text())
        pathlib.Path(f"{prefix}.lintian-overrides").write_text(
            f"# It runs on every distribution.\n{program.name}: statically-linked-binary [usr/bin/{program.name}]\n")
        if program.service:
            shutil.copy(installed.HERE / f"systemd/{program.name}.service", f"{prefix}.service")
    (source / "debian/control").write_text(control)
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

    return Artifact(name, lambda file: shutil.copy(debian_packages(target) / name, file),
                    (Check(f"lintian; {places.where(target.architecture)}", check),))


ARTIFACTS = [debian_package(program, target) for target in build.PROGRAM_TARGETS for program in PROGRAMS]
