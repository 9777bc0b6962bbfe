"""What endpoints are given: the classroom, who calls, and the agent of a lesson."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from tellback.classroom.learning.learner import Learner
from tellback.classroom.web.bodies import LessonId
from tellback.classroom.web.callers import Caller, Role
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.security import needs


# What does not wait is async: to be handed to another thread and back costs more than it does.
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
    """The agent of the lesson that the path names, for whoever may know of it."""
    room = await classroom(request)
    found = room.learner_at_hand(lesson)
    return await run_in_threadpool(room.learner, lesson) if found is None else found


ALearner = Annotated[Learner, Depends(learner)]
