"""Files of ours as objects that programs are linked with, built on first use into the cache (`toolchain.cache`).

The math library is one: CPU filters compute what kernels compute. Not here: the files (runtime/math, runtime/cpu), kernels
(they include the math library's text as runtime/device/libc/libm.cuh).
"""

from __future__ import annotations

from pathlib import Path

from .. import resources
from . import cache as build_cache
from . import cc as toolchain
from . import compiler_words


def math_objects(options: toolchain.CcOptions, cache: Path | None = None) -> tuple[Path, ...]:
    """What `toolchain.cc.build_filter` takes for exp, log, pow ... of our own; () where the C library's are wanted.

    Raises as `own_object`.
    """
    return () if options.libm == "system" else (own_object("math", "filter.c", cache),)


def own_object(folder: str, name: str, cache: Path | None = None) -> Path:
    """The object of runtime/FOLDER/NAME, of which it may include the folder's other files.

    cache  folder to keep it in, default `build_cache.folder()`.
    Raises as `toolchain.cc.build_object`; ToolError HD516 without a cache folder; OSError.
    """
    source, cc = resources.find("runtime", folder, name), toolchain.find_cc()
    texts = build_cache.tree(source.parent, (".h", ".c"))
    machine = [*compiler_words.own(cc), build_cache.identity(cc[0]), toolchain.library(), *toolchain.environment()]
    key = build_cache.key([*toolchain.FILTER_FLAGS, *machine, name, *texts])
    made = (cache or build_cache.folder()) / folder / f"{source.stem}-{key}.o"
    return build_cache.get(made, lambda partial: toolchain.build_object(source, partial))
