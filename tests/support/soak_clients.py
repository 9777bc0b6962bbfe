"""Teachers and programs that use a classroom which may vanish at any moment.

Each sends a request again until it is answered, as people and programs do, and remembers every
acknowledgement: what the classroom must never lose, nor do twice.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

COLOURS = ("red", "green", "blue", "black", "white")
THINGS = ("box", "cup", "ball", "lamp")
CANDIDATES, DIM, INSTRUCTIONS = 5, 4, 12
SENTENCES, TABLE = "sentences", "table"
LESSONS = (SENTENCES, TABLE)


class Reply(NamedTuple):
    """An answer, and what its receiver knows of when the request was dealt with."""

    status: int
    body: Any
    sent: float  # the first time
    received: float
    unsure: bool  # whether an earlier try was not answered, and may have been acted upon


class Asked(NamedTuple):
    """A round that a program was told of."""

    lesson: str
    account: str
    key: str
    instruction: int | str
    answer: dict[str, Any]


class Sent(NamedTuple):
    """A description that was acknowledged."""

    lesson: str
    account: str
    round: int
    event: int
    description: int | str
    new: bool
    second: bool
    unsure: bool


class Done(NamedTuple):
    """Something else that was acknowledged: that a round was skipped, or a description undone."""

    kind: str
    lesson: str
    account: str
    round: int
    happened: bool  # False if the classroom says that there was nothing to do
    unsure: bool


@dataclass
class Held:
    """A response that somebody had, at least between these times."""

    lesson: str
    account: str
    round: int
    since: float
    until: float


@dataclass
class Memory:
    """All that was acknowledged, and all that should not have happened."""

    asked: list[Asked] = field(default_factory=list)
    said: list[Sent] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unanswered: int = 0

    @property
    def progress(self) -> int:
        """How much was done so far."""
        return len(self.asked) + len(self.said)


@dataclass(frozen=True)
class Login:
    """An account and its token."""

    account: str
    token: str


class Client(threading.Thread):
    """Somebody with an account, who does not give up.

    Parameters
    ----------
    place : str
        Where the classroom is.
    login : Login
        Their account.
    seed : int
        Of what they do.
    lease : float
        Seconds for which a response is theirs.
    finished : threading.Event
        Set when nothing more will be asked.
    """

    def __init__(
        self, place: str, login: Login, seed: int, lease: float, finished: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.memory = Memory()
        self.account = login.account
        self.lease = lease
        self.finished = finished
        self.random = random.Random(seed)
        self.gone = False
        self._seed = seed
        self._told = 0
        self._http = httpx.Client(
            base_url=place, headers={"Authorization": f"Bearer {login.token}"}, timeout=20
        )

    def run(self) -> None:
        """Do what they do; what goes wrong is remembered."""
        try:
            self.act()
        except Exception as error:
            self.memory.faults.append(repr(error))
        finally:
            self._http.close()

    def act(self) -> None:
        """What they do."""
        raise NotImplementedError

    def send(
        self, method: str, path: str, body: Any = None, *, key: str = "", hurry: bool = False
    ) -> Reply:
        """Send a request until it is answered; in a hurry, hang up on the first try."""
        sent, unsure = time.time(), False
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            patience = self.random.uniform(0.001, 0.03) if hurry and not unsure else 20.0
            try:
                answer = self._http.request(
                    method, f"/api/v1/lessons/{path}", json=body, headers=headers, timeout=patience
                )
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != 503:
                break
            if self.gone:
                raise TimeoutError(f"{method} {path} was never answered")
            unsure = True
            self.memory.unanswered += 1
            time.sleep(self.random.uniform(0.01, 0.5))
        told: Any = answer.json() if answer.content else None
        if answer.status_code >= 500:
            self.memory.faults.append(f"{method} {path}: {answer.status_code} {told}")
        elif answer.status_code >= 400:
            self.memory.refused.append(told["code"])
        return Reply(answer.status_code, told, sent, time.time(), unsure)

    def words(self, lesson: str) -> int | str:
        """Something that nobody has said before; of a table, any of its numbers."""
        if lesson == TABLE:
            return self.random.randrange(INSTRUCTIONS)
        self._told += 1
        high, low = divmod(self._told, 40)
        return f"{_sentence(self.random)} by s{self._seed} h{high} l{low}"

    def describe(self, lesson: str, round: int, words: int | str) -> Reply:
        """Say what a response was, and remember that it was kept."""
        effect = "?effect=true" if self.random.random() < 0.05 else ""
        path = f"{lesson}/rounds/{round}/description{effect}"
        reply = self.send("PUT", path, {"description": words})
        if reply.status == 200:
            told = reply.body
            self.memory.said.append(
                Sent(
                    lesson,
                    self.account,
                    round,
                    told["event"],
                    words,
                    told["new"],
                    told["second"],
                    reply.unsure,
                )
            )
        return reply


class Program(Client):
    """Asks, each time with a key of its own; describes some responses itself, late and mixed up."""

    def __init__(self, rounds: int, *common: Any) -> None:
        super().__init__(*common)
        self.rounds = rounds

    def act(self) -> None:
        """Ask all rounds, and describe what is left."""
        late: list[tuple[str, int]] = []
        for i in range(self.rounds):
            late += self._ask(LESSONS[i % 2], f"key-{i}")
            if len(late) > 10:
                self._describe_late(late)
        while late:
            self._describe_late(late)

    def _ask(self, lesson: str, key: str) -> list[tuple[str, int]]:
        instruction = (
            self.random.randrange(INSTRUCTIONS) if lesson == TABLE else _sentence(self.random)
        )
        body = {"instruction": instruction, "features": _features(self.random)}
        path = f"{lesson}/rounds"
        hurry = self.random.random() < 0.1
        times = 2 if self.random.random() < 0.1 else 1
        for _ in range(times):
            reply = self.send("POST", path, body, key=key, hurry=hurry)
            if reply.status != 201:
                self.memory.faults.append(f"not asked: {reply}")
                return []
            self.memory.asked.append(Asked(lesson, self.account, key, instruction, reply.body))
        mine = self.random.random() < 0.15
        return [(lesson, reply.body["round"])] if mine else []

    def _describe_late(self, late: list[tuple[str, int]]) -> None:
        lesson, round = late.pop(self.random.randrange(len(late)))
        words = self.words(lesson)
        for _ in range(2 if self.random.random() < 0.2 else 1):
            self.describe(lesson, round, words)


class Teacher(Client):
    """Claims and describes; also skips, undoes, says it twice, thinks better of it, walks away."""

    def act(self) -> None:
        """Teach until there is nothing left to describe."""
        while True:
            over = self.finished.is_set()
            found = [lesson for lesson in self.random.sample(LESSONS, 2) if self._teach(lesson)]
            if not found:
                if over:
                    return
                time.sleep(0.05)

    def _teach(self, lesson: str) -> bool:
        reply = self.send("POST", f"{lesson}/claims")
        if reply.status != 200:
            return False
        round = reply.body["round"]
        held = Held(lesson, self.account, round, reply.received, reply.body["until"])
        self.memory.held.append(held)
        what = self.random.choices(
            (
                self._say,
                self._say_twice,
                self._say_better,
                self._say_and_undo,
                self._skip,
                self._skip_and_undo,
                self._keep_it_long,
                self._walk_away,
            ),
            (70, 6, 6, 6, 4, 4, 2, 2),
        )[0]
        what(held)
        return True

    def _say(self, held: Held) -> None:
        self._release(held)
        self.describe(held.lesson, held.round, self.words(held.lesson))

    def _say_twice(self, held: Held) -> None:
        self._release(held)
        words = self.words(held.lesson)
        for _ in range(2):
            self.describe(held.lesson, held.round, words)

    def _say_better(self, held: Held) -> None:
        self._say(held)
        self._say(held)

    def _say_and_undo(self, held: Held) -> None:
        self._say(held)
        self._undo(held)

    def _skip(self, held: Held) -> None:
        self._release(held)
        outcome = self.random.choice(("skipped", "skipped", "cannot_tell", "flagged"))
        path = f"{held.lesson}/rounds/{held.round}/outcome"
        reply = self.send("PUT", path, {"outcome": outcome})
        if reply.status == 200 or reply.unsure:
            # Of a response that somebody else has described, they decline only to do so too.
            happened = reply.status == 200 and reply.body["status"] in (outcome, "described")
            self._remember(outcome, held, reply, happened)

    def _skip_and_undo(self, held: Held) -> None:
        self._skip(held)
        time.sleep(self.random.uniform(0, 0.1))
        self._undo(held)

    def _undo(self, held: Held) -> None:
        path = f"{held.lesson}/rounds/{held.round}/description"
        reply = self.send("DELETE", path)
        if reply.status != 200:
            # An earlier try may have been acted upon, and somebody else have it since.
            if reply.unsure:
                self._remember("withdrawn", held, reply, happened=False)
            return
        self._remember("withdrawn", held, reply, reply.body["withdrawn"])
        if not reply.body["withdrawn"]:
            return
        # It is theirs again. When exactly, they are not told.
        again = Held(held.lesson, self.account, held.round, reply.received, reply.sent + self.lease)
        self.memory.held.append(again)
        if self.random.random() < 0.7:
            self._say(again)

    def _keep_it_long(self, held: Held) -> None:
        time.sleep(self.lease * 0.5)
        reply = self.send("PUT", f"{held.lesson}/rounds/{held.round}/claim")
        if reply.status == 204:
            held.until = max(held.until, reply.sent + self.lease)
            time.sleep(self.lease * 0.7)
        self._say(held)

    def _walk_away(self, held: Held) -> None:
        time.sleep(self.lease * 1.2)
        if self.random.random() < 0.5:
            self.describe(held.lesson, held.round, self.words(held.lesson))

    def _release(self, held: Held) -> None:
        """Know that it may go to somebody else from now on, however often they were given it."""
        now = time.time()
        for one in self.memory.held:
            if (one.lesson, one.round) == (held.lesson, held.round):
                one.until = min(one.until, now)

    def _remember(self, kind: str, held: Held, reply: Reply, happened: bool) -> None:
        done = Done(kind, held.lesson, self.account, held.round, happened, reply.unsure)
        self.memory.done.append(done)


def _sentence(random: random.Random) -> str:
    return f"the {random.choice(COLOURS)} {random.choice(THINGS)}"


def _features(random: random.Random) -> list[list[float]]:
    return [[round(random.uniform(0, 1), 6) for _ in range(DIM)] for _ in range(CANDIDATES)]
