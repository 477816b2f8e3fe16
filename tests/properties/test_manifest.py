"""A bundle's manifest that was damaged, by chance or on purpose: refused as such, or read as what it says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heterodoop import manifest
from heterodoop.errors import UsageError

from ..support import Bundles
from .test_engine import SUM, SUM_REDUCE, WORDS

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(
    ["", "/etc/passwd", "../x", "a/../../x", "\0", "\ud800", ".", "bin/map", "src", "map", "combine", "x" * 5000, 1, 0, -1],
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, as the keys and indexes that lead there."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def changed(value: Any, path: tuple[Any, ...], how: str, new: Any) -> Any:
    """`value` with the part at `path` set to `new`, removed, or given `new` as one more entry."""
    if not path:
        if how == "add" and isinstance(value, dict):
            return {**value, "another": new}
        return [*value, new] if how == "add" and isinstance(value, list) else new
    if how == "remove" and len(path) == 1:
        del value[path[0]]
    else:
        value[path[0]] = changed(value[path[0]], path[1:], how, new)
    return value


def read(folder: Path, text: bytes) -> manifest.Manifest | None:
    """Load a bundle with this manifest: None where it is refused; nothing else may happen."""
    (folder / "manifest.json").write_bytes(text)
    try:
        return manifest.load(folder)
    except UsageError as error:
        assert error.code in ("HD310", "HD311", "HD312", "HD313") and error.message
        return None


def bundle_in(bundles: Bundles, folder: Path) -> tuple[Path, bytes]:
    bundle = folder / "x.hdp"
    if not bundle.exists():
        shutil.copytree(bundles.get(WORDS, SUM, SUM_REDUCE), bundle)
        shutil.copyfile(bundle / "manifest.json", folder / "original")
    return bundle, (folder / "original").read_bytes()


LIMITS = settings(max_examples=100)


def test_the_manifest_itself_is_read(bundles: Bundles, tmp_path: Path) -> None:
    bundle, original = bundle_in(bundles, tmp_path)
    found = read(bundle, original)
    assert found is not None and found.to_json().encode() == original


@given(data=st.data())
@settings(LIMITS)
def test_a_changed_value(data: st.DataObject, bundles: Bundles, tmp_path: Path) -> None:
    bundle, original = bundle_in(bundles, tmp_path)
    value = json.loads(original)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)))
        value = changed(value, path, data.draw(st.sampled_from(["set", "remove", "add"])), data.draw(VALUES))
    found = read(bundle, json.dumps(value).encode())
    if found is not None:
        assert manifest.from_json(found.to_json()) == found
        assert json.loads(found.to_json()) == value, "nothing was guessed or dropped"


@given(data=st.data())
@settings(LIMITS)
def test_changed_bytes(data: st.DataObject, bundles: Bundles, tmp_path: Path) -> None:
    bundle, original = bundle_in(bundles, tmp_path)
    text = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=6))
    found = read(bundle, bytes(text))
    if found is not None:
        assert manifest.from_json(found.to_json()) == found


@given(text=st.binary(max_size=60))
@example(text=b"")
@example(text=b"null")
@example(text=b'{"version": 1e999}')
@example(text=b'{"version": ' + b"9" * 5000 + b"}")
@example(text=b"[" * 100000)
@example(text=b'{"a":' * 100000)
@example(text=b'{"version": NaN}')
@settings(LIMITS)
def test_any_bytes(text: bytes, bundles: Bundles, tmp_path: Path) -> None:
    bundle, _ = bundle_in(bundles, tmp_path)
    assert read(bundle, text) is None


@pytest.mark.parametrize("path", ["", "/bin/sh", "../x", "bin/../../x", "a\0b", "\ud800", "bin", "x" * 300, "bin/map/x"])
def test_filters_that_are_not_the_ones_that_were_built(path: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle, original = bundle_in(bundles, tmp_path)
    hashed = changed(json.loads(original), ("binaries", 0, "path"), "set", path)
    assert read(bundle, json.dumps(hashed).encode()) is None
    for value in (json.loads(original), hashed):
        assert read(bundle, json.dumps(changed(value, ("programs", 0, "binary"), "set", path)).encode()) is None


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.c", "src/../../x.c", "", "a\0b"])
def test_sources_outside_the_bundle(path: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle, original = bundle_in(bundles, tmp_path)
    value = changed(json.loads(original), ("programs", 0, "sources", 0), "set", path)
    assert read(bundle, json.dumps(value).encode()) is None
