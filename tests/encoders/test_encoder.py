"""Any callable, torch module or spec can encode pictures; its output is checked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tellback import play
from tellback.agents import Uniform
from tellback.encoders import EncoderSpec, Thumbnail, encoder_from
from tellback.errors import SettingError
from tellback.worlds import Images
from tellback.worlds.pictures import Shape
from tests.support.galleries import GALLERY, SMALL, Pixels, drawn
from tests.support.patience import PATIENCE


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


def test_a_shape_that_is_no_canon_has_features_too() -> None:
    world = Images(encoder=Thumbnail(cells=1))
    small, usual = (
        world.features([Shape("square", "black", 50)]),
        world.features([Shape("square", "black")]),
    )
    np.testing.assert_allclose((1 - usual) / (1 - small), 4.0)
    with pytest.raises(SettingError, match="at least one shape"):
        world.features([])


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
