"""Dependencies of endpoints: the classroom, the caller, and the agent of a lesson."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.schemas.common import LessonId
from tellback.classroom.web.security.authentication import needs
from tellback.classroom.web.security.callers import Caller, Role


# Dependencies that do not wait are async: a change of threads costs more than they do.
async def classroom(request: Request) -> Classroom:
    """The classroom of this process."""
    found: Classroom = request.app.state.classroom
    return found


AsTeacher = Annotated[Caller, Depends(needs(Role.TEACHER))]
AsReviewer = Annotated[Caller, Depends(needs(Role.REVIEWER))]
AsEngineer = Annotated[Caller, Depends(needs(Role.ENGINEER))]
AsAdmin = Annotated[Caller, Depends(needs(Role.ADMIN))]
AClassroom = Annotated[Classroom, Depends(classroom)]


async def learner(request: Request, lesson: LessonId, caller: AsTeacher) -> Learner:
    """The agent of the lesson in the path."""
    room = await classroom(request)
    found = room.learner_at_hand(lesson)
    return await run_in_threadpool(room.learner, lesson) if found is None else found


ALearner = Annotated[Learner, Depends(learner)]


def demand_accounts(room: Classroom) -> None:
    """Refuse requests that make no sense without accounts."""
    if not room.settings.accounts:
        raise ConflictError(
            "no_accounts", "This classroom has no accounts: nobody needs to sign in."
        )
