"""A report is one file that needs nothing else, with figures and a table beside it."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.image
import polars
import pytest
from polars.testing import assert_frame_equal

from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.errors import SettingError
from tellback.lab import Decide, Plan, Results, Store, Study, run_studies
from tellback.lab.charts.chart import wrapped
from tellback.lab.pairs import headline
from tellback.lab.report import Section, write_report, write_table
from tellback.worlds import Synthetic
from tests.support.studies import Inline, MadeUp

WORLD = Synthetic(instructions=20, responses=5, rank=3)
NASTY = "<b>bold</b> & \"quoted\" 'too'"
TITLE = f"</title><script>alert(1)</script> {NASTY}"
AGENTS: dict[str, tuple[AgentSpec, ...]] = {
    f"LORIL {NASTY}": (LORIL(k=0.1), LORIL(k=1.0)),
    "<img src=http://example.org/x.png>": (Greedy(),),
    "random": (Uniform(),),
}
CHARTS = {"regret", "finals", "rate", "growth", "tuning"}
FEWER = {"regret", "finals", "rate"}
"""Where nothing was tuned, in few rounds."""


def a_study(name: str = "small", **changes: Any) -> Study:
    parts: dict[str, Any] = {
        "name": name,
        "world": WORLD,
        "agents": {"greedy": (Greedy(),), "random": (Uniform(),)},
        "rounds": 50,
        "tuning": (),
        "reported": (0, 1, 2),
    }
    return Study(**{**parts, **changes})


def texts(svg: str) -> list[str]:
    """All that is written in a drawing, which must be well-formed."""
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter() if one.text]


class Page(HTMLParser):
    """Reads a page, and complains of tags that do not match."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.said: list[str] = []
        self.style = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.style += data
        elif data.strip():
            self.said.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, one, value in self.attributes if one == name]


class Written:
    """A report of two worlds, with names that no page likes."""

    def __init__(self, folder: Path) -> None:
        other = {name: grid[:1] for name, grid in AGENTS.items()}
        studies = [
            a_study(f"few {NASTY}", agents=AGENTS, tuning=(10, 11), everywhere=False),
            a_study("other <i>", world=Synthetic(20, 3, 3), agents=other, rounds=10),
        ]
        self.plan = Plan(TITLE, tuple(studies))
        self.store = Store(folder / "runs")
        self.results = run_studies(studies, self.store, on=Inline())
        self.folder = folder / "report"
        section = Section(f"Claims {NASTY}", ["claim <u>", "verdict"], [[NASTY, 3]])
        self.files = write_report(self.plan.title, self.results, self.folder, [section])
        self.source = self.files[0].read_text(encoding="utf-8")
        self.page = Page(self.source)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return Written(tmp_path_factory.mktemp("written"))


def test_the_page_has_the_title_every_study_and_every_sentence(written: Written) -> None:
    assert written.files[0].name == "report.html"
    assert written.source.startswith("<!doctype html>")
    said = "\n".join(written.page.said)
    assert said.count(TITLE) >= 2  # in the head and above the text
    for results in written.results:
        assert results.study.name in written.page.said
        for pair in results.pairs():
            assert pair.sentence in said
        for name, grid in results.study.agents.items():
            assert name in written.page.said  # in the table
            assert results.tuned(name).label() in written.page.said
            assert all(agent.label() in said for agent in grid)  # in what was run
    assert f"Claims {NASTY}" in written.page.said
    assert NASTY in written.page.said


def test_names_are_text_and_never_markup(written: Written) -> None:
    assert not {"script", "b", "i", "u", "img", "iframe", "object", "link"} & set(written.page.tags)
    assert not [name for _, name, _ in written.page.attributes if name.startswith("on")]
    for results in written.results:
        for name in AGENTS:
            label = wrapped(results.label(name)).splitlines()[0]  # in the legend, within the page
            assert any(said.startswith(label) for said in written.page.said)
        labels = [label for label in written.page.values("aria-label") if label != "Studies"]
        charts = len(CHARTS) if results.study.tuning else len(FEWER)
        assert sum(results.study.name in label for label in labels) == charts


