"""What commands print, as data for other programs: the option ``--json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from tellback.lab import Difference, MeanInterval, Results
    from tellback.lab.status import StudyStatus


def print_json(data: object) -> None:
    """One JSON document on standard output. Numbers that are not finite become null."""
    typer.echo(json.dumps(plain(data), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if hasattr(value, "to_data"):
        return plain(value.to_data())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if hasattr(value, "item"):  # a number of NumPy's
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def results_data(found: Sequence[Results]) -> list[dict[str, Any]]:
    """The table of each study, its comparisons, and every run with its identity."""
    return [_study_data(results) for results in found]


def _study_data(results: Results) -> dict[str, Any]:
    from tellback.lab import mean_regret

    study = results.study
    agents = []
    for name in study.agents:
        setting = results.tuned(name)
        final = results.final(setting)
        interval = mean_regret(final, at_most=study.rounds) if len(final) > 1 else None
        agents.append(
            {
                "agent": name,
                "setting": setting.label(),
                "n": len(final),
                "regret": final.mean(),
                **_bounds(interval),
            }
        )
    return {
        "study": study.name,
        "world": study.world,
        "rounds": study.rounds,
        "tuning": study.tuning,
        "reported": study.reported,
        "agents": agents,
        "pairs": [
            {
                "ours": pair.ours,
                "theirs": pair.theirs,
                "verdict": pair.verdict,
                "less": pair.difference and asdict(pair.difference) | _bounds(pair.difference),
                "sentence": pair.sentence,
            }
            for pair in results.pairs()
        ],
        "warnings": results.warnings(),
        "runs": results.finals().drop("study", "source").to_dicts(),
    }


def _bounds(found: MeanInterval | Difference | None) -> dict[str, float | None]:
    """Those of an interval, if there is one."""
    if found is None or found.same:
        return {"low": None, "high": None}
    return {"low": found.low, "high": found.high}


def status_data(status: StudyStatus) -> dict[str, Any]:
    """How far a study is, with every run that is done, failed or damaged."""

    def runs(some: Any) -> list[dict[str, Any]]:
        return [{"run": run.identity, "agent": run.agent.label(), "seed": run.seed} for run in some]

    failed = [
        one | {"error": text.strip().splitlines()[-1]}
        for one, text in zip(runs(status.failed), status.failed.values(), strict=True)
    ]
    return {
        "study": status.study.name,
        "planned": len(status.planned),
        "more_may_follow": status.study.decide is not None and status.results is None,
        "rounds_done": status.rounds_done,
        "rounds_planned": status.rounds_planned,
        "seconds": status.provenance.seconds,
        "done": runs(status.done),
        "failed": failed,
        "damaged": runs(status.damaged),
    }
