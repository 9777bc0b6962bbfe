"""``tellback audit``: which descriptions of a recording are probably wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import Json
from tellback.cli.show import console

if TYPE_CHECKING:
    from tellback.audit import Audit, Judged
    from tellback.audit.answers import AnswerFile

YES, NO, SKIP, QUIT = "yes", "no", "skip", "quit"


def audit(
    file: Annotated[Path, typer.Argument(help="A recording, as tellback data check takes it.")],
    ask: Annotated[
        int, typer.Option(help="How many questions to ask you now, on the terminal.", min=0)
    ] = 0,
    budget: Annotated[
        str,
        typer.Option(
            help="Ask until this share of the descriptions is answered, such as 10%; earlier "
            "answers count."
        ),
    ] = "",
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Where answers are kept; those it has are used.",
            show_default="FILE.answers.jsonl",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the cleaned recording to this .jsonl file.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="Write the questions to this file instead, to be answered elsewhere."),
    ] = None,
    lesson: Annotated[
        Path | None,
        typer.Option(help="Write the questions as rounds for a lesson in the classroom."),
    ] = None,
    taught: Annotated[
        Path | None, typer.Option(help="Use the answers in the export of such a lesson.")
    ] = None,
    sure: Annotated[
        float, typer.Option(help="Keep descriptions that are right with this probability.")
    ] = 0.95,
    worst: Annotated[int, typer.Option(help="How many doubtful ones to show.", min=0)] = 5,
    steps: Annotated[
        bool, typer.Option("--steps", help="Audit the descriptions of steps instead.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the questions drawn at random.", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Say which descriptions are probably wrong, ask about a few, and write the cleaned recording.

    Each answer is saved at once: after Ctrl-C the same command goes on. Every fifth question is
    drawn at random from what would be kept; these give the interval of the share still wrong.

    Example: tellback audit recording.jsonl --budget 10% --out cleaned.jsonl
    """
    from tellback.audit import audit as audited
    from tellback.audit.answers import AnswerFile, read_answers, write_questions
    from tellback.audit.lesson import read_lesson, write_lesson
    from tellback.errors import SettingError
    from tellback.recordings import read, write

    share = _share(budget)
    if out is not None and out.exists() and out.samefile(file):
        raise SettingError("out must be another file than the recording.")
    recording = read(file, level="steps" if steps else "whole")
    found = audited(recording, sure=sure, seed=seed)
    kept_in = answers or Path(f"{file}.answers.jsonl")
    if kept_in.exists():
        found = found.answer(read_answers(kept_in, recording))
    elif answers is not None and not (ask or share):
        raise SettingError(f"There is no file {answers}.")
    if taught is not None:
        told = read_lesson(taught, recording)
        found = found.answer(told.answers)
        if told.unclear:
            _print(f"{len(told.unclear)} answers are neither yes nor no, such as "
                   f"{told.unclear[0]!r}.", stderr=True)  # fmt: skip
    wanted = max(ask, int(share * len(found.sentences)) - len(found.answers))
    if questions is not None or lesson is not None:
        some = found.questions(wanted or None)
        for path, put in ((questions, write_questions), (lesson, write_lesson)):
            if path is not None:
                put(path, some, recording)
                _print(f"{path}: {len(some):,} questions", stderr=True)
    elif wanted > 0 and _can_ask(as_json):
        with AnswerFile(kept_in, recording) as file_of_answers:
            found = _asked(found, wanted, file_of_answers)
    if out is not None:
        write(out, found.cleaned())
    if as_json:
        print_json(_data(found, file, out, worst))
    else:
        _print(*_summary(found, file), *_doubtful(found, worst))
        if out is not None:
            _print(f"{out}: {len(found.kept):,} descriptions kept")


def _share(budget: str) -> float:
    from tellback.errors import SettingError

    try:
        share = float(budget.rstrip("% ")) / (100 if "%" in budget else 1) if budget else 0.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SettingError(f"budget must be a share such as 10% or 0.1, not {budget!r}.")
    return share


def _can_ask(as_json: bool) -> bool:
    if not as_json and sys.stdin.isatty():
        return True
    _print(
        "Nobody was asked: this is no terminal. Write the questions with --questions FILE, and "
        "give the answers with --answers FILE.",
        stderr=True,
    )
    return False


