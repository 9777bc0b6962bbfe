"""Trained weights are cached whole, under a name of all they depend on."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback.encoders import Autoencoder
from tellback.errors import TellbackError
from tellback.folders import user_cache
from tellback.worlds.pictures import Gallery
from tests.support.galleries import (
    GALLERY,
    SMALL,
    UNTRAINED,
    Instrumented,
    drawn,
    kept_in,
    weights_in,
)

# The cache


def test_what_was_trained_once_is_not_trained_again(cache: Path) -> None:
    watched, pictures = Instrumented(), drawn(3)
    first = SMALL.build(watched)
    assert len(watched.asked) == 1
    (path,) = kept_in(cache)
    before = path.read_bytes()
    second = SMALL.build(watched)
    assert len(watched.asked) == 1
    np.testing.assert_array_equal(first(pictures), second(pictures))
    assert path.read_bytes() == before


def test_weights_are_kept_as_safetensors_beside_all_that_they_depend_on(cache: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    SMALL.build(GALLERY)
    (path,) = kept_in(cache)
    assert path.suffix == ".safetensors"
    assert path.is_relative_to(cache / "tellback")
    with safetensors.safe_open(path, framework="numpy") as file:
        about = file.metadata()
    assert '"steps":3' in about["made_from"]
    assert '"variant":"jitter"' in about["made_from"]


def damaged(whole: bytes, how: str) -> bytes:
    if how == "empty":
        return b""
    if how == "not a file of weights":
        return b"\x80\x04" + 500 * b"nonsense"
    if how == "cut in the header":
        return whole[:100]
    if how == "cut in half":
        return whole[: len(whole) // 2]
    if how == "cut by a byte":
        return whole[:-1]
    place = {"a bit of the last number": -1, "a bit in the middle": len(whole) // 2}[how]
    changed = bytearray(whole)
    changed[place] ^= 1
    return bytes(changed)


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "not a file of weights",
        "cut in the header",
        "cut in half",
        "cut by a byte",
        "a bit of the last number",
        "a bit in the middle",
    ],
)
def test_a_damaged_file_is_trained_anew_and_replaced(cache: Path, how: str) -> None:
    pictures, watched = drawn(3), Instrumented()
    expected = SMALL.build(GALLERY)(pictures)
    (path,) = kept_in(cache)
    weights = weights_in(cache)
    path.write_bytes(damaged(path.read_bytes(), how))
    features = SMALL.build(watched)(pictures)
    assert len(watched.asked) == 1
    np.testing.assert_array_equal(features, expected)
    assert kept_in(cache) == [path]
    again = weights_in(cache)
    assert again.keys() == weights.keys()
    for name, value in weights.items():
        np.testing.assert_array_equal(again[name], value, err_msg=name)
    SMALL.build(watched)
    assert len(watched.asked) == 1, "the new file is used"


def test_no_flipped_bit_of_a_file_changes_the_features(cache: Path) -> None:
    pictures, rng = drawn(1), np.random.default_rng(0)
    expected = UNTRAINED.build(GALLERY)(pictures)
    (path,) = kept_in(cache)
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    places = [*rng.integers(header, size=25), *rng.integers(header, len(whole), size=15)]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        features = UNTRAINED.build(GALLERY)(pictures)
        np.testing.assert_array_equal(features, expected, err_msg=f"byte {place}")


def test_weights_of_another_network_are_not_taken_for_these(cache: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    expected = UNTRAINED.build(GALLERY)(drawn(1))
    (path,) = kept_in(cache)
    name, bias = "encoder.0.bias", np.zeros(16, dtype=np.float32)
    digest = hashlib.sha256(name.encode() + bias.tobytes()).hexdigest()
    numpy_files.save_file({name: bias}, path, metadata={"sha256": digest})  # whole, and no use
    np.testing.assert_array_equal(UNTRAINED.build(GALLERY)(drawn(1)), expected)


def test_other_settings_or_pictures_have_files_of_their_own(cache: Path) -> None:
    base = Autoencoder(steps=0, pictures=1)
    changes: list[dict[str, object]] = [
        {},
        {"pictures": 2},
        {"steps": 1},
        {"batch": 5},
        {"learning_rate": 0.002},
        {"clip": 2.0},
        {"seed": 1},
    ]
    assert {name for change in changes for name in change} | {"summed_over"} == set(base.settings())
    for change in changes:
        base.with_settings(change).build(GALLERY)
    assert len(kept_in(cache)) == len(changes)
    galleries = [
        Gallery(GALLERY.types, GALLERY.colours, "free"),
        Gallery(("square",), GALLERY.colours, "jitter"),
        Gallery(GALLERY.types, ("red",), "jitter"),
    ]
    for gallery in galleries:
        base.build(gallery)
    assert len(kept_in(cache)) == len(changes) + len(galleries)


def test_a_cache_that_cannot_be_written_to_is_named_with_the_way_out(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_a_folder = cache / "file"
    not_a_folder.write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(not_a_folder))
    with pytest.raises(TellbackError, match="XDG_CACHE_HOME") as refusal:
        UNTRAINED.build(GALLERY)
    assert str(not_a_folder) in str(refusal.value)


def test_the_cache_is_where_the_user_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert user_cache() == tmp_path / "elsewhere" / "tellback"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert user_cache() == tmp_path / ".cache" / "tellback"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache() == tmp_path / ".cache" / "tellback"


def test_a_number_type_that_was_changed_in_the_file_is_noticed(cache: Path) -> None:
    expected = SMALL.build(GALLERY)(drawn(3))
    (path,) = kept_in(cache)
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"I32"', 1))
    np.testing.assert_array_equal(SMALL.build(GALLERY)(drawn(3)), expected)


def test_a_cache_without_room_is_noticed_before_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    watched = Instrumented()
    with pytest.raises(TellbackError, match="XDG_CACHE_HOME"):
        SMALL.build(watched)
    assert not watched.asked
