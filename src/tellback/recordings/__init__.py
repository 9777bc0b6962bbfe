"""Recordings: responses that people have described, in files."""

from tellback.recordings.examples import Example, examples_of
from tellback.recordings.exporting import export_examples
from tellback.recordings.features import AGAIN, FEWEST, Columns, FeatureRows, tokens_of
from tellback.recordings.reading import MOST_FAULTS, Fault, faults, read, write
from tellback.recordings.recording import RecordedResponse, Recording, Said, Step
from tellback.recordings.summary import Summary
from tellback.recordings.teaching import teach

__all__ = [
    "AGAIN",
    "FEWEST",
    "MOST_FAULTS",
    "Columns",
    "Example",
    "Fault",
    "FeatureRows",
    "RecordedResponse",
    "Recording",
    "Said",
    "Step",
    "Summary",
    "examples_of",
    "export_examples",
    "faults",
    "read",
    "teach",
    "tokens_of",
    "write",
]