def _asked(found: Audit, wanted: int, file: AnswerFile) -> Audit:
    """Ask about the next descriptions."""
    from tellback.audit.lesson import shown

    some = found.questions(wanted)
    _print(f"Answers are kept in {file.path}. Is this what was done? y, n, s (skip), q (quit)")
    for i, one in enumerate(some, start=1):
        response = found.recording.by_id[one.place.response]
        where = f" in {response.group}" if response.group else ""
        _print("", f"{i} of {len(some)}. {response.id}{where}: {shown(response)}",
               f'   "{one.said.text}"')  # fmt: skip
        answer = _typed()
        if answer == QUIT:
            break
        right = {YES: True, NO: False, SKIP: None}[answer]
        file.add(one.place, right)
        found = found.answer({one.place: right})
    _print("")
    return found


def _typed() -> str:
    while True:
        try:
            typed = input("   y, n, s, q? ").strip().lower()
        except EOFError:
            return QUIT
        for option in (YES, NO, SKIP, QUIT):
            if typed and option.startswith(typed):
                return option


def _summary(found: Audit, file: Path) -> list[str]:
    still, total = found.still_wrong(), len(found.sentences)
    said = list(found.answers.values())
    lines = [f"{file}: {found.recording!r}"]
    if found.told:
        doubts = found.doubts
        lines.append(
            f"wrong         about {doubts.wrong:.1%} [{doubts.low:.1%}, {doubts.high:.1%}] of "
            f"{total:,} descriptions, if wrong ones are those of other responses of their group"
        )
    else:
        lines.append(
            "wrong         nothing can be told by the words: the recording is too small, or its "
            "descriptions do not go with its features"
        )
    lines.append(
        f"answers       {len(said):,}: {said.count(True):,} right, {said.count(False):,} wrong, "
        f"{said.count(None):,} skipped; they are taken as true"
    )
    by_words = f"about {still.expected:.1%} by the words; " if found.told else ""
    lines.append(f"kept          {still.kept:,} descriptions, {still.kept / total:.1%}")
    lines.append(
        f"still wrong   {by_words}{still.low:.1%} to {still.high:.1%} of those kept by "
        f"{still.asked:,} asked at random, of whom {still.found:,} were wrong ({still.level:.0%} "
        "interval)"
        if still.asked
        else f"still wrong   {by_words}nobody was asked, so there is no interval that holds: "
        "--budget 10%"
    )
    careless = [one for one in found.people() if one[2] > 2 * found.doubts.wrong][:3]
    if careless:
        named = "; ".join(f"{name} {share:.0%} of {n}" for name, n, share in careless)
        lines.append(f"most wrong    {named}")
    return lines


def _doubtful(found: Audit, most: int) -> list[str]:
    lines = []
    for one in found.worst(most):
        who = f" ({one.said.person})" if one.said.person else ""
        lines += [
            "",
            f'{one.place}{who}: "{one.said.text}"  (right with probability {one.right:.1%})',
        ]
        lines += [f"   {reason}" for reason in found.reasons(one.place)]
    return lines


def _data(found: Audit, file: Path, out: Path | None, most: int) -> dict[str, Any]:
    def one_of(one: Judged) -> dict[str, Any]:
        return {
            "response": one.place.response, "number": one.place.number, "text": one.said.text,
            "person": one.said.person, "right": one.right, "fits": one.fits,
            "reasons": found.reasons(one.place),
        }  # fmt: skip

    said = list(found.answers.values())
    return {
        "file": str(file), "sha256": found.recording.digest, "out": out and str(out),
        "descriptions": len(found.sentences), "told": found.told, "wrong": found.doubts.wrong,
        "low": found.doubts.low, "high": found.doubts.high, "sure": found.sure,
        "answers": {"right": said.count(True), "wrong": said.count(False),
                    "skipped": said.count(None)},
        "still_wrong": found.still_wrong(), "worst": [one_of(one) for one in found.worst(most)],
        "people": [{"person": name, "descriptions": n, "wrong": share}
                   for name, n, share in found.people()],
    }  # fmt: skip


def _print(*lines: str, stderr: bool = False) -> None:
    for line in lines:
        console(stderr).print(line, markup=False, highlight=False, soft_wrap=True)