def test_the_page_needs_nothing_from_outside(written: Written) -> None:
    page = written.page
    links = [
        value
        for name in ("src", "href", "xlink:href", "srcset", "data", "poster", "action")
        for value in page.values(name)
    ]
    assert links
    assert all(link.startswith("#") for link in links)
    styles = [page.style, *page.values("style"), *page.values("clip-path"), *page.values("fill")]
    assert "@import" not in page.style
    urls = [url for style in styles for url in re.findall(r"url\(([^)]*)\)", style)]
    assert all(url.strip("'\"").startswith("#") for url in urls)
    policies = [
        {key: text for _, key, text in page.attributes[i : i + 2]}
        for i, (tag, name, value) in enumerate(page.attributes)
        if (tag, name, value) == ("meta", "http-equiv", "Content-Security-Policy")
    ]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]["content"]
    assert "script" not in policies[0]["content"]


def test_what_a_drawing_refers_to_is_in_the_page_once(written: Written) -> None:
    ids = written.page.values("id")
    assert len(ids) == len(set(ids))
    inside = re.findall(r"url\(#([^)]+)\)", written.source)
    inside += [link[1:] for name in ("href", "xlink:href") for link in written.page.values(name)]
    assert inside
    assert set(inside) <= set(ids)


def test_every_chart_is_a_picture_and_a_drawing_that_reads_well(written: Written) -> None:
    folders = sorted(path for path in written.folder.iterdir() if path.is_dir())
    assert len(folders) == 2
    charts = [folders[0] / chart for chart in CHARTS] + [folders[1] / chart for chart in FEWER]
    charts.append(written.folder / "regret")  # all studies side by side
    expected = {path.with_suffix(suffix) for path in charts for suffix in (".png", ".svg")}
    assert {path for path in written.files if path.suffix in (".png", ".svg")} == expected
    found = {path for path in written.folder.rglob("*") if path.is_file()}
    assert found == set(written.files)
    for path in charts:
        picture = matplotlib.image.imread(path.with_suffix(".png"))
        assert min(picture.shape[:2]) > 200
        assert picture.std() > 0.01  # not blank
        texts(path.with_suffix(".svg").read_text(encoding="utf-8"))
    for results, folder in zip(written.results, folders, strict=True):
        drawn = texts((folder / "finals.svg").read_text(encoding="utf-8"))
        for name in AGENTS:
            assert all(line in drawn for line in wrapped(results.label(name)).splitlines())
        regret = "\n".join(texts((folder / "regret.svg").read_text(encoding="utf-8")))
        for name in AGENTS:
            final = results.final(results.tuned(name)).mean()
            legend = wrapped(f"{results.label(name)}: {final:.3g}")
            assert all(line in regret for line in legend.splitlines())


def test_written_twice_it_is_the_same_in_every_byte(written: Written, tmp_path: Path) -> None:
    results = written.results[:1]
    files = write_report(TITLE, results, tmp_path / "alone")
    (folder,) = {path.parent for path in written.files if path.name == "tuning.svg"}
    for path in files:
        if path.suffix in (".png", ".svg"):
            assert path.read_bytes() == (folder / path.name).read_bytes()
    one_seed = a_study(reported=(0,))
    found = run_studies([one_seed], written.store, on=Inline())
    pages = [write_report(TITLE, found, tmp_path / str(i)) for i in range(2)]
    assert [path.name for path in pages[0]] == ["report.html", "regret.parquet"]
    for path, other in zip(*pages, strict=True):
        assert path.read_bytes() == other.read_bytes()


