"""Run all benchmarks; the exit code says whether every bar was met."""

import sys

from benchmarks.classroom import classroom
from benchmarks.closed_form import closed_form
from benchmarks.fairness import fairness
from benchmarks.flatness import flatness
from benchmarks.lab import lab
from benchmarks.ridge import ridge
from benchmarks.sentences import sentences
from benchmarks.speed import speed

if __name__ == "__main__":
    results = [
        flatness(),
        speed(),
        sentences(),
        lab(),
        ridge(),
        closed_form(),
        classroom(),
        fairness(),
    ]
    sys.exit(0 if all(results) else 1)
