"""The autoencoder: its layers, its training and its features."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tellback import play
from tellback.agents import Uniform
from tellback.encoders import Autoencoder, EncoderSpec, Thumbnail
from tellback.errors import SettingError, TellbackError
from tellback.specs import spec_from_data
from tellback.worlds import Images
from tellback.worlds.pictures import Gallery
from tests.support.galleries import (
    GALLERY,
    SMALL,
    UNTRAINED,
    Instrumented,
    Pixels,
    drawn,
    kept_in,
    weights_in,
)
from tests.support.oracles import Floats

ONE_PICTURE = Gallery(("triangle",), ("orange",), "canon")


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


def test_no_pictures_at_all_are_refused(cache: Path) -> None:
    with pytest.raises(SettingError, match="needs pictures of 200 x 200 x 3"):
        SMALL.build(GALLERY)(drawn(1)[:0])
