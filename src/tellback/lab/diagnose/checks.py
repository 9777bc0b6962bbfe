"""The evidence in words: one check for each possible source of regret."""

from __future__ import annotations

from math import isnan

from tellback.lab.compare import MeanInterval
from tellback.lab.diagnose.diagnosis import Check
from tellback.lab.diagnose.evidence import Evidence
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

NO_REGRET = "there is no late regret"
WITHOUT_MODEL = "the agent shows no estimates of all responses (a model with estimates())"
WITHOUT_BONUSES = f"{WITHOUT_MODEL} or no bonuses (an explorer with bonuses())"


def run_checks(e: Evidence) -> tuple[Check, ...]:
    """All checks, in a fixed order."""
    fit = () if isnan(e.fit.gain) else (_fit(e),)
    return (
        _shape(e),
        _optimism(e),
        *fit,
        _prediction(e),
        _teaching(e),
        _model_class(e),
        _exploration(e),
        _ties(e),
    )


def _shape(e: Evidence) -> Check:
    if e.rounds < FEWEST_ROUNDS:
        return _unknown("shape", f"{e.rounds} rounds are too few to see how regret grows")
    said = f"late regret is {e.late:.3g} a round"
    if e.slope.n > 0:
        said += f", and its sum grows as T to the {_between(e.slope)}"
    if not isnan(e.late_share):
        said += f"; random play would pay {e.uniform:.3g} (the agent pays {e.late_share:.0%} of it)"
    return _checked("shape", said + _sampled(e), is_small(e) or bends(e))


def _optimism(e: Evidence) -> Check:
    if e.late <= 0:
        return _checked("optimism", NO_REGRET, True)
    if isnan(e.unforeseen):
        return _unknown("optimism", f"whether the best is underrated is unknown: {WITHOUT_BONUSES}")
    said = (
        f"{e.unforeseen:.0%} of late regret is in rounds where the best response was better than "
        "its estimate plus bonus"
    )
    return _checked("optimism", said + _sampled(e), not e.unforeseen > MOST)


def _fit(e: Evidence) -> Check:
    said = f"{e.fit.how} on a copy gained {e.fit.gain:.2g} nats a description"
    return _checked("fit", said, not fits_badly(e))


def _prediction(e: Evidence) -> Check:
    if e.short.n == 0:
        return _unknown("prediction", _why_not_predicted(e))
    said = (
        f"in the last quarter, predictions fell short of the truth's by {_between(e.short)} nats; "
        f"late they know {e.known.mean:.2g} of the {e.knowable.mean:.2g} nats that responses tell "
        "beyond the frequencies of descriptions"
    )
    return _checked("prediction", said, e.short.mean < LEARNED)


def _teaching(e: Evidence) -> Check:
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
    return _checked("teaching", "; ".join(parts), not learns_wrongly(e))


def _model_class(e: Evidence) -> Check:
    if e.unexplained >= 0:
        said = (
            f"{e.unexplained:.1%} of how the truth varies over responses is beyond every model "
            "of its class"
        )
    elif e.poorer.n > 0:
        whose = "its class" if e.has_reference else "the model"
        said = f"{e.richer_name}, against {whose}, predicts {_ahead(e.poorer)}"
    else:
        return _unknown("model class", "there is no richer model to compare with here")
    return _checked("model class", said, not is_misspecified(e))


def _exploration(e: Evidence) -> Check:
    if e.late <= 0:
        return _checked("exploration", NO_REGRET, True)
    if isnan(e.by_estimate):
        return _unknown("exploration", f"why responses were chosen is unknown: {WITHOUT_MODEL}")
    said = (
        f"of late regret, {e.by_estimate:.0%} was paid for responses with the highest estimate, "
        f"{e.by_bonus:.0%} because of a bonus, {e.by_chance:.0%} by chance; always taking the "
        f"highest estimate would have saved {_shares(e.saved)} of it"
    )
    return _checked("exploration", said, is_small(e) or not explores_too_much(e))


def _ties(e: Evidence) -> Check:
    if isnan(e.tied):
        return _unknown("ties", f"whether responses tied is unknown: {WITHOUT_BONUSES}")
    said = f"several responses tied for the choice in {e.tied:.0%} of late rounds"
    if not isnan(e.tied_regret):
        said += f", with {e.tied_regret:.0%} of late regret"
    if not isnan(e.first):
        said += f"; of those the first was taken in {e.first:.0%}"
    return _checked("ties", said, not suffers_from_ties(e))


def _why_not_predicted(e: Evidence) -> str:
    if e.described == 0:
        return "nothing was described"
    if e.known.n == 0 and e.knowable.n > 0:
        return WITHOUT_MODEL
    return f"{e.described} descriptions are too few to judge predictions by"


def _checked(name: str, said: str, good: bool) -> Check:
    return Check(name, said + ".", "good" if good else "bad")


def _unknown(name: str, said: str) -> Check:
    return Check(name, said + ".", "unknown")


def _sampled(e: Evidence) -> str:
    if e.looked == e.rounds or e.looked == 0:
        return ""
    return f" (all responses were looked at in {e.looked:,} of {e.rounds:,} rounds, evenly spread)"


def _ahead(by: MeanInterval) -> str:
    """By how many nats something predicts better, late in the run."""
    if max(abs(by.low), abs(by.high)) < NO_DIFFERENCE:
        return "just as well"
    if by.mean < 0:
        return f"worse by {_between(MeanInterval(-by.mean, -by.high, -by.low, by.n))} nats late"
    return f"better by {_between(by)} nats late"


def _between(found: MeanInterval) -> str:
    return f"{found.mean:.2g} ({found.low:.2g} to {found.high:.2g})"


def _shares(found: MeanInterval) -> str:
    return f"{found.mean:.0%} ({found.low:.0%} to {found.high:.0%})"
