"""Lemma 1: how often the ellipsoid holds f* at all times, and how much smaller it could be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellback import theory
from tellback.agents.radius import Moment
from tellback.arrays import Array
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import share_of
from tellback.lab.results import Results
from tellback.paper.claims import Claim
from tellback.paper.theory.experiment import Experiment, Findings, promised_in
from tellback.paper.theory.known_class import KnownClass
from tellback.protocol import play
from tellback.responses import Listed
from tellback.roles import AgentSpec
from tellback.run import Run
from tellback.streams import Streams
from tellback.worlds import Realizable

DELTA = 0.1
RUNS, ROUNDS = 200, 500
UNSCALED = "without C'"
SETTINGS = {
    "members far apart": KnownClass(Realizable(5, 20, 3, 0.75, size=100), DELTA),
    "members alike": KnownClass(Realizable(5, 20, 3, 3.0, size=100), DELTA),
}


def distances(run: Run, known: KnownClass, f_star: Array, responses: Listed) -> Array:
    """sup_x ||f*(x) - f-hat_t(x)|| in the norm of Sigma-hat_t, for every round t.

    Computed from the record of a run alone: the most likely member in each round, and the sum
    of the squared errors of its probabilities over earlier rounds, plus the ridge term.
    """
    members = known.model.members(known.world.instructions, known.world.rank)
    g = responses.matrix[np.asarray(run.responses)]  # a row a round
    told = np.asarray(run.descriptions)
    likelihoods = np.log(np.einsum("mtd,td->tm", members[:, told], g))
    best = np.vstack([np.zeros(len(members)), likelihoods.cumsum(axis=0)[:-1]]).argmax(axis=1)
    errors = np.einsum("mxd,td->tmx", members - f_star, g) ** 2
    before = np.vstack([np.zeros_like(errors[:1]), errors.cumsum(axis=0)[:-1]])
    t = np.arange(len(run))
    ridge = ((members - f_star) ** 2).sum(axis=2)[best] / (t + 1)[:, None]
    furthest: Array = np.sqrt((before[t, best] + ridge).max(axis=1))
    return furthest


def _radii(known: KnownClass) -> dict[str, Array]:
    """Each radius at every round, and that of Algorithm 1 without its C'."""
    facts = known.world.facts
    rounds = [(t, 1 / t) for t in range(1, ROUNDS + 1)]
    printed, repaired = (
        np.array([radius(Moment(t, lam)) for t, lam in rounds])
        for radius in (spec.build(facts) for spec in known.radii())
    )
    constant = theory.printed_constant(known.log_size, known.delta)
    return {"printed": printed, "repaired": repaired, UNSCALED: printed / constant}


def simulate(known: KnownClass, agent: AgentSpec, runs: int) -> tuple[dict[str, Array], float]:
    """The largest distance of each run in units of each radius, and the share of optimistic rounds.

    In an optimistic round the best response was not above the highest upper bound.
    """
    radii = _radii(known)
    ratios: dict[str, list[float]] = {name: [] for name in radii}
    optimistic = []
    for seed in range(runs):
        simulation: Any = known.world.build(Streams(seed).init("world"))
        run = play(simulation, agent, ROUNDS, seed=seed)
        responses = simulation.world.task(1, (), np.random.default_rng(0)).responses
        far = distances(run, known, simulation.truth.f, responses)
        for name, radius in radii.items():
            ratios[name].append(float((far / radius).max()))
        optimistic.append(run.calibration().optimistic)
    return {name: np.array(values) for name, values in ratios.items()}, float(np.mean(optimistic))


def findings(found: Sequence[Results], scale: float) -> Findings:
    """Coverage of the printed and of the repaired ellipsoid, and the least C' that would do."""
    runs = max(20, round(RUNS * scale))
    ratios: dict[str, dict[str, Array]] = {}
    claims = []
    for name, known in SETTINGS.items():
        agent = known.agents()["LORIL repaired"]
        ratios[name], optimistic = simulate(known, agent, runs)
        claims += _claims(name, known, ratios[name], optimistic)

    def draw(figure: Any) -> None:
        for axis, (name, known) in zip(figure.subplots(1, 2), SETTINGS.items(), strict=True):
            needed = ratios[name][UNSCALED]
            constants = np.linspace(0, 3, 200)
            axis.plot(constants, [(needed <= c).mean() for c in constants], color="#0072b2")
            axis.axhline(1 - 2 * known.delta, color="#999999", ls="--", lw=1)
            constant = theory.printed_constant(known.log_size, known.delta)
            axis.axvline(constant, color="black", ls=":", lw=1)
            axis.set_title(f"{name} (temperature {known.world.temperature:g})", fontsize=9.5)
            axis.set(xlabel="C'", ylabel="share of runs covered at all times")

    picture = Picture(
        name="coverage",
        title="Lemma 1: how small C' could be",
        says=f"The share of {runs} runs of {ROUNDS} rounds in which the ellipsoid held f* in every "
        f"round, against the C' that is used; dashed, the 1 - 2 delta that the lemma promises; "
        f"dotted, the paper's C'. |F| = 100, d = 3, delta = {DELTA:g}; responses chosen by LORIL "
        "with the repaired radius. This is one class, averaged over its members as the truth; the "
        "lemma is for each member of every class.",
        draw=draw,
    )
    return Findings(claims, [picture])


def _claims(
    name: str, known: KnownClass, ratios: dict[str, Array], optimistic: float
) -> list[Claim]:
    """A claim for each radius."""
    printed, repaired = share_of(ratios["printed"] <= 1), share_of(ratios["repaired"] <= 1)
    enough = 1 - 2 * known.delta, 1 - known.delta
    reading = f"{name}, |F| = {known.world.size}, {ROUNDS} rounds"
    return [
        Claim(
            claim="Lemma 1, printed: the ellipsoid holds f* at all times",
            figure=f"with probability 1 - 2 delta = {enough[0]:.0%}",
            reading=reading,
            measured=str(printed),
            verdict=promised_in(printed, enough[0]),
            note=f"In {enough[0]:.0%} of these runs C' = {_least(ratios[UNSCALED], enough[0]):.2f} "
            f"would have done; the paper's is "
            f"{theory.printed_constant(known.log_size, known.delta):.2f}.",
        ),
        Claim(
            claim="Lemma 1, repaired: the smaller ellipsoid does too",
            figure=f"with probability 1 - delta = {enough[1]:.0%}",
            reading=reading,
            measured=str(repaired),
            verdict=promised_in(repaired, enough[1]),
            note=f"In {enough[1]:.0%} of these runs {_least(ratios['repaired'], enough[1]):.2f} of "
            "the radius would have done. The best response was within the highest upper bound in "
            f"{optimistic:.2%} of rounds.",
        ),
    ]


def _least(ratios: Array, share: float) -> float:
    """The least value that covers this share of the runs."""
    return float(np.quantile(ratios, share, method="higher"))


EXPERIMENT = Experiment(lambda scale: [], findings)
