"""The agent of a lesson, as a fold of the lesson's log."""
