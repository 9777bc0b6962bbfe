"""What an audit finds in people's real sentences, some of which were exchanged for others.

A share of the descriptions of a recording is exchanged for those of other responses of the same
group. The audit is not told which, nor how many. A person who knows answers a tenth of
all, in the audit's order. Wrong is what was exchanged, even for a sentence about a response with
the same goal; "by meaning" leaves those out.

    python -m benchmarks.audit PATH --runs 100 --groups report --out runs.jsonl
    python -m benchmarks.audit PATH --runs 20 --limit
    python -m benchmarks.audit PATH --figure docs/images/audit.png

``--limit`` is what an auditor reaches who reads the goal of every response and sentence: he knows
all wrong ones but those of a response with the same goal.

The settings of the audit were chosen on half of ALFRED's rooms (``--groups tune``, seeds below 10).
The other half is ``--groups report``. Runs that are in the file already are not done again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit_figure import draw
from tellback.audit import Audit, Place, audit
from tellback.audit.doubt import Doubts
from tellback.audit.planted import Planted, planted
from tellback.audit.sentences import Sentences
from tellback.recordings import Recording, read
from tellback.theory.shares import share_of_counts

BUDGET = 0.1
CASES = (
    ("copied", 0.39),
    ("exchanged", 0.39),
    ("careless", 0.3),
    ("exchanged", 0.2),
    ("exchanged", 0.05),
    ("exchanged", 0.0),
)
FIRST_SEED = 100
"""Lower ones were used while the audit was made."""


def groups(recording: Recording, which: str) -> Recording:
    """All groups, or one half of them."""
    if which == "all":
        return recording
    names = sorted(recording.groups, key=lambda name: (len(name), name))
    dealt = np.random.default_rng(2024).permutation(len(names))
    return recording.only(names[i] for i in dealt[which == "report" :: 2])


def answered(found: Audit, case: Planted, budget: float, by_meaning: bool = False) -> Audit:
    """The audit after somebody who knows has answered."""
    wrong = case.other_goal if by_meaning else case.wrong
    asked = found.questions(int(budget * len(found.sentences)))
    return found.answer({one.place: one.place not in wrong for one in asked})


def area(right: Iterable[float], wrong: Iterable[bool]) -> float:
    """The area under the curve: how often a wrong one has less probability than a right one."""
    from scipy.stats import rankdata

    bad = np.array(list(wrong))
    if not bad.any():
        return float("nan")
    ranks = rankdata(np.array(list(right)))
    good = int((~bad).sum())
    return float((ranks[~bad].sum() - good * (good + 1) / 2) / (good * bad.sum()))


def share_in(kept: frozenset[Place], wrong: frozenset[Place]) -> float:
    """The share of wrong ones."""
    return len(kept & wrong) / max(len(kept), 1)


def run(recording: Recording, kind: str, share: float, seed: int) -> dict[str, Any]:
    """One run: planted, audited, asked."""
    case = planted(recording, share, kind, seed)
    wall, cpu = time.perf_counter(), time.process_time()
    found = audit(case.recording, seed=seed)
    seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
    total, places = len(found.sentences), found.sentences.places
    result = {
        "kind": kind, "share": share, "seed": seed, "n": total, "true": len(case.wrong) / total,
        "seconds": seconds, "cpu": cpu,
        "area": area(found.right, [place in case.wrong for place in places]),
        "estimate": found.doubts.wrong, "low": found.doubts.low, "high": found.doubts.high,
        "kept_before": len(found.kept) / total, "wrong_before": share_in(found.kept, case.wrong),
    }  # fmt: skip
    for name, by_meaning in (("", False), ("_by_meaning", True)):
        after = answered(found, case, BUDGET, by_meaning)
        wrong = case.other_goal if by_meaning else case.wrong
        still = after.still_wrong()
        result |= {
            f"asked{name}": len(after.answers) / total,
            f"kept{name}": len(after.kept) / total,
            f"wrong{name}": share_in(after.kept, wrong),
            f"expected{name}": still.expected,
            f"interval{name}": [still.low, still.high],
            f"sampled{name}": still.asked,
        }
    return result


def limit(recording: Recording, share: float, seed: int, kept: float = 0.58) -> tuple[float, float]:
    """Of an auditor who reads goals: the share kept, ``kept`` or more, and the wrong ones in it."""
    case = planted(recording, share, "exchanged", seed)
    goals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in recording:
        goals[one.group][one.goal] += 1
    sentences = Sentences.of(case.recording)
    right = np.zeros(len(sentences))
    for i, place in enumerate(sentences.places):
        if place not in case.other_goal:
            one = recording.by_id[place.response]
            alike, total = goals[one.group][one.goal], sum(goals[one.group].values())
            by_chance = share * (alike - 1) / alike / max(total - 1, 1)
            right[i] = (1 - share) / alike / ((1 - share) / alike + by_chance)
    nothing = np.zeros(0, dtype=np.float32)
    known = Doubts(right, sentences.response, share, 0, 1, np.zeros(0), nothing, nothing)
    found = [
        answered(Audit(case.recording, sentences, known, sure, seed), case, BUDGET)
        for sure in np.linspace(0.999, 0.9, 100)
    ]
    first = next(one for one in found if len(one.kept) >= kept * len(sentences))
    return len(first.kept) / len(sentences), share_in(first.kept, case.wrong)


def table(runs: list[dict[str, Any]]) -> None:
    """Print means over runs, and how often intervals held."""
    cases = defaultdict(list)
    for one in runs:
        cases[one["groups"], one["kind"], one["share"]].append(one)
    print(
        "| groups | wrong ones | share | n | area | kept, nobody asked | wrong | asked | kept "
        "| wrong | most in a run | interval, mean | held | by meaning: wrong | held | said share "
        "| held | CPU s |"
    )
    print("|" + "---|" * 18)
    for (which, kind, share), some in cases.items():
        mean = {
            name: float(np.mean([one[name] for one in some]))
            for name, value in some[0].items()
            if isinstance(value, float)
        }
        ends = np.mean([one["interval"] for one in some], axis=0)
        cells = [
            which, kind, f"{share:.0%}", str(len(some)), f"{mean['area']:.4f}",
            f"{mean['kept_before']:.1%}", f"{mean['wrong_before']:.2%}", f"{mean['asked']:.1%}",
            f"{mean['kept']:.1%}", f"{mean['wrong']:.2%}", f"{max(o['wrong'] for o in some):.2%}",
            f"{ends[0]:.2%} to {ends[1]:.2%}", held(some, "wrong", "interval"),
            f"{mean['wrong_by_meaning']:.2%}",
            held(some, "wrong_by_meaning", "interval_by_meaning"), f"{mean['estimate']:.2%}",
            str(share_of_counts(sum(o["low"] <= o["true"] <= o["high"] for o in some), len(some))),
            f"{mean['cpu']:.1f}",
        ]  # fmt: skip
        print("| " + " | ".join(cells) + " |")


def held(runs: list[dict[str, Any]], true: str, interval: str) -> str:
    """In how many runs the interval held the truth."""
    yes = sum(one[interval][0] <= one[true] <= one[interval][1] for one in runs)
    return str(share_of_counts(yes, len(runs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--groups", choices=("tune", "report", "all"), default="report")
    parser.add_argument("--cases", type=int, nargs="*", default=list(range(len(CASES))))
    parser.add_argument("--out", type=Path, help="where runs are kept")
    parser.add_argument("--limit", action="store_true", help="of an auditor who reads goals")
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    recording = groups(read(given.path), given.groups)
    if given.figure:
        draw(recording, given.figure, given.runs, FIRST_SEED)
        return
    if given.limit:
        seeds = range(FIRST_SEED, FIRST_SEED + given.runs)
        found = np.array([limit(recording, 0.39, seed) for seed in seeds])
        print("kept {:.2%}, wrong {:.2%}".format(*found.mean(axis=0)), f"({len(found)} runs)")
        print(f"wrong from {found[:, 1].min():.2%} to {found[:, 1].max():.2%}")
        return
    runs: list[dict[str, Any]] = []
    if given.out and given.out.exists():
        runs = [json.loads(line) for line in given.out.read_text().splitlines()]
    done = {(one["groups"], one["kind"], one["share"], one["seed"]) for one in runs}
    for case in given.cases:
        kind, share = CASES[case]
        for seed in range(FIRST_SEED, FIRST_SEED + given.runs):
            if (given.groups, kind, share, seed) not in done:
                runs.append({"groups": given.groups, **run(recording, kind, share, seed)})
                if given.out:
                    with given.out.open("a") as file:
                        file.write(json.dumps(runs[-1]) + "\n")
    table(runs)


if __name__ == "__main__":
    main()
