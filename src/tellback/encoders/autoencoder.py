"""The paper's autoencoder: three convolutions down to 16 x 4 x 4, and back.

g(y, s) are 16 sums over the feature map. The paper sums "over the first dimension": read
literally, over the channels (one number for each place). The other reading is over the places
(one number for each channel). Needs PyTorch and safetensors (the ``vision`` extra).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from tellback.arrays import Array
from tellback.encoders.encoder import EncoderSpec, Pictures, PictureSource, as_tensor
from tellback.encoders.reproducible import reproducible
from tellback.encoders.weight_cache import WeightCache
from tellback.errors import SettingError, one_of
from tellback.extras import from_extra
from tellback.roles import Preparing
from tellback.specs import Count, Natural, Positive

CHANNELS, PLACES = 16, 4
SIDE = 200
BATCH = 64  # pictures encoded at once


@dataclass(frozen=True)
class Autoencoder(EncoderSpec):
    """Features of an autoencoder trained on offline pictures of the world.

    The paper's layers, with three corrections: 16 x 4 x 4 is 256, the last convolution has 16
    kernels, and the last layer gives 3 channels.

    Parameters
    ----------
    summed_over : "channels" or "places"
        The literal reading of the paper (one number for each of 4 x 4 places), or the spatial
        reading (one number for each of 16 channels).
    pictures : int
        The number of offline pictures to train on.
    steps, batch : int
        The number of steps of Adam, and the pictures in each.
    learning_rate : float
        Adam's.
    clip : float
        The norm at which gradients are clipped.
    seed : int
        The seed of pictures, first weights and batches. All runs share one encoder.
    """

    summed_over: Annotated[str, partial(one_of, options=("channels", "places"))] = "channels"
    pictures: Count = 320
    steps: Natural = 2400
    batch: Count = 4
    learning_rate: Positive = 0.001
    clip: Positive = 2.5
    seed: Natural = 0

    @property
    def dim(self) -> int:
        """16 in either reading."""
        return CHANNELS if self.summed_over == "places" else PLACES**2

    def build(self, gallery: PictureSource) -> TrainedAutoencoder:
        """Load the autoencoder from the cache, or train it."""
        return TrainedAutoencoder(self._trained(gallery), self.summed_over)

    def prepare(self, gallery: PictureSource, progress: Preparing | None = None) -> None:
        """Train the autoencoder unless it is in the cache."""
        self._trained(gallery, progress)

    def _trained(self, gallery: PictureSource, progress: Preparing | None = None) -> Any:
        torch = from_extra("vision", "torch", "The autoencoder")
        # Both readings share one training, which does not depend on the sums.
        trained_as = self.with_settings({"summed_over": "channels"}).to_data()
        cache = WeightCache("autoencoder", {"encoder": trained_as, "gallery": gallery.to_data()})
        with reproducible(torch, self.seed):
            network = _network(torch.nn)
            weights = cache.load(network.state_dict())
            if weights is None:
                cache.demand_writable()
                self._train(torch, network, gallery, progress)
                cache.save(network.state_dict())
            else:
                network.load_state_dict(weights)
        network.eval()
        return network

    def _train(
        self, torch: Any, network: Any, gallery: PictureSource, progress: Preparing | None
    ) -> None:
        rng = np.random.default_rng(self.seed)
        offline = _checked(gallery.draw(self.pictures, rng))
        adam = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        for step in range(self.steps):
            shown = as_tensor(offline[rng.integers(len(offline), size=self.batch)])
            loss = torch.nn.functional.mse_loss(network(shown), shown)
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.clip)
            adam.step()
            if progress is not None:
                progress("training an autoencoder, steps", step + 1, self.steps)


class TrainedAutoencoder:
    """A live autoencoder."""

    def __init__(self, network: Any, summed_over: str) -> None:
        self._network = network
        self._axis = 1 if summed_over == "channels" else (2, 3)

    def __call__(self, pictures: Pictures) -> Array:
        """The features of each picture: the sums over its feature map, flattened."""
        return self._in_batches(
            pictures, lambda shown: self._network.encoder(shown).sum(dim=self._axis).flatten(1)
        )

    def reconstruct(self, pictures: Pictures) -> Pictures:
        """Each picture, encoded and decoded."""
        shown = self._in_batches(pictures, lambda shown: self._network(shown).clamp(0, 1) * 255)
        return shown.round().astype(np.uint8).transpose(0, 2, 3, 1)

    def _in_batches(self, pictures: Pictures, apply: Callable[[Any], Any]) -> Array:
        import torch

        pictures = _checked(pictures)
        with reproducible(torch), torch.no_grad():
            parts = [
                apply(as_tensor(pictures[i : i + BATCH])).numpy()
                for i in range(0, len(pictures), BATCH)
            ]
        return np.concatenate(parts).astype(np.float64)


def _network(nn: Any) -> Any:
    """The layers: sides of 200, 49, 11 and 4 pixels, and back."""
    size = CHANNELS * PLACES**2
    parts = OrderedDict(
        encoder=nn.Sequential(
            nn.Conv2d(3, CHANNELS, 8, stride=4),
            nn.LeakyReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 8, stride=4),
            nn.LeakyReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 4, stride=2),
            nn.LeakyReLU(),
        ),
        middle=nn.Sequential(
            nn.Flatten(), nn.Linear(size, size), nn.Unflatten(1, (CHANNELS, PLACES, PLACES))
        ),
        decoder=nn.Sequential(
            nn.ConvTranspose2d(CHANNELS, CHANNELS, 4, stride=2, output_padding=1),
            nn.LeakyReLU(),
            nn.ConvTranspose2d(CHANNELS, CHANNELS, 8, stride=4, output_padding=1),
            nn.LeakyReLU(),
            nn.ConvTranspose2d(CHANNELS, 3, 8, stride=4),
        ),
    )
    return nn.Sequential(parts)


def _checked(pictures: Pictures) -> Pictures:
    given = np.asarray(pictures)
    if given.dtype != np.uint8 or given.shape[1:] != (SIDE, SIDE, 3) or not len(given):
        raise SettingError(
            f"The autoencoder needs pictures of {SIDE} x {SIDE} x 3 bytes, "
            f"not {given.dtype} of shape {given.shape}."
        )
    return given
