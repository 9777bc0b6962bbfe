"""Recordings: responses that people have described, in files."""

from tellback.recordings.reading import Fault, faults, read, write
from tellback.recordings.recording import RecordedResponse, Recording, Said, Step

__all__ = ["Fault", "RecordedResponse", "Recording", "Said", "Step", "faults", "read", "write"]