def test_the_table_beside_it_has_every_curve(written: Written) -> None:
    table = polars.read_parquet(written.folder / "regret.parquet")
    assert_frame_equal(table, polars.concat([results.table() for results in written.results]))
    for results in written.results:
        for name in AGENTS:
            agent = results.tuned(name)
            for seed, curve in zip((0, 1, 2), results.curves(agent), strict=True):
                rows = table.filter(
                    (polars.col("study") == results.study.name)
                    & (polars.col("setting") == agent.label())
                    & (polars.col("seed") == seed)
                )
                assert rows["t"].to_list() == results.t.tolist()
                assert rows["regret"].to_list() == curve.tolist()
                assert set(rows["seeds"]) == {"reported"}


def test_csv_and_parquet_hold_the_same(written: Written, tmp_path: Path) -> None:
    for table in (written.results[0].table(), written.results[0].finals()):
        csv = write_table(table, tmp_path / "table.csv")
        parquet = write_table(table, tmp_path / "table.parquet")
        assert_frame_equal(polars.read_parquet(parquet), table)
        read = polars.read_csv(csv, schema=table.schema)
        assert_frame_equal(read, table, check_exact=True)
    with pytest.raises(SettingError, match=r"\.csv or \.parquet, not to 'table\.xlsx'"):
        write_table(table, tmp_path / "table.xlsx")


def test_a_pandas_data_frame_has_the_same_rows(written: Written) -> None:
    pytest.importorskip("pandas")
    results = written.results[0]
    frame = results.pandas()
    assert frame.to_dict("list") == results.table().to_dict(as_series=False)


def test_a_notebook_shows_every_agent_and_every_pair(written: Written) -> None:
    for results in written.results:
        shown = results._repr_html_()
        said = Page(shown).said
        assert results.study.name in said
        for name in AGENTS:
            assert name in said
            assert results.tuned(name).label() in said
        for pair in results.pairs():
            assert pair.sentence in said
            assert pair.sentence in unescape(shown)


# Studies that leave little to draw, or much.


def report_of(study: Study, folder: Path) -> tuple[Results, set[str], Page]:
    """Its results, the charts that were drawn, and its page."""
    found = run_studies([study], Store(folder / "runs"), on=Inline())
    files = write_report("A report", found, folder / "report")
    drawn = {path.stem for path in files if path.suffix == ".svg"}
    return found[0], drawn, Page(files[0].read_text(encoding="utf-8"))


def test_one_seed_has_no_intervals_and_no_charts_of_them(tmp_path: Path) -> None:
    results, drawn, page = report_of(a_study(reported=(0,)), tmp_path)
    assert drawn == set()
    assert "svg" not in page.tags
    assert results.pairs()[0].sentence in page.said
    assert any("one run: no interval" in said for said in page.said)


def test_one_round_has_no_course(tmp_path: Path) -> None:
    _, drawn, page = report_of(a_study(rounds=1), tmp_path)
    assert drawn == {"regret", "finals"}
    assert page.tags.count("svg") == 2


def test_one_agent_alone_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    study = a_study(agents={"alone": (Greedy(),)}, rounds=5)
    results, drawn, page = report_of(study, tmp_path)
    assert results.pairs() == []
    assert drawn == FEWER
    assert "alone" in page.said


def test_a_dozen_agents_are_all_there(tmp_path: Path) -> None:
    agents = {f"epsilon {i}": (EpsilonGreedy(i / 20),) for i in range(12)}
    results, drawn, page = report_of(a_study(agents=agents), tmp_path)
    assert drawn == CHARTS - {"tuning"}
    assert "Tuning" not in page.said  # nothing was
    assert any("nothing tuned" in said for said in page.said)
    said = "\n".join(page.said)
    assert len(results.pairs()) == 66
    assert all(pair.sentence in said for pair in results.pairs())
    svg = (tmp_path / "report" / "finals.svg").read_text(encoding="utf-8")
    assert set(agents) <= set(texts(svg))


def test_studies_whose_names_look_alike_do_not_share_a_folder(tmp_path: Path) -> None:
    studies = [a_study("few?", rounds=5), a_study("few!", rounds=6)]
    found = run_studies(studies, Store(tmp_path / "runs"), on=Inline())
    files = write_report("T", found, tmp_path / "report")
    assert len(files) == len(set(files))


