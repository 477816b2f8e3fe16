"""The contract between compiler and executor: what a bundle holds, as versioned dataclasses <-> JSON.

A bundle is a folder (`NAME.hdp`): `manifest.json`, `src/` (the user's files), `bin/` (the CPU filters), `files/` (what
commands need in their working folders).
Compiler and executor meet only here; a manifest of another version, or one that does not fit the dataclasses
exactly, is refused with a message and never guessed at.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import types
import typing
from pathlib import Path
from typing import Any, Literal

from .errors import UsageError
from .kernel_plan import KernelPlan
from .regular import open_regular, read_regular
from .source import UNKNOWN, Span
from .values import dataclass

VERSION = 17
FILE = "manifest.json"
_MOST_OBJECT = 1 << 40
_MOST_TOTALS = 1 << 30  # bytes of what records gather
MOST_NUMBERS = 8  # of one value
_SIZES = {  # fields of Kernel, and what they can be
    "threads": (1, 1024), "blocks": (0, 2**31 - 1), "kvpairs": (0, 2**31 - 1), "key_bytes": (0, 2**31 - 1),
    "value_bytes": (0, 2**31 - 1), "shared_bytes": (1, 1 << 20), "stack_bytes": (0, 1 << 30), "numbers": (0, MOST_NUMBERS),
    "kept": (0, 576),
}
MOST_BYTES = 4 << 20  # of its text: hundreds of times what a large program's takes

Role = Literal["map", "combine", "reduce"]
VariableClass = Literal[
    "sharedRO", "texture", "firstprivate", "private", "guarded", "accumulator", "carried", "record", "unused"]

Linked = Literal["static", "dynamic"]
PrologueRuns = Literal["once", "asked", "each"]
Space = Literal["constant", "parameter", "parameter-array", "global", "shared", "texture", "private", "warp", "lane",
                "thread-total", "block-total", "device-total"]
Texel = Literal["", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "int32x2"]
SharedKind = Literal["scalar", "array", "pointer", "object", "texture", "heap", "string"]
FoldOp = Literal["sum", "count", "min", "max", "and", "or", "xor"]
KeptOp = Literal["", "sum", "count", "min", "max", "and", "or", "xor"]
# first-min: of floating-point numbers; of equal ones, zeros of two signs, the first is kept. last-min: the last.
Accumulation = Literal["sum", "min", "max", "and", "or", "xor", "first-min", "last-min", "first-max", "last-max"]
Integer = Literal["int32", "int64", "uint32", "uint64"]
Number = Literal["int32", "int64", "uint32", "uint64", "float", "double"]


@dataclass(frozen=True)
class Change:
    """A line (from 1) of the program's file as it is, and what stands there instead: one line, several, or an empty one."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class Fix:
    """A small change of the source that was tried: with it the refusal is gone.

    where  when the program still prints what it is to print, a clause after "where"; "" = it prints the same.
    left   how many refusals the program has then.
    """

    changes: tuple[Change, ...]
    where: str
    left: int


@dataclass(frozen=True)
class Reason:
    """Why something was decided, or refused: an HDnnn code, a sentence, and where. `text`: the line of `span`, so that a
    bundle can show the place without the source. `fix`: what would mend it, where that is a small change."""

    code: str
    message: str
    span: Span = UNKNOWN
    text: str = ""
    fix: Fix | None = None

    @property
    def place(self) -> str:
        """`file:line:col`, `file` alone, or ""."""
        return str(self.span) if self.span != UNKNOWN else ""


@dataclass(frozen=True)
class Variable:
    """One variable that a region shares with its surroundings, and what the use analysis found."""

    name: str
    ctype: str
    nbytes: int
    cls: VariableClass
    reason: str
    place: str


@dataclass(frozen=True)
class Emission:
    """One place that writes to stdout: the output call's format text and, where known, the pair's two halves."""

    call: str
    format: str
    place: str
    key: str = ""
    value: str = ""


