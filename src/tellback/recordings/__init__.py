"""Recordings: responses that people have described, in files."""

from tellback.recordings.features import AGAIN, FEWEST, Columns, FeatureRows, tokens_of
from tellback.recordings.reading import MOST_FAULTS, Fault, faults, read, write
from tellback.recordings.recording import RecordedResponse, Recording, Said, Step
from tellback.recordings.summary import Summary

__all__ = [
    "AGAIN",
    "FEWEST",
    "MOST_FAULTS",
    "Columns",
    "Fault",
    "FeatureRows",
    "RecordedResponse",
    "Recording",
    "Said",
    "Step",
    "Summary",
    "faults",
    "read",
    "tokens_of",
    "write",
]
