"""Builds the extension with cargo and adds it to the wheel, which works with every Python of one platform."""

import pathlib
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

EXTENSION = pathlib.Path(__file__).resolve().parent.parent / "extension"
LIBRARIES = ["libinorder.so", "libinorder.dylib", "inorder.dll"]


class BuildWithExtension(build_py):
    def run(self):
        super().run()
        target = EXTENSION / "target"
        cargo = ["cargo", "build", "--release", "--locked", "--target-dir", str(target)]
        subprocess.run(cargo, cwd=EXTENSION, check=True)
        built = next(path for name in LIBRARIES if (path := target / "release" / name).exists())
        shutil.copy(built, pathlib.Path(self.build_lib) / "inorder" / f"inorder{built.suffix}")


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(
    cmdclass={"build_py": BuildWithExtension, "bdist_wheel": PlatformWheel},
    distclass=PlatformDistribution,
)
