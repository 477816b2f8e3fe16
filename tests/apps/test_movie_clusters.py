"""kmeans and classification against their oracle: on the CPU and on the emulated device, cut in any way, both placements."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bench.centroids import centroids as first_centroids
from heterodoop import manifest

from ..support import cli_here
from . import movie_clusters as oracle
from .everywhere import APPS, compiled

pytestmark = pytest.mark.usefixtures("kernel_cache")

NAMES = ["classification", "kmeans"]
TINY = ["-D", "heterodoop.gpu.sub-split.bytes=700", "--split-size=9k", "--reducers=3"]
_ITEMS = ("shared-tables", "longest-first", "hash-fold", "word-output", "search-ahead")
OFF = [word for item in _ITEMS for word in ("--no-opt", item)]


def heterodoop(*arguments: object, status: int = 0) -> str:
    return cli_here(*arguments, status=status).message


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """NAME.hdp, and variants of both apps: with the texture clause, the paper's optimisations, and none."""
    folder = tmp_path_factory.mktemp("bundles")
    for name in NAMES:
        for variant, options in {"": [], "-texture": ["-D", "TEXTURE"], "-paper": ["--opt", "paper"], "-off": OFF}.items():
            (folder / f"{name}{variant}.hdp").symlink_to(compiled(name, *options))
    return folder


def result(bundle: Path, movies: Path, centroids: Path, output: Path, *options: str) -> str:
    heterodoop("run", bundle, movies, "--file", f"{centroids}#centroids.txt", "-o", output, "--quiet", *options)
    lines = [line for path in output.glob("part-*") for line in path.read_text().splitlines(keepends=True)]
    return oracle.joined(lines)


def expected(app: str, movies: str, centroids: str) -> str:
    return oracle.classification(movies, centroids) if app == "classification" else oracle.kmeans(movies, centroids)[0]


@pytest.mark.parametrize("app", NAMES)
def test_expected_output_is_the_oracle(app: str) -> None:
    folder = APPS / app
    made = expected(app, (folder / "sample.txt").read_text(), (folder / "centroids.txt").read_text())
    assert made == (folder / "expected.txt").read_text() and len({line.split("\t")[0] for line in made.splitlines()}) == 8


@pytest.mark.parametrize("app", NAMES)
def test_the_side_file_has_the_largest_movies(app: str) -> None:
    assert (APPS / app / "centroids.txt").read_bytes() == first_centroids(APPS / app / "sample.txt", 8)
    assert (APPS / app / "centroids.h").read_bytes() == (APPS / "kmeans" / "centroids.h").read_bytes()


@pytest.mark.parametrize("app", NAMES)
@pytest.mark.parametrize(("variant", "options"), [
    ("", []), ("", ["--split-size=9k", "--reducers=3"]), ("", ["--device=emulated"]), ("", ["--device=emulated", *TINY]),
    ("-texture", ["--device=emulated", *TINY]), ("-paper", ["--device=emulated"]), ("-off", ["--device=emulated"]),
])
def test_every_way_gives_the_expected_output(
    app: str, variant: str, options: list[str], bundles: Path, tmp_path: Path,
) -> None:
    folder = APPS / app
    bundle = bundles / f"{app}{variant}.hdp"
    made = result(bundle, folder / "sample.txt", folder / "centroids.txt", tmp_path / "out", *options)
    assert made == (folder / "expected.txt").read_text()
    report = json.loads((tmp_path / "out.report" / "report.json").read_text())
    assert report["device"]["left_to_cpu"] == []


