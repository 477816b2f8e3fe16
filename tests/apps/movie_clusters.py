"""What kmeans and classification must give: PUMA's definition as matrix products, written without a look at the C.

A movie's review matches the first review of a centroid by the same user. Over the matches: product, own and other squares;
similarity = product / (|own| |other|) in float32; the first centroid with the largest similarity above 0 wins, else the
first of all. Centroids are numbered by movie id, largest first.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CUT = 1000
Reviews = list[tuple[int, int]]


class Movie(NamedTuple):
    id: int
    text: str
    reviews: Reviews


class Centroid(NamedTuple):
    movie: int
    similarity: int
    reviews: Reviews


def reviews_of(text: str) -> Reviews:
    return [(int(user), int(rating)) for user, _, rating in (one.partition("_") for one in text.split(",") if one)]


def movies_of(text: str) -> list[Movie]:
    split = [line.partition(":") for line in text.splitlines()]
    return [Movie(int(name), rest, reviews_of(rest)) for name, colon, rest in split if name and colon]


def centroids_of(text: str) -> list[Centroid]:
    rows = [line.split("\t")[1].split(" ") for line in text.splitlines() if " " in line]
    return sorted((Centroid(int(m), int(s), reviews_of(r)) for s, m, _, r in rows), key=lambda c: -c.movie)


def similarities(movies: list[Movie], centroids: list[Centroid]) -> NDArray[np.float32]:
    """[movie, centroid] in float32; 0 where they share no reviewer."""
    users = {user: i for i, user in enumerate(sorted({user for c in centroids for user, _ in c.reviews}))}
    theirs = np.zeros((len(centroids), len(users)), np.int64)
    for row, centroid in zip(theirs, centroids, strict=True):
        for user, rating in reversed(centroid.reviews):  # the first one stays
            row[users[user]] = rating
    times, total, squares = (np.zeros((len(movies), len(users)), np.int64) for _ in range(3))
    for i, movie in enumerate(movies):
        for user, rating in movie.reviews:
            if user in users:
                times[i, users[user]] += 1
                total[i, users[user]] += rating
                squares[i, users[user]] += rating * rating
    product = (total @ theirs.T).astype(np.float32)
    lengths = (np.sqrt((squares @ (theirs > 0).T).astype(np.float64)) * np.sqrt((times @ (theirs**2).T).astype(np.float64)))
    length = lengths.astype(np.float32)
    return np.divide(product, length, out=np.zeros_like(product), where=length > 0)


def assignments(movies: list[Movie], centroids: list[Centroid]) -> list[tuple[int, int]]:
    """(cluster, similarity in millionths) per movie."""
    found = similarities(movies, centroids)
    best = found.argmax(axis=1)  # the first of equal ones
    return [(int(c), int(np.floor(float(row[c]) * 1e6 + 0.5))) for c, row in zip(best, found, strict=True)]


def classification(movies: str, centroids: str) -> str:
    """Sorted lines `cluster TAB movie`."""
    found = movies_of(movies)
    placed = assignments(found, centroids_of(centroids))
    return joined(f"{cluster}\t{movie.id}\n" for (cluster, _), movie in zip(placed, found, strict=True))


def kmeans(movies: str, centroids: str) -> tuple[str, int]:
    """Sorted lines of the next centroids, and their mean change of similarity (each share cut to a whole number)."""
    found, old = movies_of(movies), centroids_of(centroids)
    members: dict[int, list[tuple[int, Movie]]] = {}
    for (cluster, similarity), movie in zip(assignments(found, old), found, strict=True):
        members.setdefault(cluster, []).append((similarity, movie))
    lines, change = [], 0
    for cluster, group in members.items():
        mean = Fraction(sum(similarity for similarity, _ in group), len(group))
        similarity, movie = min(group, key=lambda one: (abs(mean - one[0]), one[1].id, cut(one[1].text)))
        text = cut(movie.text)
        lines.append(f"{cluster}\t{similarity} {movie.id} {len(reviews_of(text))} {text}\n")
        change += abs(similarity - old[cluster].similarity) // len(old)
    return joined(lines), change


def cut(text: str) -> str:
    """A list of reviews up to the first comma at or behind character CUT."""
    comma = text.find(",", CUT)
    return text if comma < 0 else text[:comma]


def joined(lines: Iterable[str]) -> str:
    return "".join(sorted(lines))
