"""Other models taught the same descriptions: the agent's own class done well, and a richer one.

They tell apart what one model cannot: where the agent's predicts worse than its own class
can, it was not fitted, or was taught something else; where a richer class predicts better
still, the class is too poor for this world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellback.arrays import Array, Indices
from tellback.lab.diagnose.forecasts import LIGHTLY, averaged, frequencies, hedged, tabulated
from tellback.lab.diagnose.readings import Readings
from tellback.models.mixture import Mixture, MixtureModel
from tellback.models.mixture_by_adam import MixtureByAdamModel
from tellback.models.model import Model
from tellback.models.sentence import Sentence, SentenceModel
from tellback.responses import Listed
from tellback.roles import Facts

MOST_PRODUCTS = 400
"""Components of a mixture on products of features; beyond that it learns too slowly to tell."""

GOOD_RATE, GOOD_STEPS = 0.003, 20
"""A learning rate and steps a description with which a GRU of any size here learns well."""

WIDER = 2
"""How many times the hidden units of the agent's model of sentences the richer one has."""


@dataclass(frozen=True, eq=False)
class Forecasts:
    """The probability that each foresaw for every description, hedged, in order.

    Attributes
    ----------
    t : Array
        The index of each description's round.
    nothing : Array
        By the frequencies of descriptions, whatever the response.
    truth : Array
        By the truth: nobody does better in the long run.
    own, own_lightly : Array or None
        By the agent's model.
    reference, reference_lightly : Array or None
        By the agent's class of models, taught and fitted by us.
    richer : Array or None
        By a richer class, which has the reference among its members.
    richer_name : str
        What the richer one is.
    """

    t: Indices
    nothing: Array
    truth: Array
    own: Array | None
    own_lightly: Array | None
    reference: Array | None
    reference_lightly: Array | None
    richer: Array | None
    richer_name: str


def forecasts(read: Readings) -> Forecasts:
    """What each would have foreseen."""
    t = np.array([lesson.index for lesson in read.lessons], dtype=np.int64)
    nothing = frequencies([one.description for one in read.lessons], read.facts.instructions)
    possible, predicted = read.possible[t], read.predicted[t]
    truth = np.maximum(possible, np.finfo(float).tiny)
    if not len(t) or not np.isfinite(predicted).all():
        return Forecasts(t, nothing, truth, None, None, None, None, None, "")
    taught, richer, name = _rivals(read, nothing)
    return Forecasts(
        t,
        nothing,
        truth,
        own=hedged(predicted, nothing),
        own_lightly=hedged(predicted, nothing, LIGHTLY),
        reference=None if taught is None else hedged(taught, nothing),
        reference_lightly=None if taught is None else hedged(taught, nothing, LIGHTLY),
        richer=richer,
        richer_name=name,
    )


def _rivals(read: Readings, nothing: Array) -> tuple[Array | None, Array | None, str]:
    """What the agent's class foresees, what a richer one does, hedged, and its name."""
    model, facts = getattr(read.agent, "model", None), read.facts
    if isinstance(model, MixtureModel | MixtureByAdamModel):
        return _rivals_of_mixtures(read, nothing)
    if isinstance(model, SentenceModel):
        return _rivals_of_sentences(read, nothing)
    if facts.fixed_responses and not facts.language:
        return None, _table(read, nothing), "a table of frequencies for each response"
    return None, None, ""


def _rivals_of_mixtures(read: Readings, nothing: Array) -> tuple[Array, Array, str]:
    taught = _taught(Mixture(), read.facts, read)
    others = [hedged(taught, nothing), _table(read, nothing)]
    name = "a table of frequencies for each response"
    wide = replace(read.facts, dim=_products(read.facts.dim))
    if wide.dim <= MOST_PRODUCTS:
        others.append(hedged(_taught(Mixture(), wide, read, products), nothing))
        name = "the better of a mixture on products of features and a table of frequencies"
    return taught, averaged(np.stack(others, axis=1)), name


def _rivals_of_sentences(read: Readings, nothing: Array) -> tuple[Array, Array, str]:
    spec = well_trained(read.agent)
    wide = replace(spec, hidden=WIDER * spec.hidden)
    taught = _taught(spec, read.facts, read)
    both = [hedged(one, nothing) for one in (taught, _taught(wide, read.facts, read))]
    return taught, averaged(np.stack(both, axis=1)), f"a GRU with {wide.hidden} hidden units"


def well_trained(agent: Any) -> Sentence:
    """The settings of an agent's model of sentences, but for how it is trained."""
    spec = getattr(getattr(agent, "spec", None), "model", None)
    spec = spec if isinstance(spec, Sentence) else Sentence()
    return replace(
        spec,
        learning_rate=max(spec.learning_rate, GOOD_RATE),
        steps=max(spec.steps, GOOD_STEPS),
    )


def products(features: Array) -> Array:
    """The distinct products of two features, each as often as it occurs in g (x) g.

    On the simplex if g is, and f . g = f2 . products(g) with f2[x, ij] the mean of f[x, i]
    and f[x, j]: a mixture on products can be every mixture on g, and more.
    """
    i, j = np.triu_indices(len(features))
    values: Array = np.where(i == j, 1.0, 2.0) * features[i] * features[j]
    return values


def _products(dim: int) -> int:
    return dim * (dim + 1) // 2


def _same(features: Array) -> Array:
    return features


def _taught(
    spec: Mixture | Sentence,
    facts: Facts,
    read: Readings,
    view: Callable[[Array], Array] = _same,
) -> Array:
    """What a new model would have foreseen, taught description by description."""
    model: Model = spec.build(facts, np.random.default_rng(0))
    listed: dict[bytes, Listed] = {}
    foreseen = np.empty(len(read.lessons))
    for i, lesson in enumerate(read.lessons):
        key = lesson.features.tobytes()
        if key not in listed:
            listed[key] = Listed([view(lesson.features)])
        only = listed[key]
        foreseen[i] = model.estimates(lesson.description, only)[0]
        model.learn(only.features(0), lesson.description)
    return foreseen


def _table(read: Readings, nothing: Array) -> Array:
    """A row for every response where they stay the same, else for every vector of features."""
    fixed = read.facts.fixed_responses
    rows = [one.response if fixed else one.features.tobytes() for one in read.lessons]
    return tabulated(rows, [one.description for one in read.lessons], nothing)
