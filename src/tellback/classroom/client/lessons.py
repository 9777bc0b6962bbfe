"""Lessons and rounds of a classroom elsewhere."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from tellback.classroom.client.bodies import Features, candidates_body, plain_body, sendable
from tellback.classroom.client.operations import (
    Blocking,
    Call,
    deletion,
    nothing,
    operation,
    or_none,
    part,
)
from tellback.recordings.features import Columns
from tellback.recordings.recording import Recording
from tellback.recordings.teaching import import_parts
from tellback.roles import Facts, Instruction
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    from tellback.classroom.client.connection import Client

R = TypeVar("R", bound="AskedRound")
T = TypeVar("T")


class Preview(NamedTuple):
    """The response that an agent would choose, and how sure it is."""

    response: int
    estimate: float
    sure: bool
    says: str
    second: int | None


def preview_from(answer: Data) -> Preview:
    """A preview from the service's answer."""
    second = answer["second"] and answer["second"]["response"]
    return Preview(
        **{name: answer[name] for name in Preview._fields if name != "second"}, second=second
    )


class LessonOperations(Generic[R]):
    """The operations on a lesson, of both clients."""

    id: str

    def _asked(self, answer: Data) -> R:
        raise NotImplementedError

    def _call(
        self, method: str, path: str, *, harmless: bool = False, **request: Any
    ) -> Call[Data]:
        return Call(method, f"/lessons/{self.id}{path}", sendable(request), harmless=harmless)

    @operation
    def ask(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
        context: str | None = None,
        acted: Mapping[str, Any] | None = None,
        known: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Call[R]:
        """Ask the agent for a response: a new round, which waits for a description.

        Parameters
        ----------
        instruction : str or int
            The request.
        features, texts, images
            The possible responses, in the form of the lesson; texts and images are also shown to
            teachers.
        context : str, optional
            The situation, as teachers are told it.
        acted : mapping, optional
            In apprentice mode, what another policy did: its ``response``, and the ``propensity`` of
            that if it is known. The agent only advises.
        known : mapping, optional
            With ``acted``: the ``answers`` that may be given, and whether the round is for
            ``practice``, and ``only`` these are right. The agent is not asked, and learns nothing.
        key : str, optional
            The idempotency key: the same key brings the same round. By default a new one.
        """
        body = candidates_body(instruction, features, texts, images)
        body |= plain_body(context=context, acted=acted, known=known)
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._call("POST", "/rounds", json=body, headers=headers).then(self._asked)

    @operation
    def preview(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
        round: int | None = None,
    ) -> Call[Preview]:
        """The response that the agent would choose without exploring. Nothing is stored.

        The possible responses are given, or those of a ``round``.
        """
        body = candidates_body(instruction, features, texts, images)
        body |= plain_body(round=round)
        return self._call("POST", "/preview", harmless=True, json=body).then(preview_from)

    @operation
    def describe(
        self,
        number: int,
        description: Instruction,
        *,
        saw_request: bool = False,
        sure: bool = False,
        first: Instruction | None = None,
        took_suggestion: bool = False,
    ) -> Call[Data]:
        """Describe the response of a round; sent again, it counts once.

        Set ``sure`` if the teacher was asked whether it is right, and ``first`` to what they had
        said before they were asked, if that was not sent; and ``took_suggestion`` if the words
        began as those of the suggestion.
        """
        body: Data = {"description": description, "saw_request": saw_request}
        if sure:
            body |= {"sure": True, "first": first}
        if took_suggestion:
            body["took_suggestion"] = True
        return self._call("PUT", f"/rounds/{number}/description", json=body)

    @operation
    def suggest(self, number: int, description: Instruction, *, by: str) -> Call[Data]:
        """Propose a description to the teacher of an open round; ``by`` names what proposes it.

        What the teacher then says teaches, but counts neither as a match nor as none.
        """
        body = {"description": description, "by": by}
        return self._call("PUT", f"/rounds/{number}/suggestion", json=body)

    @operation
    def question(self, number: int, description: Instruction) -> Call[Data | None]:
        """What to ask a teacher who is about to say this; None if it is not doubtful."""
        body = {"description": description}
        path = f"/rounds/{number}/question"
        return self._call("POST", path, harmless=True, json=body).then(or_none)

    @operation
    def next_question(self) -> Call[Data | None]:
        """A question about an earlier description of yours; None if there is none just now."""
        return self._call("POST", "/questions", harmless=True).then(or_none)

    @operation
    def withdraw(self, number: int) -> Call[bool]:
        """Withdraw a description, or an outcome; False if there was none.

        Also False if it was withdrawn, and the answer that said so was lost.
        """
        call = self._call("DELETE", f"/rounds/{number}/description")
        return call.then(lambda answer: bool(answer["withdrawn"]))

    @operation
    def close(self, number: int, outcome: str, note: str | None = None) -> Call[Data]:
        """Close a round without a description: ``skipped``, ``cannot_tell`` or ``flagged``."""
        body = plain_body(outcome=outcome, note=note)
        return self._call("PUT", f"/rounds/{number}/outcome", json=body)

    @operation
    def round(self, number: int) -> Call[Data]:
        """A round with its request, the agent's choice and its description."""
        return self._call("GET", f"/rounds/{number}")

    @operation
    def rounds_page(
        self,
        *,
        status: str | None = None,
        teacher: str | None = None,
        q: str | None = None,
        after: int = 0,
        limit: int = 200,
    ) -> Call[Data]:
        """A page of ``rounds``, by number, and the cursor of the ``next`` one.

        Of a status, described by a teacher, with words in them.
        """
        params = plain_body(status=status, teacher=teacher, q=q, after=after, limit=limit)
        return self._call("GET", "/rounds", params=params)

    @operation
    def shown(self, number: int) -> Call[Data]:
        """The candidates of a round, as teachers see them."""
        return self._call("GET", f"/rounds/{number}/shown")

    @operation
    def picture(self, number: int, index: int) -> Call[bytes]:
        """The picture of a candidate, as a PNG file."""
        path = self._call("GET", f"/rounds/{number}/images/{index}.png").path
        return Call("GET", path, read=lambda answer: answer.content)

    @operation
    def claim(self) -> Call[Data | None]:
        """Claim a response to describe; None if there is none just now."""
        return self._call("POST", "/claims", harmless=True).then(or_none)

    @operation
    def prolong(self, number: int) -> Call[None]:
        """Prolong a claim."""
        return self._call("PUT", f"/rounds/{number}/claim").then(nothing)

    @operation
    def next_check(self) -> Call[Data | None]:
        """A description by somebody else, and the candidates; None if there is none just now."""
        return self._call("POST", "/checks", harmless=True).then(or_none)

    @operation
    def check(self, number: int, response: int | None) -> Call[bool]:
        """Say which response a description fits, None for none; whether that is the one."""
        call = self._call("PUT", f"/rounds/{number}/check", json={"response": response})
        return call.then(lambda answer: bool(answer["right"]))

    @operation
    def next_judgement(self) -> Call[Data | None]:
        """A described round with its request, to be judged; None if there is none just now."""
        return self._call("POST", "/judgements", harmless=True).then(or_none)

    @operation
    def judge(self, number: int, met: bool | None) -> Call[Data]:
        """Say whether the response of a round did what was asked; None for "cannot tell"."""
        return self._call("PUT", f"/rounds/{number}/judgement", json={"met": met})

    @operation
    def inbox(self) -> Call[list[Data]]:
        """Rounds to review, with the reasons; for reviewers."""
        return self._call("GET", "/inbox").then(part("rounds"))

    @operation
    def review(
        self, number: int, outcome: str, description: Instruction | None = None
    ) -> Call[Data]:
        """Review a round: ``accepted``, ``sent`` to another teacher, or ``corrected``."""
        body = {"outcome": outcome, "description": description}
        return self._call("PUT", f"/rounds/{number}/review", json=body)

    @operation
    def delete_words(self, teacher: str) -> Call[Data]:
        """Delete the words of a teacher in this lesson, by the account's name or id."""
        return self._call("DELETE", f"/teachers/{quote(teacher, safe='')}/data")

    @operation
    def known(self) -> Call[list[Data]]:
        """The rounds whose answers are known; for reviewers."""
        return self._call("GET", "/known").then(part("rounds"))

    @operation
    def make_known(
        self,
        number: int,
        answers: Sequence[Instruction],
        *,
        only: bool = False,
        practice: bool = False,
    ) -> Call[Data]:
        """Make a new round like this one, whose answers are known; for reviewers."""
        body = {"answers": list(answers), "only": only, "practice": practice}
        return self._call("POST", f"/rounds/{number}/known", json=body)

    @operation
    def drop_known(self, number: int) -> Call[None]:
        """Give a round with known answers to nobody any more; for reviewers."""
        return deletion(f"/lessons/{self.id}/rounds/{number}/known")

    @operation
    def change(
        self,
        *,
        name: str | None = None,
        archived: bool | None = None,
        guide: str | None = None,
        catch: float | None = None,
    ) -> Call[Data]:
        """Rename the lesson, put it into the archive, or take it out.

        In the archive it gives out no responses; what is open can still be described.

        ``guide`` says how to describe, ``catch`` is the share of responses with known answers.
        """
        body = plain_body(name=name, archived=archived, guide=guide, catch=catch)
        return self._call("PATCH", "", json=body)

    @operation
    def delete(self) -> Call[None]:
        """Delete the lesson and all that was said in it, for good."""
        return deletion(f"/lessons/{self.id}", params={"word": "delete"})

    @operation
    def webhooks(self) -> Call[list[Data]]:
        """The webhooks, and the state of their deliveries."""
        return self._call("GET", "/webhooks").then(part("webhooks"))

    @operation
    def add_webhook(self, url: str) -> Call[Data]:
        """Have each description posted to a URL; the ``secret`` is in this answer alone."""
        return self._call("POST", "/webhooks", json={"url": url})

    @operation
    def remove_webhook(self, id: str) -> Call[None]:
        """Delete a webhook and its waiting deliveries."""
        return deletion(f"/lessons/{self.id}/webhooks/{id}")

    @operation
    def curve(self) -> Call[Data]:
        """The points of the progress curve."""
        return self._call("GET", "/curve")

    @operation
    def progress(self) -> Call[Data]:
        """The progress of the lesson."""
        return self._call("GET", "/progress")

    @operation
    def apprentice(self, *, margin: float = 0.0, after: int = 0) -> Call[Data]:
        """The agent's advice beside what another policy did, and whether to switch.

        Parameters
        ----------
        margin : float
            The share of requests that may be lost by switching.
        after : int
            Only rounds after this one count.
        """
        return self._call("GET", "/apprentice", params={"margin": margin, "after": after})

    @operation
    def roll_back(self, to: int) -> Call[int]:
        """Roll back to the state after an event; the number of active descriptions."""
        return self._call("POST", "/rollback", json={"to": to}).then(part("descriptions"))

    @operation
    def replay(self, agent: Spec | Mapping[str, Any] | None = None) -> Call[Data]:
        """Teach another agent the same descriptions, and evaluate it.

        An agent without a model has the lesson's. Without an agent, the lesson's is evaluated.
        """
        body = {} if agent is None else {"agent": agent}
        return self._call("POST", "/replay", harmless=True, json=body, timeout=120)

    @operation
    def about(self) -> Call[Data]:
        """The lesson's name, definition, and counts of events and rounds."""
        return self._call("GET", "")

    def _import(self, content: Any, key: str | None = None) -> Call[Data]:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex, "Content-Type": "application/jsonl"}
        return self._call("POST", "/import", content=content, headers=headers, timeout=600)

    def _export(self, format: str, options: Mapping[str, bool]) -> Call[Data]:
        params = {"format": format} | {name: str(on).lower() for name, on in options.items()}
        return self._call("GET", "/export", params=params)


