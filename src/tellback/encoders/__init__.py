"""Encoders: of pictures into features g(y, s), and of sentences into vectors."""

from tellback.encoders.autoencoder import Autoencoder
from tellback.encoders.efficientnet import EfficientNet
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource, encoder_from
from tellback.encoders.joined import Joined
from tellback.encoders.ngrams import NGrams
from tellback.encoders.shape_and_colour import ShapeAndColour
from tellback.encoders.text import TextEncoder, TextEncoderSpec, plain_words
from tellback.encoders.thumbnail import Thumbnail
from tellback.encoders.word_vectors import WordVectors

__all__ = [
    "Autoencoder",
    "EfficientNet",
    "Encoder",
    "EncoderSpec",
    "Joined",
    "NGrams",
    "PictureSource",
    "Pictures",
    "ShapeAndColour",
    "TextEncoder",
    "TextEncoderSpec",
    "Thumbnail",
    "WordVectors",
    "encoder_from",
    "plain_words",
]
