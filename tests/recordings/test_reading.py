"""Recordings in files: they read back the same, and faults have line numbers."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.errors import SettingError
from tellback.recordings import RecordedResponse, Recording, Said, faults, read, write
from tellback.recordings.fields import FIELDS
from tellback.recordings.lines import LONGEST_LINE
from tellback.recordings.recording import MOST
from tests.support.recordings import alfred_data, line, lines_file, small_recording, written

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXTS.filter(lambda name: bool(name.strip()))
SAID = st.builds(Said, NAMES, TEXTS)
NUMBERS = st.floats(-MOST, MOST)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Any recording that a file can hold."""
    size = draw(st.integers(0, 3))
    found = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        steps = draw(st.lists(st.lists(NAMES, min_size=1, max_size=3).map(tuple), max_size=3))
        told = [tuple(draw(st.lists(SAID, max_size=2))) for _ in steps]
        found.append(
            RecordedResponse(
                name,
                draw(NAMES),
                tuple(draw(st.lists(SAID, max_size=3))),
                goal=draw(TEXTS),
                features=tuple(draw(st.lists(NUMBERS, min_size=size, max_size=size))),
                steps=tuple(steps),
                tokens=tuple(draw(st.lists(NAMES, min_size=1, max_size=3))),
                text=draw(TEXTS),
                step_descriptions=tuple(told) if draw(st.booleans()) else (),
            )
        )
    return Recording(tuple(found))


@given(recordings(), st.sampled_from(["r.jsonl", "r.jsonl.gz"]))
def test_what_is_written_reads_back_the_same(recording: Recording, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path, recording)
        assert faults(path) == []
        again = read(path)
        assert again == recording
        assert again.digest == recording.digest
        first = path.read_bytes()
        write(path, again)
        assert path.read_bytes() == first


def test_a_description_may_be_a_plain_text_or_name_a_person(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "r.jsonl", line(), line(id="b", steps=["jump", ["go", "sink"]]))
    recording = read(path)
    assert recording.by_id["a"].descriptions == (
        Said("it took the mug", "Ann"),
        Said("a mug was taken"),
    )
    assert recording.by_id["b"].steps == (("jump",), ("go", "sink"))


# --- faults ------------------------------------------------------------------------------------

FAULTS: list[tuple[Any, str]] = [
    ("{", "not JSON"),
    ("[1, 2]", "an object with the fields id, group"),
    ('"text"', "an object"),
    ("[" * 100_000, "not JSON"),
    ("1" * 5000, "not JSON"),
    ("\x00\x01", "not JSON"),
    (line(id=None), "id is missing"),
    (line(id=7), "id must be a text that is not empty, not 7"),
    (line(id=" "), "id must be a text that is not empty, not ' '"),
    (line(group=None), "group is missing"),
    (line(group=[]), "group must be a text"),
    (line(goal=1.5), "goal must be a text, not 1.5"),
    (line(descriptions=None), "descriptions is missing"),
    (line(descriptions="one"), "descriptions must be a list, not 'one'"),
    (line(descriptions=[""]), r"descriptions\[0\] must be a text that is not empty"),
    (line(descriptions=["x", 3]), r"descriptions\[1\] must be a text, or an object with text"),
    (line(descriptions=[{"text": "x", "who": "Ann"}]), r"descriptions\[0\].*'who'.*Known: person"),
    (line(descriptions=[{"text": "x", "person": 1.5}]), r"descriptions\[0\].person must be a text"),
    (line(tokens=None), "needs one of features, steps, tokens, text, image"),
    (line(tokens=[]), "needs one of"),
    (line(tokens=[1]), r"tokens\[0\] must be a text"),
    (line(steps=[[]]), r"steps\[0\] must say what was done"),
    (line(steps=[["go", ""]]), r"steps\[0\]\[1\] must be a text that is not empty"),
    (line(features=["1"]), r"features\[0\] must be a finite number, not '1'"),
    (line(features=[True]), r"features\[0\] must be a finite number"),
    (line(features=[1e999]), r"features\[0\] must be a finite number"),
    (line(features=[float("nan")]), r"features\[0\] must be a finite number"),
    (line(features=[10**400]), r"features\[0\] must be a finite number"),
    (line(features=["1" * 9999]), r"features\[0\] must be a finite number"),
    (line(features=[1e39]), r"features\[0\] must be finite, at least -3.4e\+38 and at most 3"),
    (line(propensity=0.5), "a line of an agent's log.* data export LOG RECORDING.jsonl"),
    (line(**{"x" * 9999: 1}), "There is no field 'xxx"),
    (line(image="gone.png"), "image must be"),
    (line(tokns=["x"]), r"'tokns'.*Did you mean 'tokens'\?"),
    (line(steps=["go"], step_descriptions=[[], []]), "a list for each of the 1 steps, not 2"),
    ('{"id": "\\ud800", "group": "g", "text": "t", "descriptions": []}', "valid Unicode"),
]