def lesson_parts(about: Data, recording: Recording, columns: Columns | None) -> Iterator[bytes]:
    """The bodies of the imports that teach a lesson a recording."""
    definition = about["definition"]
    facts = Facts(definition["dim"], definition["instructions"])
    return import_parts(recording, columns, definition["candidates"], facts)


class RemoteLesson(LessonOperations["RemoteRound"], Blocking):
    """A lesson of a classroom, as ``Client.create_lesson`` and ``Client.lesson`` give it."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id

    def run(self, call: Call[T]) -> T:
        """Send a request, and read the answer."""
        return self._client.run(call)

    def _asked(self, answer: Data) -> RemoteRound:
        return RemoteRound(self, answer)

    def rounds(self, **wanted: Any) -> Iterator[Data]:
        """All rounds that ``rounds_page`` lists, page by page; ``limit`` is the size of a page."""
        page: Data = {"next": 0}
        while page["next"] is not None:
            page = self.rounds_page(**wanted, after=page["next"])
            yield from page["rounds"]

    def export(self, path: str | Path, *, format: str = "jsonl", **options: bool) -> None:
        """Export the lesson to a file, with the formats and options of the API.

        "jsonl" or "parquet" (``images``), "log" for ``Log.load``, "chat" (``context``,
        ``candidates``), or "recording" for ``tellback.recordings.read``.
        """
        self._client.download(self._export(format, options), Path(path))

    def import_(self, path: str | Path, *, key: str | None = None) -> Data:
        """Import rounds from a file of lines, or an export: all of them, or none."""
        with Path(path).open("rb") as file:
            return self.run(self._import(file, key))

    def teach(self, recording: Recording, columns: Columns | None = None) -> int:
        """Teach the agent every description of a recording, in order. Returns how many."""
        parts = lesson_parts(self.about(), recording, columns)
        return sum(int(self.run(self._import(part))["descriptions"]) for part in parts)


class AskedRound:
    """A round of a lesson.

    Attributes
    ----------
    number : int
        Its number.
    response : int
        Index of the chosen response, from 0.
    estimate, bonus, propensity : float or None
        The estimated probability that the instruction describes the response, the exploration
        bonus, and the probability of the choice.
    model_version : int
        The latest event that the agent knew of.
    advice : dict or None
        In apprentice mode, the agent's own ``response``, ``estimate``, ``bonus``, ``propensity``.
    """

    def __init__(self, answer: Data) -> None:
        self.number: int = answer["round"]
        self.response: int = answer["response"]
        self.estimate: float | None = answer["estimate"]
        self.bonus: float | None = answer["bonus"]
        self.propensity: float | None = answer["propensity"]
        self.model_version: int = answer["model_version"]
        self.advice: Data | None = answer["advice"]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.number}, response={self.response})"


class RemoteRound(AskedRound):
    """A round, to be described or withdrawn."""

    def __init__(self, lesson: RemoteLesson, answer: Data) -> None:
        super().__init__(answer)
        self._lesson = lesson

    def describe(self, text: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response; sent again, it counts once."""
        return self._lesson.describe(self.number, text, saw_request=saw_request)

    def withdraw(self) -> bool:
        """Withdraw the description and unlearn it; False if there was none."""
        return self._lesson.withdraw(self.number)
