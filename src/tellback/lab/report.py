"""What a study leaves in its folder: figures and one table of everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars

from tellback.files import written_whole
from tellback.lab.plots import Panel, draw_regret
from tellback.lab.results import Results


def write_report(
    results: Sequence[Results], panels: Sequence[Panel], title: str, folder: Path
) -> list[Path]:
    """Write the regret figure (PNG and SVG) and all curves (Parquet); returns the files."""
    files = draw_regret(panels, title, folder / "regret")
    table = folder / "regret.parquet"
    with written_whole(table) as temporary:
        polars.concat([one.table() for one in results]).write_parquet(temporary)
    return [*files, table]
