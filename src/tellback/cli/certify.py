"""``tellback certify``: what can be known of an agent's regret without any reward."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import Json
from tellback.cli.show import counted_rounds, print_written, say

if TYPE_CHECKING:
    from tellback.lab.bounds import Bound
    from tellback.run import Run


def certify(
    world: Annotated[str, typer.Argument(help="The world to play in; see 'tellback list'.")],
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="An agent with a model, or module:name.")
    ] = "loril",
    rounds: Annotated[int, typer.Option(help="How many rounds.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The run's seed.")] = 0,
    k: Annotated[
        str,
        typer.Option(
            help="The radius of the ellipsoid: repaired or printed, for maximum likelihood, with "
            "the ridge 1/t; self-normalized, for the model ridge, with its ridge; or a number, "
            "with the ridge 1, which proves nothing."
        ),
    ] = "repaired",
    delta: Annotated[
        float, typer.Option(help="The probability with which the theory's radius may fail.")
    ] = 0.05,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting as name=value, as for 'tellback run'."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Also draw certificate, matches and regret.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play one run and certify its regret: how large it can be at most, without a reward.

    An agent with a model is played as it is, beside a confidence ellipsoid. The certificate
    sums what each choice can cost at most; matches estimate the reward. In a simulation both
    are shown beside the truth, with the bound of Theorem 2, or with its analogue for ridge.

    Example: tellback certify realizable --agent greedy --set model=finite-class --k repaired

    Example: tellback certify synthetic --agent greedy --set model=ridge --k self-normalized
    """
    from tellback.agents import Certified, ModelAgentSpec, RadiusSpec
    from tellback.errors import SettingError, whole
    from tellback.lab.bounds import regret_bounds, said_of
    from tellback.lab.settings import specs_with_settings
    from tellback.protocol import play
    from tellback.specs import spec_named

    rounds = whole("rounds", rounds)
    spec, (inner,) = specs_with_settings(world, [agent], settings or [])
    radius: float | RadiusSpec
    try:
        radius = float(k)
    except ValueError:
        radius = spec_named(RadiusSpec, k)(delta)
        if spec.facts.language:
            raise SettingError(
                "The theory's radius is for tables of instructions, and this world uses "
                "sentences: give a number as --k, which proves nothing."
            ) from None
    if not isinstance(inner, ModelAgentSpec):
        raise SettingError(f"{inner.kind} has no model that could be certified.")
    lam = 1.0 if isinstance(radius, float) else radius.ridge(inner.model)
    certified = Certified(inner, radius, lam)
    if figure is not None:
        from tellback.figures import demand_drawable

        demand_drawable(figure)
    spec.prepare()
    with counted_rounds("rounds", rounds) as played:
        run = play(spec, certified, rounds, seed=seed, progress=played)
    by_matches = run.calibration(truth=False)
    bounds = {} if spec.facts.language else regret_bounds(spec.facts, certified)
    if as_json:
        print_json(
            {
                "world": spec,
                "agent": certified,
                "rounds": rounds,
                "seed": seed,
                "regret": run.regret[-1],
                "certificate": run.certificate[-1],
                "vacuous": run.vacuous,
                "proof": str(run.proof) if run.proof else None,
                "caveat": run.caveat,
                "calibration": run.calibration().light,
                "calibration_by_matches": by_matches.light,
                "bounds": {name: bound(rounds) for name, bound in bounds.items()},
            }
        )
    else:
        say(run.summary())
        say(f"Calibration: {run.calibration()}")
        say(f"Calibration by matches alone: {by_matches}")
        for name, bound in bounds.items():
            say(said_of(name, bound, rounds, float(run.regret[-1]), certified))
    if figure is not None:
        print_written(_draw(run, bounds, figure), stderr=as_json)


def _draw(run: Run, bounds: Mapping[str, Bound], path: Path) -> list[Path]:
    from tellback.lab.charts.certificate import draw_certificate, draw_reward_estimate
    from tellback.lab.charts.picture import Picture

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        draw_certificate(left, run, bounds)
        draw_reward_estimate(right, run)

    return Picture(path.name, "certificate", "", draw, height=4.8).write(path.parent)
