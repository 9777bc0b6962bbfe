"""The report of the benchmark: one page, and the figures beside it."""

from __future__ import annotations

from pathlib import Path

from tellback import __version__
from tellback.lab.report.markup import element
from tellback.lab.report.simple import write_page
from tellback.lab.report.tables import spans
from tellback.people.findings import Findings
from tellback.people.pictures import pictures
from tellback.people.plan import BATCH, RIVALS
from tellback.people.tables import bars_section, costs_section, examples_section, success_sections
from tellback.recordings import Summary

TITLE = "Told by people"

EXAM = (
    "An exam differs from the rounds: nothing is learned from it, the response with the highest "
    "estimate is taken without exploring, and responses that tie for the highest share the point. "
    "In the rounds, ties are broken at random and the agent may explore."
)

SEEDS = (
    "Each seed draws the groups and people that are held out, the tasks and the descriptions. All "
    "learners of a seed have the same exams. The groups of different seeds overlap, so intervals "
    "over seeds are about groups of this recording, not of any other."
)

LIMITS = (
    "The responses are recorded, mostly of experts. The agent chooses among them; it does not act, "
    "and nobody has described its own mistakes. So success says whether it understands what people "
    "say, and not whether a robot does the task."
)

ALL_TAUGHT = (
    "All: every description of the training part, taught in random order. There the agent has "
    "chosen nothing."
)


def write_report(findings: Findings, folder: Path) -> list[Path]:
    """Write the page, and every figure as PNG and SVG; returns the files, the page first."""
    examples = [examples_section(findings, right) for right in (True, False)]
    compared = [
        element("h2", "What was compared"),
        element("ul", *(element("li", line) for line in _compared(findings))),
    ]
    parts = [
        bars_section(findings),
        *pictures(findings),
        *success_sections(findings),
        costs_section(findings),
        *(examples if findings.examples else ()),
        *compared,
    ]
    return write_page(folder, TITLE, _measured(findings), parts, (EXAM, ALL_TAUGHT, SEEDS, LIMITS))


def _measured(findings: Findings) -> str:
    benchmark = findings.benchmark
    counted = Summary.of(benchmark.worlds["whole"].recording)
    return (
        f"{benchmark.path}: {counted.responses:,} responses in {counted.groups:,} groups, "
        f"{counted.descriptions:,} descriptions by {counted.people:,} people. Seeds "
        f"{spans(benchmark.seeds)} for the recommended agent with the fewest candidates, "
        f"{spans(benchmark.few_seeds)} for all else; {benchmark.tasks} questions in each exam. "
        f"Settings were chosen on {len(benchmark.tuned_on)} groups, which are not examined. "
        f"tellback {__version__}."
    )


def _compared(findings: Findings) -> list[str]:
    """What each learner is, in a sentence."""
    from tellback.agents import recommended

    worlds = findings.benchmark.worlds
    best = {recommended(world).label() for world in worlds.values()}
    return [
        f"recommended: what tellback.agents.recommended gives here without a hint: "
        f"{'; '.join(sorted(best))}.",
        *(
            f"{name}: fitted at each mark to all descriptions that the recommended agent has "
            f"gathered. {_first_lines(spec)} Settings: {spec.label()}."
            for name, spec in BATCH.items()
        ),
        *(f"{name}: {agent.label()}." for name, agent in RIVALS.items()),
        "random: one of the candidates at random.",
    ]


def _first_lines(spec: object) -> str:
    """What the docstring of a spec says before its parameters."""
    text = (type(spec).__doc__ or "").split("Parameters")[0]
    return " ".join(text.split())
