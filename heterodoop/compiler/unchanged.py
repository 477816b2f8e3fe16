"""Whether a bundle is already what a build would make: then nothing is compiled.

Beside the manifest lies the hash of everything that went into the build but the files that it read; those the manifest
lists, with their hashes. A build with warnings is never taken for done, so that it shows them again.
Not seen: a header that appears where the C compiler looks earlier than where it found one of that name.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from .. import __version__, manifest, resources
from ..errors import HeteroDoopError
from ..toolchain import cache, cc, cxx
from ..toolchain import nvcc as toolchain_cuda
from .app import BuildOptions

FILE = "build.key"
# What else the C and CUDA compilers take from the environment.
_ENVIRONMENT = ("CC", "CFLAGS", "CXX", "CXXFLAGS", "SOURCE_DATE_EPOCH")
_SUFFIXES = (".py", ".h", ".cuh", ".cu", ".c", ".j2", ".txt")


def key(options: BuildOptions) -> str:
    """Hash of options, compilers and everything of ours that a bundle is made with. Raises as finding the compilers does."""
    compiler = cc.find_cc()
    asked = threading.Thread(target=_ask_library, daemon=True)  # a compiler runs while files are read here
    asked.start()
    archs = toolchain_cuda.architectures(options.gpu.arch)
    nvcc = toolchain_cuda.find_nvcc() if archs else None
    parts = [__version__, str(manifest.VERSION), repr(options), *compiler, cache.identity(compiler[0]), *archs]
    parts += [cache.identity(nvcc.path) if nvcc else "", *toolchain_cuda.environment()]
    parts += [*_cxx(), *(os.environ.get(name, "") for name in _ENVIRONMENT)]
    ours = [Path(__file__).parent, Path(cc.__file__).parent, resources.find("templates"), *_runtime()]
    texts = [text for root in ours for text in cache.tree(root, _SUFFIXES)]
    texts += [path.read_bytes() for path in sorted(Path(manifest.__file__).parent.glob("*.py"))]  # what all of it stands on
    asked.join()
    return cache.key([*parts, cc.library(), *texts])


def _cxx() -> list[str]:
    """The C++ compiler, of host kernels: without one there are none."""
    try:
        words = cxx.find_cxx()
    except HeteroDoopError:
        return [""]
    return [*words, cache.identity(words[0])]


def _ask_library() -> None:
    with suppress(HeteroDoopError):  # `key` meets it again
        cc.library()


def _runtime() -> list[Path]:
    return [resources.find("runtime", name) for name in ("device", "hostlane", "cpu", "math", "headers", "probe")]


def unchanged(bundle: Path, found: str) -> manifest.Manifest | None:
    """The bundle's manifest where it is complete, was built under the key `found`, and all it read is as it was."""
    try:
        if (bundle / FILE).read_text(encoding="ascii") != found:
            return None
        made = manifest.load(bundle)
        if all(manifest.sha256(Path(item.path)) == item.sha256 for item in made.inputs):
            return made
    except (OSError, ValueError, HeteroDoopError):  # damaged or foreign: build it
        pass
    return None


def remember(bundle: Path, found: str) -> None:
    """Say under which key the bundle was built. Raises OSError."""
    (bundle / FILE).write_text(found, encoding="ascii")
