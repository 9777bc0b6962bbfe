"""Encoders turn pictures into features, the same ones every time, and are trained once."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tellback import play
from tellback.agents import Uniform
from tellback.encoders import Autoencoder, EncoderSpec, Thumbnail, encoder_from
from tellback.errors import SettingError, TellbackError
from tellback.folders import user_cache
from tellback.specs import Data, spec_from_data
from tellback.worlds import Images
from tellback.worlds.pictures import Gallery, Shape
from tests.support.oracles import Floats
from tests.support.patience import PATIENCE

Pixels = NDArray[np.uint8]

GALLERY = Gallery(("square", "circle"), ("red", "blue", "grey"), "jitter")
ONE_PICTURE = Gallery(("triangle",), ("orange",), "canon")
SMALL = Autoencoder(steps=3, pictures=8, batch=2)
UNTRAINED = SMALL.with_settings({"steps": 0})


def drawn(count: int, seed: int = 0) -> Pixels:
    return GALLERY.draw(count, np.random.default_rng(seed))


class Instrumented:
    """The same gallery, which counts how often it is asked for pictures to train on."""

    def __init__(self, gallery: Gallery = GALLERY) -> None:
        self.gallery = gallery
        self.asked: list[int] = []

    def draw(self, count: int, rng: np.random.Generator) -> Pixels:
        self.asked.append(count)
        return self.gallery.draw(count, rng)

    def to_data(self) -> Data:
        return self.gallery.to_data()


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch on one thread: the oracles are too small for more."""
    pytest.importorskip("safetensors")
    library = pytest.importorskip("torch")
    before = library.get_num_threads()
    library.set_num_threads(1)
    yield library
    library.set_num_threads(before)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: Any) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def kept_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def weights_in(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The one trained encoder of a folder, read without running anything."""
    (path,) = kept_in(folder)
    weights: dict[str, NDArray[np.float32]] = pytest.importorskip("safetensors.numpy").load_file(
        path
    )
    return weights


# Thumbnails


def mean_cells(picture: Pixels, cells: int) -> list[float]:
    """Pixel after pixel; what does not divide evenly makes the first cells one larger."""

    def bounds(length: int) -> list[tuple[int, int]]:
        sizes = [length // cells + (i < length % cells) for i in range(cells)]
        ends = np.cumsum(sizes).tolist()
        return [(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    means = []
    for top, bottom in bounds(picture.shape[0]):
        for left, right in bounds(picture.shape[1]):
            for channel in range(3):
                total = sum(
                    int(picture[i, j, channel])
                    for i in range(top, bottom)
                    for j in range(left, right)
                )
                means.append(total / ((bottom - top) * (right - left)) / 255)
    return means


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 8), st.integers(0, 8), st.integers(0, 2**32))
def test_a_thumbnail_is_the_mean_of_each_cell(
    cells: int, more_rows: int, more_columns: int, seed: int
) -> None:
    shape = (3, cells + more_rows, cells + more_columns, 3)
    pictures = np.random.default_rng(seed).integers(256, size=shape, dtype=np.uint8)
    features = encoder_from(Thumbnail(cells), GALLERY)(pictures)
    expected = [mean_cells(picture, cells) for picture in pictures]
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("cells", [1, 3, 4, 7])
def test_a_thumbnail_of_a_whole_picture_need_not_divide_it(cells: int) -> None:
    pictures = drawn(2)
    features = encoder_from(Thumbnail(cells), GALLERY)(pictures)
    np.testing.assert_allclose(features, [mean_cells(p, cells) for p in pictures], rtol=1e-12)
    assert features.min() >= 0
    assert features.max() <= 1


@pytest.mark.parametrize("cells", [1, 2, 7, 50, 200])
def test_the_size_of_a_thumbnail_is_known_beforehand(cells: int) -> None:
    features = encoder_from(Thumbnail(cells), GALLERY)(drawn(2))
    assert features.shape == (2, Thumbnail(cells).dim)


def test_a_thumbnail_with_a_cell_for_each_pixel_is_the_picture() -> None:
    pictures = drawn(2)
    features = encoder_from(Thumbnail(200), GALLERY)(pictures)
    np.testing.assert_array_equal(features, pictures.reshape(2, -1) / 255)


# The autoencoder's layers


def convolved(x: Floats, weight: Floats, bias: Floats, stride: int) -> Floats:
    """A convolution by its definition, and the leaky unit after it."""
    side = weight.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(x, (side, side), axis=(1, 2))
    sums: Floats = np.einsum("chwij,ocij->ohw", windows[:, ::stride, ::stride], weight)
    sums += bias[:, None, None]
    return np.where(sums > 0, sums, 0.01 * sums)


def feature_map(weights: dict[str, NDArray[np.float32]], picture: Pixels) -> Floats:
    """The way down: 16 and 16 kernels of 8 x 8, stride 4, then 16 of 4 x 4, stride 2."""
    x: Floats = picture.transpose(2, 0, 1) / 255
    for layer, stride in ((0, 4), (2, 4), (4, 2)):
        weight, bias = weights[f"encoder.{layer}.weight"], weights[f"encoder.{layer}.bias"]
        x = convolved(x, weight.astype(np.float64), bias.astype(np.float64), stride)
    return x


def there_and_back(torch: Any, weights: dict[str, Any], x: Any) -> Any:
    """The whole network, layer by layer, from its weights."""
    do = torch.nn.functional

    def of(name: str) -> tuple[Any, Any]:
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    x = do.leaky_relu(do.conv2d(x, *of("encoder.0"), stride=4), 0.01)
    x = do.leaky_relu(do.conv2d(x, *of("encoder.2"), stride=4), 0.01)
    x = do.leaky_relu(do.conv2d(x, *of("encoder.4"), stride=2), 0.01)
    x = do.linear(x.reshape(len(x), 256), *of("middle.1")).reshape(len(x), 16, 4, 4)
    x = do.conv_transpose2d(x, *of("decoder.0"), stride=2, output_padding=1)
    x = do.conv_transpose2d(do.leaky_relu(x, 0.01), *of("decoder.2"), stride=4, output_padding=1)
    return do.conv_transpose2d(do.leaky_relu(x, 0.01), *of("decoder.4"), stride=4)


def as_tensors(torch: Any, weights: dict[str, NDArray[np.float32]]) -> dict[str, Any]:
    return {name: torch.tensor(value) for name, value in weights.items()}


def shown_to(torch: Any, pictures: Pixels) -> Any:
    return torch.tensor(pictures.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255))


def test_features_are_the_map_of_16_by_4_by_4_summed_by_either_reading(cache: Path) -> None:
    pictures = drawn(3)
    by_channels = SMALL.build(GALLERY)(pictures)
    by_places = SMALL.with_settings({"summed_over": "places"}).build(GALLERY)(pictures)
    weights = weights_in(cache)
    assert by_channels.shape == by_places.shape == (3, 16)
    assert by_channels.dtype == by_places.dtype == np.float64
    for picture, one, other in zip(pictures, by_channels, by_places, strict=True):
        full = feature_map(weights, picture)
        assert full.shape == (16, 4, 4)
        np.testing.assert_allclose(one, full.sum(axis=0).ravel(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(other, full.sum(axis=(1, 2)), rtol=1e-4, atol=1e-5)
        assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("summed_over", ["channels", "places"])
def test_the_size_of_the_features_is_known_beforehand(cache: Path, summed_over: str) -> None:
    spec = UNTRAINED.with_settings({"summed_over": summed_over})
    assert spec.build(GALLERY)(drawn(1)).shape == (1, spec.dim)


def test_both_readings_share_one_training(cache: Path) -> None:
    watched = Instrumented()
    SMALL.build(watched)
    SMALL.with_settings({"summed_over": "places"}).build(watched)
    assert len(watched.asked) == 1
    assert len(kept_in(cache)) == 1


def test_the_layers_are_those_of_the_paper(cache: Path) -> None:
    UNTRAINED.build(GALLERY)
    shapes = sorted(value.shape for value in weights_in(cache).values())
    kernels = [(16, 3, 8, 8), (16, 16, 8, 8), (16, 16, 4, 4)]
    back = [(16, 16, 4, 4), (16, 16, 8, 8), (16, 3, 8, 8)]
    biases = [(16,), (16,), (16,), (256,), (16,), (16,), (3,)]
    assert shapes == sorted([*kernels, (256, 256), *back, *biases])


def test_a_reconstruction_is_a_picture_that_went_through_all_layers(
    cache: Path, torch: Any
) -> None:
    live = Autoencoder(steps=20, pictures=4).build(GALLERY)
    pictures = drawn(2)
    again = live.reconstruct(pictures)
    assert again.shape == (2, 200, 200, 3)
    assert again.dtype == np.uint8
    with torch.no_grad():
        expected = there_and_back(
            torch, as_tensors(torch, weights_in(cache)), shown_to(torch, pictures)
        )
    levels = np.clip(expected.numpy(), 0, 1).transpose(0, 2, 3, 1) * 255
    assert np.abs(again - levels).max() <= 0.501, "rounded to the nearest"
    assert again.std() > 1, "something can be seen"


def test_many_pictures_have_the_features_that_each_has_alone(cache: Path) -> None:
    live, pictures = UNTRAINED.build(GALLERY), drawn(70)
    features, again = live(pictures), live.reconstruct(pictures)
    assert features.shape == (70, 16)
    assert again.shape == pictures.shape
    for i in (0, 63, 64, 69):
        alone = live(pictures[i : i + 1])
        np.testing.assert_allclose(features[i : i + 1], alone, rtol=1e-4, atol=1e-5)
    assert len(np.unique(features.round(6), axis=0)) == 70, "pictures must be told apart"


@pytest.mark.parametrize(
    "pictures",
    [
        np.zeros((2, 100, 100, 3), dtype=np.uint8),
        np.zeros((2, 200, 200, 4), dtype=np.uint8),
        np.zeros((2, 3, 200, 200), dtype=np.uint8),
        np.zeros((200, 200, 3), dtype=np.uint8),
        np.zeros((2, 200, 200, 3), dtype=np.float64),
        np.zeros((2, 200, 200, 3), dtype=np.int8),
    ],
    ids=lambda pictures: f"{pictures.dtype} {pictures.shape}",
)
def test_pictures_of_another_size_or_type_are_refused(cache: Path, pictures: Any) -> None:
    live = UNTRAINED.build(GALLERY)
    for turn in (live, live.reconstruct):
        with pytest.raises(SettingError, match="200 x 200 x 3 bytes") as refusal:
            turn(pictures)
        assert str(pictures.dtype) in str(refusal.value)
        assert str(pictures.shape) in str(refusal.value)


# Training


def test_training_lowers_the_error_on_pictures_it_has_not_seen(cache: Path) -> None:
    unseen = drawn(8, seed=99)

    def error(steps: int) -> float:
        live = Autoencoder(steps=steps, pictures=16, batch=4).build(GALLERY)
        difference: Floats = live.reconstruct(unseen) / 255 - unseen / 255
        return float((difference**2).mean())

    assert error(60) < 0.5 * error(0)


@pytest.mark.parametrize("clip", [2.5, 1e-7])
def test_training_takes_the_steps_of_an_independent_adam(
    cache: Path, torch: Any, clip: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With one offline picture no draw matters. A norm near Adam's smallest number, which is
    # added to the root of the squares, shows whether gradients are clipped.
    spec = Autoencoder(steps=0, pictures=1, batch=2, learning_rate=0.003, clip=clip)
    spec.build(ONE_PICTURE)
    weights = as_tensors(torch, weights_in(cache))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "trained"))
    spec.with_settings({"steps": 4}).build(ONE_PICTURE)
    trained = weights_in(tmp_path / "trained")

    shown = shown_to(torch, ONE_PICTURE.draw(1, np.random.default_rng(0)))
    first = {name: torch.zeros_like(value) for name, value in weights.items()}
    second = {name: torch.zeros_like(value) for name, value in weights.items()}
    for step in range(1, 5):
        for value in weights.values():
            value.requires_grad_()
        loss = ((there_and_back(torch, weights, shown) - shown) ** 2).mean()
        slopes = dict(zip(weights, torch.autograd.grad(loss, list(weights.values())), strict=True))
        norm = float(sum((slope**2).sum() for slope in slopes.values())) ** 0.5
        assert norm > 1e-6
        for name, slope in slopes.items():
            clipped = slope * min(1.0, clip / norm)
            first[name] = 0.9 * first[name] + 0.1 * clipped
            second[name] = 0.999 * second[name] + 0.001 * clipped**2
            pace = (second[name] / (1 - 0.999**step)).sqrt() + 1e-8
            moved = weights[name].detach() - 0.003 * first[name] / (1 - 0.9**step) / pace
            weights[name] = moved
    for name, value in weights.items():
        np.testing.assert_allclose(trained[name], value.numpy(), atol=3e-5, err_msg=name)


def test_it_is_trained_on_as_many_offline_pictures_as_said(cache: Path) -> None:
    watched = Instrumented()
    SMALL.build(watched)
    assert watched.asked == [SMALL.pictures]


def test_offline_pictures_of_another_size_are_refused_and_nothing_is_kept(cache: Path) -> None:
    class Tiny(Instrumented):
        def draw(self, count: int, rng: np.random.Generator) -> Pixels:
            return np.zeros((count, 64, 64, 3), dtype=np.uint8)

    with pytest.raises(SettingError, match="200 x 200 x 3 bytes"):
        SMALL.build(Tiny())
    assert kept_in(cache) == []


def test_it_can_be_prepared_beforehand_and_tells_how_far_it_is(cache: Path) -> None:
    told: list[tuple[str, int, int]] = []

    def note(what: str, done: int, total: int) -> None:
        told.append((what, done, total))

    watched = Instrumented()
    SMALL.prepare(watched, note)
    assert [numbers for _, *numbers in told] == [[1, 3], [2, 3], [3, 3]]
    assert all("autoencoder" in what for what, _, _ in told)
    told.clear()
    SMALL.prepare(watched, note)
    SMALL.build(watched)
    assert told == []
    assert len(watched.asked) == 1


def test_a_world_prepares_its_encoder(cache: Path) -> None:
    told: list[int] = []
    Images("free", encoder=SMALL).prepare(lambda what, done, total: told.append(done))
    assert told == [1, 2, 3]
    assert len(kept_in(cache)) == 1
    Images(encoder=Thumbnail()).prepare(lambda what, done, total: told.append(done))
    Images(encoder=lambda pictures: pictures).prepare()
    assert told == [1, 2, 3], "others need no preparation"
    assert len(kept_in(cache)) == 1


def test_training_is_the_same_to_the_bit_whatever_else_is_drawn_and_however_many_threads(
    cache: Path, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures, found = drawn(4), []

    class Counting(Instrumented):
        def draw(self, count: int, rng: np.random.Generator) -> Pixels:
            assert torch.get_num_threads() == 1, "more of them may add in another order"
            return super().draw(count, rng)

    for i in (1, 2):
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache / str(i)))
        torch.manual_seed(i)
        torch.set_num_threads(i)
        watched = Counting()
        found.append(SMALL.build(watched)(pictures))
        assert watched.asked, "trained, not found"
    np.testing.assert_array_equal(found[0], found[1])
    again = SMALL.build(GALLERY)(pictures)
    np.testing.assert_array_equal(again, found[0], err_msg="out of the cache")


@pytest.mark.parametrize("steps", [0, 3])
def test_another_seed_gives_other_features(cache: Path, steps: int) -> None:
    pictures = drawn(4)
    one, other = (
        SMALL.with_settings({"seed": seed, "steps": steps}).build(GALLERY)(pictures)
        for seed in (0, 1)
    )
    assert np.abs(one - other).max() > 0.01


def test_random_state_and_threads_of_others_are_left_as_they_were(cache: Path, torch: Any) -> None:
    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    def state() -> tuple[bytes, int, bool, bytes]:
        numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002
        return (
            torch.get_rng_state().numpy().tobytes(),
            torch.get_num_threads(),
            torch.is_grad_enabled(),
            numpy_state[1].tobytes(),
        )

    torch.set_num_threads(2)
    before = state()
    with pytest.raises(KeyboardInterrupt):
        SMALL.prepare(GALLERY, stop)
    assert state() == before
    assert kept_in(cache) == [], "what was not trained to the end is not kept"
    live = SMALL.build(GALLERY)
    assert state() == before, "after a training"
    live(drawn(2))
    live.reconstruct(drawn(2))
    assert state() == before, "after use"
    SMALL.build(GALLERY)
    assert state() == before, "taken out of the cache"
    with pytest.raises(SettingError):
        live(np.zeros((1, 2, 2, 3), dtype=np.uint8))
    assert state() == before


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


# Without PyTorch


@pytest.mark.parametrize("library", ["torch", "safetensors"])
def test_without_a_library_the_error_says_what_to_install(
    cache: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    untrained = SMALL.with_settings({"seed": 77})  # by whatever test came before in this process
    with pytest.raises(TellbackError, match=rf"{library}: .* pip install .*\[vision\]'"):
        untrained.build(GALLERY)
    with pytest.raises(TellbackError, match=r"pip install .*\[vision\]'"):
        play(Images("free", encoder=untrained), Uniform(), 1)
    spec = Autoencoder("places")
    assert spec_from_data(EncoderSpec, spec.to_data()) == spec
    assert Images(encoder=spec).facts.dim == 16


def test_a_world_with_thumbnails_needs_no_pytorch() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["safetensors"] = None
from tellback import play
from tellback.agents import Uniform
from tellback.encoders import Thumbnail
from tellback.worlds import Images
for variant in ("canon", "jitter", "free"):
    print(len(play(Images(variant, encoder=Thumbnail(cells=2)), Uniform(), 5)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=PATIENCE, capture_output=True, text=True
    )
    assert done.stdout.split() == ["5", "5", "5"]


# Torch modules and functions


@pytest.mark.parametrize("training", [True, False])
def test_a_torch_module_is_given_fractions_in_evaluation_mode_without_gradients(
    torch: Any, training: bool
) -> None:
    pictures = drawn(3)
    # In training mode the dropout would change nearly all the numbers.
    net = torch.nn.Sequential(
        torch.nn.AvgPool2d(100), torch.nn.Flatten(), torch.nn.Linear(12, 12), torch.nn.Dropout(0.9)
    )
    with torch.no_grad():
        net[2].weight.copy_(torch.eye(12))
        net[2].bias.zero_()
    net.train(training)
    seen: list[tuple[Any, bool, bool]] = []
    net.register_forward_pre_hook(
        lambda module, given: seen.append((given[0], module.training, torch.is_grad_enabled()))
    )
    features = encoder_from(net, GALLERY)(pictures)
    ((given, was_training, had_gradients),) = seen
    assert not was_training
    assert not had_gradients
    assert given.dtype == torch.float32
    assert given.shape == (3, 3, 200, 200)
    expected = pictures.transpose(0, 3, 1, 2).astype(np.float64) / 255
    np.testing.assert_allclose(given.numpy(), expected, rtol=1e-6)
    quarters = expected.reshape(3, 3, 2, 100, 2, 100).mean(axis=(3, 5)).reshape(3, 12)
    np.testing.assert_allclose(features, quarters, rtol=1e-3)  # sums in single precision
    assert features.dtype == np.float64
    assert torch.is_grad_enabled()
    assert net.training == training
    assert net[3].training == training


def test_a_torch_module_that_fails_is_left_as_it_was(torch: Any) -> None:
    net = torch.nn.Linear(7, 2)
    net.train()
    with pytest.raises(RuntimeError):
        encoder_from(net, GALLERY)(drawn(1))
    assert net.training
    assert torch.is_grad_enabled()


def test_a_world_can_be_played_with_a_torch_module(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 50, stride=50), torch.nn.LeakyReLU())
    world = Images("jitter", encoder=net)
    assert world.facts.dim == 2 * 4 * 4
    assert len(play(world, Uniform(), 5)) == 5
    with pytest.raises(SettingError, match="live object"):
        world.to_data()


def test_a_function_is_given_the_pictures_as_they_are() -> None:
    given: list[Any] = []

    def encode(pictures: Any) -> Any:
        given.append(pictures)
        return [[1, 2], [3, 4]]

    pictures = drawn(2)
    features = encoder_from(encode, GALLERY)(pictures)
    assert given[0] is pictures
    np.testing.assert_array_equal(features, [[1.0, 2.0], [3.0, 4.0]])
    assert features.dtype == np.float64


# Settings


@pytest.mark.parametrize(
    ("spec", "setting", "value", "message"),
    [
        (Thumbnail(), "cells", 0, "cells must be at least 1, not 0"),
        (Thumbnail(), "cells", 2.5, "cells must be a whole number, not 2.5"),
        (SMALL, "summed_over", "chanels", "summed_over must be .* Did you mean 'channels'"),
        (SMALL, "pictures", 0, "pictures must be at least 1"),
        (SMALL, "steps", -1, "steps must be at least 0"),
        (SMALL, "batch", 0, "batch must be at least 1"),
        (SMALL, "learning_rate", 0, "learning_rate must be finite, above 0"),
        (SMALL, "learning_rate", float("nan"), "learning_rate must be finite, above 0"),
        (SMALL, "clip", 0.0, "clip must be finite, above 0"),
        (SMALL, "seed", -1, "seed must be at least 0"),
        (SMALL, "seed", "1", "seed must be a whole number"),
    ],
)
def test_a_bad_setting_is_refused_by_its_name(
    spec: EncoderSpec, setting: str, value: object, message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        spec.with_settings({setting: value})


def test_a_class_is_no_encoder_not_even_a_torch_one(torch: Any) -> None:
    with pytest.raises(SettingError, match="encoder must be"):
        Images(encoder=torch.nn.Flatten)


def test_parts_of_a_torch_module_keep_their_modes(torch: Any) -> None:
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(), torch.nn.Dropout())
    module[1].eval()
    encoder_from(module, GALLERY)(drawn(1))
    assert [module.training, module[1].training, module[2].training] == [True, False, True]


def test_more_cells_than_pixels_are_refused_by_name() -> None:
    with pytest.raises(SettingError, match="cells must be at most 200"):
        encoder_from(Thumbnail(cells=201), GALLERY)(drawn(1))


@pytest.mark.parametrize("what", [[[1.0], [1.0, 2.0]], "needs gradients"], ids=str)
def test_an_encoder_that_gives_no_matrix_is_named(what: Any, torch: Any) -> None:
    def crooked(pictures: Pixels) -> Any:
        return torch.ones(2, 3, requires_grad=True) if what == "needs gradients" else what

    with pytest.raises(SettingError, match="Encoder crooked must give a row of numbers"):
        encoder_from(crooked, GALLERY)(drawn(2))


@dataclass(frozen=True)
class Boastful(EncoderSpec):
    """Says that it gives more features than it does."""

    @property
    def dim(self) -> int:
        return 5

    def build(self, gallery: Any) -> Any:
        return lambda pictures: np.ones((len(pictures), 4))


def test_a_spec_that_gives_other_features_than_it_says_is_named() -> None:
    with pytest.raises(SettingError, match=r"boastful .* 4 numbers a picture; its dim is 5"):
        play(Images(encoder=Boastful()), Uniform(), rounds=2)


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


def test_a_shape_that_is_no_canon_has_features_too() -> None:
    world = Images(encoder=Thumbnail(cells=1))
    small, usual = (
        world.features([Shape("square", "black", 50)]),
        world.features([Shape("square", "black")]),
    )
    np.testing.assert_allclose((1 - usual) / (1 - small), 4.0)
    with pytest.raises(SettingError, match="at least one shape"):
        world.features([])


def test_no_pictures_at_all_are_refused(cache: Path) -> None:
    with pytest.raises(SettingError, match="needs pictures of 200 x 200 x 3"):
        SMALL.build(GALLERY)(drawn(1)[:0])


def test_a_torch_module_that_returns_several_tensors_is_refused_with_a_way_out(torch: Any) -> None:
    class Several(torch.nn.Module):  # type: ignore[misc]
        def forward(self, shown: Any) -> Any:
            return shown, shown

    with pytest.raises(SettingError, match="one tensor, not tuple: wrap it"):
        encoder_from(Several(), GALLERY)(drawn(1))


def test_a_torch_module_may_compute_in_half_precision(torch: Any) -> None:
    class Half(torch.nn.Module):  # type: ignore[misc]
        def forward(self, shown: Any) -> Any:
            return shown.mean(dim=(2, 3)).to(torch.bfloat16)

    features = encoder_from(Half(), GALLERY)(drawn(2))
    np.testing.assert_allclose(features, drawn(2).mean(axis=(1, 2)) / 255, rtol=0.01)
