"""Packaging that pyproject.toml cannot say: the data folders' places and the native runtime.

templates/ and runtime/ lie at the top of the repository and travel in the wheel as heterodoop._templates and
heterodoop._runtime; heterodoop/resources.py finds them in both forms. The native runtime is an "extension" to
setuptools, so that `pip install .` and `pip install -e .` build it and a wheel knows its platform.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # isolated builds do not put the project's folder on the path

from heterodoop.errors import ToolError  # noqa: E402
from heterodoop.resources import BUILD_NATIVE  # noqa: E402
from heterodoop.toolchain.native import compile_library, wants_sanitizer  # noqa: E402


class BuildNative(build_ext):
    """Compiles runtime/host with our own flags, in parallel; a machine without g++ gets a wheel without it."""

    def get_ext_filename(self, fullname: str) -> str:
        """No interpreter tag in the name: ctypes loads this library, whatever the Python version."""
        return str(Path(*fullname.split("."))) + ".so"

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        if self.inplace or self.editable_mode:  # setuptools copies the result there, into a folder git does not keep
            (ROOT / "heterodoop" / "_native").mkdir(exist_ok=True)
        try:
            compile_library([ROOT / source for source in ext.sources], target, sanitize=wants_sanitizer())
        except ToolError as error:
            # Compiling, explaining and submitting work without it; only local runs need it, and they say so.
            self.warn(f"the native runtime was not built: {error.message}")
            self.warn(f"install g++ and run `{BUILD_NATIVE}` before `heterodoop run`")
            self.extensions.remove(ext)


class PlatformWheel(bdist_wheel):
    """One wheel for every Python 3 of this platform."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def native_runtime() -> Extension:
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "runtime" / "host").rglob("*.cpp"))
    folders = (ROOT / "runtime" / name for name in ("device", "emu", "host", "hostlane"))
    headers = sorted(str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*.h"))
    return Extension("heterodoop._native.libhd_host", sources=sources, depends=headers, language="c++")


setup(
    packages=[*find_packages(include=["heterodoop", "heterodoop.*"]), "heterodoop._templates", "heterodoop._runtime"],
    package_dir={"heterodoop._templates": "templates", "heterodoop._runtime": "runtime"},
    # The Hadoop plug-in's jar, where `python -m heterodoop.toolchain.plugin` has built it here: no build of ours needs Java.
    package_data={
        "heterodoop": ["py.typed", "_native/*.jar"], "heterodoop._templates": ["**/*"], "heterodoop._runtime": ["**/*"],
    },
    exclude_package_data={"": ["*.o", "*.so", "*.pyc"], "heterodoop._runtime": ["hadoop/target/*", "hadoop/target/**/*"]},
    ext_modules=[native_runtime()],
    scripts=["heterodoop/cli/launcher/heterodoop"],
    cmdclass={"build_ext": BuildNative, "bdist_wheel": PlatformWheel},
)
