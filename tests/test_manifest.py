"""The manifest is read strictly: what was written comes back equal, anything else is refused with a message."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.errors import UsageError
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import (
    FILE,
    VERSION,
    Cubin,
    Emission,
    Fold,
    FoldField,
    HostKernel,
    Input,
    Kernel,
    Manifest,
    PairReader,
    Placed,
    Program,
    Reason,
    Region,
    SharedVar,
    Variable,
    from_json,
    load,
    sha256,
)
from heterodoop.source import Span

REGION = Region(
    "combiner", "main", "combine.c:9:1", "scanf", "prev", "count", "word", "val", 30, 1, 0, 0, 0,
    (Variable("count", "int", 4, "firstprivate", "starts with its old value", "combine.c:4:5"),),
    (Emission("printf", "%s\t%d\n", "combine.c:20:3", "%s", "%d"),),
    PairReader("token", 29, ("int32", "double"), between=(",",)),
    Fold((FoldField("sum", "int32"), FoldField("min", "uint64")), ("; ",), "prev", ("count", "least"), True),
)
KERNEL = Kernel(
    source="cuda/combine.cu", entry="hd_combine", threads=128, blocks=0, kvpairs=0, key_bytes=29,
    value_bytes=11, shared_bytes=32, stack_bytes=0,
    shared=(SharedVar("prev", "array", 0, 30), SharedVar("*p", "heap", -1, 0)),
    prologue="bin/combine.prologue", prologue_runs="once", plan=KernelPlan(),
    cubins=(Cubin("sm_90", "cuda/combine.sm_90.cubin", "2" * 64, 40, 0),),
    places=(Placed("prev", "private", 30, "each thread's own copy"),),
)
REASON = Reason("HD202", "no directive", Span("map.c", 3, 1, 8), "while (1) {")
MANIFEST = Manifest(
    VERSION, "0.1.0", "größe", "gcc 12", "glibc 2.36", ("-O3",),
    (Program("map", "bin/map", ("src/map.c",), None, (REASON,), no_host=(REASON,)),
     Program("combine", "bin/combine", ("src/combine.c",), REGION, (), KERNEL)),
    (Input("map.c", "0" * 64),), (Input("bin/map", "1" * 64),),
)


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(MANIFEST.to_json()), **fields})


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        from_json(text)
    return caught.value


def test_what_is_written_is_read_back() -> None:
    assert from_json(MANIFEST.to_json()) == MANIFEST
    assert from_json(MANIFEST.to_json()).to_json() == MANIFEST.to_json()
    assert MANIFEST.program("combine") is MANIFEST.programs[1] and MANIFEST.program("reduce") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", "[" * 100_000, '{"version": 1}', '{"version": NaN}'])
def test_text_that_is_no_manifest_is_refused(text: str) -> None:
    assert refused(text).code in ("HD310", "HD311")


@pytest.mark.parametrize("version", [0, 1, VERSION + 1, "1", None])
def test_another_version_is_refused_by_number(version: object) -> None:
    error = refused(changed(version=version))
    assert error.code == "HD311" and repr(version) in error.message and "compile" in error.help


@pytest.mark.parametrize(("fields", "named"), [
    ({"name": 1}, "manifest.name"),
    ({"flags": "O3"}, "manifest.flags"),
    ({"flags": [1]}, "manifest.flags[0]"),
    ({"extra": 1}, "extra"),
    ({"programs": []}, "one map"),
    ({"inputs": [{"path": "x"}]}, "sha256"),
    ({"binaries": [{"path": "x", "sha256": True}]}, "manifest.binaries[0].sha256"),
])
def test_the_faulty_field_is_named(fields: dict[str, Any], named: str) -> None:
    error = refused(changed(**fields))
    assert error.code == "HD310" and named in error.message


def program(**fields: Any) -> dict[str, Any]:
    return {**dataclasses.asdict(MANIFEST.programs[0]), **fields}


@pytest.mark.parametrize("binary", ["/bin/sh", "../map", "bin/../../map", "", "bin/\0"])
def test_a_path_out_of_the_bundle_is_refused(binary: str) -> None:
    assert "leaves the bundle" in refused(changed(programs=[program(binary=binary)])).message
    assert "leaves the bundle" in refused(changed(programs=[program(sources=[binary])])).message


@pytest.mark.parametrize("field", ["source", "prologue"])
def test_a_kernels_files_lie_inside(field: str) -> None:
    kernel = dataclasses.asdict(dataclasses.replace(KERNEL, **{field: "../x"}))  # type: ignore[arg-type]
    assert "leaves the bundle" in refused(changed(programs=[program(kernel=kernel)])).message
    cubin = dataclasses.replace(KERNEL.cubins[0], path="/x.cubin")
    kernel = dataclasses.asdict(dataclasses.replace(KERNEL, cubins=(cubin,)))
    assert "leaves the bundle" in refused(changed(programs=[program(kernel=kernel)])).message


@pytest.mark.parametrize(("change", "named"), [
    ({"plan": {**dataclasses.asdict(KernelPlan()), "sink": "Queue"}}, "plan.sink"),
    ({"threads": "128"}, "kernel.threads"), ({"prologue_runs": 1}, "prologue_runs"),
    ({"shared": [{"name": "a", "kind": "vector", "offset": 0, "nbytes": 1, "texel": ""}]}, "shared[0].kind"),
    ({"cubins": [{"arch": "sm_90"}]}, "cubins[0]"), ({"places": [{}]}, "places[0]"), ({"more": 1}, "'more'"),
])
def test_a_faulty_kernel_is_named(change: dict[str, Any], named: str) -> None:
    kernel = {**dataclasses.asdict(KERNEL), **change}
    assert named in refused(changed(programs=[program(kernel=kernel)])).message


TOTAL: dict[str, Any] = {
    "name": "bin.n", "base": 8, "nbytes": 40, "at": 4, "size": 4, "count": 6, "inner": 2, "stride": 12, "op": "sum",
    "signed": True,
}


def test_totals_lie_in_their_variables() -> None:
    kernel = {**dataclasses.asdict(KERNEL), "totals": [TOTAL]}
    assert from_json(changed(programs=[program(kernel=kernel)])).programs[0].kernel is not None
    for wrong in ({"size": 3}, {"base": -4}, {"at": 2}, {"count": 5}, {"inner": 0}, {"inner": 7}, {"stride": 4},
                  {"stride": 14}, {"count": 8}, {"nbytes": 34}, {"count": 0}):
        kernel["totals"] = [{**TOTAL, **wrong}]
        assert "'bin.n' has" in refused(changed(programs=[program(kernel=kernel)])).message, wrong


def test_a_faulty_host_kernel_is_named() -> None:
    host = {"binary": "../x", "folds": True, "regroup": True, "no_folds": [], "needle": ""}
    assert "leaves the bundle" in refused(changed(programs=[program(host=host)])).message
    assert "host.regroup" in refused(changed(programs=[program(host={**host, "regroup": 1})])).message
    assert "no_host" in refused(changed(programs=[program(no_host=[{}])])).message


def test_a_host_kernel_is_a_file_of_its_program() -> None:
    program = dataclasses.replace(MANIFEST.programs[0], host=HostKernel("bin/map.host", True, True))
    assert program.files() == ("bin/map", "bin/map.host")
    manifest = dataclasses.replace(MANIFEST, programs=(program,))
    assert from_json(manifest.to_json()) == manifest


def test_the_files_of_a_program() -> None:
    assert MANIFEST.programs[0].files() == ("bin/map",)
    assert MANIFEST.programs[1].files() == (
        "bin/combine", "cuda/combine.cu", "bin/combine.prologue", "cuda/combine.sm_90.cubin",
    )


def test_a_role_is_held_once() -> None:
    assert refused(changed(programs=[program(), program()])).code == "HD310"
    assert refused(changed(programs=[program(role="shuffle")])).code == "HD310"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8,
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, inner in pairs for place in places(inner, (*path, key)))]


@settings(max_examples=300)
@given(data=st.data())
def test_any_change_is_read_as_it_stands_or_refused(data: st.DataObject) -> None:
    """Replace or remove anything anywhere: never another exception, never a value of another type."""
    document = json.loads(MANIFEST.to_json())
    *path, last = data.draw(st.sampled_from([place for place in places(document) if place]))
    parent = document
    for key in path:
        parent = parent[key]
    if data.draw(st.booleans()):
        parent[last] = data.draw(JSON)
    else:
        del parent[last]
    try:
        manifest = from_json(json.dumps(document))
    except UsageError as error:
        assert error.code in ("HD310", "HD311") and error.message
    else:
        assert json.loads(manifest.to_json()) == document


@pytest.mark.parametrize(("part", "change"), [
    ("pairs", {"between": []}), ("pairs", {"between": [""]}), ("pairs", {"between": [".....", ]}),
    ("pairs", {"between": ["\n"]}), ("pairs", {"between": ["\u00e9"]}), ("pairs", {"value": [], "between": [","]}),
    ("pairs", {"value": ["int32"] * 9, "between": [","] * 8}), ("pairs", {"value": ["text", "int32"]}),
    ("fold", {"fields": [], "between": [], "accumulators": []}), ("fold", {"accumulators": ["count"]}),
    ("fold", {"fields": [{"op": "product", "value": "int32"}] * 2}), ("fold", {"between": [",", ","]}),
])
def test_numbers_and_what_stands_between_them_fit(part: str, change: dict[str, Any]) -> None:
    data = json.loads(MANIFEST.to_json())
    region = next(program["region"] for program in data["programs"] if program["role"] == "combine")
    region[part] |= change
    assert refused(json.dumps(data)).code == "HD310"


@settings(max_examples=200)
@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_any_text_is_refused(text: str) -> None:
    assert refused(text).code in ("HD310", "HD311")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    for folder in ("bin", "cuda"):
        (tmp_path / folder).mkdir()
    paths = [path for program in MANIFEST.programs for path in program.files()]
    for path in paths:
        (tmp_path / path).write_bytes(b"filter")
    binaries = tuple(Input(path, sha256(tmp_path / path)) for path in paths)
    (tmp_path / FILE).write_text(dataclasses.replace(MANIFEST, binaries=binaries).to_json())
    return tmp_path


def test_a_bundle_loads(bundle: Path) -> None:
    assert load(bundle).name == "größe"


def test_a_filter_without_a_hash_is_refused(bundle: Path) -> None:
    (bundle / FILE).write_text(MANIFEST.to_json())
    with pytest.raises(UsageError, match="'bin/combine' has no hash") as caught:
        load(bundle)
    assert caught.value.code == "HD310"


@pytest.mark.parametrize("path", ["cuda/combine.sm_90.cubin", "bin/combine.prologue", "cuda/combine.cu"])
def test_a_changed_kernel_is_refused(bundle: Path, path: str) -> None:
    (bundle / path).write_bytes(b"filtes")
    with pytest.raises(UsageError, match=f"{path} is not the file that was built"):
        load(bundle)


def test_a_changed_or_missing_filter_is_refused(bundle: Path) -> None:
    (bundle / "bin" / "map").write_bytes(b"filtes")
    with pytest.raises(UsageError, match="is not the file that was built") as caught:
        load(bundle)
    assert caught.value.code == "HD313"
    (bundle / "bin" / "map").unlink()
    with pytest.raises(UsageError, match="No such file") as caught:
        load(bundle)
    assert caught.value.code == "HD313"


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="is not a bundle") as caught:
            load(path)
        assert caught.value.code == "HD312"
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not a bundle"):
        load(tmp_path)
