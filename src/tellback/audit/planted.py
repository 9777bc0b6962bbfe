"""Wrong descriptions planted in a recording, to measure what an audit finds."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from tellback.arrays import Array, Indices
from tellback.audit.sentences import Place
from tellback.errors import one_of, real, whole
from tellback.recordings import Recording

KINDS = ("exchanged", "copied", "careless")

CARELESS_PEOPLE = 5
"""One person in so many is careless."""

CARELESS_SHARE = 0.9
"""The share of wrong descriptions of a careless person, at most."""

_TRIES = 1000


@dataclass(frozen=True)
class Planted:
    """A recording with wrong descriptions.

    Parameters
    ----------
    recording : Recording
        With the wrong descriptions in place of others. Who said what is left as it was.
    wrong : frozenset of Place
        The wrong ones: those of another response.
    other_goal : frozenset of Place
        Those of a response with another goal. The rest may well fit where they are now. The same as
        ``wrong`` if the recording tells no goals.
    """

    recording: Recording
    wrong: frozenset[Place]
    other_goal: frozenset[Place]


def planted(recording: Recording, share: float, kind: str = "exchanged", seed: int = 0) -> Planted:
    """Plant wrong descriptions, each of another response of its group.

    Parameters
    ----------
    recording : Recording
        The recording.
    share : float
        The share of wrong ones, of all descriptions. In groups that are too small to exchange
        anything, none is wrong.
    kind : "exchanged", "copied" or "careless"
        Whether texts change places, so that each stays in the recording once; or are copied over
        others, so that some are there twice; or are exchanged, mostly those of one person in five.
    seed : int
        Of the draw.
    """
    share = real("share", share, at_least=0, at_most=1)
    one_of("kind", kind, KINDS)
    rng = np.random.default_rng([whole("seed", seed, at_least=0), KINDS.index(kind)])
    places = [
        Place(response.id, number)
        for response in recording
        for number in range(len(response.descriptions))
    ]
    at = {response.id: i for i, response in enumerate(recording)}
    own = np.array([at[place.response] for place in places], dtype=np.int64)
    source = np.arange(len(places))
    if kind == "careless":
        wrong = rng.random(len(places)) < _chances(recording, share, rng)
    else:
        wrong = rng.permutation(len(places)) < round(share * len(places))
    members = defaultdict(list)
    for i, response in enumerate(own):
        members[recording.responses[response].group].append(i)
    for some in members.values():
        here = np.array(some)
        mistaken = here[wrong[here]]
        if kind != "copied":
            source[mistaken] = _exchanged(mistaken, own, rng)
        elif len(np.unique(own[here])) > 1:
            source[mistaken] = _copied(here, mistaken, own, rng)
    moved = np.flatnonzero(own[source] != own)
    goals = np.array([response.goal or response.id for response in recording])
    other = [i for i in moved if goals[own[source[i]]] != goals[own[i]]]
    return Planted(
        _with_texts(recording, places, source),
        frozenset(places[i] for i in moved),
        frozenset(places[i] for i in other),
    )


def _chances(recording: Recording, share: float, rng: np.random.Generator) -> Array:
    """The chance of each description to be wrong, by who said it."""
    people = list(recording.people)
    careless = set(rng.permutation(len(people))[: len(people) // CARELESS_PEOPLE].tolist())
    high = min(CARELESS_SHARE, CARELESS_PEOPLE * share / 2)
    low = max(0.0, (share - high / CARELESS_PEOPLE) / (1 - 1 / CARELESS_PEOPLE))
    index = {name: i for i, name in enumerate(people)}
    return np.array(
        [
            high if index.get(said.person) in careless else low
            for response in recording
            for said in response.descriptions
        ]
    )


def _copied(here: Indices, wrong: Indices, own: Indices, rng: np.random.Generator) -> Indices:
    """For each wrong one, a description of another response."""
    drawn = rng.choice(here, len(wrong))
    while (same := own[drawn] == own[wrong]).any():
        drawn[same] = rng.choice(here, int(same.sum()))
    return np.asarray(drawn)


def _exchanged(wrong: Indices, own: Indices, rng: np.random.Generator) -> Indices:
    """A permutation of the wrong ones that leaves none at its response, if one is found."""
    drawn = rng.permutation(wrong)
    for _ in range(_TRIES):
        same = np.flatnonzero(own[drawn] == own[wrong])
        if not len(same):
            break
        for i in same:
            j = int(rng.integers(len(drawn)))
            drawn[i], drawn[j] = drawn[j], drawn[i]
    return np.asarray(drawn)


def _with_texts(recording: Recording, places: list[Place], source: Indices) -> Recording:
    said = [one for response in recording for one in response.descriptions]
    text = {place: said[i].text for place, i in zip(places, source, strict=True)}
    return replace(
        recording,
        responses=tuple(
            replace(
                response,
                descriptions=tuple(
                    one._replace(text=text[Place(response.id, number)])
                    for number, one in enumerate(response.descriptions)
                ),
            )
            for response in recording
        ),
    )
