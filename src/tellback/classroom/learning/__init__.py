"""The agent of a lesson, rebuilt from the lesson's log."""
