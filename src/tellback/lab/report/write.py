"""The files of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars

from tellback.errors import SettingError
from tellback.files import atomic_write
from tellback.lab.charts import CHARTS, Chart, draw_regret
from tellback.lab.charts.chart import has_intervals
from tellback.lab.charts.picture import Picture
from tellback.lab.report.page import Drawing, DrawnStudy, Section, page, slugs
from tellback.lab.results import Results


def write_report(
    title: str,
    found: Sequence[Results],
    folder: Path,
    sections: Sequence[Section] = (),
    pictures: Sequence[Picture] = (),
    charts: Sequence[Chart] = CHARTS,
    pdf: bool = False,
) -> list[Path]:
    """Write the page, every figure as PNG and SVG, and all curves as one table.

    Parameters
    ----------
    title : str
        Its title.
    found : sequence of Results
        The studies.
    folder : Path
        Where to write.
    sections, pictures : sequence
        Tables at the top of the report, and figures below them.
    charts : sequence of Chart
        The views of each study.
    pdf : bool
        Whether to write the views as PDF too, for a paper.

    Returns
    -------
    list of Path
        The files written, the page first.
    """
    formats = (".png", ".svg", ".pdf") if pdf else (".png", ".svg")
    files: list[Path] = []

    def written(some: Iterable[Picture], place: Path, formats: Sequence[str]) -> list[Drawing]:
        """Write pictures; returns them with their SVG."""
        drawings = []
        for picture in some:
            paths = picture.write(place, formats)
            files.extend(paths)
            drawings.append((picture, paths[1].read_text(encoding="utf-8")))
        return drawings

    shown = written(pictures, folder, formats[:2])
    folders = [folder / name for name in slugs([one.study.name for one in found])]
    drawn = []
    for results, own in zip(found, folders, strict=True):
        views = [chart.of(results) for chart in charts if chart.applies(results)]
        drawings = written(views, own if len(found) > 1 else folder, formats)
        drawn.append(DrawnStudy(results, drawings))
    same = [one for one in found if list(one.study.agents) == list(found[0].study.agents)]
    if charts and len(same) > 1 and all(map(has_intervals, same)):  # the same agents, side by side
        files += draw_regret(same, title, folder / "regret", formats=formats)
    path = folder / "report.html"
    with atomic_write(path) as temporary:
        temporary.write_text(page(title, drawn, sections, shown), encoding="utf-8")
    curves = polars.concat([results.table() for results in found])
    return [path, *files, write_table(curves, folder / "regret.parquet")]


def write_table(table: polars.DataFrame, path: Path) -> Path:
    """Write a table as CSV or Parquet, by the path's suffix."""
    writers: dict[str, Callable[[Path], None]] = {
        ".csv": table.write_csv,
        ".parquet": table.write_parquet,
    }
    if path.suffix not in writers:
        raise SettingError(f"A table is written to .csv or .parquet, not to {path.name!r}.")
    with atomic_write(path) as temporary:
        writers[path.suffix](temporary)
    return path
