"""From evidence to a cause: an ordered list of rules, of which the first that holds decides.

No rule rests on an unknown number: every comparison with NaN is false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tellback.lab.compare import MeanInterval
from tellback.lab.diagnose.evidence import Evidence

FEWEST_ROUNDS = 40
"""Below this there are not enough blocks of rounds for any interval."""

SMALL_REGRET = 0.1
"""Late regret below a tenth of random play's is small, however it grows."""

SUBLINEAR, HALF_OF_CHANCE = 0.75, 0.5
"""The theory promises regret of order T^(1/2). A curve bends if its slope is certainly below the
middle between 1/2 and 1. The agent must also pay less than half of random play's regret: a curve
may bend because it began worse than chance."""

LIKE_CHANCE = 0.9
"""Late regret above nine tenths of random play's counts as random play."""

UNFITTED = 0.03
"""Nats a description that a better fit to the same data must gain. The rule also asks that the
class predicts better: while most instructions are new, a gain is overfitting."""

MUCH = 0.25
"""A quarter of what can be known beyond frequencies. A model that misses this much more than its
own class, taught the same, has not learned what it was taught."""

FAR = 0.05
"""The same in nats a description, for agents that tried so little that little can be known."""

SOME = 0.1
"""A tenth of what can be known: a smaller gap of class or fit does not explain much regret. For
networks, MUCH: of two that could both fit, a wider or faster one is ahead for a time."""

LEAST_NATS = 0.005
"""Differences in log loss below this are ignored, whatever share they are."""

MOST, NEARLY_ALL = 0.5, 0.9
"""More than half of the late regret is most of it. A stuck agent underrates the best response
nearly always; an agent that is uncertain of everything, in two rounds of three."""

ALWAYS, OFTEN = 0.99, 0.25
"""Always the first of the tied; ties with a good part of late regret."""

LEARNED = 0.1
"""Nats a description short of the truth's. Below this the tried responses are known (their
probabilities to one part in ten), and more rounds of the same would teach little."""


@dataclass(frozen=True)
class Rule:
    """A cause, when it holds, and the verdict to give then."""

    cause: str
    holds: Callable[[Evidence], bool]
    verdict: Callable[[Evidence], str]


def decide(evidence: Evidence) -> tuple[str, str]:
    """The cause and the verdict of the first rule that holds."""
    for rule in RULES:
        if rule.holds(evidence):
            return rule.cause, rule.verdict(evidence)
    return UNCLEAR, _say_unclear(evidence)


def clearly(
    difference: MeanInterval, share: float, of: MeanInterval, least: float = LEAST_NATS
) -> bool:
    """Whether a difference is certain, at least ``least``, and a good share of the whole."""
    return difference.low > 0 and difference.mean > max(least, share * of.mean)


def is_small(e: Evidence) -> bool:
    """Hardly any late regret."""
    return e.rounds >= FEWEST_ROUNDS and (e.late <= 0 or e.late_share < SMALL_REGRET)


def bends(e: Evidence) -> bool:
    """Regret grows more slowly than the rounds."""
    return e.slope.high < SUBLINEAR and not e.late_share >= HALF_OF_CHANCE


def is_trouble(e: Evidence) -> bool:
    """Regret is neither small nor certainly bending: a fault is worth naming."""
    return not is_small(e) or e.slope.high >= SUBLINEAR


def does_not_learn(e: Evidence) -> bool:
    """The agent shows no estimates and does no better than chance."""
    return e.known.n == 0 and e.late_share > LIKE_CHANCE and e.rounds >= FEWEST_ROUNDS


def fits_badly(e: Evidence) -> bool:
    """A copy fits the same descriptions better, and its class predicts better.

    The first alone may be overfitting.
    """
    share = MUCH if e.language else SOME
    return e.fit.gain > UNFITTED and clearly(e.behind, share, e.knowable)


def learns_wrongly(e: Evidence) -> bool:
    """Its model or its bonuses do not follow from its descriptions."""
    if e.too_wide > MOST:
        return True
    if e.has_reference:
        return clearly(e.behind, MUCH, e.knowable, FAR)
    # Without a reference: the model knows nothing, though a mere table of frequencies does.
    knows_nothing = e.known.low <= 0 or e.known.mean < LEAST_NATS
    return knows_nothing and clearly(e.poorer, MUCH, e.knowable, FAR)


def explores_too_much(e: Evidence) -> bool:
    """Most late regret is paid for exploring."""
    return e.saved.low > 0 and e.saved.mean > MOST


def is_misspecified(e: Evidence) -> bool:
    """The class of models is too poor.

    Where the truth itself could be held against the class, that decides: with few data a
    smoothed table predicts better than maximum likelihood in a class that is rich enough.
    """
    if e.unexplained >= 0:
        return e.unexplained > SOME
    return clearly(e.poorer, MUCH if e.language else SOME, e.knowable)


def suffers_from_ties(e: Evidence) -> bool:
    """It takes the first of tied responses again and again."""
    return e.tied_regret > OFTEN and e.first >= ALWAYS


def explores_too_little(e: Evidence) -> bool:
    """It knows the responses it tried, underrates the others, and does not try them."""
    stays = e.by_estimate > MOST and not e.slope.high < SUBLINEAR
    return stays and e.unforeseen > NEARLY_ALL and e.short.mean < LEARNED


