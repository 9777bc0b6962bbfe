"""What endpoints are given: the classroom, and the agent of a lesson."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from tellback.classroom.learning.learner import Learner
from tellback.classroom.web.bodies import LessonId
from tellback.classroom.web.classroom import Classroom


def classroom(request: Request) -> Classroom:
    """The classroom of this process."""
    found: Classroom = request.app.state.classroom
    return found


AClassroom = Annotated[Classroom, Depends(classroom)]


def learner(lesson: LessonId, room: AClassroom) -> Learner:
    """The agent of the lesson that the path names."""
    return room.learner(lesson)


ALearner = Annotated[Learner, Depends(learner)]
