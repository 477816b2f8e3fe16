"""The paper's own numbers, each with the place where it says so. What stands only in a picture is not here.

A. Sabne, P. Sakdhnagool, R. Eigenmann: HeteroDoop: A MapReduce Programming System for Accelerator Clusters, HPDC 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

MACHINE = "48 nodes with 20 cores (Xeon E5-2680) and a Tesla K40 each, Hadoop 1.2.1 (Table 3, Cluster1)"


@dataclass(frozen=True)
class Benchmark:
    """A row of Table 2: the short name, the share of the job's time in which map and combine are active (percent), what the
    paper takes it for, and whether it has a combiner."""

    short: str
    map_combine: int
    nature: str
    combiner: bool


TABLE2: dict[str, Benchmark] = {
    "grep": Benchmark("GR", 69, "IO", True),
    "histmovies": Benchmark("HS", 91, "IO", True),
    "wordcount": Benchmark("WC", 91, "IO", True),
    "histratings": Benchmark("HR", 92, "compute", True),
    "linear_regression": Benchmark("LR", 86, "compute", True),
    "kmeans": Benchmark("KM", 89, "compute", False),
    "classification": Benchmark("CL", 92, "compute", False),
    "blackscholes": Benchmark("BS", 100, "compute", False),
}

FIG4_LARGEST, FIG4_MEAN = 2.78, 1.6  # abstract and section 1: at most, and the geometric mean, with one GPU a node
FIG5: dict[str, float] = {"blackscholes": 47.0}  # section 7.4: "as high as 47x for BS"
FIG6_SAYS: dict[str, str] = {  # section 7.4
    "blackscholes": "62 % writing the output",
    "wordcount": "mostly sort",
    "histratings": "combine",
    "linear_regression": "combine",
    "kmeans": "map",
    "classification": "map",
}


@dataclass(frozen=True)
class Effect:
    """A part of Fig. 7: the item of the paper's set, the stage that it makes faster, by how much at most (section 7.4), and
    the apps that the text names ((): those that it changes)."""

    part: str
    item: str
    stage: str
    at_most: float
    apps: tuple[str, ...] = ()


FIG7 = (
    Effect("7 a", "texture", "map", 2.0, ("kmeans", "classification")),
    Effect("7 b", "vectorized", "device_combine", 2.7),
    Effect("7 c", "vectorized", "map", 1.7),
    Effect("7 d", "block-stealing", "map", 1.36),
    Effect("7 e", "scan-aggregation", "sort", 7.6),
)
