"""Writes the tables of the math library from their definitions. Run: python runtime/math/make_tables.py

Needs mpmath (the `dev` extra). Nothing is fitted by hand: table entries are rounded values of functions, erf's and
erfcx's polynomials are mpmath's Chebyshev fits. A test checks that this script still writes what the files hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.prec = 400

HEAD = """/* Made by make_tables.py: do not edit. A pair {hi, lo} stands for hi + lo, where lo is below half a unit of hi. */
"""


def rounded(x: mpf, bits: int = 53) -> mpf:
    with mpmath.workprec(bits):
        return +x


def pieces(x: mpf, *bits: int) -> list[mpf]:
    """x as a sum of numbers of so many bits each."""
    found = []
    for width in bits:
        found.append(rounded(x, width))
        x -= found[-1]
    return found


def pair(x: mpf) -> list[mpf]:
    return pieces(x, 53, 53)


def text(x: mpf) -> str:
    return float(x).hex().replace("0x0.0p+0", "0")


def row(values: Iterable[mpf]) -> str:
    words = [*map(text, values)]
    return "{" + ",\n     ".join(", ".join(words[n : n + 4]) for n in range(0, len(words), 4)) + "}"


def table(name: str, columns: int, rows: list[list[mpf]]) -> str:
    return f"HM_TABLE double {name}[{len(rows)}][{columns}] = {{\n" + "".join(f"    {row(r)},\n" for r in rows) + "};\n"


def constants(name: str, values: list[mpf]) -> str:
    letters = ["HIGH", "LOW"] if len(values) == 2 else ["A", "B", "C", "D"]
    return "".join(f"#define HM_{name}_{letter} {text(v)}\n" for letter, v in zip(letters, values, strict=False))


def fitted(function: Callable[[mpf], mpf], low: mpf, high: mpf, terms: int) -> list[mpf]:
    """Coefficients of a polynomial close to the function between low and high, of the constant first."""
    with mpmath.workprec(160):
        return list(mpmath.chebyfit(function, [low, high], terms, asc=True))


def logarithms() -> list[list[mpf]]:
    """Row i, for m near 1 + i/128: c near 1/m of 14 bits, and -log(c) as a pair, less log 2 from m near sqrt 2 on."""
    rows = []
    for i in range(129):
        c = rounded(mpf(128) / (128 + i), 14)
        rows.append([c, *pair(-mpmath.log(c) - (mpmath.log(2) if i >= 53 else 0))])
    return rows


def erf_series() -> list[list[mpf]]:
    """erf(x) / x as a polynomial in x^2 on [0, 1/4]; its first two coefficients are the series' own."""
    first, second = 2 / mpmath.sqrt(mpmath.pi), -2 / (3 * mpmath.sqrt(mpmath.pi))

    def rest(z: mpf) -> mpf:
        terms = ((-1) ** n * z ** (n - 2) / (mpmath.factorial(n) * (2 * n + 1)) for n in range(2, 40))
        return 2 / mpmath.sqrt(mpmath.pi) * mpmath.fsum(terms)

    fit = fitted(rest, 0, mpf(1) / 4, 10)
    return [pair(first), pair(second), *([rounded(c), mpf(0)] for c in fit)]


def scaled_erfc() -> list[list[mpf]]:
    """exp(x^2) erfc(x) around the middles of [2^e (1 + i/8), 2^e (1 + (i+1)/8)) from 1/2 to 28.

    A row holds the middle, the first two coefficients as pairs, the others.
    """
    rows = []
    for e in range(-1, 5):
        for i in range(8 if e < 4 else 6):
            middle, half = mpf(2) ** e * (1 + mpf(2 * i + 1) / 16), mpf(2) ** e / 16

            def value(d: mpf, middle: mpf = middle) -> mpf:
                x = middle + d
                return mpmath.exp(x * x) * mpmath.erfc(x)

            fit = fitted(value, -half, half, 14)
            rows.append([middle, *pair(fit[0]), *pair(fit[1]), *map(rounded, fit[2:])])
    return rows


def two_over_pi() -> list[int]:
    """A word of zeros, then the first 1280 bits of 2/pi behind the point."""
    with mpmath.workprec(1500):
        bits = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** 1280))
    return [0, *((bits >> shift) & (2**64 - 1) for shift in range(1280 - 64, -1, -64))]


def general() -> str:
    log2 = mpmath.log(2)
    words = ",\n    ".join(f"0x{word:016x}ull" for word in two_over_pi())
    return "".join([
        constants("LN2", pair(log2)), constants("LN2_PART", pieces(log2, 42, 53)),
        constants("LN2_128", pieces(log2 / 128, 35, 35, 53)), f"#define HM_128_LN2 {text(128 / log2)}\n",
        constants("INV_LN2", pair(1 / log2)), constants("INV_LN10", pair(1 / mpmath.log(10))),
        constants("PI", pair(mpmath.pi)), constants("PI_2", pair(mpmath.pi / 2)),
        constants("PI_2", pieces(mpmath.pi / 2, 33, 33, 33, 53)), f"#define HM_2_PI {text(2 / mpmath.pi)}\n",
        "\n/* 2^(j/128) */\n", table("hm_exp2_table", 2, [pair(mpf(2) ** (mpf(j) / 128)) for j in range(128)]),
        "\n/* c, -log(c): see make_tables.py */\n", table("hm_log_table", 3, logarithms()),
        f"\n/* 2/pi */\nHM_TABLE uint64_t hm_two_over_pi[21] = {{\n    {words},\n}};\n",
    ])


def angles() -> str:
    steps = [mpf(j) / 64 for j in range(65)]
    return "".join([
        "/* sin(j/64), cos(j/64) */\n",
        table("hm_sine_table", 4, [[*pair(mpmath.sin(a)), *pair(mpmath.cos(a))] for a in steps[:52]]),
        "\n/* atan(j/64) */\n", table("hm_atan_table", 2, [pair(mpmath.atan(a)) for a in steps]),
    ])


def errors() -> str:
    return "".join([
        "/* erf(x) / x in powers of x^2, |x| < 1/2 */\n", table("hm_erf_table", 2, erf_series()),
        "\n/* exp(x^2) erfc(x), 1/2 <= x < 28: see make_tables.py */\n", table("hm_erfcx_table", 17, scaled_erfc()),
    ])


FILES = {"tables.h": general, "angle_tables.h": angles, "erf_tables.h": errors}


def contents(name: str) -> str:
    """The text of one of FILES."""
    guard = f"HM_{name.replace('.', '_').upper()}"
    return f"{HEAD}#ifndef {guard}\n#define {guard}\n\n{FILES[name]()}\n#endif\n"


if __name__ == "__main__":
    for file in FILES:
        (Path(__file__).parent / file).write_text(contents(file))