def test_long_names_of_studies_are_no_names_of_folders(tmp_path: Path) -> None:
    studies = [a_study("study " * 50 + str(i), rounds=5 + i) for i in range(2)]
    found = run_studies(studies, Store(tmp_path / "runs"), on=Inline())
    write_report("T", found, tmp_path / "report")


@pytest.mark.parametrize(
    "name",
    [
        "$5 to $10",
        "$\\frac{$",
        "_mine",
        "#000000",
        'id="x"',
    ],
)
def test_a_name_is_drawn_as_it_is(name: str, tmp_path: Path) -> None:
    study = a_study(agents={name: (Greedy(),), "random": (Uniform(),)}, rounds=5)
    _, _, page = report_of(study, tmp_path)
    svg = (tmp_path / "report" / "regret.svg").read_text(encoding="utf-8")
    assert any(name in text for text in texts(svg))
    # In the legend, the axis of final regrets, and the rate, as the page shows them.
    assert sum(said.strip().startswith(name) for said in page.said) >= 1 + 3


def test_a_name_that_is_too_long_is_cut_and_leaves_room_for_the_chart(tmp_path: Path) -> None:
    name = "a very long name of an agent " * 10
    study = a_study(agents={name: (Greedy(),), "random": (Uniform(),)}, rounds=5)
    report_of(study, tmp_path)  # Matplotlib would warn
    svg = (tmp_path / "report" / "regret.svg").read_text(encoding="utf-8")
    assert any(text.startswith("a very long name of an agent") for text in texts(svg))


def test_no_regret_is_drawn_without_a_warning(tmp_path: Path) -> None:
    report_of(a_study(world=Synthetic(20, 1, 3)), tmp_path)


def test_regret_that_nobody_knows_does_not_stop_a_report(tmp_path: Path) -> None:
    agents = {"a": (Greedy(),), "b": (Uniform(),)}
    study = Study("s", Synthetic(), agents, 50, (), (0, 1, 2))
    nan = float("nan")
    results = Results(
        study, MadeUp({grid[0]: dict.fromkeys((0, 1, 2), nan) for grid in agents.values()})
    )
    write_report("T", [results], tmp_path)


def test_a_grid_may_have_agents_of_two_kinds(tmp_path: Path) -> None:
    grid = (LORIL(k=1.0), Greedy())
    study = a_study(agents={"either": grid, "random": (Uniform(),)}, tuning=(8, 9), rounds=5)
    finals = {grid[0]: 9.0, grid[1]: 1.0, Uniform(): 5.0}
    made_up = MadeUp(
        {agent: dict.fromkeys((0, 1, 2, 8, 9), value) for agent, value in finals.items()}
    )
    results = Results(study, made_up)
    assert results.tuned("either") == Greedy()
    assert results.label("either").startswith("either")
    write_report("T", [results], tmp_path)


def test_the_page_begins_with_what_was_to_be_decided(tmp_path: Path) -> None:
    agents = {"a": Greedy(), "b": EpsilonGreedy(0.2), "c": Uniform()}
    seeds = range(12)
    finals = {"a": 1.0, "b": 1.1, "c": 9.0}
    made_up = MadeUp(
        {
            agent: {seed: finals[name] + 0.3 * ((seed * 7 + i) % 5) for seed in seeds}
            for i, (name, agent) in enumerate(agents.items())
        }
    )
    for between in (("a", "c"), ("c", "a")):
        study = a_study(
            agents={name: (agent,) for name, agent in agents.items()},
            reported=tuple(seeds),
            decide=Decide(between, at_most=40),
        )
        results = Results(study, made_up)
        assert results.is_decided
        first = headline(results)
        assert first is not None
        assert (first.ours, first.theirs, first.verdict) == ("a", "c", "less")
        (path, *_) = write_report("T", [results], tmp_path)
        text = unescape(path.read_text(encoding="utf-8"))
        assert text.index(first.sentence) < text.index("<h2")
        assert "are for one look" in text
        assert "between" in text
