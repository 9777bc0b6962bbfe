"""Operations that are written once, and that both clients have: one waits, the other awaits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from tellback.specs import Data

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


def json_of(answer: httpx.Response) -> Any:
    """The body of an answer; ``{}`` if it has none."""
    return answer.json() if answer.content else {}


def nothing(answer: Any) -> None:
    """Of an answer that says nothing."""


def or_none(answer: Data) -> Data | None:
    """The answer; None if it was empty."""
    return answer or None


def items(answer: Any) -> list[Data]:
    """Of an answer that is a list."""
    return list(answer)


def part(name: str) -> Callable[[Data], Any]:
    """A part of an answer."""
    return lambda answer: answer[name]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    request: Data = field(default_factory=dict)
    read: Callable[[httpx.Response], T] = json_of
    harmless: bool = False
    """Whether a POST may be done twice."""

    deletes: bool = False
    """Whether the thing being gone is success, where the first answer was lost."""

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again although the service may have done it."""
        keyed = "Idempotency-Key" in self.request.get("headers", {})
        return self.method != "POST" or self.harmless or keyed

    def then(self, read: Callable[[T], U]) -> Call[U]:
        """The same request, of whose answer more is made."""
        first = self.read

        def both(answer: httpx.Response) -> U:
            return read(first(answer))

        return Call(self.method, self.path, self.request, both, self.harmless, self.deletes)


def deletion(path: str, **request: Any) -> Call[None]:
    """A request to delete something."""
    return Call("DELETE", path, request, nothing, deletes=True)


class Blocking:
    """One side: its operations return what the service answers."""

    def run(self, call: Call[T]) -> T:
        """Send a request, and read the answer."""
        raise NotImplementedError


class Awaiting:
    """The other side: its operations are coroutines."""

    async def run(self, call: Call[T]) -> T:
        """Send a request, and read the answer."""
        raise NotImplementedError


class operation(Generic[P, T]):  # noqa: N801 - used as a decorator
    """A method that says what to send; called, it is sent, and the answer is returned."""

    def __init__(self, build: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, side: None, owner: type) -> operation[P, T]: ...
    @overload
    def __get__(self, side: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, side: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, side: Any, owner: type) -> Any:
        """The operation of a client or a lesson."""
        if side is None:
            return self

        @wraps(self._build)
        def sent(*given: P.args, **named: P.kwargs) -> Any:
            return side.run(self._build(side, *given, **named))

        return sent
