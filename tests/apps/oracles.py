"""What some apps must output, computed in another way: by NumPy, and with Java's rules as Python has them.

Each takes the input and returns the lines of the output, sorted. Not a test module.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

RATE, VOLATILITY, ITERATIONS = 0.02, 0.30, 128


def movies(data: bytes) -> Iterator[list[int]]:
    """The ratings of each movie: StringTokenizer over commas, Integer.parseInt of what follows the first `_`."""
    for line in data.split(b"\n"):
        name, colon, reviews = line.partition(b":")
        if name and colon:
            yield [int(review.partition(b"_")[2] if b"_" in review else review) for review in reviews.split(b",") if review]


def histratings(data: bytes) -> bytes:
    return _lines(Counter(str(rating) for ratings in movies(data) for rating in ratings))


def histmovies(data: bytes) -> bytes:
    return _lines(Counter(f"{_bin(ratings):.1f}" for ratings in movies(data)))


def _bin(ratings: list[int]) -> float:
    mean = np.float32(sum(ratings)) / np.float32(len(ratings)) if ratings else np.float32(-0.5)
    return float(np.floor(2 * mean) / 2 + np.float32(0.5))


def linear_regression(data: bytes) -> bytes:
    """The upper triangle of Z'Z, in Python's integers, whatever their size."""
    rows = [[int(1000 * Fraction(number.decode())) for number in line.split()] for line in data.split(b"\n") if line.split()]
    z = np.array(rows, dtype=object).reshape(len(rows), 13)
    products = z.T @ z
    sums = {str(100 * i + j): products[i, j] for i in range(13) for j in range(i, 13)}
    return _lines({**sums, "-1": len(rows)} if rows else {})


def blackscholes(data: bytes, normal: Callable[[np.ndarray], np.ndarray] | None = None) -> bytes:
    """The formula over all options and maturities at once. `normal`: the distribution function, else the app's."""
    options = np.array([line.split()[:4] for line in data.split(b"\n") if line.split()], dtype=float).reshape(-1, 4)
    distribution = normal or _abramowitz_stegun_26_2_17
    stock, strike, maturity = options[:, 1:, None].transpose(1, 0, 2)
    years = maturity * np.arange(1, ITERATIONS + 1) / ITERATIONS
    spread = VOLATILITY * np.sqrt(years)
    d1 = (np.log(stock / strike) + (RATE + VOLATILITY**2 / 2) * years) / spread
    n1, n2, discounted = distribution(d1), distribution(d1 - spread), strike * np.exp(-RATE * years)
    calls = (stock * n1 - discounted * n2).mean(axis=1)
    puts = (discounted * (1 - n2) - stock * (1 - n1)).mean(axis=1)
    rows = zip(options[:, 0], calls, puts, strict=True)
    return b"".join(sorted(b"%d\t%.6f %.6f\n" % (int(number), call, put) for number, call, put in rows))


def exact_normal(d: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)(d)


def _abramowitz_stegun_26_2_17(d: np.ndarray) -> np.ndarray:
    k = 1 / (1 + 0.2316419 * np.abs(d))
    series = np.polynomial.Polynomial([0, 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429])
    tail = np.exp(-d * d / 2) / np.sqrt(2 * np.pi) * series(k)
    return np.where(d > 0, 1 - tail, tail)


def _lines(counts: dict[str, int]) -> bytes:
    return b"".join(sorted(f"{key}\t{count}\n".encode() for key, count in counts.items()))
