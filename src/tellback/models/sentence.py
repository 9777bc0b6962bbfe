"""A model of sentences: a GRU whose first state is a linear function of the features.

The model of the paper's second experiment. P(x | y, s) is the product of the probabilities of the
words of x, each given the words before it. The end of the sentence counts as a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.errors import SettingError, whole
from tellback.models.description_log import DescriptionLog
from tellback.models.gru import log_probabilities, next_word
from tellback.models.gru_weights import Sizes, count, first_weights, views
from tellback.models.lanes import Floats
from tellback.models.model import ModelSpec, checked_sentence, demand_sentences
from tellback.models.training import train
from tellback.models.words import BEGIN, END, LONGEST, Vocabulary
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, Natural, Positive

SCORED_AT_ONCE = 512  # responses; bounds the memory


@dataclass(frozen=True)
class Sentence(ModelSpec):
    """A GRU trained on the history after every description, as in the paper's appendix.

    Parameters
    ----------
    hidden, embedding, layers : int
        The sizes of the network; the paper's by default.
    steps, batch : int
        The steps of Adam per description, and the descriptions in each, drawn from all so far.
        The paper gives neither.
    learning_rate : float
        Adam's.
    vocabulary : int
        The first size of the vocabulary, including the marks of beginning and end. It grows
        when more words occur.

    Examples
    --------
    >>> Sentence(hidden=32, learning_rate=0.003).steps
    20
    """

    version: ClassVar[int] = 2  # in vectors: the last bits differ from those of version 1

    hidden: Count = 10
    embedding: Count = 10
    layers: Count = 2
    steps: Natural = 20
    batch: Count = 32
    learning_rate: Positive = 0.001
    vocabulary: Annotated[int, partial(whole, at_least=3)] = 34

    def build(self, facts: Facts, rng: np.random.Generator) -> SentenceModel:
        """A network with first weights as in PyTorch."""
        demand_sentences(self.kind, facts)
        return SentenceModel(self, facts.dim, rng)


class SentenceModel:
    """A live model of sentences.

    Parameters
    ----------
    spec : Sentence
        Its settings.
    dim : int
        The size of the features.
    rng : numpy.random.Generator
        For the first weights and the choice of batches.
    """

    inexact: ClassVar[str] = "its model is not linear in the features"

    def __init__(self, spec: Sentence, dim: int, rng: np.random.Generator) -> None:
        self._spec = spec
        self._sizes = Sizes(spec.vocabulary, spec.embedding, spec.hidden, spec.layers, dim)
        self._vocabulary = Vocabulary()
        self._log = DescriptionLog(dim)
        self._steps_done = 0
        self._key = int(rng.integers(2**63))
        self._set_weights(first_weights(self._sizes, rng))

    def _set_weights(
        self, flat: Floats, first: Floats | None = None, second: Floats | None = None
    ) -> None:
        """Set the weights and Adam's moments, which are 0 by default."""
        self._flat, self._gradient = flat, np.zeros_like(flat)
        self._first = np.zeros_like(flat) if first is None else first
        self._second = np.zeros_like(flat) if second is None else second
        self._weights = views(self._flat, self._sizes)
        self._gradients = views(self._gradient, self._sizes)

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return len(self._log)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) of the whole sentence for every listed response."""
        sentence = checked_sentence(instruction)
        if responses.dim != self._sizes.features:
            raise SettingError(
                f"sentence was built for {self._sizes.features} features; here are {responses.dim}."
            )
        rows = self._vocabulary.look_up(sentence)
        if max(rows, default=0) >= self._sizes.vocabulary:
            return np.zeros(len(responses))  # a word without weights
        return np.exp(self._log_probabilities(responses.columns, rows))

    def _log_probabilities(self, columns: Array, rows: list[int]) -> Array:
        sentence: Indices = np.array(rows, dtype=np.int64)
        with np.errstate(over="ignore"):
            single = columns.astype(np.float32, order="C")
        parts = [
            log_probabilities(
                self._weights, np.ascontiguousarray(single[:, y : y + SCORED_AT_ONCE]), sentence
            )
            for y in range(0, columns.shape[1], SCORED_AT_ONCE)
        ]
        return np.concatenate(parts).astype(np.float64)

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the description to the log, then train on batches of the whole log."""
        row, sentence = self._log.checked(features), checked_sentence(description)
        self._log.add(row, self._vocabulary.learn(sentence))
        self._make_room()
        self.train(self._spec.steps)

    def train(self, steps: int) -> float:
        """Take steps of Adam on the log; returns the mean loss of the last batch."""
        steps = whole("steps", steps, at_least=0)
        log, spec = self._log, self._spec
        if not len(log):
            raise SettingError("There is nothing to train on before the first description.")
        loss = train(
            self._weights,
            self._gradients,
            self._flat,
            self._gradient,
            self._first,
            self._second,
            spec.learning_rate,
            self._steps_done,
            steps,
            spec.batch,
            self._key,
            log.described,
            log.features,
            log.entry_sentences,
            log.sentences,
            log.lengths,
        )
        self._steps_done += steps
        return loss

    def log_likelihood(self) -> float:
        """The sum over all descriptions of log P-hat(x' | y, s)."""
        log = self._log
        counts = np.bincount(log.described, minlength=len(log.entry_sentences))
        total = 0.0
        for which, length in enumerate(log.lengths.tolist()):
            entries = np.flatnonzero(log.entry_sentences == which)
            rows = log.sentences[which, :length].tolist()
            columns = log.features[entries].T.astype(np.float64)
            total += float(counts[entries] @ self._log_probabilities(columns, rows))
        return total

    def speak(self, features: Array, rng: np.random.Generator) -> str:
        """A description of a response, drawn word by word from P-hat(. | y, s).

        The mark of a beginning is never drawn. The description ends after LONGEST words. A row
        without a word is shown as '_'.
        """
        column = self._log.checked(features).reshape(-1, 1)
        rows: list[int] = []
        while len(rows) < LONGEST:
            weights = next_word(self._weights, column, np.array(rows, dtype=np.int64))
            weights[BEGIN] = 0  # the mark of a beginning is no word
            sums = np.cumsum(weights, dtype=np.float64)
            word = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
            word = min(word, len(weights) - 1)  # the product may be rounded up to the last sum
            if word == END:
                break
            rows.append(word)
        return self._vocabulary.spell(rows)

    def _make_room(self) -> None:
        """Add rows to the network for new words."""
        if len(self._vocabulary) <= self._sizes.vocabulary:
            return
        old, self._sizes = self._sizes, self._sizes._replace(vocabulary=len(self._vocabulary))
        drawn = first_weights(self._sizes, np.random.default_rng([self._key, old.vocabulary]))
        zeros = np.zeros_like(drawn)
        grown = [drawn, zeros, zeros.copy()]
        for new, before in zip(grown, (self._flat, self._first, self._second), strict=True):
            parts = zip(views(new, self._sizes), views(before, old), strict=True)
            for wide, narrow in parts:
                wide[tuple(slice(n) for n in narrow.shape)] = narrow
        self._set_weights(*grown)

    def state(self) -> State:
        """The log, the vocabulary, the weights and Adam's moments."""
        return {
            **self._log.state(),
            "words": self._vocabulary.state(),
            "weights": self._flat.copy(),
            "first_moment": self._first.copy(),
            "second_moment": self._second.copy(),
            "vocabulary": self._sizes.vocabulary,
            "steps": self._steps_done,
            "key": self._key,
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        vocabulary = Vocabulary.restored(np.asarray(state["words"]))
        rows = whole("vocabulary", state["vocabulary"], at_least=len(vocabulary))
        sizes = self._sizes._replace(vocabulary=rows)
        log = DescriptionLog.restored(state, sizes.features, len(vocabulary))
        names = ("weights", "first_moment", "second_moment")
        saved = [_saved_weights(state, name, count(sizes)) for name in names]
        if (saved[-1] < 0).any():
            raise SettingError("The saved second_moment has negative numbers.")
        done, key = (whole(name, state[name], at_least=0) for name in ("steps", "key"))
        if max(done, key) >= 2**63:
            raise SettingError(f"The saved steps {done} or key {key} are too large.")
        self._vocabulary, self._log, self._sizes = vocabulary, log, sizes
        self._steps_done, self._key = done, key
        self._set_weights(*saved)


def _saved_weights(state: State, name: str, size: int) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.array(state[name]).astype(np.float32)
    if values.shape != (size,) or not np.isfinite(values).all():
        raise SettingError(f"The saved {name} must be {size} finite numbers.")
    return values
