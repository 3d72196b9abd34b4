"""Builds the wheel: the SQLite extension and the command `inorder`, for every Python of one platform.

Cargo builds both, in the repository or in `source` of a source distribution. If INORDER_PREBUILT names a folder, its files are
taken instead. INORDER_WHEEL_PLATFORM is the platform in the name of the wheel, by default that of this Python.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from distutils.command.build_scripts import build_scripts  # That of setuptools.

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "source" if (HERE / "source").exists() else HERE.parent.parent
PREBUILT = os.environ.get("INORDER_PREBUILT")
LIBRARIES = ["libinorder.so", "libinorder.dylib", "inorder.dll"]
PROGRAMS = ["inorder", "inorder.exe"]


def built(names, manifest, *arguments):
    """Returns the first of these files, after Cargo has built them."""
    folder = pathlib.Path(PREBUILT or SOURCE / manifest / "target" / "release")
    if not PREBUILT:
        cargo = ["cargo", "build", "--release", "--locked", "--target-dir", str(folder.parent), *arguments]
        subprocess.run(cargo, cwd=SOURCE / manifest, check=True)
    return next(path for name in names if (path := folder / name).exists())


class BuildWithExtension(build_py):
    def run(self):
        super().run()
        library = built(LIBRARIES, "bindings/extension")
        shutil.copy(library, pathlib.Path(self.build_lib) / "inorder" / f"inorder{library.suffix}")


class BuildProgram(build_scripts):
    """Copies a program as it is. The class above reads scripts as text."""

    def run(self):
        self.mkpath(self.build_dir)
        shutil.copy(built(PROGRAMS, ".", "-p", "inorder-cli", "--features", "full"), self.build_dir)

    def get_source_files(self):
        return []


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("INORDER_WHEEL_PLATFORM") or super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True

    def has_scripts(self):
        return True


version = re.search(r'(?m)^version = "(.*)"', (SOURCE / "Cargo.toml").read_text()).group(1)
setup(
    version=version,
    scripts=["inorder"],
    cmdclass={"build_py": BuildWithExtension, "build_scripts": BuildProgram, "bdist_wheel": PlatformWheel},
    distclass=PlatformDistribution,
)
