"""Changes that come together are committed together."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tellback.classroom.learning.group_commit import Change, GroupCommit
from tellback.classroom.store.errors import ConflictError
from tests.support.patience import PATIENCE


class Log:
    """Numbers of events, as a log has them."""

    latest = 0
    rounds = 0


class Disk:
    """Commits that wait until they are let through, and what each of them wrote."""

    def __init__(self) -> None:
        self.committed: list[list[Any]] = []
        self.began, self.may_go = threading.Semaphore(0), threading.Semaphore(0)
        self.failure: Exception | None = None

    def commit(self, changes: list[Change]) -> None:
        self.began.release()
        assert self.may_go.acquire(timeout=PATIENCE)
        log: Any = Log()
        for change in changes:
            change.write(log)
        if self.failure is not None:
            raise self.failure
        self.committed.append([change.result for change in changes])


def says(word: str) -> Change:
    def write(log: Any) -> str:
        log.latest += 1
        return word

    return Change(write)


def refuses(after: int = 0) -> Change:
    def write(log: Any) -> str:
        log.latest += after
        raise ConflictError("no", "No.")

    return Change(write)


def three_at_once(disk: Disk, *changes: Change) -> list[Future[Any]]:
    """The first change is being committed while the others come."""
    group = GroupCommit(disk.commit)
    with ThreadPoolExecutor(len(changes)) as threads:
        found = [threads.submit(group, changes[0])]
        assert disk.began.acquire(timeout=PATIENCE)
        for i, change in enumerate(changes[1:], 1):
            found.append(threads.submit(group, change))
            while len(group._waiting) < i:
                threading.Event().wait(0.001)
        for _ in range(10):
            disk.may_go.release()
    return found


def test_changes_that_come_during_a_commit_share_the_next_one() -> None:
    disk = Disk()
    found = three_at_once(disk, says("one"), says("two"), says("three"))
    assert [one.result() for one in found] == ["one", "two", "three"]
    assert disk.committed == [["one"], ["two", "three"]]


def test_a_refusal_is_told_to_its_own_caller() -> None:
    disk = Disk()
    first, refused, third = three_at_once(disk, says("one"), refuses(), says("three"))
    assert (first.result(), third.result()) == ("one", "three")
    with pytest.raises(ConflictError):
        refused.result()


def test_a_change_that_fails_half_way_does_not_undo_the_others() -> None:
    disk = Disk()
    first, broken, third = three_at_once(disk, says("one"), refuses(after=1), says("three"))
    assert (first.result(), third.result()) == ("one", "three")
    with pytest.raises(ConflictError):
        broken.result()
    assert disk.committed == [["one"], ["three"]]


def test_a_failed_commit_fails_all_and_is_not_tried_again() -> None:
    """It may have succeeded: the second time would be another round."""
    disk = Disk()
    disk.failure = OSError("the disk is gone")
    for one in three_at_once(disk, says("one"), says("two"), says("three")):
        with pytest.raises(OSError, match="gone"):
            one.result()
    assert disk.began._value == 1  # of the second commit, which was the last
