"""The theory from the command line: every statement is run, drawn and judged."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from tellback import play, theory
from tellback.agents import LORIL
from tellback.lab import Store
from tellback.lab.compare import MeanInterval
from tellback.lab.status import finished
from tellback.paper.theory import certificates, coverage, plan
from tellback.paper.theory.experiment import not_above
from tellback.paper.theory.known_class import KnownClass
from tellback.streams import Streams
from tellback.worlds import Realizable
from tests.support.command import tellback_here

FIGURES = (
    "lower-bound",
    "hard-worlds",
    "coverage",
    "certificate",
    "responses",
    "rank",
    "growth",
    "feedback",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("theory")
    words = f"paper theory --scale 0.01 --results {folder} --on inline"
    done = tellback_here(*words.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_every_statement_has_its_line_in_the_claims_table(ran: tuple[Path, str]) -> None:
    folder, _ = ran
    page = (folder / "theory" / "report.html").read_text()
    for words in (
        "The paper&#x27;s claims",
        "Theorem 1, printed",
        "Theorem 1, repaired",
        "Corollary 1",
        "Lemma 1",
        "Theorem 2, printed",
        "Theorem 2, repaired",
        "running certificate",
        "printed sizes: maximum likelihood",
        "The analogue of Theorem 2 for ridge regression",
        "14,500 at T = 10,000, with probability 90%",
        "Below T from T = 24,644 on",
        "No play can have more regret in these worlds than the sum of the best rewards",
        "a running certificate at the paper&#x27;s printed sizes, by ridge",
        "does not depend on |Y|",
        "grows with d",
        "grows no faster than sqrt(T)",
        "teaches more than a reward",
    ):
        assert words in page, words


def test_every_figure_is_drawn_and_in_the_report(ran: tuple[Path, str]) -> None:
    folder, _ = ran
    page = (folder / "theory" / "report.html").read_text()
    for name in FIGURES:
        assert (folder / "theory" / f"{name}.png").stat().st_size > 10_000
        assert f'id="{name}-' in page, "its drawing is part of the page"
    assert not re.search(r'(src|href)="http', page), "nothing is fetched"


def test_a_second_call_would_compute_nothing_again(ran: tuple[Path, str]) -> None:
    folder, _ = ran
    store = Store(folder / "runs")
    found = [finished(study, store) for study in plan.studies(0.01)]
    assert all(results.has_all_runs() for results in found)


def test_studies_have_names_of_their_own_and_tune_on_other_seeds() -> None:
    studies = plan.studies()
    assert len({study.name for study in studies}) == len(studies)
    assert all(not set(study.tuning) & set(study.reported) for study in studies)
    sizes = {study.world.to_data().get("responses") for study in studies}
    assert {10, 100, 1_000, 10_000, 100_000} <= sizes


def test_distances_are_those_of_an_ellipsoid_worked_out_round_by_round() -> None:
    known = KnownClass(Realizable(4, 6, 3, 2.0, size=20), delta=0.1)
    agent = known.agents()["LORIL repaired"]
    simulation = known.world.build(Streams(5).init("world"))
    run = play(simulation, agent, 60, seed=5)
    truth = simulation.truth.f  # type: ignore[union-attr]
    responses = simulation.world.task(1, (), np.random.default_rng(0)).responses
    members = known.model.members(4, 3)
    likelihood, sigma, expected = np.zeros(20), np.zeros((3, 3)), []
    for t in range(60):
        error = truth - members[likelihood.argmax()]
        with_ridge = sigma + np.eye(3) / (t + 1)
        expected.append(max(np.sqrt(row @ with_ridge @ row) for row in error))
        g = responses.features(int(run.responses[t]))
        likelihood += np.log(members[:, int(run.descriptions[t])] @ g)
        sigma += np.outer(g, g)
    found = coverage.distances(run, known, truth, responses)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_printed_bound_is_true_for_the_radius_of_algorithm_1_too() -> None:
    """By the paper's chain that radius gives more; with widths clipped at 1, less."""
    known, T, delta = certificates.KNOWN, 10_000, certificates.DELTA
    printed = known.bounds()["Theorem 2, printed"](T)
    constant = theory.printed_constant(known.log_size, delta) / 2
    sizes = T * known.world.rank * math.log1p(T * known.B)
    chain = printed + 8 * (constant - 1) * known.B * math.sqrt(sizes)
    found = [round(one) for one in (certificates.clipped_bound(T), printed, chain)]
    assert found == [21_591, 32_041, 34_052], "as the errata say"


def test_the_ellipsoid_of_a_known_class_covers_as_often_as_promised() -> None:
    known = coverage.SETTINGS["members alike"]
    ratios, optimistic = coverage.simulate(known, known.agents()["LORIL repaired"], 40)
    # 40 runs that fail with probability 0.1 at most: 12 or more happen once in a thousand times.
    assert (ratios["repaired"] > 1).sum() < 12
    assert (ratios["printed"] <= ratios["repaired"]).all(), "the printed radius is larger"
    assert optimistic > 0.9


@pytest.mark.parametrize(
    ("power", "verdict"),
    [
        (MeanInterval(0.3, 0.2, 0.4, 5), "not contradicted"),
        (MeanInterval(0.5, 0.4, 0.6, 5), "undecided"),
        (MeanInterval(0.3, 0.2, 0.4, 2), "undecided"),
        (MeanInterval(0.8, 0.6, 0.9, 5), "does not hold"),
        (None, "undecided"),
    ],
)
def test_a_power_is_judged_by_its_whole_interval(power: MeanInterval | None, verdict: str) -> None:
    assert not_above(0.5, power) == verdict


def test_the_known_class_gives_its_size_and_bound_to_the_radius() -> None:
    known = KnownClass(Realizable())
    facts = known.world.facts
    resolved = LORIL.as_repaired(model=known.model).resolved(facts)
    assert resolved == known.agents()["LORIL repaired"]
    lengths = np.linalg.norm(known.model.members(10, 4), axis=2)
    assert max(1, lengths.max()) == known.B
    bound = known.bounds()["Theorem 2, repaired"]
    assert bound(1000) == theory.repaired_regret_bound(1000, 4, known.B, np.log(64), 0.05)
