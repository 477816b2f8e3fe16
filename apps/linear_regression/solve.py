"""The coefficients of y = b1 x1 + ... + b12 x12, by least squares, from this app's part files. Exact until it prints.

    python apps/linear_regression/solve.py sums/part-*
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

REGRESSORS = 12


def sums_of(paths: list[Path]) -> dict[int, int]:
    """Key -> sum, of all part files."""
    lines = [line.split("\t") for path in paths for line in path.read_text().splitlines()]
    return {int(key): int(value) for key, value in lines}


def coefficients(sums: dict[int, int]) -> list[Fraction]:
    """Gauss-Jordan elimination of the normal equations X'X b = X'y. Raises ValueError where they have not one solution."""
    columns = range(1, REGRESSORS + 1)
    rows = [[Fraction(sums[100 * min(i, j) + max(i, j)]) for j in columns] + [Fraction(sums[i])] for i in columns]
    for i in range(REGRESSORS):
        pivot = next((k for k in range(i, REGRESSORS) if rows[k][i] != 0), None)
        if pivot is None:
            raise ValueError("some regressors depend on others, or there are fewer rows than regressors")
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(REGRESSORS):
            if k != i:
                rows[k] = [value - rows[k][i] * own for value, own in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]]
    if not paths:
        sys.exit(f"usage: {sys.argv[0]} PART-FILE...")
    sums = sums_of(paths)
    if not sums:
        sys.exit("no rows")
    print(f"rows\t{sums[-1]}")
    try:
        for number, value in enumerate(coefficients(sums), 1):
            print(f"b{number}\t{float(value):.6f}")
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
