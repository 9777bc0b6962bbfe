"""The record of a run: what happened in each round, and a summary for people."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from textwrap import shorten
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from tellback.arrays import Array
from tellback.certificate import (
    Calibration,
    calibrated,
    calibrated_by_matches,
    certified_regrets,
)
from tellback.extras import demand_extra
from tellback.match_check import MatchCheck, match_check
from tellback.matching import ErrorRates, Match, Same
from tellback.proof import Proof
from tellback.roles import Agent, Exchange, Round
from tellback.specs import Spec
from tellback.theory import Interval, running_mean

if TYPE_CHECKING:
    import polars

    from tellback.figures import Plot

PROGRESS_EVERY = 1000
"""Rounds after which progress is reported, or sooner where rounds are slow."""

PROGRESS_SECONDS = 0.25

NOTHING_TOLD = -1
"""Stands for a missing description in a column of whole numbers."""


COLUMNS = {
    "instructions": "instruction",
    "responses": "response",
    "descriptions": "description",
    "estimates": "estimate",
    "bonuses": "bonus",
    "propensities": "propensity",
    "widths": "width",
    "highest": "highest",
    "rewards": "reward",
    "regrets": "regret",
    "attainable": "attainable",
}
"""The fields of ``Run`` with one entry a round, and what the entry is called in a table."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One agent in one world with one seed: one entry a round in every sequence.

    Attributes
    ----------
    regrets : Array
        The regret of each round: the terms of the paper's equation 1.
    rewards : Array
        P(x_t | y_t, s_t).
    estimates, bonuses, propensities, widths, highest : Array
        The agent's own account of its choices; NaN where it gave none.
    attainable : Array
        The highest reward of any response in each shortlist; NaN where all responses were listed.
    instructions, responses, descriptions : sequence
        x_t, y_t and x'_t; a round nobody described has -1 there, or None among sentences.
    agent : Agent
        The live agent as the run left it: ``run.agent.save(path)`` keeps it.
    proof : Proof or None
        Why the certificate is a proof, with its probability and its conditions.
    caveat : str
        Why it is none, or that bounds failed; '' if it is one.
    match : Match
        When a description is what was asked for: the world's, or equality.
    by_meaning : bool
        Whether rewards go by what an instruction means, not by how likely its words are.
    """

    regrets: Array
    rewards: Array
    estimates: Array
    bonuses: Array
    propensities: Array
    widths: Array
    highest: Array
    attainable: Array
    instructions: Sequence[Any]
    responses: Sequence[Any]
    descriptions: Sequence[Any]
    agent: Agent
    world_name: str
    agent_name: str
    proof: Proof | None
    caveat: str
    seed: int
    start: int = 0
    history: Sequence[Exchange] = ()
    match: Match = field(default_factory=Same)
    by_meaning: bool = False

    def __len__(self) -> int:
        return len(self.regrets)

    def __repr__(self) -> str:
        agent, world = (shorten(name, 100) for name in (self.agent_name, self.world_name))
        regret = f"{self.regrets.sum():.4g}"
        return f"<Run: {agent} in {world}, {len(self):,} rounds, seed {self.seed}, regret {regret}>"

    @property
    def regret(self) -> Array:
        """Cumulative regret, Reg(t) of equation 1, one entry a round."""
        return np.cumsum(self.regrets)

    @property
    def matches(self) -> Array:
        """1 where the description was what was asked for, else 0: all one sees without the truth.

        ``match`` decides, and says how often it is wrong.
        """
        match = self.match
        pairs = zip(self.instructions, self.descriptions, strict=True)
        return np.array([float(match(asked, told)) for asked, told in pairs])

    @property
    def certificate(self) -> Array:
        """The most regret there can have been up to each round, known without any reward.

        The running sum of min(1, max_y upper(y) - lower(y_t)). On the good event of Lemma 1 it
        is never below ``regret``: that event has the probability that ``proof`` states, on its
        conditions; without a proof it is a guess. Where it equals the number of rounds it is
        vacuous. NaN if the agent states no widths; ``Certified(agent)`` does.
        """
        return np.cumsum(certified_regrets(self.estimates, self.widths, self.highest))

    @property
    def vacuous(self) -> bool:
        """Whether the certificate says no more than that a round costs 1 at most."""
        return bool(self.certificate[-1] >= len(self) * (1 - 1e-12))

    @property
    def described(self) -> Array:
        """Whether each round was described."""
        missing = (NOTHING_TOLD, None)
        return np.array([told not in missing for told in self.descriptions], dtype=bool)

    @property
    def match_check(self) -> MatchCheck | None:
        """Matches held against the hidden rewards; None where there is no truth to compare.

        In an honest simulation the two agree up to chance, whatever the agent does. If
        ``match_check.differs``, the matches of this run are not to be trusted.
        """
        told = self.described
        rewards = self.rewards[told]
        if np.isnan(rewards).any():
            return None
        return match_check(self.matches[told], rewards, self.match, self.by_meaning)

    def reward_estimate(self, level: float = 0.95) -> Interval:
        """The mean reward of the described rounds up to each of them, from matches alone.

        1[x' = x] is an unbiased sample of the hidden reward, as long as the teacher has not
        seen x. The intervals hold after every round at once (``theory.running_mean``). Where
        the match is wrong at times, its error rates are allowed for (``ErrorRates.reward``).
        """
        return self._behind(running_mean(self.matches[self.described], level))

    def calibration(self, truth: bool = True) -> Calibration:
        """Whether bounds were bounds.

        Parameters
        ----------
        truth : bool
            Whether to ask the truth, where there is one; else matches alone, as in a lesson
            with people.
        """
        if truth and not np.isnan(self.rewards).any():
            return calibrated(self.estimates, self.widths, self.highest, self.rewards, self.regrets)
        told = self.described
        return calibrated_by_matches(
            self.estimates[told], self.widths[told], self.matches[told], behind=self._behind
        )

    def table(self) -> polars.DataFrame:
        """The run as a polars table, a row a round; its regret is cumulative."""
        demand_extra("lab", ["polars"], "A table")
        import polars

        frame = polars.DataFrame(
            {
                "t": np.arange(self.start + 1, self.start + len(self) + 1),
                **{entry: getattr(self, name) for name, entry in COLUMNS.items()},
                "regret": self.regret,
                "certificate": self.certificate,
            },
            strict=False,
        )
        told = polars.col("description")
        if frame.schema["description"].is_integer():
            told = polars.when(told != NOTHING_TOLD).then(told)
        return frame.with_columns(told)

    def plot(self) -> Plot:
        """Cumulative regret over the rounds; ``run.plot().save("regret.pdf")`` writes it."""
        demand_extra("lab", ["matplotlib"], "A figure")
        from tellback.figures import plot_regret

        return plot_regret({self.agent_name: self.regret}, self.start)

    def summary(self) -> Summary:
        """A short table that a person can read."""
        tenth = max(1, len(self) // 10)
        possible = float(np.mean(self.rewards + self.regrets))
        check = self.match_check
        warned = {"WARNING": str(check)} if check is not None and check.differs else {}
        rows = {
            **warned,
            "world": self.world_name,
            "agent": self.agent_name,
            "seed": str(self.seed),
            "rounds": f"{len(self):,}" + (f" after {self.start:,}" if self.start else ""),
            "regret": f"{self.regrets.sum():.4g}",
            "regret a round, first tenth": f"{self.regrets[:tenth].mean():.3g}",
            "regret a round, last tenth": f"{self.regrets[-tenth:].mean():.3g}",
            "reward, of the best possible": (
                f"{self.rewards.mean():.3g} of {possible:.3g} "
                f"({self.rewards.mean() / possible:.0%})"
                if possible > 0
                else "unknown"
            ),
            **self._shortlisted(),
            "descriptions that matched": self._matched(),
            "regret certificate": self._certified(),
        }
        return Summary(rows)

    def _shortlisted(self) -> dict[str, str]:
        """How much of the best possible reward the shortlists had; nothing if there were none."""
        possible = float(np.mean(self.rewards + self.regrets))
        if np.isnan(self.attainable).any() or not possible > 0:
            return {}
        best = float(self.attainable.mean())
        return {"best in shortlist, of the best possible": f"{best:.3g} ({best / possible:.0%})"}

    def _matched(self) -> str:
        if not self.described.any():
            return "none: nothing was described"
        _, low, high = (float(part[-1]) for part in self.reward_estimate())
        matched = float(self.matches[self.described].mean())
        said = f"{matched:.2%} (mean reward from {low:.2%} to {high:.2%}, 95% at all times)"
        return said if self._errors is None else f"{said}; by {self.match.says}"

    @property
    def _errors(self) -> ErrorRates | None:
        return getattr(self.match, "errors", None)

    def _behind(self, matched: Interval) -> Interval:
        return matched if self._errors is None else self._errors.reward(matched)

    def _certified(self) -> str:
        total = float(self.certificate[-1])
        if np.isnan(total):
            return "none: the agent states no widths"
        worth = "vacuous" if self.vacuous else f"at most {total:.4g} of {len(self):,}"
        if self.regret[-1] > total:
            worth = f"failed: {total:.4g} of {len(self):,}, and the regret is {self.regret[-1]:.4g}"
        basis = f"not proven: {self.caveat}" if self.proof is None else str(self.proof)
        return f"{worth} ({basis}); calibration {self.calibration().light}"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


class Summary(dict[str, str]):
    """A table of two columns that displays itself, in a terminal and in a notebook."""

    def __str__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.items())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self.items()
        )
        return f"<table>{rows}</table>"


class Recorder:
    """Writes rounds into columns whose memory is taken once, at the beginning."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        # np.full touches every page now, so that memory stays flat while the run goes on.
        self.columns: dict[str, Any] = {name: np.full(rounds, np.nan) for name in COLUMNS}

    def consume(self, rounds: Iterator[Round], progress: Callable[[int], object] | None) -> None:
        """Record every round."""
        first = next(rounds)
        self.columns["instructions"] = self._column(first.task.instruction)
        self.columns["responses"] = self._column(first.choice.response)
        self.columns["descriptions"] = self._column(first.task.instruction)  # of the same kind
        columns = [_writable(column) for column in self.columns.values()]
        reported, done, noted = 0, 0, monotonic()
        for i, one in enumerate(chain([first], rounds)):
            _, task, choice, description, reward, regret, attainable = one
            row = (task[1], choice[0], description, *choice[2:-1], reward, regret, attainable)
            for column, value in zip(columns, row, strict=True):  # in the order of COLUMNS
                if value is not None:
                    column[i] = value
            done = i + 1
            if progress is not None:
                now = monotonic()
                if not done % PROGRESS_EVERY or now - noted > PROGRESS_SECONDS:
                    progress(done - reported)
                    reported, noted = done, now
        if progress is not None and done > reported:
            progress(done - reported)

    def _column(self, sample: object) -> Any:
        """Room for values like the sample: a table of integers, or a list of anything."""
        if isinstance(sample, int | np.integer):
            return np.full(self._rounds, NOTHING_TOLD)
        return [None] * self._rounds


def with_checked_proof(run: Run) -> Run:
    """The run; its proof is dropped or marked as failed if the truth contradicts it."""
    if run.proof is None:
        return run
    check = run.match_check
    if check is not None and check.differs:
        caveat = "descriptions did not match as often as the rewards say (match_check)"
        return replace(run, proof=None, caveat=caveat)
    proof = replace(run.proof, failed=run.calibration().light in ("amber", "red"))
    return replace(run, proof=proof, caveat=str(proof) if proof.failed else run.caveat)


def _writable(column: Any) -> Any:
    """A view through which a single number is written faster than into the array."""
    return column.data if isinstance(column, np.ndarray) else column


def name_of(thing: object) -> str:
    """The name of a world or an agent in a run: its settings, or else its class."""
    name = repr(thing) if isinstance(thing, Spec) else type(thing).__name__
    return str.__str__(name)  # a plain text: a class of the agent's own could answer otherwise