def is_too_early(e: Evidence) -> bool:
    """It does not yet know even the responses it tried."""
    return e.short.mean >= LEARNED


def _say_small(e: Evidence) -> str:
    if e.late <= 0:
        return "There is no regret left in the second half: nothing needs to be done."
    hint = ""
    if e.slope.low > SUBLINEAR:
        hint = " It is little, but it goes on growing with the rounds: checks marked ! say why."
    return (
        f"Late regret is {e.late_share:.0%} of random play's: learning goes "
        f"well, and nothing needs to be done.{hint}"
    )


def _say_bends(e: Evidence) -> str:
    share = f", and late regret is {e.late_share:.0%} of random play's" if e.late_share >= 0 else ""
    hint = ""
    if e.by_bonus + e.by_chance > MOST:
        hint = " Most of it is paid for exploring: a smaller k or epsilon may save some."
    return (
        f"Regret grows as T to the {e.slope.mean:.2f}, clearly more slowly than the "
        f"rounds{share}: learning goes well, and more rounds will show it.{hint}"
    )


def _say_not_learning(e: Evidence) -> str:
    return (
        "The agent shows no estimates and does no better than random play "
        f"({e.late_share:.0%} of random play's regret late). If it is meant to learn, look at its "
        "learn() and respond(); if not, choose an agent with a model."
    )


def _say_unfitted(e: Evidence) -> str:
    return (
        "It is tuning, of the optimisation: the model is far from the best fit of its own class "
        f"(a copy gained {e.fit.gain:.2g} nats a description by {e.fit.how}). Take more steps a "
        "description or a higher learning rate."
    )


def _say_bug(e: Evidence) -> str:
    if e.too_wide > MOST:
        return (
            "It looks like a bug: responses keep a bonus larger than is possible after so many "
            "descriptions, so the descriptions are learned for other features than those of the "
            "response that was chosen. Look at what learn() passes on."
        )
    rival = "the same kind of model" if e.has_reference else e.richer_name
    missed = e.behind if e.has_reference else e.poorer
    return (
        f"It looks like a bug: taught the same descriptions, {rival} predicts the next one "
        f"better by {missed.mean:.2g} nats. "
        "Look at what learn() passes on: are descriptions attached to the right response, and "
        "do all of them arrive?"
    )


def _say_too_much(e: Evidence) -> str:
    what = "k (the weight of the bonus)" if e.by_bonus >= e.by_chance else "epsilon"
    return (
        "It is tuning: the agent explores too much. The response that it believed to be best "
        f"would have saved {min(e.saved.mean, 1):.0%} of the late regret. Lower {what}."
    )


def _say_misspecified(e: Evidence) -> str:
    if e.unexplained > SOME:
        why = (
            f"{e.unexplained:.0%} of how P(x | y, s) varies over responses is not linear in the "
            "features"
        )
    else:
        why = f"{e.richer_name} predicts descriptions better by {e.poorer.mean:.2g} nats"
    return (
        f"It is the model: its class cannot represent this world ({why}). Better features or a "
        "richer model are needed; neither more rounds nor other settings will help much."
    )


def _say_ties(e: Evidence) -> str:
    return (
        "It is tuning: several responses are equally good to the agent in "
        f"{e.tied:.0%} of late rounds, and it always takes the first, so that it never "
        'finds out about the others. Break ties at random (ties="random"), or explore.'
    )


def _say_too_little(e: Evidence) -> str:
    return (
        "It is tuning: the agent explores too little. It predicts well for responses that it "
        f"tried, but {e.unforeseen:.0%} of the late regret is in rounds where the best response is "
        "better than its estimate plus bonus. Raise k, or epsilon."
    )


def _say_too_early(e: Evidence) -> str:
    return (
        "It is theory: there are not enough data yet. Nothing is wrong with the model, but after "
        f"{e.described:,} descriptions it knows {max(e.known.mean, 0):.2g} of the "
        f"{e.knowable.mean:.2g} nats that responses tell of their descriptions, even for those "
        "that it tried. Play more rounds."
    )


def _say_unclear(e: Evidence) -> str:
    if e.rounds < FEWEST_ROUNDS:
        return f"{e.rounds} rounds are too few to tell: play at least {FEWEST_ROUNDS}."
    share = f" ({e.late_share:.0%} of random play's)" if e.late_share >= 0 else ""
    return (
        f"No rule holds. Late regret is {e.late:.3g} a round{share}. Look at the checks below that "
        "are marked with !."
    )


UNCLEAR = "unclear"

RULES = (
    Rule("not learning", does_not_learn, _say_not_learning),
    # Faults of the model come first: with wrong estimates nothing else can be judged.
    Rule("unfitted", lambda e: is_trouble(e) and fits_badly(e), _say_unfitted),
    Rule("bug", lambda e: is_trouble(e) and learns_wrongly(e), _say_bug),
    Rule("healthy", is_small, _say_small),
    Rule("over-exploration", explores_too_much, _say_too_much),
    Rule("healthy", bends, _say_bends),
    Rule("misspecified", is_misspecified, _say_misspecified),
    Rule("ties", suffers_from_ties, _say_ties),
    Rule("under-exploration", explores_too_little, _say_too_little),
    Rule("too early", is_too_early, _say_too_early),
)

CAUSES = (*dict.fromkeys(rule.cause for rule in RULES), UNCLEAR)
"""All causes that a diagnosis may name."""
