"""Progress of a lesson."""

from __future__ import annotations

import numpy as np

from tellback.agents import LORIL
from tellback.classroom.learning.progress import match_rate
from tellback.classroom.store.reports import Columns
from tellback.models import Ridge
from tellback.theory import running_mean, running_share
from tellback.theory.shares import Share, share_of_counts
from tests.support.classroom_lessons import SENTENCES


def test_the_share_of_matches_has_an_interval_that_may_be_watched() -> None:
    """Of rounds in the order in which they were described, not in that in which they were asked."""
    nothing = np.full(5, np.nan)
    matched = np.array([1.0, np.nan, 0.0, 1.0, 1.0])
    described = np.array([9.0, np.nan, 4.0, 6.0, 11.0])
    found = match_rate(Columns(nothing, nothing, nothing, matched, described))
    mean, low, high = running_mean(np.array([0.0, 1.0, 1.0, 1.0]))
    assert found == Share(mean[-1], low[-1], high[-1], 4)
    assert match_rate(Columns(*([nothing] * 5))) is None


def test_a_share_that_is_shown_after_every_event_rarely_ever_excludes_the_truth() -> None:
    """Clopper and Pearson's interval, looked at as often, does in far more than 5% of lessons."""
    rng = np.random.default_rng(3)
    lessons = rng.random((200, 150)) < 0.5
    excluded = {"running": 0, "fixed": 0}
    for matches in lessons:
        counts = np.cumsum(matches)
        fixed = [share_of_counts(int(counts[n]), n + 1) for n in range(0, 150, 5)]
        shown = [running_share(matches[: n + 1]) for n in range(0, 150, 5)]
        for name, shares in (("running", shown), ("fixed", fixed)):
            excluded[name] += any(not one.low <= 0.5 <= one.high for one in shares)
    assert excluded["running"] <= 10
    assert excluded["fixed"] > 20


def test_progress_says_of_bounds_that_were_chosen_that_they_prove_nothing() -> None:
    from tellback.certificate import Calibration
    from tellback.classroom.web.api.progress import _with_caveat
    from tellback.proof import Proof, ProofStatus, proof_status_of

    nan = float("nan")
    grey = Calibration(nan, nan, nan, "grey", "2 descriptions do not contradict the bounds")
    dark = Calibration(nan, nan, nan, "dark", "the agent states no widths")
    agent = LORIL(k=0.3, model=Ridge()).build(SENTENCES.facts, np.random.default_rng(0))
    chosen = proof_status_of(agent)
    assert "k = 0.3 was chosen and not derived" in _with_caveat(grey, chosen)
    assert _with_caveat(dark, chosen) == dark.says
    derived = ProofStatus(Proof(0.05, "a radius", "the truth is in its class"), "")
    assert "no proof: nobody knows whether descriptions were skipped" in _with_caveat(grey, derived)