@pytest.mark.parametrize("app", NAMES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_movies(app: str, seed: int, bundles: Path, tmp_path: Path) -> None:
    """Replicated ids, equal similarities, users twice in a list, movies that share nobody, lines that are none."""
    rng = random.Random(seed)

    def reviews(n: int) -> str:
        return ",".join(f"{rng.randrange(40 * seed)}_{rng.randint(1, 5)}" for _ in range(n))

    movies = "".join(f"{rng.randrange(60)}:{reviews(rng.choice([0, 1, 2, 5, 300]))}\n" for _ in range(120))
    movies += "no movie\n\n:1_3,2_5\n90:,1_3,,2_5,\n91:1_4"
    side = "".join(f"{k}\t0 {movie} 4 {reviews(4)}\n" for k, movie in enumerate(rng.sample(range(100), 5)))
    (tmp_path / "movies").write_text(movies)
    (tmp_path / "side").write_text(side)
    for device in ("cpu", "emulated"):
        options = [f"--device={device}", "--split-size=5k"]
        made = result(bundles / f"{app}.hdp", tmp_path / "movies", tmp_path / "side", tmp_path / device, *options)
        assert made == expected(app, movies, side)


def test_the_texture_macro_moves_the_tables(bundles: Path) -> None:
    for name in NAMES:
        for variant, kind in (("", "object"), ("-texture", "texture")):
            kernel = manifest.load(bundles / f"{name}{variant}.hdp").programs[0].kernel
            assert kernel is not None and [v.kind for v in kernel.shared].count(kind) == 2


def test_members_can_be_printed_too(bundles: Path, tmp_path: Path) -> None:
    folder = APPS / "kmeans"
    made = result(bundles / "kmeans.hdp", folder / "sample.txt", folder / "centroids.txt", tmp_path / "out",
                  "-D", "kmeans.members=true")
    movies = oracle.movies_of((folder / "sample.txt").read_text())
    placed = oracle.assignments(movies, oracle.centroids_of((folder / "centroids.txt").read_text()))
    members = [f"{cluster}\t{movie.id}:{movie.text}\n" for (cluster, _), movie in zip(placed, movies, strict=True)]
    assert made == oracle.joined([*members, *(folder / "expected.txt").read_text().splitlines(keepends=True)])


@pytest.mark.parametrize("options", [
    ["--reducers=3", "--split-size=9k"], ["--device=emulated", "-D", "kmeans.members=true"],
])
def test_rounds_until_little_changes(options: list[str], bundles: Path, tmp_path: Path) -> None:
    """--iterate against the oracle, round by round; printed members are no centroids."""
    folder = APPS / "kmeans"
    movies, side = (folder / "sample.txt").read_text(), (folder / "centroids.txt").read_text()
    changes = []
    while not changes or changes[-1] >= 10_000:
        side, change = oracle.kmeans(movies, side)
        changes.append(change)
    options = [*options, "--iterate", "centroids.txt", "--until", "kmeans:change<10000"]
    made = result(bundles / "kmeans.hdp", folder / "sample.txt", folder / "centroids.txt", tmp_path / "out", *options)
    assert oracle.joined(line for line in made.splitlines(keepends=True) if " " in line) == side
    report = json.loads((tmp_path / "out.report" / "report.json").read_text())
    assert [done["value"] for done in report["iterate"]["rounds"]] == changes and len(changes) > 2


@pytest.mark.parametrize(("movies", "side", "message"), [
    ("7:5_x\n", "0\t0 1 1 5_3\n", "not a rating: x"), ("x:5_1\n", "0\t0 1 1 5_3\n", "not a movie's id: x:5_1"),
    ("7:51\n", "0\t0 1 1 5_3\n", "not user_rating: 51"), ("7:5_1\n", "nothing\n", "no centroid in: centroids.txt"),
])
def test_what_cannot_be_read_fails_the_task(movies: str, side: str, message: str, bundles: Path, tmp_path: Path) -> None:
    (tmp_path / "movies").write_text(movies)
    (tmp_path / "side").write_text(side)
    job = ["run", bundles / "kmeans.hdp", tmp_path / "movies", "--file", f"{tmp_path / 'side'}#centroids.txt", "--quiet"]
    for device in ("cpu", "emulated"):
        assert message in heterodoop(*job, "-o", tmp_path / "out", "--max-attempts=1", "--device", device, status=1)


def test_a_job_without_its_side_file_says_what_to_do(bundles: Path, tmp_path: Path) -> None:
    job = ["run", bundles / "classification.hdp", APPS / "kmeans" / "sample.txt", "-o", tmp_path / "out", "--max-attempts=1"]
    assert "run with --file PATH#centroids.txt; cannot open" in heterodoop(*job, "--quiet", status=1)
