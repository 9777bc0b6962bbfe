"""The public history of a run, for worlds that read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from tellback.roles import Exchange


class History(Sequence[Exchange]):
    """The last rounds, oldest first: as many as the world wants to read.

    Parameters
    ----------
    before : iterable of Exchange
        Rounds played before.
    memory : int or None
        How many rounds to keep; None keeps all.
    """

    def __init__(self, before: Iterable[Exchange] = (), memory: int | None = None) -> None:
        self._rounds = deque(before, maxlen=memory)

    @property
    def memory(self) -> int | None:
        """How many rounds are kept; None for all."""
        return self._rounds.maxlen

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self._rounds)

    @overload
    def __getitem__(self, which: int) -> Exchange: ...

    @overload
    def __getitem__(self, which: slice) -> list[Exchange]: ...

    def __getitem__(self, which: int | slice) -> Exchange | list[Exchange]:
        return list(self._rounds)[which] if isinstance(which, slice) else self._rounds[which]

    def _add(self, finished: Exchange) -> None:
        """Add a round (for the loop only)."""
        self._rounds.append(finished)