@dataclass(frozen=True)
class PairReader:
    """How a combiner reads its pairs, as far as the collector must know it to check that they read back.

    key        "token": ends at white space (scanf %s); "field": up to the tab (fgets/getline and a cut); "int32", "int64",
               "uint32", "uint64": such a number, that reads back from its plain decimal form only; "other".
    key_max    longest key in bytes that the reader takes whole; 0 = no limit known.
    value      the numbers that a value is, from left to right: integers, of which only the plain decimal form reads back
               (-?digits of at most 20 bytes); float and double, of which decimal forms do
               (-?digits[.digits][e[+-]digits], and -?inf).
               (): what it is read as is not known, or it is not looked at.
    none       a number that no key may be: the combiner has it as the key before the first one. None: any may be.
    between    what stands between two of `value`, one fewer than these: from 1 to 4 bytes, each a tab or one that prints.
    """

    key: Literal["token", "field", "int32", "int64", "uint32", "uint64", "other"]
    key_max: int
    value: tuple[Number, ...]
    none: int | None = None
    between: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoldField:
    """One number that a fold keeps of a key: what is made of the pairs' numbers at its place, and its type."""

    op: FoldOp
    value: Integer


@dataclass(frozen=True)
class Fold:
    """A combiner that keeps some integers per key, each a reduction of its own, and resets on key change (design: "fold").

    fields        in the order in which they are printed; between: what stands between two of them, one fewer than these.
    accumulators  the variable that holds each field.
    regroup       True where combining the combiner's own output gives the same result (all but counts),
                  so that it may run per spill and again at the merge.
    """

    fields: tuple[FoldField, ...]
    between: tuple[str, ...]
    key: str
    accumulators: tuple[str, ...]
    regroup: bool

    @property
    def only(self) -> FoldField | None:
        """The field of a fold that has one."""
        return self.fields[0] if len(self.fields) == 1 else None


@dataclass(frozen=True)
class Region:
    """What the compiler understood of one annotated region. Lengths are elements, as in the paper's Table 1.

    no_fold  of a combiner that is no fold: why, and the statement for which it is no key loop either.
    ordered  the variables that one keeps of a key which is no fold, but a key loop: a step for each pair, in their order.
    """

    kind: Literal["mapper", "combiner"]
    function: str
    place: str
    reader: str
    key: str
    value: str
    keyin: str
    valuein: str
    keylength: int
    vallength: int
    kvpairs: int
    blocks: int
    threads: int
    variables: tuple[Variable, ...]
    emissions: tuple[Emission, ...]
    pairs: PairReader | None
    fold: Fold | None
    no_fold: Reason | None = None
    ordered: tuple[str, ...] = ()


@dataclass(frozen=True)
class SharedVar:
    """One object that the prologue hands to a kernel, in the order in which the prologue writes them.

    kind     "scalar", "array": its bytes go into `struct Shared` at `offset`.
             "pointer": the same, 8 bytes, made a device address first: NULL stays, a pointer into an object below
             becomes the address of its copy, any other pointer keeps the task on the CPU.
             "object": goes to device memory of its own, whose address goes to `offset`.
             "texture": the same; the handle of a texture object over it, or 0, goes to `offset` + 8.
             "heap": memory behind a pointer; goes to device memory of its own, has no field (`offset` -1).
             "string": the same, but where it begins goes to `offset` and its size to `offset` + 8.
    nbytes   of the object; 0 where only the prologue knows it (heap, string).
    texel    type of a texture's elements (8 bytes, a double or a long, are read as two words), else "".
    """

    name: str
    kind: SharedKind
    offset: int
    nbytes: int
    texel: Texel = ""


