"""The image-selection world: the paper's second experiment.

Each round shows a picture for every response, and asks for one of them in words. The teacher
describes the chosen picture with a random template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.encoders.autoencoder import Autoencoder
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, encoder_from
from tellback.errors import SettingError
from tellback.responses import Listed
from tellback.roles import Exchange, Facts, Preparing, Simulation, Task, WorldSpec
from tellback.specs import Count, Data
from tellback.worlds.pictures import COLOURS, INSIDE, Gallery, Shape
from tellback.worlds.sentences import Object, choice, probabilities, sample, sentences

CACHED_SCENES = 32_768  # some 40 MB; agents with one seed meet the same scenes


class Scene(NamedTuple):
    """The context s: the object that each response selects."""

    shapes: tuple[Shape, ...]

    def pictures(self) -> Pictures:
        """The pictures, of shape (responses, 200, 200, 3)."""
        return np.array([shape.picture() for shape in self.shapes])


@dataclass(frozen=True)
class Images(WorldSpec):
    """Pictures to choose from, and sentences that ask for one of them.

    Parameters
    ----------
    variant : "canon", "jitter" or "free"
        One centred picture per object; some jitter in size and place; or any size and place.
        Sizes and places are new in every round. The paper does not say.
    responses : int
        The number of pictures to choose from, all of different objects.
    types, colours : sequence of str
        The objects: every type in every colour.
    encoder : EncoderSpec, torch module or callable
        Turns pictures into features g(y, s). By default the paper's autoencoder, which needs
        the ``vision`` extra. A live encoder can be used in ``play``, but not in a study: it has
        no identity.

    Examples
    --------
    >>> from tellback.encoders import Thumbnail
    >>> Images("jitter", encoder=Thumbnail(cells=2)).facts
    Facts(dim=12, instructions=None, fixed_responses=False)
    """

    variant: str = "canon"
    responses: Count = 5
    types: tuple[str, ...] = tuple(INSIDE)
    colours: tuple[str, ...] = tuple(COLOURS)
    encoder: EncoderSpec | Any = field(default_factory=Autoencoder)

    def __post_init__(self) -> None:
        super().__post_init__()
        gallery = self.gallery
        if self.responses > len(gallery.objects):
            raise SettingError(
                f"responses must be at most {len(gallery.objects)}, the number of objects "
                f"({len(gallery.types)} types in {len(gallery.colours)} colours), not "
                f"{self.responses}: no two pictures of a round show the same object."
            )
        self._set_validated(types=gallery.types, colours=gallery.colours)
        if not isinstance(self.encoder, EncoderSpec):
            encoder_from(self.encoder, gallery)  # refuses anything that cannot encode

    @property
    def gallery(self) -> Gallery:
        """The objects and their pictures."""
        return Gallery(self.types, self.colours, self.variant)

    @property
    def facts(self) -> Facts:
        """The size of the features; instructions are sentences."""
        if isinstance(self.encoder, EncoderSpec):
            return Facts(self.encoder.dim, None)
        shown = self.gallery.draw(1, np.random.default_rng(0))
        return Facts(encoder_from(self.encoder, self.gallery)(shown).shape[1], None)

    def features(self, shapes: Sequence[Shape]) -> Array:
        """g of pictures in one scene, a row each."""
        if not shapes:
            raise SettingError("features needs at least one shape.")
        return features_of_scenes(self.encoder, self.gallery)(Scene(tuple(shapes)))

    def to_data(self) -> Data:
        """The settings as plain data; an error if the encoder is a live object."""
        if not isinstance(self.encoder, EncoderSpec):
            raise SettingError(
                f"The encoder {self.encoder!r} is a live object, which has no identity to store "
                "results under: make it the spec of an encoder."
            )
        return super().to_data()

    def prepare(self, progress: Preparing | None = None) -> None:
        """Train the encoder, if it needs training."""
        if isinstance(self.encoder, EncoderSpec):
            self.encoder.prepare(self.gallery, progress)
            self.features([Shape(*self.gallery.objects[0])])  # refuses an unfit encoder now

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the encoder, trained if it needs training."""
        features = features_of_scenes(self.encoder, self.gallery)
        return Simulation(
            world=ImagesWorld(self, features),
            teacher=ImagesTeacher(),
            truth=ImagesTruth(self.gallery),
        )


