"""EfficientNet-Lite0: the layers fit its weights, and its features tell things apart."""

from __future__ import annotations

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import check
from tellback.encoders import EfficientNet, EncoderSpec, encoder_from
from tellback.encoders import efficientnet as network
from tellback.errors import SettingError, TellbackError
from tellback.specs import spec_from_data
from tests.support.galleries import GALLERY, Pixels, drawn

UNIFORM = 652  # the class "military uniform" of ImageNet


@pytest.fixture(autouse=True)
def _extra(torch: Any) -> None:
    if find_spec(network.WEIGHTS.package.name) is None:
        pytest.skip("the pictures extra is not installed")


def portrait() -> Pixels:
    """The photograph of an officer that comes with matplotlib, with square sides."""
    folder = Path(pytest.importorskip("matplotlib").get_data_path()) / "sample_data"
    image = pytest.importorskip("PIL.Image").open(folder / "grace_hopper.jpg").convert("RGB")
    pixels: Pixels = np.asarray(image)
    side = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - side) // 2, (pixels.shape[1] - side) // 2
    return pixels[top : top + side, left : left + side]


def encoded(pictures: Pixels, dim: int = 256) -> Any:
    return encoder_from(EfficientNet(dim), GALLERY)(pictures)


def test_the_last_layer_of_the_same_file_recognises_a_photograph() -> None:
    """Only the right layers, order, padding and normalisation give features it can read."""
    weights = network._loaded()
    features = network._pooled(weights, portrait()[None])[0]
    logits = weights["_fc.weight"].double().numpy() @ features + weights["_fc.bias"].numpy()
    assert int(np.argmax(logits)) == UNIFORM


def test_pictures_of_one_object_are_more_alike_than_others() -> None:
    rng = np.random.default_rng(0)
    shapes = [GALLERY.shape(thing, rng) for thing in GALLERY.objects for _ in range(3)]
    features = encoded(np.array([shape.picture() for shape in shapes]))
    cosines = features @ features.T
    np.fill_diagonal(cosines, -1)
    objects = [(shape.type, shape.colour) for shape in shapes]
    nearest = [objects[i] for i in cosines.argmax(axis=1)]
    right = sum(near == own for near, own in zip(nearest, objects, strict=True))
    assert right >= 0.8 * len(shapes)  # 2 of 17 others are right: 12% by chance


def test_a_batch_has_the_features_of_its_pictures_one_by_one() -> None:
    pictures = drawn(network.BATCH + 1)
    together = encoded(pictures)
    alone = np.vstack([encoded(picture[None]) for picture in pictures])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_it_keeps_the_promises_of_encoders() -> None:
    assert check(EfficientNet())


@pytest.mark.parametrize("shape", [(1, 1), (7, 300), (224, 224), (500, 20)])
def test_pictures_may_have_any_size(shape: tuple[int, int]) -> None:
    pictures = np.random.default_rng(0).integers(256, size=(1, *shape, 3), dtype=np.uint8)
    assert np.linalg.norm(encoded(pictures)) == pytest.approx(1)


def test_one_colour_is_the_same_at_every_size() -> None:
    small, large = (np.full((1, *size, 3), 90, np.uint8) for size in ((10, 30), (400, 300)))
    np.testing.assert_allclose(encoded(small), encoded(large), atol=1e-5)


def test_a_projection_keeps_angles_about_as_they_are() -> None:
    pictures = drawn(5)
    whole, projected = encoded(pictures, network.SIZE), encoded(pictures, 512)
    assert np.abs(whole @ whole.T - projected @ projected.T).max() < 4 / np.sqrt(512)


def test_the_projection_is_the_same_everywhere() -> None:
    signs = np.sign(network._projection(256)).astype(np.int8)
    assert signs.shape == (1280, 256)
    assert hashlib.sha256(signs.tobytes()).hexdigest().startswith("3a0c52dc399e6bad")


def test_it_is_a_spec_with_a_name() -> None:
    spec = EfficientNet(dim=64)
    assert spec_from_data(EncoderSpec, spec.to_data()) == spec
    with pytest.raises(SettingError, match="dim must be at most 1280"):
        EfficientNet(dim=1281)


@pytest.mark.parametrize(
    "pictures",
    [np.zeros((1, 4, 4, 3)), np.zeros((4, 4, 3), np.uint8), np.zeros((0, 4, 4, 3), "u1")],
)
def test_other_arrays_are_refused(pictures: Any) -> None:
    with pytest.raises(SettingError, match=r"shape \(count, height, width, 3\)"):
        encoded(pictures)


def test_without_torch_the_error_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    network._loaded.cache_clear()
    with pytest.raises(TellbackError, match=r"needs torch: .*\[pictures\]'"):
        EfficientNet().build(GALLERY)


def test_nothing_of_the_package_is_imported() -> None:
    """What is not imported cannot reach for the network."""
    network._loaded()
    assert network.WEIGHTS.package.name not in sys.modules