@dataclass(frozen=True)
class Total:
    """A variable that records gather in, or a member of one, as it lies in a task's totals: `count` numbers of `size` bytes.

    base    where the variable begins in the totals, which has `nbytes`, and `at` the first number in the variable.
    inner   numbers that lie one behind the other; the next as many begin `stride` bytes further.
    op      how: a record's part and what is there become one, in any order. What was there before the loop is no part.
    """

    name: str
    base: int
    nbytes: int
    at: int
    size: int
    count: int
    inner: int
    stride: int
    op: Accumulation
    signed: bool

    @property
    def offset(self) -> int:
        """Of the first number, in the totals."""
        return self.base + self.at

    @property
    def end(self) -> int:
        """Of the last number, in the variable."""
        return self.at + (self.count // self.inner - 1) * self.stride + self.inner * self.size


@dataclass(frozen=True)
class Placed:
    """Where one variable lives in a kernel (`SPACES` of `decide.decisions`), and why. `nbytes` 0 = not known beforehand."""

    name: str
    space: Space
    nbytes: int
    reason: str


@dataclass(frozen=True)
class Cubin:
    """A kernel compiled for one architecture; `arch` is `sm_90`, or `compute_80` for PTX (text that a driver compiles).

    registers  per thread. spills: bytes of local memory that the compiler spilled registers to, stores and loads together.
    """

    arch: str
    path: str
    sha256: str
    registers: int
    spills: int


@dataclass(frozen=True)
class Kernel:
    """A region as a GPU kernel. Paths are relative to the bundle.

    source         the CUDA text; `entry` is the kernel's name in it.
    threads        per block. blocks: 0 = chosen when it is launched.
    kvpairs        most pairs of one work item, 0 = not said.
    key_bytes      longest text of a key (value), as far as the clauses say.
    shared_bytes   sizeof(struct Shared), the kernel's second parameter; at least 1.
    stack_bytes    stack per thread that recursion needs, 0 = the device's default does.
    prologue       executable that writes the objects of `shared` to descriptor 3: for each the address and the size (u64,
                   little endian), then the bytes; "" where there are none.
    prologue_runs  "once" per job: it asks for no time, random number, environment or file. "asked": it notes what it asks of
                   environment and files (runtime/cpu/asked.c), and its result is the same where the answers are. Else
                   "each": for each task.
    asks           variables of the environment for which the code before the region asks; None: not known, or it may get at
                   what is the task's own by another way.
    alone          is it proven, with nothing to check at run time, that what a record makes it print depends on it alone?
    plan           how it does its work.
    epilogue       executable that runs the code before the region and behind it, with the totals of a task in between, which
                   it reads from stdin; "" where nothing behind the region shows.
    totals         the variables that records gather in, in the order of a task's totals.
    numbers        fields of a pair's value that have a column, of an ordered key loop (`plan.ordered`); kept: words of eight
                   bytes that are kept of a key.
    """

    source: str
    entry: str
    threads: int
    blocks: int
    kvpairs: int
    key_bytes: int
    value_bytes: int
    shared_bytes: int
    stack_bytes: int
    shared: tuple[SharedVar, ...]
    prologue: str
    prologue_runs: PrologueRuns
    plan: KernelPlan
    cubins: tuple[Cubin, ...]
    places: tuple[Placed, ...] = ()
    numbers: int = 0
    kept: int = 0
    epilogue: str = ""
    totals: tuple[Total, ...] = ()
    asks: tuple[str, ...] | None = None
    alone: bool = False

    @property
    def total_bytes(self) -> int:
        """Of a task's totals."""
        return max((-(-(total.base + total.nbytes) // 8) * 8 for total in self.totals), default=0)

    def files(self) -> tuple[str, ...]:
        """Every file of the bundle that belongs to the kernel."""
        prologue = (self.prologue,) if self.prologue else ()
        epilogue = (self.epilogue,) if self.epilogue else ()
        return (self.source, *prologue, *epilogue, *(cubin.path for cubin in self.cubins))


@dataclass(frozen=True)
class HostKernel:
    """A program that does the map filter's work, reading records where they lie.

    binary    relative to the bundle.
    folds     it can do the combiner's work, too, on typed values.
    regroup   True where that output may be combined again, so that it may print a key's line before it has read all.
    no_folds  why it does not do the work of a combiner that there is.
    needle    the text that a record must hold for the map to do anything with it, a C literal or an array's name; others are
              passed over. "": none is known.
    """

    binary: str
    folds: bool
    regroup: bool
    no_folds: tuple[Reason, ...] = ()
    needle: str = ""


@dataclass(frozen=True)
class KeptNumber:
    """What a reducer keeps of a key in one variable. op: of numbers that its pairs give, in any order; "": of each pair in
    turn.

    place  which number of the pairs' values `op` is of, kept in the type that it is read as; -1: of something else.
    """

    name: str
    ctype: str
    op: KeptOp
    place: int


@dataclass(frozen=True)
class Reducer:
    """A reducer as a loop over the pairs of a key.

    loop   "fold": integers, each of which a key's pairs give in any order; "ordered": their order matters.
    key    the variable that holds the key. pairs: how they are read.
    """

    loop: Literal["fold", "ordered"]
    key: str
    pairs: PairReader
    kept: tuple[KeptNumber, ...]


@dataclass(frozen=True)
class Program:
    """One filter. `binary` and `sources` are relative to the bundle; `gpu_refusals` empty = the GPU may run it.

    linked  "static": with the C library that it was compiled with; "dynamic": it ends where a machine has another
            (runtime/cpu/same_library.c).
    kernel  None where there are refusals, and for a combiner that is no key loop: it runs on the CPU over sorted pairs.
    host    of a mapper: what CPU slots run. None: they run filters, for the reasons in `no_host`, which is empty for other
            roles.
    reducer of a reducer that is a loop over the pairs of a key; else None, for the reason in `no_host`.
    command the words that `binary` starts, where the program is a command; else ().
    """

    role: Role
    binary: str
    sources: tuple[str, ...]
    region: Region | None
    gpu_refusals: tuple[Reason, ...]
    kernel: Kernel | None = None
    linked: Linked = "dynamic"
    host: HostKernel | None = None
    no_host: tuple[Reason, ...] = ()
    reducer: Reducer | None = None
    command: tuple[str, ...] = ()

    def files(self) -> tuple[str, ...]:
        """The built files that a task may load or run."""
        host = (self.host.binary,) if self.host else ()
        return (self.binary, *host, *(self.kernel.files() if self.kernel else ()))


@dataclass(frozen=True)
class Input:
    """One file that the build read (headers too), with the SHA-256 of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The whole contract.

    library  the C library of the machine that compiled, "glibc 2.36", "unknown" for others.
    carried  files that commands find in their working folders under their last names; in `binaries`, too.
    """

    version: int
    tool: str
    name: str
    compiler: str
    library: str
    flags: tuple[str, ...]
    programs: tuple[Program, ...]
    inputs: tuple[Input, ...]
    binaries: tuple[Input, ...]
    carried: tuple[str, ...] = ()

    def program(self, role: Role) -> Program | None:
        return next((p for p in self.programs if p.role == role), None)

    def to_json(self) -> str:
        """Stable text: same manifest, same bytes."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> Manifest:
    """Read a manifest strictly. Raises UsageError HD310 naming the field that does not fit."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise _bad("the top level is not an object")
    if data.get("version") != VERSION:
        raise UsageError(
            f"the bundle has manifest version {data.get('version')!r}, this HeteroDoop reads version {VERSION}",
            code="HD311", help="compile the program again with this version (heterodoop compile)",
        )
    manifest: Manifest = _build(Manifest, data, "manifest")
    roles = [p.role for p in manifest.programs]
    if "map" not in roles or len(set(roles)) != len(roles):
        raise _bad(f"programs must be one map and at most one combine and reduce, found {roles}")
    for path in manifest.carried:
        if not path.startswith("files/") or Path(path).parent != Path("files") or "\0" in path:
            raise _bad(f"{path!r} is no file that is carried")
    for program in manifest.programs:
        for path in (*program.files(), *program.sources):
            _check_inside(path)
        if program.kernel:
            _check_sizes(program.kernel)
        if program.region:
            _check_numbers(program.region)
        if program.reducer:
            _check_list("value", len(program.reducer.pairs.value), program.reducer.pairs.between)
    return manifest


def load(bundle: Path) -> Manifest:
    """Read a bundle's manifest and check that its filters are the ones that were built.

    Raises UsageError HD310-HD313: no bundle, unreadable, other version, a filter missing or changed.
    """
    path = bundle / FILE
    if bundle.exists() and not bundle.is_dir():
        raise UsageError(f"{bundle} is not a bundle: a bundle is a folder", code="HD312",
                         help="make one with: heterodoop compile DIR -o NAME.hdp")
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{bundle} is not a bundle: {path.name}: {getattr(error, 'strerror', None) or error}",
            code="HD312", help="make one with: heterodoop compile DIR -o NAME.hdp",
        ) from None
    manifest = from_json(text)
    built = {item.path for item in manifest.binaries}
    for path_inside in (*manifest.carried, *(path for program in manifest.programs for path in program.files())):
        if path_inside not in built:
            raise _bad(f"{path_inside!r} has no hash")
    for item in manifest.binaries:
        _check_inside(item.path)
        try:
            actual = sha256(bundle / item.path)
        except OSError as error:
            raise UsageError(f"{bundle}: {item.path}: {error.strerror}", code="HD313") from None
        if actual != item.sha256:
            raise UsageError(
                f"{bundle}: {item.path} is not the file that was built", code="HD313", help="compile the program again",
            )
    return manifest


def sha256(path: Path) -> str:
    """Hex SHA-256 of a regular file's bytes; raises OSError."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bad(why: str) -> UsageError:
    return UsageError(f"the bundle's manifest is damaged: {why}", code="HD310", help="compile the program again")


def _check_sizes(kernel: Kernel) -> None:
    """Memory is taken of these sizes, and a device is told them."""
    for name, (least, most) in _SIZES.items():
        if not least <= (value := getattr(kernel, name)) <= most:
            raise _bad(f"{name} is {value}, must be from {least} to {most}")
    for var in kernel.shared:
        if not (0 <= var.nbytes <= _MOST_OBJECT and -1 <= var.offset < kernel.shared_bytes):
            raise _bad(f"{var.name!r} has size {var.nbytes} and offset {var.offset}")
    for total in kernel.totals:
        if not _fits(total):
            raise _bad(f"{total.name!r} has {total.count} numbers of {total.size} bytes from {total.offset} on")
    if kernel.total_bytes > _MOST_TOTALS:
        raise _bad(f"{kernel.total_bytes} bytes of totals")


def _fits(total: Total) -> bool:
    """Does what a total says of its variable hold together?"""
    if total.size not in (1, 2, 4, 8) or min(total.base, total.at) < 0 or not 0 < total.count <= _MOST_TOTALS:
        return False
    runs = 0 < total.inner <= total.count and total.count % total.inner == 0 and total.stride >= total.inner * total.size
    return runs and total.offset % total.size == 0 == total.stride % total.size and total.end <= total.nbytes


def _check_numbers(region: Region) -> None:
    """As many separators and variables as go with the numbers of a value, and those such that a checker can hold them."""
    if region.pairs:
        _check_list("value", len(region.pairs.value), region.pairs.between)
    if region.fold:
        _check_list("fold", len(region.fold.fields), region.fold.between)
        if not region.fold.fields or len(region.fold.accumulators) != len(region.fold.fields):
            raise _bad(f"a fold of {len(region.fold.fields)} fields has {len(region.fold.accumulators)} accumulators")


def stands_between(text: str) -> bool:
    """May it stand between two numbers of a value?"""
    return 1 <= len(text) <= 4 and text.isascii() and text.replace("\t", " ").isprintable()


def _check_list(what: str, numbers: int, between: tuple[str, ...]) -> None:
    if numbers > MOST_NUMBERS or len(between) != max(numbers - 1, 0):
        raise _bad(f"{what} has {numbers} numbers and {len(between)} separators")
    for text in between:
        if not stands_between(text):
            raise _bad(f"{what} has the separator {text!r}")


def _check_inside(path: str) -> None:
    parts = Path(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise _bad(f"path {path!r} leaves the bundle")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise _bad(f"path {path!r} is no file name") from None


def _build(kind: Any, data: Any, where: str) -> Any:
    """`data` as the annotated type `kind`; unknown, missing and ill-typed fields are errors."""
    origin = typing.get_origin(kind)
    if origin is Literal:
        if data not in typing.get_args(kind) or isinstance(data, bool):
            raise _bad(f"{where} is {data!r}, must be one of {', '.join(map(str, typing.get_args(kind)))}")
        return data
    if origin is tuple:
        if not isinstance(data, list):
            raise _bad(f"{where} is not a list")
        return tuple(_build(typing.get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(data))
    if origin in (types.UnionType, typing.Union):
        inner = next(a for a in typing.get_args(kind) if a is not type(None))
        return None if data is None else _build(inner, data, where)
    if dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, data, where)
    if type(data) is not kind:
        raise _bad(f"{where} is {data!r}, must be {kind.__name__}")
    return data


def _build_dataclass(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _bad(f"{where} is not an object")
    hints = _hints(kind)
    if set(data) != set(hints):
        odd = sorted(set(data) ^ set(hints))
        raise _bad(f"{where}: missing or unknown field {odd[0]!r}")
    return kind(**{name: _build(hint, data[name], f"{where}.{name}") for name, hint in hints.items()})


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    """Field name -> type. Annotations are texts that have to be compiled: once a class, not once an object."""
    return typing.get_type_hints(kind)
