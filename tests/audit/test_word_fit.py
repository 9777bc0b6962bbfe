"""Scores and probabilities against plain calculations, a description at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.audit import doubt, sentences, word_fit
from tellback.audit.doubt import doubts
from tellback.audit.sentences import Sentences
from tellback.audit.word_fit import FEW_NOISE, FOLDS, LEAST, NOISE, RAREST, RIDGE, SUREST
from tellback.recordings import Said
from tests.support.audits import anonymous, case


@pytest.fixture(scope="module")
def some() -> Sentences:
    return Sentences.of(case(0.3, "copied", rooms=3).recording)


def test_scores_are_those_of_regressions_without_the_fold(some: Sentences) -> None:
    weights = np.random.default_rng(0).uniform(0.1, 1, len(some))
    found = word_fit.fits(some, weights)
    fold = word_fit.folds_of(len(some.row_of))
    points = np.column_stack([np.ones(len(some.row_of)), some.features[some.row_of]]).astype(float)
    ridge = np.diag([1e-3, *[RIDGE] * (points.shape[1] - 1)])
    usual = np.average(some.told, axis=0, weights=weights)

    def coefficients(f: int) -> np.ndarray:
        use = fold[some.response] != f
        z, w = points[some.response[use]], weights[use, None]
        return np.linalg.solve(z.T @ (w * z) + ridge, z.T @ (w * some.told[use]))

    models = [coefficients(f) for f in range(FOLDS)]
    missed = np.array(
        [x - points[r] @ models[fold[r]] for x, r in zip(some.told, some.response, strict=True)]
    )
    for i in (0, 17, 101):
        f = fold[some.response[i]]
        use = fold[some.response] != f
        total = weights[use].sum()
        covariance = (missed[use].T * weights[use]) @ missed[use] / total
        metric = np.linalg.inv(covariance + max(NOISE, FEW_NOISE / total) * np.eye(len(covariance)))
        group, scores = _scores(some, found, i)
        for column, response in enumerate(group.compared):
            expected = points[response] @ models[f]
            beyond = expected - usual
            cosine = (some.told[i] - usual) @ metric @ beyond
            cosine /= np.sqrt(beyond @ metric @ beyond + 1e-6)
            likely = np.clip(expected, np.maximum(LEAST * usual, RAREST), SUREST)
            said = some.told[i] > 0
            independent = np.log(likely[said]).sum() + np.log1p(-likely[~said]).sum()
            assert scores[column] == pytest.approx([cosine, independent], rel=2e-3, abs=2e-3)
            if response == some.response[i]:
                assert found.own[i] == pytest.approx(scores[column], abs=1e-3)
        for at, (said_at, response) in enumerate(some.twins):
            if said_at == i:
                column = int(np.flatnonzero(group.compared == response)[0])
                assert found.twins[at] == pytest.approx(scores[column], abs=1e-3)


def test_probabilities_follow_bayes_rule(some: Sentences, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one share of wrong ones for all, and no regard to copies."""
    monkeypatch.setattr(doubt, "PERSON", 1e12)
    monkeypatch.setattr(doubt, "COPIES", 1e12)
    found = word_fit.fits(some, np.ones(len(some)))
    trust = np.array([1.1, 0.3])
    sources = doubt._sources(some, found, trust)
    right, _ = doubt._right(some, sources, 0.3)
    wrong = float(1 - right.mean())
    for i in range(0, len(some), 37):
        group, scores = _scores(some, found, i)
        odds = np.exp((scores @ trust) - (scores @ trust).max())
        share = odds / odds.sum()
        own = share[group.compared == some.response[i]].item()
        here = (1 - wrong) * own
        assert right[i] == pytest.approx(
            here / (here + wrong * (1 - own) / (group.size - 1)), abs=2e-3
        )
        best = group.compared[share.argmax()]
        assert found.expected[sources.best[i]] == pytest.approx(found.expected[best], abs=1e-3)


def _scores(some: Sentences, found: word_fit.Fits, i: int) -> tuple[sentences.Group, np.ndarray]:
    """The group of a description, and its scores there."""
    g = next(g for g, one in enumerate(some.groups) if i in one.sentences)
    group = some.groups[g]
    return group, found.others[g][np.searchsorted(group.sentences, i)]


def test_few_compared_responses_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = anonymous(case(0.3).recording)  # one group of 240
    whole = doubts(Sentences.of(recording))
    monkeypatch.setattr(sentences, "MOST_COMPARED", 60)
    part = doubts(Sentences.of(recording))
    assert part.wrong == pytest.approx(whole.wrong, abs=0.05)
    assert np.corrcoef(part.right, whole.right)[0, 1] > 0.9


def test_small_groups_are_compared_as_one() -> None:
    recording = case(0.2).recording
    by_response = anonymous(recording)
    alone = type(recording)(
        tuple(type(one)(**{**one.__dict__, "group": f"{i}"}) for i, one in enumerate(by_response))
    )
    assert [group.size for group in Sentences.of(alone).groups] == [240]


def test_a_stock_phrase_is_no_copy() -> None:
    texts = tuple(Said("done") for _ in range(30))
    group = sentences.Group(30, np.arange(30), np.arange(30))
    assert len(sentences._twins(texts, np.arange(30), (group,))) == 0
    assert (
        len(sentences._twins(texts[:3], np.arange(3), (group._replace(sentences=np.arange(3)),)))
        == 6
    )
