"""Names in generated CUDA text: C names that mean something to C++, CUDA or our runtime get a trailing underscore.

The mapping is one to one, so no two names of a scope become one. Non-goals: types (`emit.types`).
"""

from __future__ import annotations

from collections.abc import Iterable

_CPP = (
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires "
    "static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq "
    "typeof final override import module"
)
_CUDA = (
    "threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 min max __global__ __device__ __host__ __shared__ "
    "__constant__ __managed__ __restrict__ __launch_bounds__ __syncthreads __syncwarp"
)
_OURS = (
    "hd app Ctx Lane Fold Shared Globals Totals BlockTotals ThreadTotals Guards Extents Warp task shared hd_map hd_combine "
    "std NULL EOF errno assert stdin stdout stderr offsetof"
)
# Templates of namespace hd that a lane fits as first argument: C++ finds them too where the program passes it on.
_TEMPLATES = (
    "checked copy divide divide_to remainder remainder_to put put_error put_items put_items_error scan scanf sscanf zero "
    "add_to sub_to mul_to div_to shl_to shr_to increment decrement post_inc post_dec in_line in_line_or_own named "
    "named_parts guarded guarded_parts guarded_text guarded_bytes guarded_str check_bytes check_search look look_at_text "
    "accept conclude refusal set wrote filled check_apart check_scan_apart assign_apart "
    "move move_after move_back moved moved_back whole "
    "sscanf_apart memcpy_apart mempcpy_apart strcpy_apart stpcpy_apart strncpy_apart stpncpy_apart strcat_apart "
    "strncat_apart sprint_apart snprint_apart "
    "within inside fits literals sprint_in sprint_in_apart snprint_in snprint_in_apart fgets_in scan_from "
    "gather gather_atomically gather_by_block set_nothing nothing_by_block hold take given malloc calloc realloc "
    "reallocarray strdup strndup free scoped take_scoped sort_begin sort_next sort_left sort_right sort_put sort_end "
    "date_read date_written"
)
RESERVED = frozenset(f"{_CPP} {_CUDA} {_OURS} {_TEMPLATES}".split())


def escape(name: str) -> str:
    """A C name as C++ text. `class` becomes `class_`, and a C name `class_` becomes `class__`."""
    stem = name.rstrip("_")
    taken = stem in RESERVED or stem.startswith(("HD_", "hd_")) or name in RESERVED
    return f"{name}_" if taken else name


def unique(name: str, taken: Iterable[str]) -> str:
    """An IR name as C++ text that is not in `taken`: `i$2`, a shadowing `i`, becomes `i_2`, or `i_3` if there is one;
    `p$memory` becomes `p_memory`."""
    stem, _, number = name.partition("$")
    text = escape(stem) if not number else f"{stem}_{number.replace('$', '_')}"
    used = set(taken)
    count = int(number) if number.isdigit() else 1
    while text in used or (number and text in RESERVED):
        count += 1
        text = f"{stem}_{count}"
    return text


def tag(name: str) -> str:
    """A struct's tag: `.1`, an unnamed one, becomes `unnamed_1`, and `node.2`, an inner `node`, becomes `node_inner_2`."""
    stem, dot, number = name.partition(".")
    if not dot:
        return escape(name)
    return f"{stem}_inner_{number}" if stem else f"unnamed_{number}"
