"""A host kernel's text -> a program: compiled by the C++ compiler against runtime/hostlane, linked statically if possible.

Kept in the cache under a hash of all that goes into it. Not here: the text (`compiler.emit.host`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from .. import resources
from ..errors import ToolError
from . import cache as build_cache
from . import cc, cxx

# Overflow, aliasing and contraction as in the CPU filter. Nothing of ours throws, and no type is asked for at run time.
FLAGS = ("-std=c++17", *cc.FILTER_FLAGS, "-fno-exceptions", "-fno-rtti", "-w", "-pthread")
SUFFIXES = (".h", ".cuh")


def build(text: str, out: Path, cache: Path | None = None) -> None:
    """Compile the text into the program `out`.

    cache  folder to keep it in, default `build_cache.folder()`.
    Raises ToolError: HD510 no C++ compiler, HD513 it refused the text (its messages, placed in the user's C), HD503 it did
    not end, HD516 no cache folder; OSError.
    """
    compiler = cxx.find_cxx()
    folders = [resources.find("runtime", name) for name in ("hostlane", "device", "math")]
    headers = [word for folder in folders for word in build_cache.tree(folder, SUFFIXES)]
    identity = [*compiler, build_cache.identity(compiler[0]), *cc.environment(), cc.library()]
    told = build_cache.placeless(text.encode("utf-8", "surrogateescape"))
    name = build_cache.key([*FLAGS, *identity, told, *headers])

    def make(partial: Path) -> None:
        source = partial.with_name("host.cpp")
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        include = ["-include", str(folders[0] / "prelude.h"), "-I", str(folders[0]), "-I", str(folders[1])]
        words = [*compiler, *FLAGS, *include, str(source), "-o", str(partial)]
        made = cc.run([*words, "-static"], timeout=cc.patience())
        if made.returncode:  # there may be no static C library
            made = cc.run(words, timeout=cc.patience())
        if made.returncode:
            message = made.stderr.strip() or cc.ended(made.returncode)
            raise ToolError(f"{compiler[0]} cannot compile the host kernel:\n{message[:8000]}", code="HD513")

    made = build_cache.get((cache or build_cache.folder()) / "host" / f"{name}.program", make)
    shutil.copyfile(made, out)
    out.chmod(0o755)
