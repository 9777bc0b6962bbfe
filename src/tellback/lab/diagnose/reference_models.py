"""Other models taught the same descriptions: the agent's own class done well, and a richer one.

If the agent's model predicts worse than its own class can, it is badly fitted, or was taught
something else. If a richer class predicts better still, the class is too poor for this world.
"""

from __future__ import annotations

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

GOOD_RATE, GOOD_STEPS = 0.003, 20
"""A learning rate and steps a description with which a GRU of any size here learns well."""

WIDER = 2
"""How many times the hidden units of the agent's model of sentences the richer one has."""


@dataclass(frozen=True, eq=False)
class Forecasts:
    """The probability that each model gave every description, hedged, in order."""

    t: Indices  # the index of each description's round
    nothing: Array  # by the frequencies of descriptions, whatever the response
    truth: Array  # nothing predicts better in the long run
    own: Array | None = None  # by the agent's model
    own_lightly: Array | None = None
    reference: Array | None = None  # by the agent's class of models, taught and fitted here
    reference_lightly: Array | None = None
    richer: Array | None = None  # by a richer class, if one can decide anything
    richer_name: str = ""


def forecasts(read: Readings) -> Forecasts:
    """The forecasts of the agent, of its class and of a richer class."""
    t = np.array([example.index for example in read.examples], dtype=np.int64)
    nothing = frequencies([one.description for one in read.examples], read.facts.instructions)
    possible, predicted = read.possible[t], read.predicted[t]
    found = Forecasts(t, nothing, np.maximum(possible, np.finfo(float).tiny))
    if not len(t) or not np.isfinite(predicted).all():
        return found
    found = replace(
        found,
        own=hedged(predicted, nothing),
        own_lightly=hedged(predicted, nothing, LIGHTLY),
    )
    model, facts = getattr(read.agent, "model", None), read.facts
    if isinstance(model, MixtureModel | MixtureByAdamModel):
        # No richer class: for mixtures, the truth itself is held against the class (linear.py).
        return _with_reference(found, _taught(Mixture(), read))
    if isinstance(model, SentenceModel):
        return _with_sentences(found, read)
    if facts.fixed_responses and not facts.language:
        rows, told = zip(*((one.response, one.description) for one in read.examples), strict=True)
        name = "a table of frequencies for each response"
        return replace(found, richer=tabulated(rows, told, nothing), richer_name=name)
    return found


def _with_reference(found: Forecasts, taught: Array) -> Forecasts:
    return replace(
        found,
        reference=hedged(taught, found.nothing),
        reference_lightly=hedged(taught, found.nothing, LIGHTLY),
    )


def _with_sentences(found: Forecasts, read: Readings) -> Forecasts:
    spec = well_trained(read.agent)
    wide = replace(spec, hidden=WIDER * spec.hidden)
    taught, wider = _taught(spec, read), _taught(wide, read)
    both = [hedged(one, found.nothing) for one in (taught, wider)]
    return replace(
        _with_reference(found, taught),
        richer=averaged(np.stack(both, axis=1)),
        richer_name=f"a GRU with {wide.hidden} hidden units",
    )


def well_trained(agent: Any) -> Sentence:
    """The settings of an agent's model of sentences, with a good rate and enough steps."""
    spec = getattr(getattr(agent, "spec", None), "model", None)
    spec = spec if isinstance(spec, Sentence) else Sentence()
    return replace(
        spec,
        learning_rate=max(spec.learning_rate, GOOD_RATE),
        steps=max(spec.steps, GOOD_STEPS),
    )


def _taught(spec: Mixture | Sentence, read: Readings) -> Array:
    """The forecasts of a new model, taught description by description."""
    model: Model = spec.build(read.facts, np.random.default_rng(0))
    listed: dict[bytes, Listed] = {}
    forecast = np.empty(len(read.examples))
    for i, example in enumerate(read.examples):
        key = example.features.tobytes()
        if key not in listed:
            listed[key] = Listed([example.features])
        only = listed[key]
        forecast[i] = model.estimates(example.description, only)[0]
        model.learn(only.features(0), example.description)
    return forecast
