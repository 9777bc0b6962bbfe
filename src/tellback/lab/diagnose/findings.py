"""What was measured, said in words."""

from __future__ import annotations

from math import isnan

from tellback.lab.compare import Estimate
from tellback.lab.diagnose.diagnosis import Finding
from tellback.lab.diagnose.evidence import Evidence, Share
from tellback.lab.diagnose.rules import (
    FEWEST_ROUNDS,
    LEARNED,
    MOST,
    bends,
    explores_too_much,
    fits_badly,
    is_misspecified,
    is_small,
    learns_wrongly,
    suffers_from_ties,
)

NO_DIFFERENCE = 1e-4  # nats a description

WITHOUT_MODEL = "the agent shows no estimates of all responses (a model with estimates())"
WITHOUT_BONUSES = f"{WITHOUT_MODEL} or no bonuses (an explorer with bonuses())"


def findings(e: Evidence) -> tuple[Finding, ...]:
    """Everything that was checked, in a fixed order."""
    return (
        _shape(e),
        _calibration(e),
        _fit(e),
        _prediction(e),
        _teaching(e),
        _model_class(e),
        _exploration(e),
        _ties(e),
    )


def _shape(e: Evidence) -> Finding:
    if e.rounds < FEWEST_ROUNDS:
        return _unknown("shape", f"{e.rounds} rounds are too few to see how regret grows")
    said = f"regret is {e.late:.3g} a round late, {e.early:.3g} early"
    if e.slope.n > 0:
        said += f", and its sum grows as T to the {_between(e.slope)}"
    if not isnan(e.late_share):
        said += f"; playing at random would pay {e.uniform:.3g} ({e.late_share:.0%} of it is paid)"
    return _found("shape", said + _sampled(e), is_small(e) or bends(e))


def _calibration(e: Evidence) -> Finding:
    if isnan(e.chosen.late):
        return _unknown("calibration", "the agent states no estimates")
    said = f"the truth lay under estimate plus bonus in {_both(e.chosen)} for the chosen response"
    if isnan(e.best.late):
        why = f"for the best response it is unknown, because {WITHOUT_BONUSES}"
        return _unknown("calibration", f"{said}; {why}")
    said += f", {_both(e.best)} for the best, {_both(e.every)} for all of them together"
    if not isnan(e.unforeseen):
        said += f"; {e.unforeseen:.0%} of late regret is in rounds where the best lay above"
    return _found("calibration", said + _sampled(e), not e.unforeseen > MOST)


def _fit(e: Evidence) -> Finding:
    if isnan(e.fit.gain):
        return _unknown(
            "fit",
            "whether the model fits what it was told cannot be told: it is "
            "none whose fit could be improved on a copy",
        )
    said = f"{e.fit.how} on a copy gained {e.fit.gain:.2g} nats a description"
    if not isnan(e.fit.certified):
        said += f" (no fit gains more than {e.fit.certified:.2g})"
    return _found("fit", said, not fits_badly(e))


def _prediction(e: Evidence) -> Finding:
    if e.short_last.n == 0:
        return _unknown("prediction", _why_not_predicted(e))
    said = (
        f"predictions, made before each description was learned, fell short of the truth's by "
        f"{e.short_first.mean:.2g} nats in the first quarter and by {_between(e.short_last)} in "
        f"the last; late they know {e.known.mean:.2g} of the {e.knowable.mean:.2g} nats that "
        "responses tell beyond the frequencies of descriptions"
    )
    return _found("prediction", said, e.short_last.mean < LEARNED)


def _teaching(e: Evidence) -> Finding:
    if not e.has_reference and not e.too_wide >= 0:
        return _unknown("teaching", "there is no model of the same kind to teach beside it")
    parts = []
    if e.has_reference:
        parts.append(
            "the same kind of model, taught the same descriptions beside it, predicts "
            + _ahead(e.behind)
        )
    if e.too_wide >= 0:
        parts.append(f"bonuses were larger than is possible in {e.too_wide:.0%} of late rounds")
    return _found("teaching", "; ".join(parts), not learns_wrongly(e))


def _model_class(e: Evidence) -> Finding:
    parts = []
    if e.unexplained >= 0:
        parts.append(
            f"{e.unexplained:.1%} of how the truth varies over responses is beyond every model "
            "of its class"
        )
    if e.poorer.n > 0:
        whose = "its class" if e.has_reference else "the model"
        parts.append(f"{e.richer_name}, against {whose}, predicts {_ahead(e.poorer)}")
    if not parts:
        return _unknown("model class", "there is no richer model to compare with here")
    return _found("model class", "; ".join(parts), not is_misspecified(e))


def _exploration(e: Evidence) -> Finding:
    if isnan(e.greedy.rounds):
        return _unknown("exploration", f"why responses were chosen is unknown: {WITHOUT_MODEL}")
    if isnan(e.greedy.regret):
        return _found("exploration", "there is no late regret to divide", True)
    said = (
        f"of late regret, {e.greedy.regret:.0%} was paid for responses with the highest estimate "
        f"({e.greedy.rounds:.0%} of rounds), {e.bonus.regret:.0%} because of a bonus "
        f"({e.bonus.rounds:.0%}), {e.chance.regret:.0%} by chance ({e.chance.rounds:.0%}); "
        f"the highest estimate, always taken, would have saved {_shares(e.saved)} of it"
    )
    return _found("exploration", said, is_small(e) or not explores_too_much(e))


def _ties(e: Evidence) -> Finding:
    if isnan(e.tied.late):
        return _unknown("ties", f"whether responses tied is unknown: {WITHOUT_BONUSES}")
    said = f"several responses tied for the choice in {_both(e.tied)}"
    if not isnan(e.tied_regret):
        said += f", with {e.tied_regret:.0%} of late regret"
    if not isnan(e.first.late):
        said += f"; of those the first was taken in {e.first.late:.0%}"
    return _found("ties", said, not suffers_from_ties(e))


def _why_not_predicted(e: Evidence) -> str:
    if e.described == 0:
        return "nothing was described"
    if e.known.n == 0 and e.knowable.n > 0:
        return WITHOUT_MODEL
    return f"{e.described} descriptions are too few to judge predictions by"


def _found(name: str, said: str, good: bool) -> Finding:
    return Finding(name, said + ".", "good" if good else "bad")


def _unknown(name: str, said: str) -> Finding:
    return Finding(name, said + ".", "unknown")


def _sampled(e: Evidence) -> str:
    if e.looked == e.rounds or e.looked == 0:
        return ""
    return f" (all responses were looked at in {e.looked:,} of {e.rounds:,} rounds, evenly spread)"


def _both(share: Share) -> str:
    return f"{share.early:.0%} of rounds early and {share.late:.0%} late"


def _ahead(by: Estimate) -> str:
    """By how many nats something predicts better, late in the run."""
    if max(abs(by.low), abs(by.high)) < NO_DIFFERENCE:
        return "just as well"
    if by.mean < 0:
        return f"worse by {_between(Estimate(-by.mean, -by.high, -by.low, by.n))} nats late"
    return f"better by {_between(by)} nats late"


def _between(estimate: Estimate) -> str:
    return f"{estimate.mean:.2g} ({estimate.low:.2g} to {estimate.high:.2g})"


def _shares(estimate: Estimate) -> str:
    return f"{estimate.mean:.0%} ({estimate.low:.0%} to {estimate.high:.0%})"
