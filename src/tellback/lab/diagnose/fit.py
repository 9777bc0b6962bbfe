"""How far a model is from the best fit of its own class to what it was told."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tellback.errors import SettingError
from tellback.lab.diagnose.readings import Readings
from tellback.lab.diagnose.rivals import well_trained
from tellback.models.mixture import MixtureModel
from tellback.models.mixture_by_adam import MixtureByAdamModel
from tellback.models.sentence import SentenceModel

CLOSE = 0.001
"""Nats a description within which a copy counts as fitted: far below what any rule asks."""

SWEEPS = 600
"""EM steps for a copy; what it gained by then is a lower bound."""

FURTHER = 2000
"""Steps of Adam for a copy of a model of sentences."""

NAN = float("nan")


@dataclass(frozen=True)
class Fit:
    """What fitting a copy of the model gained, in nats a description; NaN if unknown.

    Attributes
    ----------
    gain : float
        How much higher the mean log-likelihood of what it was told became.
    certified : float
        An upper bound on how much higher it can be at all, where the class has one.
    how : str
        What was done to the copy, in words.
    """

    gain: float = NAN
    certified: float = NAN
    how: str = ""


def fit(read: Readings) -> Fit:
    """Fit a copy of the agent's model as the run left it."""
    model = getattr(read.agent, "model", None)
    if not read.lessons:
        return Fit()
    if isinstance(model, MixtureModel):
        return _fit_mixture(model)
    if isinstance(model, MixtureByAdamModel):
        return _fit_again(model, read)
    if isinstance(model, SentenceModel):
        return _fit_sentences(model, read)
    return Fit()


def _fit_mixture(model: MixtureModel) -> Fit:
    if not model.described:
        return Fit()
    copy = MixtureModel(*model.f.shape)
    copy.restore(model.state())
    _climb(copy)
    gain = (copy.log_likelihood() - model.log_likelihood()) / model.described
    return Fit(gain, model.gap() / model.described, "EM until it was fitted")


def _fit_again(model: MixtureByAdamModel, read: Readings) -> Fit:
    """The class is the mixture's, whose maximum EM finds."""
    again = MixtureModel(*model.f.shape)
    for lesson in read.lessons:
        again.learn(lesson.features, lesson.description)
    _climb(again)
    gain = (again.log_likelihood() - model.log_likelihood()) / again.described
    return Fit(gain, NAN, "EM on the same descriptions")


def _fit_sentences(model: SentenceModel, read: Readings) -> Fit:
    spec = well_trained(read.agent)
    copy = SentenceModel(spec, read.facts.dim, np.random.default_rng(0))
    try:
        copy.restore(model.state())
    except SettingError:  # of other sizes than its agent says
        return Fit()
    copy.train(FURTHER)
    gain = (copy.log_likelihood() - model.log_likelihood()) / model.described
    return Fit(gain, NAN, f"{FURTHER:,} more steps of Adam at a rate of {spec.learning_rate:g}")


def _climb(copy: MixtureModel) -> None:
    with suppress(SettingError):  # as far as it came is what we want to know
        copy.fit(gap=CLOSE * copy.described, sweeps=SWEEPS)
