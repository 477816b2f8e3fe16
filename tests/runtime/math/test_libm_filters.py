"""runtime/math in filters and kernels of compiled programs, and --libm."""

from __future__ import annotations

import ctypes
import json
import math
import subprocess
from pathlib import Path

import pytest

from heterodoop import resources
from heterodoop.compiler.compile import BuildOptions, compile_to_bundle
from heterodoop.manifest import Manifest
from heterodoop.toolchain import objects
from heterodoop.toolchain.cc import CcOptions

from ...support import cli_here

APP = r"""
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    char key[64];
    double value;
#pragma mapreduce mapper key(key) value(value) keylength(64)
    while (getline(&line, &size, stdin) != -1) {
        double x = atof(line);
        errno = 0;
        value = exp(x);
        if (errno == ERANGE)
            value = -1;
        snprintf(key, sizeof key, "%.17g %.9g", pow(x, 2), sinf((float)x) * cosf(0.5f));
        printf("%s\t%.17g %.17g %.17g\n", key, value, atan2(x, exp(1)), erfc(x));
    }
    return 0;
}
"""


def app(folder: Path, text: str) -> Path:
    path = folder / "app"
    path.mkdir()
    (path / "map.c").write_text(text)
    return path


def compiled(folder: Path, text: str, **options: object) -> tuple[Path, Manifest]:
    build = BuildOptions.make([str(app(folder, text))], arch=["none"], **options)
    bundle, result = compile_to_bundle(build, folder / "x.hdp")
    return bundle, result.manifest


def symbols(binary: Path) -> set[str]:
    """Functions that a program defines itself."""
    lines = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[2] for line in lines if len(line.split()) == 3}


def run(binary: Path, data: str) -> str:
    return subprocess.run([binary], input=data, capture_output=True, text=True, check=True, timeout=20).stdout


def numbers() -> list[float]:
    return [n / 7 for n in range(-300, 300)] + [1e-300, 1e10, 1e22, -800.0, 709.78, 800.0, 0.0]


def ours(tmp_path: Path) -> ctypes.CDLL:
    """The functions as a library, compiled here."""
    source, made = resources.find("runtime", "math", "filter.c"), tmp_path / "math.so"
    words = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wl,-Bsymbolic", source, "-o", made, "-lm"]
    subprocess.run(words, check=True)
    library = ctypes.CDLL(str(made))
    for name in ("exp", "pow", "atan2", "erfc", "sinf", "cosf"):
        kind = ctypes.c_float if name in ("sinf", "cosf") else ctypes.c_double
        function = getattr(library, name)
        function.restype, function.argtypes = kind, [kind] * (2 if name in ("pow", "atan2") else 1)
    return library


def test_a_filter_prints_what_our_functions_give(tmp_path: Path) -> None:
    bundle, manifest = compiled(tmp_path, APP)
    assert manifest.programs[0].gpu_refusals == () and manifest.programs[0].kernel is not None
    assert "-fno-builtin-pow" in manifest.flags and {"exp", "pow", "sinf"} <= symbols(bundle / "bin" / "map")
    library = ours(tmp_path)
    half = library.cosf(0.5)
    expected = ""
    for x in numbers():
        product = ctypes.c_float(library.sinf(ctypes.c_float(x)) * half).value
        value = library.exp(x)
        value = -1.0 if math.isinf(value) or value == 0 else value
        expected += f"{library.pow(x, 2):.17g} {product:.9g}\t{value:.17g} {library.atan2(x, library.exp(1)):.17g} "
        expected += f"{library.erfc(x):.17g}\n"
    assert run(bundle / "bin" / "map", "".join(f"{x!r}\n" for x in numbers())) == expected


def test_the_kernel_prints_the_same(tmp_path: Path) -> None:
    bundle, _ = compiled(tmp_path, APP)
    (tmp_path / "in.txt").write_text("".join(f"{x!r}\n" for x in numbers()))
    report = json.loads(cli_here("verify", bundle, tmp_path / "in.txt", "--device", "emulated", "--json").out)
    assert (report["equal"], report["cpu_only"], report["different"]) == (1, 0, 0), report


def test_with_the_systems_library_the_region_stays_on_the_cpu(tmp_path: Path) -> None:
    bundle, manifest = compiled(tmp_path, APP, libm="system")
    assert "-fno-builtin-pow" not in manifest.flags
    printed = run(bundle / "bin" / "map", "".join(f"{n / 7!r}\n" for n in range(1, 300))).splitlines()
    assert [line.split("\t")[1].split()[0] for line in printed] == [f"{math.exp(n / 7):.17g}" for n in range(1, 300)]
    reasons = {(r.code, r.message.split("()")[0]) for r in manifest.programs[0].gpu_refusals}
    assert {("HD232", name) for name in ("exp", "pow", "sinf", "cosf", "atan2", "erfc")} <= reasons
    assert all("--libm=system" in r.message for r in manifest.programs[0].gpu_refusals)


def test_a_program_may_have_functions_of_these_names(tmp_path: Path) -> None:
    text = "#include <stdio.h>\ndouble hypot(double x, double y) { return 7 + x + y; }\n"
    text += 'double exp(double); int main(void) { int c = getchar(); printf("%g %g\\n", hypot(c, 0), exp(0)); return 0; }\n'
    bundle, _ = compiled(tmp_path, text)
    assert run(bundle / "bin" / "map", "a") == "104 1\n"


def test_functions_without_our_form_stay_the_systems(tmp_path: Path) -> None:
    bundle, manifest = compiled(tmp_path, APP.replace("erfc(x)", "tgamma(x)"))
    assert [r.message for r in manifest.programs[0].gpu_refusals] == [
        "tgamma() may give other bits on a GPU than the C library's, so it runs on the CPU"]
    assert run(bundle / "bin" / "map", "4\n").endswith(" 6\n")


def test_the_object_is_built_once(tmp_path: Path) -> None:
    (made,) = objects.math_objects(CcOptions(), tmp_path)
    before = made.stat().st_mtime_ns
    assert objects.math_objects(CcOptions(), tmp_path) == (made,) and made.stat().st_mtime_ns == before
    assert objects.math_objects(CcOptions(libm="system"), tmp_path) == ()


@pytest.mark.parametrize("name", ["own", "system"])
def test_the_option(tmp_path: Path, name: str) -> None:
    made = cli_here("compile", app(tmp_path, APP), "--libm", name, "--emit", "manifest").out.decode()
    assert ("-fno-builtin-exp" in made) == (name == "own")
