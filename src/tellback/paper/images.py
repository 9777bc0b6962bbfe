"""The paper's second experiment: its figure 3, and the claim that goes with it.

The paper does not say how its pictures vary, and its features can be read in two ways. The
default is one reading; ``full`` adds the others, and a study of what changes regret most.
"""

from __future__ import annotations

from itertools import product

from tellback.agents import Greedy
from tellback.encoders import Autoencoder
from tellback.lab.plan import Plan
from tellback.lab.study import Study
from tellback.models import Sentence
from tellback.paper.claims import ClaimedMargin
from tellback.paper.grids import agents
from tellback.worlds import Images

# "4.8% less regret than the next best baseline"
CLAIMED = ClaimedMargin("Image selection", 0.048, seeds=5)
TITLE = "Figure 3 of the paper, run here: mean regret, 95% bands, settings tuned on other seeds"
ROUNDS = 1000
TUNING = tuple(range(1000, 1005))
REPORTED = 15
FEATURES = {"channels": "the paper's features", "places": "summed over places"}
BASE = "the default: hidden size 10, learning rate 0.001, 20 steps a round"


def worlds(scale: float = 1.0, full: bool = False) -> dict[str, Images]:
    """The worlds by name; a scale below 1 shortens everything, the encoder's training too."""
    readings = product(("canon", "jitter"), FEATURES) if full else [("canon", "channels")]
    return {
        f"{variant}, {FEATURES[summed_over]}": Images(variant, encoder=_encoder(summed_over, scale))
        for variant, summed_over in readings
    }


def plan(scale: float = 1.0, full: bool = False) -> Plan:
    """The second experiment; ``full`` adds the study of what changes regret most."""
    others = [other_models(scale)] if full else []
    return Plan(TITLE, (*studies(scale, full), *others))


def studies(scale: float = 1.0, full: bool = False) -> list[Study]:
    """The comparisons, one in each world."""
    return [
        Study(
            name=name,
            world=world,
            agents=agents("random", Sentence()),
            rounds=_rounds(scale),
            tuning=TUNING[: max(2, round(len(TUNING) * scale))],
            reported=_reported(scale),
            everywhere=False,
        )
        for name, world in worlds(scale, full).items()
    ]


def other_models(scale: float = 1.0) -> Study:
    """Greedy with other models of sentences; without exploration, only the model differs."""
    models = {
        BASE: Sentence(),
        "5 steps a round": Sentence(steps=5),
        "learning rate 0.003": Sentence(learning_rate=0.003),
        "hidden size 32": Sentence(hidden=32),
        "hidden size 32, learning rate 0.003": Sentence(hidden=32, learning_rate=0.003),
    }
    return Study(
        name="greedy with other models, canon, the paper's features",
        world=Images(encoder=_encoder("channels", scale)),
        agents={name: (Greedy(model=model),) for name, model in models.items()},
        rounds=_rounds(scale),
        tuning=(),
        reported=_reported(scale),
    )


def _encoder(summed_over: str, scale: float) -> Autoencoder:
    trained = Autoencoder(summed_over)
    return trained.with_settings({"steps": max(20, round(trained.steps * scale))})


def _rounds(scale: float) -> int:
    return max(20, round(ROUNDS * scale))


def _reported(scale: float) -> tuple[int, ...]:
    return tuple(range(max(CLAIMED.seeds, round(REPORTED * scale))))
