"""A study file gives what one would write by hand, and every mistake in it gets its line."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.agents import LORIL, Greedy, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError, UnknownNameError
from tellback.lab import Decide, Plan, Study, plan_from_toml, read_plan
from tellback.models import Sentence
from tellback.paper import synthetic
from tellback.specs import Spec
from tellback.streams import Streams
from tellback.worlds import Images, Synthetic

EXAMPLES = Path(__file__).parents[2] / "examples"


def plan_of(text: str) -> Plan:
    return plan_from_toml(textwrap.dedent(text), "a.toml")


def the_study(text: str) -> Study:
    (study,) = plan_of(text).studies
    return study


SMALL = """
    rounds = 50
    reported = "0-2"
    worlds.small = { kind = "synthetic", instructions = 20, responses = 5, rank = 3 }
"""
WORLD = Synthetic(instructions=20, responses=5, rank=3)


# What a file gives.


def test_a_file_gives_what_one_would_write_by_hand() -> None:
    plan = plan_of(
        """
        title = "Two worlds"
        rounds = 50
        tuning = [10, 11]
        reported = "0-2, 5"
        everywhere = false
        tuning_runs = 2

        [worlds.small]
        kind = "synthetic"
        instructions = 20
        responses = 5
        rank = 3

        [worlds."asked unevenly"]
        kind = "synthetic"
        asks = [0.25, 0.75]
        instructions = 2
        contexts = "fresh"

        [agents.LORIL]
        kind = "loril"
        lam = 0.5
        grid.k = [1, 10.0]

        [agents."greedy, first"]
        kind = "greedy"
        ties = "first"

        [agents.random]
        kind = "uniform"
        """
    )
    agents = {
        "LORIL": (LORIL(k=1.0, lam=0.5), LORIL(k=10.0, lam=0.5)),
        "greedy, first": (Greedy(ties="first"),),
        "random": (Uniform(),),
    }
    uneven = Synthetic(asks=(0.25, 0.75), instructions=2, contexts="fresh")
    by_hand = [
        Study(name, world, agents, 50, (10, 11), (0, 1, 2, 5), everywhere=False, tuning_runs=2)
        for name, world in {"small": WORLD, "asked unevenly": uneven}.items()
    ]
    assert plan == Plan("Two worlds", tuple(by_hand))
    assert list(plan.studies[0].agents) == list(agents)
    runs = [run.identity for study in plan.studies for run in study.runs()]
    assert runs == [run.identity for study in by_hand for run in study.runs()]


def test_what_is_not_said_is_as_by_default() -> None:
    study = the_study(f"{SMALL}\n    agents.a.kind = 'loril'")
    assert study == Study("small", WORLD, {"a": (LORIL(),)}, 50, (), (0, 1, 2))
    assert plan_of(f"{SMALL}\n    agents.a.kind = 'loril'").title == "a"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 1.0, 10.0]), min_size=1, unique=True),
    st.lists(st.sampled_from([0.1, 0.5, 2.0]), min_size=1, unique=True),
    st.lists(st.sampled_from(["random", "first"]), min_size=1, unique=True),
    st.permutations(["k", "lam", "ties"]),
)
def test_a_grid_is_every_combination_the_last_written_varying_fastest(
    ks: list[float], lams: list[float], ties: list[str], order: list[str]
) -> None:
    values: dict[str, list[Any]] = {"k": ks, "lam": lams, "ties": ties}
    grid = "\n".join(f"grid.{name} = {json.dumps(values[name])}" for name in order)
    text = f"tuning = '90'\n{textwrap.dedent(SMALL)}\n[agents.a]\nkind = 'loril'\n{grid}"
    expected = []
    for first in values[order[0]]:
        for second in values[order[1]]:
            for third in values[order[2]]:
                chosen = dict(zip(order, (first, second, third), strict=True))
                expected.append(LORIL(**chosen))
    assert list(the_study(text).agents["a"]) == expected


def test_models_and_encoders_are_words_or_tables() -> None:
    study = the_study(
        """
        rounds = 5
        tuning = "7"
        reported = [0]

        [worlds.pictures]
        kind = "images"
        types = ["circle", "square"]
        encoder = { kind = "thumbnail", cells = 2 }

        [agents]
        word = { kind = "greedy", model = "sentence" }
        table = { kind = "greedy", model = { kind = "sentence", hidden = 4 } }

        [agents.headed]
        kind = "greedy"
        [agents.headed.model]
        kind = "sentence"
        hidden = 6

        [agents.tuned]
        kind = "loril"
        grid.model = ["sentence", { kind = "sentence", hidden = 5 }]
        """
    )
    assert study.world == Images(types=("circle", "square"), encoder=Thumbnail(cells=2))
    assert study.agents == {
        "word": (Greedy(model=Sentence()),),
        "table": (Greedy(model=Sentence(hidden=4)),),
        "headed": (Greedy(model=Sentence(hidden=6)),),
        "tuned": (LORIL(model=Sentence()), LORIL(model=Sentence(hidden=5))),
    }
    word = "rounds = 5\nreported = [0]\nagents.a.kind = 'uniform'\nworlds.w = "
    pictures = the_study(word + "{ kind = 'images', encoder = 'thumbnail' }")
    assert pictures.world == Images(encoder=Thumbnail())
    assert the_study(word + "'synthetic'").world == Synthetic()


def test_what_stands_at_the_top_holds_unless_a_study_says_otherwise() -> None:
    plan = plan_of(
        """
        title = "Three"
        rounds = 50
        reported = "0-2"
        [worlds.small]
        kind = "synthetic"
        rank = 3
        [agents.greedy]
        kind = "greedy"

        [[studies]]
        name = "as at the top"
        rounds = 50

        [[studies]]
        name = "longer, with others"
        rounds = 70
        tuning = [9]
        [studies.agents.LORIL]
        kind = "loril"
        grid.k = [0.1, 0.2]

        [[studies]]
        name = "in two worlds"
        reported = [4, 5]
        everywhere = false
        [studies.worlds]
        one = { kind = "synthetic", rank = 1 }
        two = { kind = "synthetic", rank = 2 }
        """
    )
    greedy = {"greedy": (Greedy(),)}
    small = Synthetic(rank=3)
    loril = {"LORIL": (LORIL(k=0.1), LORIL(k=0.2))}
    two = {"one": Synthetic(rank=1), "two": Synthetic(rank=2)}
    assert plan.studies == (
        Study("as at the top", small, greedy, 50, (), (0, 1, 2)),
        Study("longer, with others", small, loril, 70, (9,), (0, 1, 2)),
        *(
            Study(f"in two worlds, {name}", world, greedy, 50, (), (4, 5), everywhere=False)
            for name, world in two.items()
        ),
    )


def test_a_study_that_shall_decide() -> None:
    agents = "agents = { a = { kind = 'greedy' }, b = { kind = 'uniform' } }"
    decided = "decide = { between = ['a', 'b'], at_most = 40"
    text = f"{textwrap.dedent(SMALL)}\n{agents}\n{decided}"
    assert the_study(f"{text} }}").decide == Decide(("a", "b"), at_most=40)
    assert the_study(f"{text}, batch = 3 }}").decide == Decide(("a", "b"), at_most=40, batch=3)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_seeds_are_lists_or_words(data: st.DataObject) -> None:
    parts: list[tuple[int, int]] = []
    low = 0
    for _ in range(data.draw(st.integers(1, 4))):
        low += data.draw(st.integers(1, 30))
        high = low + data.draw(st.integers(0, 5))
        parts.append((low, high))
        low = high
    space = st.sampled_from(["", " "])
    words = ",".join(
        data.draw(space)
        + (str(a) if a == b and data.draw(st.booleans()) else f"{a}{data.draw(space)}-{b}")
        for a, b in parts
    )
    seeds = [seed for a, b in parts for seed in range(a, b + 1)]
    for written in (json.dumps(words), json.dumps(seeds)):
        text = f"rounds = 5\nworlds.w = 'synthetic'\nagents.a.kind = 'uniform'\n{{}} = {written}"
        assert the_study(text.format("reported")).reported == tuple(seeds)
        assert the_study(text.format("reported = [0]\ntuning")).tuning == tuple(seeds)


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module with specs of one's own."""
    (tmp_path / "own_specs.py").write_text(
        textwrap.dedent(
            """
            from dataclasses import dataclass
            from tellback.agents import LORIL, Greedy
            from tellback.worlds import Synthetic

            @dataclass(frozen=True)
            class OwnOfTheFile(Greedy):
                boldness: int = 1

            BOLD = LORIL(k=7.0)

            def world():
                return Synthetic(rank=4)
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_specs"
    Spec._known.pop(("agent", "own-of-the-file"), None)


def test_specs_of_ones_own_are_named_by_their_module(own_module: str) -> None:
    study = the_study(
        f"""
        rounds = 5
        tuning = [3]
        reported = [0]
        [worlds.w]
        kind = "{own_module}:world"
        responses = 6
        [agents.mine]
        kind = "{own_module}:OwnOfTheFile"
        grid.boldness = [2, 3]
        [agents.bold]
        kind = "{own_module}:BOLD"
        lam = 0.5
        """
    )
    assert study.world == Synthetic(rank=4, responses=6)
    assert study.agents["bold"] == (LORIL(k=7.0, lam=0.5),)
    labels = [agent.label() for agent in study.agents["mine"]]
    assert labels == [f"own-of-the-file boldness={n} ties=random" for n in (2, 3)]


def test_the_examples_are_sound() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.toml")} - {"people"}  # without its recording
    plans = {name: read_plan(EXAMPLES / f"{name}.toml") for name in names}
    assert set(plans) >= {"quick", "decide", "pictures"}
    for plan in plans.values():
        for study in plan.studies:
            for grid in study.agents.values():
                assert len(grid) == 1 or study.tuning
                for agent in grid:  # each is made for its world
                    agent.build(study.world.facts, Streams(0).init("agent"))
    quick = plans["quick"].studies
    assert [study.name for study in quick] == ["few responses", "many responses"]
    assert quick[0].agents["LORIL"] == tuple(
        LORIL(k=k, lam=lam) for k in (0.1, 1.0) for lam in (0.1, 1.0)
    )
    (decide,) = plans["decide"].studies
    assert decide.decide == Decide(("LORIL", "greedy"), at_most=300, batch=20)
    assert {
        len(grid) * len(decide.tuning_seeds(name))
        for name, grid in decide.agents.items()
        if len(grid) > 1
    } == {36}
    assert plans["pictures"].studies[1].world == Images("jitter", encoder=Thumbnail())


def test_the_papers_first_experiment_can_be_written_as_a_file() -> None:
    text = f"title = {json.dumps(synthetic.TITLE)}\ntuning = '1000-1019'\n"
    for name, sizes, rounds, reported in (
        ("|X| = 2000, |Y| = 10 as printed", (2000, 10), 10_000, "0-39"),
        ("|X| = 10, |Y| = 2000 transposed", (10, 2000), 2_000, "0-99"),
    ):
        for ties, tied in (("random", "ties at random"), ("first", "ties to the first")):
            text += textwrap.dedent(
                f"""
                [[studies]]
                name = "{name}, {tied}"
                rounds = {rounds}
                reported = "{reported}"
                [studies.worlds.synthetic]
                kind = "synthetic"
                instructions = {sizes[0]}
                responses = {sizes[1]}
                rank = 10
                temperature = 0.75
                [studies.agents.LORIL]
                kind = "loril"
                ties = "{ties}"
                grid.k = [0.1, 1.0, 10.0]
                grid.lam = [0.05, 0.1, 1.0]
                [studies.agents.epsilon-greedy]
                kind = "epsilon-greedy"
                ties = "{ties}"
                grid.epsilon = [0.05, 0.1, 0.2, 0.3]
                [studies.agents.greedy]
                kind = "greedy"
                ties = "{ties}"
                [studies.agents.random]
                kind = "uniform"
                """
            )
    plan = plan_from_toml(text)
    assert plan == synthetic.plan()
    for ours, theirs in zip(plan.studies, synthetic.plan().studies, strict=True):
        assert list(ours.agents) == list(theirs.agents)


# What is wrong, and where.

SOUND = """\
# A comparison of two agents.
title = "A comparison"
rounds = 50
tuning = "10-12"
reported = [0, 1, 2]

[worlds.small]
kind = "synthetic"
instructions = 20
responses = 5

[agents.LORIL]
kind = "loril"
grid.k = [0.1, 1.0]

[agents.random]
kind = "uniform"
"""
MISTAKES: list[tuple[str, str, list[str]]] = [
    # A line of the file, what stands there instead (the wrong line marked), what is said.
    ("rounds = 50", "round = 50 #!", ["'round'", "Did you mean 'rounds'?", "tuning_runs"]),
    ("rounds = 50", "rounds = 50\nreportd = '3' #!", ["Did you mean 'reported'?"]),
    ("rounds = 50", "rounds = 'many' #!", ["rounds must be a whole number, not 'many'"]),
    ("rounds = 50", "rounds = 1e3 #!", ["rounds must be a whole number, not 1000.0"]),
    ("rounds = 50", "rounds = true #!", ["rounds must be a whole number, not True"]),
    ("rounds = 50", "rounds = 0 #!", ["rounds must be at least 1, not 0"]),
    ('title = "A comparison"', "title = 5 #!", ["title must be a text, not 5"]),
    ('tuning = "10-12"', "tuning = 'ten' #!", ["tuning must be", "1000-1009", "'ten'"]),
    ('tuning = "10-12"', "tuning = '10-' #!", ["'10-'"]),
    ('tuning = "10-12"', "tuning = 10 #!", ["a list of whole numbers", "not 10"]),
    ('tuning = "10-12"', "tuning = [10, true] #!", ["a list of whole numbers"]),
    ("reported = [0, 1, 2]", "reported = [0, 1.5] #!", ["reported must be", "1.5"]),
    ("reported = [0, 1, 2]", "reported = [ #!\n0,\n'b']", ["reported must be"]),
    ('kind = "synthetic"', 'kind = "synthetik" #!', ["Did you mean 'synthetic'?", "images"]),
    ('kind = "synthetic"', 'rank = "high" #!\nkind = "synthetic"', ["whole number, not 'high'"]),
    ("responses = 5", "reponses = 5 #!", ["Did you mean 'responses'?", "temperature"]),
    ("responses = 5", "responses = 5.5 #!", ["responses must be a whole number, not 5.5"]),
    ("responses = 5", "contexts = 'frehs' #!", ["contexts must be 'fresh'", "Did you mean"]),
    ("responses = 5", "asks = { uniform = true } #!", ["asks is a value, not a table"]),
    ('kind = "loril"', 'kind = "lorril" #!', ["Did you mean 'loril'?", "epsilon-greedy"]),
    ('kind = "loril"', 'kind = "nowhere:LORIL" #!', ["nowhere cannot be imported"]),
    ('kind = "loril"', 'kind = "tellback.agents:LORI" #!', ["Did you mean 'LORIL'?"]),
    ('kind = "loril"', 'kind = "tellback.worlds:Synthetic" #!', ["not the spec of a"]),
    ('kind = "loril"', 'kind = "loril"\nkk = 3 #!', ["'kk'", "Did you mean 'k'?", "lam"]),
    (
        'kind = "loril"',
        'kind = "loril"\nlam = "small" #!',
        ["lam must be a number, or '1/t', not 'small'"],
    ),
    ('kind = "loril"', 'kind = "loril"\nties = "frist" #!', ["Did you mean 'first'?"]),
    ('kind = "loril"', 'kind = "loril"\nmodel = "mixtur" #!', ["Did you mean 'mixture'?"]),
    ('kind = "loril"', 'kind = "loril"\nmodel = { kind = "mixture", refrsh = 3 } #!', ["refresh"]),
    ('kind = "loril"', 'kind = "loril"\nmodel = { refresh = 3 } #!', ["needs a kind", "mixture"]),
    ('kind = "loril"', 'kind = "loril"\nmodel = 3 #!', ["A model needs a kind"]),
    ("grid.k = [0.1, 1.0]", "grid.kk = [0.1] #!", ["'kk'", "Did you mean 'k'?"]),
    ("grid.k = [0.1, 1.0]", "grid.k = 0.1 #!", ["The grid of k must be a list of one value"]),
    ("grid.k = [0.1, 1.0]", "grid.k = [] #!", ["The grid of k must be a list of one value"]),
    ("grid.k = [0.1, 1.0]", "grid.k = [0.1, -1.0] #!", ["k must be finite", "not -1.0"]),
    ("grid.k = [0.1, 1.0]", "grid.lam = [1]\ngrid.k = ['big'] #!", ["k must be a number"]),
    ("grid.k = [0.1, 1.0]", "grid = [0.1] #!", ["grid must be a table"]),
    (
        "grid.k = [0.1, 1.0]",
        'model = { kind = "ridge", grid.lam = [1] } #!',
        ["A grid has settings of an agent", "grid.model = [{ kind"],
    ),
    ('kind = "uniform"', 'kind = "uniform"\nk = 0.1 #!', ["no setting of uniform named 'k'"]),
    ("rounds = 50", "rounds = 50\neverywhere = 'no' #!", ["everywhere must be true or false"]),
    ("rounds = 50", "rounds = 50\ntuning_runs = 2.5 #!", ["tuning_runs must be a whole number"]),
    ("rounds = 50", "rounds = 50\nstudies = 3 #!", ["[[studies]]"]),
    ("rounds = 50", "rounds = 50\ndecide = 3 #!", ["decide must be a table, not 3"]),
    ("rounds = 50", "rounds = 50\ndecide.at_most = 3 #!", ["decide needs between"]),
    (
        "rounds = 50",
        "rounds = 50\ndecide.at_most = 9\ndecide.betwen = ['LORIL', 'random'] #!",
        ["Did you mean 'between'?", "batch"],
    ),
    (
        "rounds = 50",
        "rounds = 50\ndecide = { between = ['LORIL'], at_most = 19 } #!",
        ["between must name two agents"],
    ),
    (
        "rounds = 50",
        "rounds = 50\ndecide = { between = ['LORIL', 'random'], at_most = 9 } #!",
        ["at_most must be at least 10, not 9"],
    ),
    ("grid.k = [0.1, 1.0]", "grid.k = = 3 #!", ["not valid TOML"]),
    ("grid.k = [0.1, 1.0]", 'kind = "greedy" #!', ["not valid TOML"]),
]


MISTAKES += [
    ("[agents.random]", "[agnets.random] #!", ["Did you mean 'agents'"]),
    ('kind = "uniform"', 'kid = "uniform" #!', ["An agent needs a kind", "'kind' by 'kid'"]),
    ("reported = [0, 1, 2]", 'reported = "0-99999999999" #!', ["at most 1,000,000 seeds"]),
    # Each is fine by itself, so the last one is to blame.
    (
        '[worlds.small]\nkind = "synthetic"\ninstructions = 20\nresponses = 5',
        '[worlds.small]\nkind = "images"\nencoder = "thumbnail"\n'
        'types = ["circle"]\nresponses = 9 #!',
        ["responses must be at most 8"],
    ),
    (
        '[agents.random]\nkind = "uniform"',
        "[agents.random] #!\nties = 'first'",
        ["needs a kind", "loril"],
    ),
]


@pytest.mark.parametrize(("line", "instead", "says"), MISTAKES)
def test_a_mistake_gets_its_line_and_what_is_allowed(
    line: str, instead: str, says: list[str], tmp_path: Path
) -> None:
    assert SOUND.count(line + "\n") == 1
    text = SOUND.replace(line + "\n", instead + "\n")
    (number,) = (i for i, one in enumerate(text.splitlines(), 1) if "#!" in one)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SettingError) as caught:
        read_plan(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert re.findall(r"line (\d+)", message) == [str(number)]
    for part in says:
        assert part in message


def test_the_file_without_mistakes_is_sound() -> None:
    (study,) = plan_from_toml(SOUND).studies
    agents = {"LORIL": (LORIL(k=0.1), LORIL(k=1.0)), "random": (Uniform(),)}
    world = Synthetic(instructions=20, responses=5)
    assert study == Study("small", world, agents, 50, (10, 11, 12), (0, 1, 2))


@pytest.mark.parametrize("key", ["rounds", "reported", "worlds", "agents"])
def test_what_a_study_lacks_is_named(key: str) -> None:
    parts = {
        "rounds": "rounds = 5",
        "reported": "reported = [0]",
        "worlds": "worlds.w = 'synthetic'",
        "agents": "agents.a.kind = 'uniform'",
    }
    text = "\n".join(part for name, part in parts.items() if name != key)
    with pytest.raises(SettingError, match=f"a.toml, line 1: A study needs {key}"):
        plan_of(text)
    with pytest.raises(SettingError, match=f"a.toml, line 5: A study needs {key}"):
        plan_of(f"{text}\n\n[[studies]]\nname = 'incomplete'\n")


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("reported = [0, 1, 2]", "reported = [0, 1, 1]", "reported seeds .* have duplicates"),
        ("reported = [0, 1, 2]", "reported = '0-5, 5'", "reported seeds .* have duplicates"),
        ("reported = [0, 1, 2]", "reported = [-1]", "at least 0, not -1"),
        ("reported = [0, 1, 2]", "reported = []", "needs a reported seed"),
        ("reported = [0, 1, 2]", "reported = '8-11'", r"same seeds \[10, 11\]"),
        ("rounds = 50", "rounds = 50\ntuning_runs = 3", "among the 2 settings of LORIL"),
        ("rounds = 50", "rounds = 50\ntuning_runs = 8", "needs 4 tuning seeds"),
        (
            "rounds = 50",
            "rounds = 50\ndecide = { between = ['LORIL', 'greedy'], at_most = 19 }",
            "no agent in study 'small' named 'greedy'.*Known: LORIL, random",
        ),
        (
            "reported = [0, 1, 2]",
            "reported = '0-8, 20-24'\ndecide = { between = ['LORIL', 'random'], at_most = 12 }",
            "begins with 14 reported seeds",
        ),
        ("[agents.random]", "[agents.twin]\nkind = 'loril'\n[agents.random]", "twice"),
    ],
)
def test_what_makes_no_sense_together_is_refused(line: str, instead: str, says: str) -> None:
    assert SOUND.count(line + "\n") == 1
    with pytest.raises(SettingError, match=rf"mine.toml, line \d+: .*{says}"):
        plan_from_toml(SOUND.replace(line + "\n", instead + "\n"), "mine.toml")


def test_two_studies_of_one_name_are_refused() -> None:
    text = SOUND + "[[studies]]\nname = 'a'\n[[studies]]\nname = 'a'\n"
    with pytest.raises(SettingError, match=r"mine\.toml, .*a study named 'a' already"):
        plan_from_toml(text, "mine.toml")


def test_a_file_that_is_no_text_or_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'title = "\xff\xfe"')
    with pytest.raises(SettingError, match=r"mine\.toml is not a text in UTF-8"):
        read_plan(path)
    with pytest.raises(UnknownNameError, match=r"nowhere\.toml"):
        read_plan(tmp_path / "nowhere.toml")


FIELDS: list[tuple[str, str, list[str]]] = [
    ("reported = [0, 1, 2]", "reported = [0, 1, 1] #!", ["duplicates"]),
    ("reported = [0, 1, 2]", "reported = [-1] #!", ["at least 0"]),
    ("reported = [0, 1, 2]", "reported = [] #!", ["reported seed"]),
    ("rounds = 50", "rounds = 50\ntuning_runs = 3 #!", ["settings of LORIL"]),
    (
        "rounds = 50",
        "rounds = 50\ndecide = { between = ['LORIL', 'greedy'], at_most = 19 } #!",
        ["named 'greedy'"],
    ),
    ("responses = 5", "temperature = -1 #!\nrank = 0", ["temperature must be"]),
    (
        "instructions = 20\nresponses = 5",
        "asks = [0.5, 0.5]\ninstructions = 2\nrank = 0 #!",
        ["rank must be"],
    ),
    ('kind = "loril"', 'kind = "loril"\nmodle = { kind = "mixture" } #!', ["Did you mean 'model'"]),
    ("grid.k = [0.1, 1.0]", "gird.k = [0.1, 1.0] #!", ["Did you mean 'grid'"]),
    ('tuning = "10-12"', 'tuning = "12-10" #!', ["12-10"]),
    ("reported = [0, 1, 2]", 'reported = "0-2, 9-5" #!', ["9-5"]),
    ("rounds = 50", "rounds = 50\nname = 5 #!", ["name must be a text"]),
    ('rounds = 50\ntuning = "10-12"', "rounds = 50", ["no seeds to tune LORIL on"]),
    ('kind = "uniform"', "kind = 3 #!", ["needs a kind"]),
    (
        "[agents.random]",
        "[decide]\nbetween = ['LORIL', 'random']\nat_most = 'x' #!\n[agents.random]",
        ["at_most must be a whole number"],
    ),
    ('[agents.random]\nkind = "uniform"', "[agents.random] #!", ["kind"]),
    ('[agents.random]\nkind = "uniform"', "[agents.random] #!\nties = 'first'", ["An agent needs"]),
]


@pytest.mark.parametrize(("line", "instead", "says"), FIELDS)
def test_what_is_wrong_is_said_of_its_own_line(line: str, instead: str, says: list[str]) -> None:
    text = SOUND.replace(line + "\n", instead + "\n")
    numbers = [str(i) for i, one in enumerate(text.splitlines(), 1) if "#!" in one]
    with pytest.raises(SettingError) as caught:
        plan_from_toml(text, "mine.toml")
    assert not numbers or re.findall(r"line (\d+)", str(caught.value)) == numbers
    assert all(part in str(caught.value) for part in says)


def test_unusual_line_separators_are_no_line_ends() -> None:
    plan_from_toml(f"# from a word processor:\u2028so\n{SOUND}")


def test_an_empty_table_of_studies_has_all_from_the_top() -> None:
    assert len(plan_from_toml(SOUND + "[[studies]]\n").studies) == 1