class ImagesWorld:
    """Draws objects, places them, and asks for one of them."""

    memory: ClassVar[int] = 0

    def __init__(self, spec: Images, features: SceneFeatures) -> None:
        self.facts = spec.facts
        self._spec = spec
        self._gallery = spec.gallery
        self._objects = self._gallery.objects
        self._features = features

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A scene, and a sentence that describes one of its pictures."""
        shown = sample(self._objects, self._spec.responses, rng)
        instruction = self._ask(choice(shown, rng), rng)
        scene = Scene(tuple(self._gallery.shape(thing, rng) for thing in shown))
        return Task(scene, instruction, Listed(self._features(scene)))

    def _ask(self, thing: Object, rng: np.random.Generator) -> str:
        return choice(sentences(*thing), rng)


class ImagesTeacher:
    """Describes the chosen picture with one of the ten templates."""

    def describe(self, context: Scene, response: int, rng: np.random.Generator) -> str:
        """A sentence that is true of the picture, drawn uniformly."""
        shape = shape_of(context, response)
        return choice(sentences(shape.type, shape.colour), rng)


class ImagesTruth:
    """P(x | y, s): the share of templates that give x for the object of response y."""

    def __init__(self, gallery: Gallery) -> None:
        self._probabilities = probabilities(gallery.objects)

    def reward(self, task: Task, response: int) -> float:
        """P(x_t | y, s_t); 0 for a sentence of no template."""
        shape = shape_of(task.context, response)
        of = self._probabilities.get(str(task.instruction), {})
        return of.get((shape.type, shape.colour), 0.0)

    def best(self, task: Task) -> float:
        """The largest P(x_t | y, s_t)."""
        return max(self.reward(task, y) for y in range(len(task.context.shapes)))


def shape_of(scene: Scene, response: int) -> Shape:
    """The object that a response selects, or an error."""
    if not 0 <= response < len(scene.shapes):
        raise SettingError(
            f"A response is a whole number from 0 to {len(scene.shapes) - 1}, not {response!r}."
        )
    return scene.shapes[response]


class SceneFeatures:
    """The features of scenes, with a cache."""

    def __init__(self, encode: Encoder, gallery: Gallery) -> None:
        self._encode = encode
        self._of_object: dict[Shape, Array] = {}
        if gallery.variant == "canon":  # one picture per object: encoded beforehand
            shapes = [Shape(*thing) for thing in gallery.objects]
            rows = encode(Scene(tuple(shapes)).pictures())
            self._of_object = dict(zip(shapes, rows, strict=True))
        self._cached = lru_cache(CACHED_SCENES)(self._encoded)

    def __call__(self, scene: Scene) -> Array:
        """A row for each picture."""
        if all(shape in self._of_object for shape in scene.shapes):
            return np.array([self._of_object[shape] for shape in scene.shapes])
        return self._cached(scene)

    def _encoded(self, scene: Scene) -> Array:
        features = self._encode(scene.pictures())
        features.flags.writeable = False  # shared by all callers
        return features


def features_of_scenes(encoder: EncoderSpec | Any, gallery: Gallery) -> SceneFeatures:
    """The features under an encoder; those of a spec are shared by all runs of a process."""
    if isinstance(encoder, EncoderSpec):
        return _features_under_spec(encoder, gallery)
    return SceneFeatures(encoder_from(encoder, gallery), gallery)


@lru_cache(8)
def _features_under_spec(encoder: EncoderSpec, gallery: Gallery) -> SceneFeatures:
    return SceneFeatures(encoder_from(encoder, gallery), gallery)
