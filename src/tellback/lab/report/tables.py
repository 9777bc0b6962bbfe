"""The tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

from tellback.lab.pairs import Pair
from tellback.lab.report.markup import Markup, element, joined, table
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.lab.wording import counted

VERDICTS = {
    "less": "decided",
    "alone": "decided alone",
    "undecided": "undecided",
    "unknown": "unknown",
}


def results_html(results: Results) -> Markup:
    """The short form of a study, for notebooks."""
    return joined(
        [
            element("p", element("b", results.study.name), f": {describe(results)}"),
            warnings(results),
            finals_table(results),
            pairs_table(results.pairs()),
        ]
    )


def study_html(study: Study) -> Markup:
    """What a study is to play, as a notebook shows it."""
    return joined([element("p", element("b", study.name)), table(["", "to play"], _rows(study))])


def describe(results: Results) -> str:
    """World, rounds and seeds, in one line."""
    study = results.study
    tuned = (
        f"tuned on seeds {_tuning(study)}"
        if any(len(grid) > 1 for grid in study.agents.values())
        else "nothing tuned"
    )
    return (
        f"{study.rounds:,} rounds in {study.world.brief()}, reported on seeds "
        f"{spans(study.reported)} (n = {len(study.reported)}), {tuned}"
    )


def warnings(results: Results) -> Markup:
    """The warnings of the results."""
    return joined(element("p", text, class_="warning") for text in results.warnings())


def finals_table(results: Results) -> Markup:
    """Every agent with its chosen setting and final regret."""
    rows = []
    n = len(results.study.reported)
    for name in results.study.agents:
        rows.append([name, results.tuned(name).label(), results.stated(name), n])
    return table(["agent", "setting", "final regret [95% interval]", "n"], rows)


def pairs_table(pairs: Sequence[Pair]) -> Markup:
    """All pairs of agents compared."""
    rows = [
        [element("span", VERDICTS[pair.verdict], class_=f"verdict {pair.verdict}"), pair.sentence]
        for pair in pairs
    ]
    return table(["verdict", "pairs of agents"], rows)


def provenance_table(results: Results) -> Markup:
    """The configuration of the runs, their time, machines and versions."""
    found = results.provenance
    rows: list[Sequence[str]] = [
        *_rows(results.study),
        ["runs", f"{len(results.runs()):,}"],
        ["time", f"{found.seconds:,.0f} s of one processor"],
        ["source of tellback", str(found.sources)],
    ]
    for what, runs in found.made_with.items():
        if len(runs) == 1:
            rows.append([what, *runs])
        elif runs:
            each = (f"{value} ({counted(runs[value], 'run')})" for value in sorted(runs))
            rows.append([what, ", ".join(each)])
    return table(["", "configuration"], rows)


def _rows(study: Study) -> list[Sequence[str]]:
    """World, rounds, seeds and agents."""
    grids = [
        [name, joined(element("div", agent.label()) for agent in grid)]
        for name, grid in study.agents.items()
    ]
    return [
        ["world", study.world.label()],
        ["rounds", f"{study.rounds:,}"],
        ["tuning seeds", _tuning(study)],
        ["reported seeds", spans(study.reported)],
        *_options(study),
        *grids,
    ]


def _tuning(study: Study) -> str:
    """The tuning seeds; for each agent with several settings if they differ."""
    choosing = [name for name, grid in study.agents.items() if len(grid) > 1]
    by_agent = {name: spans(study.tuning_seeds(name)) for name in choosing}
    if not by_agent:
        return spans(study.tuning) or "none"
    if len(set(by_agent.values())) == 1:
        return next(iter(by_agent.values()))
    return "; ".join(f"{name}: {seeds}" for name, seeds in by_agent.items())


def _options(study: Study) -> list[list[str]]:
    """The rows of the study's options that are set."""
    rows = []
    if study.tuning_runs is not None:
        rows.append(["tuning runs", f"{study.tuning_runs} for each agent with a choice"])
    if study.decide is not None:
        between, decide = " and ".join(study.decide.between), study.decide
        limits = f"{decide.batch} seeds at a time, at most {decide.at_most}"
        rows.append(["until decided", f"between {between}, {limits}"])
    if not study.everywhere:
        rows.append(["reported seeds play", "the chosen settings only"])
    return rows


def spans(seeds: Sequence[int]) -> str:
    """Seeds as ranges: 0-19, 30.

    Examples
    --------
    >>> spans((0, 1, 2, 5, 7, 8))
    '0-2, 5, 7-8'
    """
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
