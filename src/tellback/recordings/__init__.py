"""Recordings: responses that people have described, in files."""

from tellback.recordings.recording import RecordedResponse, Recording, Said, Step

__all__ = ["RecordedResponse", "Recording", "Said", "Step"]
