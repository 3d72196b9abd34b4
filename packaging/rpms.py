"""RPM packages of the programs, built by rpmbuild."""

import gzip
import os
import shutil

import archives
import build
import installed
import places
from artifact import Artifact, Check
from project import LICENCES, PROGRAMS, VERSION, epoch, fresh, require, run


def rpm_package(program, target):
    name = f"{program.name}-{VERSION}-1.{target.architecture}.rpm"

    def make(file):
        top = fresh("rpm", f"{program.name}-{target.name}")
        files = top / "tree"
        installed.tree(program, target, files)
        # Fedora's places.
        shutil.move(files / "usr/share/zsh/vendor-completions", files / "usr/share/zsh/site-functions")
        licences = files / "usr/share/licenses" / program.name
        licences.mkdir(parents=True)
        for licence in [*LICENCES, archives.staged(program, target) / "LICENSE-THIRD-PARTY"]:
            shutil.copy(licence, licences)
        for page in files.glob("usr/share/man/man1/*.1"):
            page.with_suffix(".1.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
            page.unlink()
        listed = sorted("/" + path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
        spec = top / "package.spec"
        spec.write_text(installed.filled("rpm/package.spec", NAME=program.name, SUMMARY=program.summary, TREE=str(files), FILES="\n".join(listed),
                               DESCRIPTION=installed.description_of(program),
                               SCRIPTLETS=installed.filled("rpm/scriptlets", NAME=program.name) if program.service else ""))
        environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()))
        defines = [word for name, value in {"_topdir": top, "_buildhost": "localhost", "use_source_date_epoch_as_buildtime": 1,
                                            "clamp_mtime_to_source_date_epoch": 1, "_rpmfilename": name}.items()
                   for word in ("--define", f"{name} {value}")]
        run("rpmbuild", "-bb", "--target", f"{target.architecture}-linux", *defines, spec, env=environment)
        shutil.copy(top / "RPMS" / name, file)

    def check(file):
        """Debian has no RPM database: the files are unpacked as they would be installed."""
        problems = run("rpm", "-K", "--nosignature", file)
        require("digests OK" in problems, problems)
        with places.folder() as folder:
            run("sh", "-c", 'rpm2cpio "$1" | cpio --quiet -idm -D "$2"', "unpack", file, folder)
            places.check_program(target.architecture, program.name, folder / "usr", "cp -a {given}/. /usr/")

    return Artifact(name, make, (Check(f"unpacked {places.where(target.architecture)}", check),))


ARTIFACTS = [rpm_package(program, target) for target in build.PROGRAM_TARGETS for program in PROGRAMS]