@pytest.mark.parametrize(("bad", "says"), FAULTS, ids=[says[:30] for _, says in FAULTS])
def test_a_fault_has_its_line_its_field_and_its_value(tmp_path: Path, bad: Any, says: str) -> None:
    path = lines_file(tmp_path / "r.jsonl", line(id="first"), "", bad, line(id="last"))
    [fault] = faults(path)
    assert fault.where == "Line 3 of r.jsonl"
    assert len(fault.message) < 400
    with pytest.raises(SettingError, match=rf"(?s)^Line 3 of r.jsonl: .*{says}"):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf_16_is_one_fault_that_says_what_to_do(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "r.jsonl"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_text(mark + "one\ntwo\n", encoding=encoding)
    [fault] = faults(path)
    assert str(fault) == "Line 1 of r.jsonl: This is text in UTF-16: save the file as UTF-8."


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
ANY_FIELDS = st.dictionaries(st.sampled_from([*FIELDS, "turk_annotations", "plan", "x"]), ANYTHING)


@given(
    st.binary(max_size=60)
    | st.builds(lambda data: json.dumps({**line(), **data}).encode(), ANY_FIELDS)
    | st.builds(lambda data: json.dumps({**alfred_data(), **data}).encode(), ANY_FIELDS)
    | st.binary(max_size=60).map(lambda data: b"id,group,description,f:n\n" + data)
    | st.binary(max_size=60).map(lambda data: b"\x1f\x8b\x08" + data),
    st.sampled_from(["r.jsonl", "r.csv"]),
)
def test_whatever_a_file_holds_is_a_recording_or_has_a_fault(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        found = faults(path)
        if found:
            with pytest.raises(SettingError):
                read(path)
        else:
            assert len(read(path))


def test_what_shows_only_between_lines_is_found(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "r.jsonl",
        line(features=[1, 2]),
        line(features=[1, 2]),
        line(id="b", features=[1]),
        line(id="c"),
    )
    found = [str(fault) for fault in faults(path)]
    assert found == [
        "Line 2 of r.jsonl: id 'a' is taken: Line 1 of r.jsonl has it.",
        "Line 3 of r.jsonl: features must be 2 numbers as in the first response, not 1.",
        "Line 4 of r.jsonl: features must be 2 numbers as in the first response, not 0.",
    ]


def test_a_picture_must_be_there_for_all_or_for_none(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(b"not looked into yet")
    path = lines_file(
        tmp_path / "r.jsonl", line(image="p.png"), line(id="b"), line(id="c", image="q.png")
    )
    found = [str(fault) for fault in faults(path)]
    assert found == [
        "Line 2 of r.jsonl: image must be given for all responses or for none.",
        "Line 3 of r.jsonl: image must be a file, and 'q.png' is none.",
    ]


def test_files_that_are_no_recordings_have_faults_too(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "blank.jsonl").write_bytes(b"\n \n")
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 50)
    (tmp_path / "fake.jsonl.gz").write_bytes(b"\x1f\x8b and no more")
    whole = gzip.compress((json.dumps(line()) + "\n").encode() * 1000)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 50)
    for file in sorted(tmp_path.iterdir()):
        assert faults(file), file
        with pytest.raises(SettingError):
            read(file)
    assert "damaged" in str(faults(tmp_path / "fake.jsonl.gz")[0])
    assert any("damaged" in str(fault) for fault in faults(tmp_path / "cut.jsonl.gz", most=2000))
    assert "This is not text in UTF-8" in str(faults(tmp_path / "binary.jsonl")[1])


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"[" * (2 * LONGEST_LINE), compresslevel=1))
    [fault] = faults(path)
    assert str(fault).startswith("Line 1 of bomb.jsonl.gz: The line is longer than")


