"""First centroids for kmeans and classification: the movies with the most reviews, of the first 64 MiB of a movie file.

    python bench/centroids.py movies.txt --clusters 16 -o centroids.txt

A line is `cluster TAB similarity movie reviews user_rating,...` with similarity 0, as in PUMA's initial_centroids.
"""

from __future__ import annotations

import argparse
import heapq
from pathlib import Path

LOOK_AT = 64 << 20


def centroids(movies: Path, clusters: int) -> bytes:
    """The side file's text. Raises ValueError where there are too few movies with reviews."""
    with movies.open("rb") as file:
        lines = file.readlines(LOOK_AT)
    found = [line.rstrip(b"\r\n").partition(b":") for line in lines]
    rated = [(text.count(b"_"), int(movie), text) for movie, _, text in found if movie.isdigit() and b"_" in text]
    largest = heapq.nlargest(clusters, rated)
    if len(largest) < clusters:
        raise ValueError(f"{movies}: only {len(largest)} movies have reviews")
    return b"".join(b"%d\t0 %d %d %s\n" % (k, movie, n, reviews) for k, (n, movie, reviews) in enumerate(largest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("movies", type=Path)
    parser.add_argument("--clusters", type=int, default=16)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.write_bytes(centroids(options.movies, options.clusters))


if __name__ == "__main__":
    main()
