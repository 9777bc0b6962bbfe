"""Run all benchmarks; the exit code says whether every bar was met.

What they keep in ``results/`` is written to docs/speed.md.
"""

import sys

from benchmarks.approximate import approximate
from benchmarks.classroom import classroom
from benchmarks.closed_form import closed_form
from benchmarks.cluster import cluster
from benchmarks.fairness import fairness
from benchmarks.flatness import flatness
from benchmarks.lab import lab
from benchmarks.load import load
from benchmarks.long_runs import long_runs
from benchmarks.page import write_page
from benchmarks.peers import many, peers
from benchmarks.responses import responses
from benchmarks.ridge import ridge
from benchmarks.sentences import sentences
from benchmarks.speed import speed
from benchmarks.startup import startup
from benchmarks.torch_study import torch_study
from benchmarks.verdicts import verdicts

if __name__ == "__main__":
    results = [
        flatness(),
        speed(),
        torch_study(),
        long_runs(),
        sentences(),
        lab(),
        ridge(),
        responses(),
        approximate(),
        peers(),
        many(),
        closed_form(),
        classroom(),
        fairness([]),
        verdicts(),
        startup(),
        cluster(),
        load([]),
    ]
    write_page()
    sys.exit(0 if all(results) else 1)
