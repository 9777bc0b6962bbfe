"""Encoders: each turns pictures into features g(y, s)."""

from tellback.encoders.autoencoder import Autoencoder
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource, encoder_from
from tellback.encoders.thumbnail import Thumbnail

__all__ = [
    "Autoencoder",
    "Encoder",
    "EncoderSpec",
    "PictureSource",
    "Pictures",
    "Thumbnail",
    "encoder_from",
]
