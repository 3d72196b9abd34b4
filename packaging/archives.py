"""Archives: of each program with its manual, and of the extension."""

import shutil

import build
import components
import packed
import places
from artifact import Artifact, Check
from project import LICENCES, PROGRAMS, ROOT, VERSION, WORK, fresh, once, require, run


def add_licences(folder, packages, with_musl=False):
    """Adds the project's licences, and those of what is compiled in."""
    for licence in LICENCES:
        shutil.copy(licence, folder)
    texts = components.notices(packages)
    if with_musl:
        (musl,) = (WORK / "venv").glob("lib/python*/site-packages/ziglang/lib/libc/musl/COPYRIGHT")
        texts += components.notice(["musl: MIT"], [musl.read_text()])
    (folder / "LICENSE-THIRD-PARTY").write_text(texts)


@once
def staged(program, target):
    """A folder with a program, its manual, its guide and its licences."""
    folder = fresh("staged", f"{program.name}-{target.name}")
    shutil.copy(build.program(target, program), folder)
    shutil.copytree(build.manual(program), folder, dirs_exist_ok=True)
    shutil.copy(ROOT / program.guide, folder / "README.md")
    add_licences(folder, components.of_program(program, target.triple), with_musl=True)
    return folder


def program_archive(program, target):
    name = f"{program.name}-{VERSION}-{target.name}"

    def check(file):
        with places.folder() as folder:
            run("tar", "-xzf", file, "-C", folder)
            unpacked = folder / name
            require("statically linked" in run("file", unpacked / program.name), f"{program.name} is not static")
            run("man", "--warnings", "-l", *sorted(unpacked.glob("man/*.1")))
            run("bash", "-n", unpacked / "completions" / f"{program.name}.bash")
            places.check_program(target.architecture, program.name, unpacked, "export PATH={given}:$PATH")

    return Artifact(f"{name}.tar.gz", lambda file: packed.tar_gz(file, staged(program, target), name),
                    (Check(places.where(target.architecture), check),), queue=target.name)


def extension_archive(target):
    name = f"inorder-extension-{VERSION}-{target.name}"

    def make(file):
        folder = fresh("staged", name)
        shutil.copy(build.extension(target), folder)
        shutil.copy(ROOT / "docs/ids.md", folder / "README.md")
        add_licences(folder, components.of_extension(target.triple))
        packed.tar_gz(file, folder, name)

    def check_with(use):
        def check(file):
            with places.folder() as folder:
                shutil.unpack_archive(file, folder)
                use(target, folder / name / target.library, folder)

        return check

    file = f"{name}.tar.gz"
    if target.is_apple:
        return Artifact(file, make, unchecked="linked only", queue="extension")
    if target.mingw:
        check = Check("in a program for Windows, by wine", check_with(places.run_wine))
    elif "musl" in target.name:
        check = Check(f"{places.where(target.architecture)}, in a program with musl", check_with(places.run_host))
    else:
        check = Check(places.where(target.architecture), check_with(places.run_python))
    return Artifact(file, make, (check,), queue="extension")


ARTIFACTS = [program_archive(program, target) for target in build.PROGRAM_TARGETS for program in PROGRAMS]
ARTIFACTS += [extension_archive(target) for target in build.EXTENSION_TARGETS + build.OTHER_TARGETS]