def test_only_so_many_faults_are_listed(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "r.jsonl", *["{"] * 50)
    assert len(faults(path, most=7)) == 7


def test_other_files_are_refused_with_the_layouts_there_are(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("x")
    with pytest.raises(SettingError, match=r"\.jsonl or \.csv file, .*not .*r\.txt"):
        read(tmp_path / "r.txt")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "r.jsonl")
    with pytest.raises(SettingError, match=r"\.jsonl or \.jsonl\.gz file"):
        write(tmp_path / "r.csv", small_recording())
    with pytest.raises(SettingError, match="level"):
        read(written(tmp_path), level="half")


def test_a_recording_that_no_file_can_hold_leaves_no_file(tmp_path: Path) -> None:
    for bad in (
        RecordedResponse("a", "g", (), features=(float("nan"),)),
        RecordedResponse("a", "g", (), text="\ud800"),
    ):
        with pytest.raises(SettingError, match="'a'"):
            write(tmp_path / "r.jsonl", Recording((bad,)))
        assert list(tmp_path.iterdir()) == []


def test_pictures_are_found_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "one" / "pictures").mkdir(parents=True)
    (tmp_path / "one" / "pictures" / "p.png").write_bytes(b"p")
    path = lines_file(tmp_path / "one" / "r.jsonl", line(image="pictures/p.png"))
    recording = read(path)
    write(tmp_path / "two" / "r.jsonl", recording)
    moved = read(tmp_path / "two" / "r.jsonl")
    assert moved.responses[0].image == "../one/pictures/p.png"
    write(tmp_path / "one" / "back.jsonl", moved)
    assert read(tmp_path / "one" / "back.jsonl") == recording
    before = recording.digest
    (tmp_path / "one" / "pictures" / "p.png").write_bytes(b"another")
    assert read(path).digest != before


# --- CSV ---------------------------------------------------------------------------------------


def test_semicolons_of_a_spreadsheet_are_commas(tmp_path: Path) -> None:
    rows = 'id,group,text,description\na,hall,"high; tall",a tower\nb,hall,wide,"low, wide"\n'
    with_semicolons = (
        'id;group;text;description\na;hall;"high; tall";a tower\nb;hall;wide;low, wide\n'
    )
    (tmp_path / "a.csv").write_text(rows)
    (tmp_path / "b.csv").write_text(with_semicolons)
    assert read(tmp_path / "a.csv") == read(tmp_path / "b.csv")


def test_rows_with_one_id_are_descriptions_of_one_response(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "id,group,goal,f:height,f:width,description,person\n"
        'a,hall,tall,2.5,1,"high, and\nnarrow",Ann\n'
        "b,hall,wide,1,3,wide,Bob\n"
        "a,,,,,a tower,Bob\n"
        "a,hall,tall,2.5,1,tall one,\n"
    )
    recording = read(tmp_path / "r.csv")
    assert recording.by_id["a"] == RecordedResponse(
        "a",
        "hall",
        (Said("high, and\nnarrow", "Ann"), Said("a tower", "Bob"), Said("tall one")),
        goal="tall",
        features=(2.5, 1.0),
    )
    write(tmp_path / "r.jsonl", recording)
    assert read(tmp_path / "r.jsonl") == recording


