"""A first version of the sentence model in PyTorch, for the benchmark and as a test oracle.

``nn.Embedding``, ``nn.GRU`` and ``nn.Linear``; batches padded; gradients by autograd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from tellback.arrays import Array
from tellback.models import Sentence
from tellback.models.gru_weights import Weights
from tellback.models.words import BEGIN, END, Vocabulary
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

IGNORED = -100  # what nn.functional.cross_entropy leaves out


@dataclass(frozen=True)
class TorchSentence(Sentence):
    """The plain model, with the same settings."""

    def build(  # type: ignore[override]
        self, facts: Facts, rng: np.random.Generator
    ) -> TorchSentenceModel:
        """A network with PyTorch's own first weights."""
        torch.manual_seed(int(rng.integers(2**31)))
        return TorchSentenceModel(self, facts.dim)


class TorchSentenceModel(nn.Module):
    """A live plain model."""

    def __init__(self, spec: TorchSentence, dim: int) -> None:
        super().__init__()
        self.spec = spec
        self.embedding = nn.Embedding(spec.vocabulary, spec.embedding)
        self.state_of = nn.Linear(dim, spec.layers * spec.hidden)
        self.gru = nn.GRU(spec.embedding, spec.hidden, spec.layers, batch_first=True)
        self.word = nn.Linear(spec.hidden, spec.vocabulary)
        self.adam = torch.optim.Adam(self.parameters(), lr=spec.learning_rate)
        self.words = Vocabulary()
        self.history: list[tuple[Any, list[int]]] = []

    def take(self, weights: Weights) -> None:
        """Start from these weights."""
        pairs: list[tuple[Any, Any]] = [
            (self.embedding.weight, weights.embedding),
            (self.state_of.weight, weights.state),
            (self.state_of.bias, weights.state_bias),
            (self.word.weight, weights.word),
            (self.word.bias, weights.word_bias),
        ]
        for layer in range(self.spec.layers):
            below = weights.from_below[layer - 1] if layer else weights.from_word
            pairs += [
                (getattr(self.gru, f"weight_ih_l{layer}"), below),
                (getattr(self.gru, f"weight_hh_l{layer}"), weights.from_before[layer]),
                (getattr(self.gru, f"bias_ih_l{layer}"), weights.from_below_bias[layer]),
                (getattr(self.gru, f"bias_hh_l{layer}"), weights.from_before_bias[layer]),
            ]
        with torch.no_grad():
            for parameter, values in pairs:
                parameter.copy_(torch.from_numpy(np.array(values)))

    def log_likelihoods(self, features: Any, sentences: Sequence[Sequence[int]]) -> Any:
        """log P(sentence | features) of every pair."""
        read = nn.utils.rnn.pad_sequence(
            [torch.tensor([BEGIN, *rows]) for rows in sentences], batch_first=True
        )
        said = nn.utils.rnn.pad_sequence(
            [torch.tensor([*rows, END]) for rows in sentences],
            batch_first=True,
            padding_value=IGNORED,
        )
        start = self.state_of(features).reshape(len(sentences), self.spec.layers, self.spec.hidden)
        outputs, _ = self.gru(self.embedding(read), start.transpose(0, 1).contiguous())
        logits = self.word(outputs).transpose(1, 2)
        losses = nn.functional.cross_entropy(logits, said, ignore_index=IGNORED, reduction="none")
        return -losses.sum(dim=1)

    def step(self, features: Any, sentences: Sequence[Sequence[int]]) -> float:
        """One step of Adam on a batch; returns the mean loss before it."""
        loss = -self.log_likelihoods(features, sentences).mean()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return float(loss.detach())

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) for every response."""
        rows = self.words.look_up(str(instruction))
        features = torch.tensor(responses.matrix, dtype=torch.float32)
        with torch.no_grad():
            values: Array = self.log_likelihoods(features, [rows] * len(responses)).exp().numpy()
        return values.astype(np.float64)

    def learn(self, features: Array, description: Instruction) -> None:
        """Train on batches of the history."""
        rows = self.words.learn(str(description))
        self.history.append((torch.tensor(features, dtype=torch.float32), rows))
        for _ in range(self.spec.steps):
            drawn = torch.randint(len(self.history), (self.spec.batch,)).tolist()
            chosen = [self.history[i] for i in drawn]
            self.step(torch.stack([g for g, _ in chosen]), [said for _, said in chosen])

    def state(self) -> State:
        """Not kept."""
        return {}

    def restore(self, state: State) -> None:
        """Not kept."""
