"""How often another person's sentence would itself point to the right response.

Each round of a recording has an instruction by one person. Here nothing is learned: the candidate
is taken whose sentence, by another person, is nearest to the instruction. It says how far one gets
with the words of a single other person, and how much people agree on what a response was.

    python -m benchmarks.second_person recording.jsonl --rounds 2000
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from math import log, sqrt

import numpy as np

from tellback.encoders import plain_words
from tellback.streams import Stream
from tellback.theory.shares import Share, share_of_counts
from tellback.worlds import Recorded
from tellback.worlds.recorded_pool import Entry

Vector = dict[str, float]


class TfIdf:
    """Sentences as words, each counted by how rare it is among all sentences; length 1."""

    def __init__(self, sentences: Iterable[str]) -> None:
        words = [set(plain_words(sentence)) for sentence in sentences]
        seen = Counter(word for sentence in words for word in sentence)
        self._weight = {word: log(len(words) / count) for word, count in seen.items()}
        self._known: dict[str, Vector] = {}

    def __call__(self, sentence: str) -> Vector:
        """The weight of each word."""
        if sentence not in self._known:
            counts = Counter(plain_words(sentence))
            vector = {word: n * self._weight.get(word, 0.0) for word, n in counts.items()}
            length = sqrt(sum(value * value for value in vector.values())) or 1.0
            self._known[sentence] = {word: value / length for word, value in vector.items()}
        return self._known[sentence]

    def cosine(self, one: str, other: str) -> float:
        """How alike two sentences are, from 0 to 1."""
        first, second = self(one), self(other)
        return sum(value * second.get(word, 0.0) for word, value in first.items())


def pointed(world: Recorded, rounds: int, everyone: bool, seed: int = 0) -> Share:
    """How often the nearest sentence is of the right response; ties are broken by chance.

    Each candidate has one sentence by another person than the asker, or, with ``everyone``, those
    of all others, of which the nearest counts.
    """
    simulation, entries = world.build(np.random.default_rng(seed)), world.pool.entries
    by_id = {entry.id: entry for entry in entries}
    compare = TfIdf(text for entry in entries for text in entry.texts)
    stream, ties = Stream(seed, "world"), np.random.default_rng(seed)
    right = 0
    for t in range(1, rounds + 1):
        task = simulation.world.task(t, (), stream.at(t))
        shown = [by_id[name] for name in task.context.ids]
        asked = str(task.instruction)
        target = next(entry for entry in shown if asked in entry.texts)
        asker = target.people[target.texts.index(asked)]
        scores = []
        for entry, told in zip(shown, task.context.told, strict=True):
            texts = _by_others(entry, asker) if everyone else [entry.texts[told]]
            scores.append(max(compare.cosine(asked, text) for text in texts))
        best = np.flatnonzero(np.isclose(scores, max(scores), rtol=0, atol=1e-12))
        right += shown[int(ties.choice(best))] is target
    return share_of_counts(right, rounds)


def _by_others(entry: Entry, asker: object) -> list[str]:
    return [entry.texts[i] for i in entry.told(asker)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--candidates", type=int, nargs="*", default=[5, 20])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for level in ("whole", "steps"):
        for candidates in given.candidates:
            world = Recorded(given.path, candidates=candidates, level=level)
            for everyone in (False, True):
                whose = "the sentences of all others" if everyone else "one other sentence"
                share = pointed(world, given.rounds, everyone, given.seed)
                print(f"{level}, {candidates} candidates, {whose}: {share}")


if __name__ == "__main__":
    main()
