"""Recordings: responses that people have described, in files."""

from tellback.recordings.examples import Example, examples_of
from tellback.recordings.exporting import export_examples
from tellback.recordings.reading import Fault, faults, read, write
from tellback.recordings.recording import RecordedResponse, Recording, Said, Step

__all__ = [
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
    "write",
]