@pytest.mark.parametrize(
    ("rows", "where", "says"),
    [
        ("id,group,description,grop\n", 1, r"'grop'.*Did you mean 'group'\?"),
        ("id,group\n", 1, "'description' is missing"),
        ("id,group,description,id\n", 1, "'id' is there twice"),
        ("id,group,description,text\na,g,x\n", 2, "must be 4 columns as in line 1, not 3"),
        ("id,group,description,f:n\na,g,x,1\nb,g,y,one\n", 3, "f:n must be a number, not 'one'"),
        ("id,group,description,f:n\na,g,x,nan\n", 2, r"features\[0\] must be a finite number"),
        ("id,group,description,text\na,g,x,t\n\na,h,y,t\n", 4, "group must be that of the first"),
        ("id,group,description,text\n,g,x,t\n", 2, "id must be a text that is not empty"),
        ("id,group,description,text\na,,x,t\n", 2, "group is missing"),
        ('id,group,description,text\na,g,"x"y,t\n', 2, "not CSV"),
        (f"id,group,description,text\na,g,{'x' * 200_000},t\n", 2, "not CSV"),
    ],
)
def test_a_fault_of_a_table_has_its_line(tmp_path: Path, rows: str, where: int, says: str) -> None:
    (tmp_path / "r.csv").write_text(rows)
    with pytest.raises(SettingError, match=rf"^Line {where} of r.csv: .*{says}"):
        read(tmp_path / "r.csv")


# --- ALFRED's layout ---------------------------------------------------------------------------


def test_a_folder_of_trajectories_and_lines_of_them_are_the_same(tmp_path: Path) -> None:
    for name in ("trial_1", "trial_2"):
        folder = tmp_path / "folder" / "sort" / name
        folder.mkdir(parents=True)
        (folder / "traj_data.json").write_text(json.dumps(alfred_data(name), indent=4))
    lines = [alfred_data(name, who="person") for name in ("trial_1", "trial_2")]
    path = lines_file(tmp_path / "r.jsonl", *lines)
    recording = read(tmp_path / "folder")
    assert recording == read(path)
    assert recording.responses[0] == RecordedResponse(
        "trial_1",
        "7",
        (Said("Get the vase.", "A1"), Said("Fetch a vase", "A2")),
        goal="pick_up object_target=Vase",
        steps=(("GotoLocation", "shelf"), ("PickupObject", "vase")),
        step_descriptions=((Said("Go to the shelf.", "A1"),), (Said("Take the vase.", "A1"),)),
    )
    steps = read(path, level="steps")
    assert [one.id for one in steps] == ["trial_1/0", "trial_1/1", "trial_2/0", "trial_2/1"]
    assert steps.responses[1].goal == "PickupObject vase"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"plan": {}}, "plan.high_pddl is missing"),
        ({"plan": {"high_pddl": 3}}, "plan.high_pddl must be a list, not 3"),
        ({"plan": {"high_pddl": [{}]}}, "discrete_action is missing"),
        ({"scene": None}, "scene.scene_num is missing"),
        ({"pddl_params": []}, "pddl_params must be an object"),
        ({"turk_annotations": {"anns": [{}]}}, "task_desc is missing"),
        ({"task_id": 3}, "id must be a text"),
    ],
)
def test_a_trajectory_that_lacks_a_part_has_its_place(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    lines_file(tmp_path / "r.jsonl", alfred_data("x"), {**alfred_data(), **change})
    with pytest.raises(SettingError, match=f"^Line 2 of r.jsonl: {says}"):
        read(tmp_path / "r.jsonl")
    (tmp_path / "traj_data.json").write_text(json.dumps({**alfred_data(), **change}))
    with pytest.raises(SettingError, match=f"^traj_data.json: {says}"):
        read(tmp_path)


def test_a_recording_without_sentences_about_steps_has_no_level_of_steps(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no descriptions of steps"):
        read(lines_file(tmp_path / "r.jsonl", line()), level="steps")


def test_a_folder_of_recordings_is_refused_with_the_names_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,group,description\n")
    (tmp_path / "a.jsonl.gz").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("no recording")
    (fault,) = faults(tmp_path)
    assert "no response in it. Name one of its files: a.jsonl.gz, b.csv." in str(fault)
