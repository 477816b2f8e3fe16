"""The math library as an object that CPU filters are linked with, so that they compute what kernels compute.

Built on first use into the cache (`build_cache`). Not here: the functions (runtime/math), kernels (they include the same
text as runtime/device/libm.cuh).
"""

from __future__ import annotations

from pathlib import Path

from . import build_cache, compiler_words, resources, toolchain


def math_objects(options: toolchain.CcOptions, cache: Path | None = None) -> tuple[Path, ...]:
    """What `toolchain.build_filter` takes for exp, log, pow ... of our own; () where the C library's are wanted.

    cache  folder to keep it in, default `build_cache.folder()`.
    Raises as `toolchain.build_object`; ToolError HD516 without a cache folder; OSError.
    """
    if options.libm == "system":
        return ()
    source, cc = resources.find("runtime", "math", "filter.c"), toolchain.find_cc()
    texts = build_cache.tree(source.parent, (".h", ".c"))
    name = build_cache.key([*toolchain.FILTER_FLAGS, *compiler_words.own(cc), build_cache.identity(cc[0]), *texts])
    made = (cache or build_cache.folder()) / "math" / f"{name}.o"
    return (build_cache.get(made, lambda partial: toolchain.build_object(source, partial)),)
