"""Runs a notebook in a kernel of its own, and prints what its cells showed, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

if __name__ == "__main__":
    notebook = nbformat.read(Path(sys.argv[1]), as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    json.dump([cell.get("outputs", []) for cell in notebook.cells], sys.stdout)
