"""Recordings: responses that people have described, in files."""

from tellback.recordings.examples import Example, examples_of
from tellback.recordings.exporting import export_examples
from tellback.recordings.reading import MOST_FAULTS, Fault, faults, read, write
from tellback.recordings.recording import RecordedResponse, Recording, Said, Step
from tellback.recordings.teaching import teach

__all__ = [
    "MOST_FAULTS",
    "Example",
    "Fault",
    "RecordedResponse",
    "Recording",
    "Said",
    "Step",
    "examples_of",
    "export_examples",
    "faults",
    "read",
    "teach",
    "write",
]
