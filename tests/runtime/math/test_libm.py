"""runtime/math: how far off it is, special values and errno as glibc has them, the same bits from C, C++ and CUDA's text.

The drivers are in math/. References: libquadmath (113 bits) for many arguments, mpmath for fewer. Not here: programs that
are compiled with it (test_libm_filters).
"""

from __future__ import annotations

import importlib.util
import math
import os
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from heterodoop.toolchain import cc, emulated
from heterodoop.toolchain import nvcc as toolchain_cuda

from ... import kept

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "runtime"
INCLUDE = [f"-I{RUNTIME / 'math'}", f"-I{RUNTIME / 'device'}"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
NO_BUILTIN = ["-fno-builtin", "-ffp-contract=off"]
AS_KERNELS = [flag for flag in emulated.FLAGS if flag not in ("-shared", "-fPIC")]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
NAMES = "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh cbrt erf erfc pow atan2 hypot".split()
TWO = ("pow", "atan2", "hypot")
# Units in the last place, as README.md of runtime/math says; others: 0.502.
WORST = dict.fromkeys(("exp", "exp2", "pow", "erf", "erfc"), 0.52)


def build(*words: str | Path) -> Path:
    return kept.program([*words, "-lm"], folders=[RUNTIME / "math", RUNTIME / "device"])


def output(*argv: object, data: str = "") -> str:
    words = [str(word) for word in argv]
    return subprocess.run(words, input=data, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout


@pytest.fixture(scope="module")
def filter_object() -> Path:
    words = ["gcc", *cc.FILTER_FLAGS, *WARNINGS, "-c", RUNTIME / "math" / "filter.c"]
    return kept.program(words, folders=[RUNTIME / "math"], name="filter.o")


def test_one_list_of_functions() -> None:
    text = (RUNTIME / "math" / "functions.h").read_text()
    assert sorted(re.findall(r"(?:ONE|TWO)\((\w+)[,)]", text.split("#define HM_FUNCTIONS(")[1])) == sorted(NAMES)
    assert sorted(cc.MATH_FUNCTIONS) == sorted(NAMES)


def test_accuracy_on_many_arguments(tmp_path: Path) -> None:
    words = ["gcc", "-x", "c", "-", "-lquadmath", "-o", tmp_path / "probe"]
    probe = subprocess.run(words, input="int main(void) { return 0; }", text=True, capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no libquadmath here")
    driver = build("gcc", "-O2", *NO_BUILTIN, *INCLUDE, HERE / "accuracy.c", "-lquadmath")
    worst = {words[0]: float(words[1]) for line in output(driver, 100_000).splitlines() if (words := line.split())}
    assert list(worst) == NAMES
    assert all(0.4 < error <= WORST.get(name, 0.502) for name, error in worst.items()), worst


def test_special_values_and_errno() -> None:
    driver = build("gcc", "-O1", *NO_BUILTIN, *INCLUDE, HERE / "special.c")
    done = subprocess.run([driver], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[:4000]


def test_no_undefined_behaviour() -> None:
    flags = ["-O1", "-g1", *NO_BUILTIN, "-fsanitize=undefined,address", "-fno-sanitize-recover=all", *INCLUDE]
    driver = build("g++", "-std=c++17", *flags, "-DDEVICE", HERE / "bits.cpp")
    assert len(output(driver, 2000).splitlines()) == len(NAMES)


def has_fma() -> bool:
    try:
        return "fma" in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


def test_the_same_bits_from_every_compiler(filter_object: Path) -> None:
    driver = HERE / "bits.cpp"
    made = {
        "filter": build("g++", "-std=c++17", *NO_BUILTIN, *INCLUDE, driver, filter_object),
        "emulator": build("g++", *AS_KERNELS, *WARNINGS, *INCLUDE, "-DDEVICE", driver),
        "plain": build("g++", "-std=c++17", "-O0", *NO_BUILTIN, *INCLUDE, "-DDEVICE", driver),
    }
    if has_fma():
        words: list[str | Path] = ["g++", "-std=c++17", "-O3", "-mfma", *NO_BUILTIN, *INCLUDE, "-DDEVICE", driver]
        made["fma"] = build(*words)
    hashes = {name: output(program, 50_000).splitlines() for name, program in made.items()}
    assert [line.split()[0] for line in hashes["filter"]] == NAMES
    assert all(lines == hashes["filter"] for lines in hashes.values()), hashes


def tables() -> ModuleType:
    pytest.importorskip("mpmath")
    spec = importlib.util.spec_from_file_location("make_tables", RUNTIME / "math" / "make_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_what_their_script_writes() -> None:
    made = tables()
    for name in made.FILES:
        assert (RUNTIME / "math" / name).read_text() == made.contents(name), name


# ----------------------------------------------------------------------------------------- against mpmath

CORNERS = [0.0, 1.0, 0.5, 0.25, 1.5, 2.0, 3.0, 10.0, 100.0, 1e22, 1e300, 5e-324, 2.2250738585072014e-308, 1e-310, 1e-10,
           709.782712893384, 709.79, 745.1332191019412, 744.0, 708.5, 1023.9999, 1074.5, 1022.5, 710.4758600739439, 26.54,
           27.226, 5.9, 6.1, 0.9999999999999999, 1.0000000000000002, math.pi, math.pi / 2, math.pi / 4, 22.0, 355.0,
           6381956970095103 * 2.0**797, 5.319372648326541e255, 1048576.5, 0.70710678118654752, 1.4142135623730951]


def reference(mpmath: Any) -> dict[str, Callable[..., Any]]:
    known = {name: getattr(mpmath, name) for name in NAMES if name not in ("exp2", "expm1", "log2", "log10", "log1p", "pow")}
    return known | {
        "exp2": lambda x: mpmath.mpf(2) ** x, "expm1": mpmath.expm1, "log2": lambda x: mpmath.log(x, 2),
        "log10": mpmath.log10, "log1p": mpmath.log1p, "pow": lambda x, y: mpmath.mpf(x) ** y,
        "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "log": mpmath.log,
    }


def arguments(name: str, random: random.Random) -> list[tuple[float, float]]:
    ones = [s * x for x in CORNERS for s in (1.0, -1.0)]
    ones += [random.uniform(-20, 20) for _ in range(60)] + [random.uniform(-1, 1) for _ in range(60)]
    ones += [math.ldexp(random.uniform(0.5, 1), random.randint(-1073, 1024)) for _ in range(60)]
    if name not in TWO:
        return [(x, 0.0) for x in ones]
    return [(x, random.choice([random.uniform(-50, 50), random.choice(CORNERS), 2.0])) for x in ones]


def units(got: float, want: Any, mpmath: Any) -> float:
    """The error in units of the last place; 0 where there is no real, finite result (special.c has those)."""
    if not mpmath.isfinite(want) or isinstance(want, mpmath.mpc) or want == 0 or abs(want) > mpmath.mpf(2) ** 1024:
        return 0.0
    exponent = max(int(mpmath.floor(mpmath.log(abs(want), 2))) - 52, -1074)
    return float(abs(got - want) / mpmath.mpf(2) ** exponent) if math.isfinite(got) else math.inf


def hexed(x: float) -> str:
    return struct.pack(">d", x).hex()


def test_accuracy_against_multiple_precision(filter_object: Path) -> None:
    mpmath = pytest.importorskip("mpmath")
    driver = build("gcc", *NO_BUILTIN, HERE / "values.c", filter_object)
    wanted, found = reference(mpmath), random.Random(7)
    cases = [(name, x, y) for name in NAMES for x, y in arguments(name, found)]
    lines = "".join(f"{NAMES.index(name)} {hexed(x)} {hexed(y)}\n" for name, x, y in cases)
    results = [struct.unpack(">d", bytes.fromhex(word))[0] for word in output(driver, data=lines).split()]
    assert len(results) == len(cases)
    off = []
    with mpmath.workprec(160):
        for (name, x, y), got in zip(cases, results, strict=True):
            error = units(got, precise(wanted[name], name, x, y, mpmath), mpmath)
            if error > WORST.get(name, 0.502):
                off.append((name, x.hex(), y.hex(), got, error))
    assert not off


def precise(function: Callable[..., Any], name: str, x: float, y: float, mpmath: Any) -> Any:
    """The value, nan where there is none or where it is far out of range (then computing it takes memory)."""
    try:
        if name == "pow" and (x <= 0 or abs(y * math.log(x)) > 2000) or name not in TWO and abs(x) > 2000 and name in _STEEP:
            return mpmath.nan
        with mpmath.extraprec(1200 if name in ("sin", "cos", "tan", "expm1", "log1p", "acos", "asin", "erf") else 0):
            return function(mpmath.mpf(x), mpmath.mpf(y)) if name in TWO else function(mpmath.mpf(x))
    except (ValueError, ZeroDivisionError):
        return mpmath.nan


_STEEP = frozenset("exp exp2 expm1 sinh cosh erfc".split())


# ----------------------------------------------------------------------------------------- as device code


@pytest.fixture(scope="module")
def nvcc() -> toolchain_cuda.Nvcc:
    found = toolchain_cuda.find_nvcc()
    if found is None:
        pytest.skip("no nvcc here")
    return found


def test_nvcc_contracts_nothing(nvcc: toolchain_cuda.Nvcc, tmp_path: Path) -> None:
    calls = "".join(f"to[{n}] = hd::{f}(err, {'x, y' if f in TWO else 'x'});\n" for n, f in enumerate(NAMES))
    calls += "".join(f"to[{n}] += hd::{f}f({'s, t' if f in TWO else 's'});\n" for n, f in enumerate(NAMES))
    (tmp_path / "all.cu").write_text(
        '#include "libc/libm.cuh"\nextern "C" __global__ void all(double *to, double x, double y, float s, float t) {\n'
        f"int err = 0;\n{calls}to[99] = err;\n}}\n"
    )
    words = [nvcc.path, *toolchain_cuda.FLAGS, "-ptx", "-arch=compute_90", *INCLUDE]
    subprocess.run([*words, tmp_path / "all.cu", "-o", tmp_path / "all.ptx"], check=True, capture_output=True)
    text = (tmp_path / "all.ptx").read_text()
    assert "mul.rn.f64" in text and not re.search(r"\bfma\.|\bmad\.\w*f64|\.approx|\.ftz", text)


def test_the_same_bits_on_a_gpu(nvcc: toolchain_cuda.Nvcc, filter_object: Path) -> None:
    if shutil.which("nvidia-smi") is None or not output("nvidia-smi", "-L").strip():
        pytest.skip("no GPU here")
    library = Path(nvcc.path).resolve().parents[1] / "lib"
    words: list[str | Path] = [nvcc.path, *toolchain_cuda.FLAGS, "-arch=native", *INCLUDE, f"-L{library}"]
    driver = build(*words, "-Xcompiler", "-fno-builtin", HERE / "device.cu", filter_object)
    assert output(driver, 100_000) == f"0 of {100_000 * len(NAMES)} results differ\n"
