"""Features of recorded responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.encoders import EfficientNet, NGrams, Thumbnail
from tellback.errors import SettingError
from tellback.recordings import Columns, RecordedResponse, Recording, read, tokens_of
from tests.support.recordings import line, lines_file, small_recording


def response(name: str = "a", **settings: Any) -> RecordedResponse:
    return RecordedResponse(name, "room", (), **settings)


def test_a_step_gives_its_action_its_arguments_and_both() -> None:
    one = response(steps=(("put", "mug", "sink"), ("wait",)))
    assert tokens_of(one) == {"put", "mug", "sink", "put mug sink", "wait"}


def test_what_occurs_again_is_a_token_of_its_own_once() -> None:
    once = response(steps=(("pick", "mug"),), tokens=("noise",))
    twice = response(steps=(("pick", "mug"), ("pick", "fork"), ("pick", "mug")), tokens=("noise",))
    assert tokens_of(once) == {"pick", "mug", "pick mug", "noise"}
    assert tokens_of(twice) == {
        *tokens_of(once),
        "fork",
        "pick fork",
        "pick #2",
        "mug #2",
        "pick mug #2",
    }
    again = response(steps=(*twice.steps, ("pick", "mug")), tokens=("noise", "noise"))
    assert tokens_of(again) == tokens_of(twice) | {"noise #2"}


def test_order_tells_the_first_and_the_last_step_with_an_action() -> None:
    steps = (("pick", "mug"), ("go", "sink"), ("pick", "fork"))
    there, back = response(steps=steps), response(steps=steps[::-1])
    assert tokens_of(there) == tokens_of(back)
    assert tokens_of(there, order=True) - tokens_of(there) == {
        "first pick mug",
        "last pick fork",
        "first go sink",
        "last go sink",
    }
    assert tokens_of(back, order=True) != tokens_of(there, order=True)


def test_rare_tokens_have_no_column_and_descriptions_are_not_looked_at() -> None:
    recording = Recording(
        tuple(
            RecordedResponse(str(i), "room", (), tokens=("all", "odd") if i % 2 else ("all",))
            for i in range(9)
        )
    )
    assert Columns.of(recording).tokens == ("all",)  # four have the other
    assert Columns.of(recording, fewest=4).tokens == ("all", "odd")
    with pytest.raises(SettingError, match="No token occurs in 10 responses"):
        Columns.of(recording, fewest=10)
    with pytest.raises(SettingError, match="fewest"):
        Columns.of(recording, fewest=0)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=8))
def test_rows_are_0_and_1_as_a_plain_loop_finds_them(tokens: list[list[str]]) -> None:
    recording = Recording(
        tuple(response(str(i), tokens=tuple(one)) for i, one in enumerate(tokens))
    )
    columns = Columns.of(recording, fewest=1)
    rows = columns.rows(recording)
    assert len({row.tobytes() for row in rows.matrix}) == len(rows.matrix)
    for one, row in zip(tokens, rows.row_of, strict=True):
        for name, value in zip(columns.names, rows.matrix[row], strict=True):
            token, again, _ = name.partition(" #2")
            assert value == float(one.count(token) > (1 if again else 0))


def test_numbers_tokens_and_texts_are_side_by_side() -> None:
    recording = Recording(
        (
            response("a", features=(1.5, -2.0), tokens=("t",), text="a red box"),
            response("b", features=(0.0, 1.0), tokens=("u",), text=""),
        )
    )
    columns = Columns.of(recording, fewest=1, text=NGrams(dim=8))
    matrix, row_of = columns.rows(recording)
    assert columns.dim == len(columns.names) == 2 + 2 + 8
    assert str(columns) == "12 features: 2 numbers, 2 tokens, 8 of the text by ngrams dim=8"
    a, b = matrix[row_of[0]], matrix[row_of[1]]
    np.testing.assert_array_equal(a[:4], [1.5, -2.0, 1, 0])
    np.testing.assert_array_equal(a[4:], NGrams(dim=8).build()("a red box"))
    np.testing.assert_array_equal(b, [0, 1, 0, 1, *[0] * 8])


def test_the_columns_of_one_recording_serve_another() -> None:
    columns = Columns.of(small_recording(), fewest=1)
    other = Recording((response(tokens=("mug", "never seen")),))
    matrix, _ = columns.rows(other)
    assert [columns.names[i] for i in np.flatnonzero(matrix[0])] == ["mug"]
    with pytest.raises(SettingError, match="'a' must have 0 numbers, not 1"):
        columns.rows(Recording((response(features=(1.0,)),)))


# --- pictures ----------------------------------------------------------------------------------


@pytest.fixture
def pictured(tmp_path: Path) -> Recording:
    """Four pictures, one of another size."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    lines = []
    for i, size in enumerate([12, 12, 20, 12]):
        picture = rng.integers(0, 256, (size, size, 3)).astype(np.uint8)
        image.fromarray(picture).save(tmp_path / f"{i}.png")
        lines.append(line(id=str(i), image=f"{i}.png", tokens=None))
    return read(lines_file(tmp_path / "r.jsonl", *lines))


def test_pictures_go_through_any_encoder(pictured: Recording) -> None:
    by_spec = Columns.of(pictured, encoder=Thumbnail(cells=2))
    assert by_spec.dim == by_spec.pictures == 12
    matrix, row_of = by_spec.rows(pictured)
    encode = Thumbnail(cells=2).build(None)  # type: ignore[arg-type]
    from tellback.recordings.pictures import load_picture

    for one, row in zip(pictured, row_of, strict=True):
        alone = encode(load_picture(pictured.picture_path(one))[None])[0]
        np.testing.assert_array_equal(matrix[row], alone)
    by_function = Columns.of(pictured, encoder=lambda shown: shown.mean(axis=(1, 2)))
    assert by_function.rows(pictured).matrix.shape == (4, 3)


def test_pictures_have_an_encoder_by_default_and_an_encoder_needs_pictures(
    pictured: Recording,
) -> None:
    usual = Columns.of(pictured)
    assert usual.encoder == EfficientNet()
    assert usual.rows(pictured).matrix.shape == (4, EfficientNet().dim)
    with pytest.raises(SettingError, match="no pictures for the encoder"):
        Columns.of(small_recording(), encoder=Thumbnail())


def test_a_picture_that_is_none_is_named(pictured: Recording, tmp_path: Path) -> None:
    (tmp_path / "2.png").write_bytes(b"\x89PNG and nothing")
    with pytest.raises(SettingError, match=r"2\.png cannot be read"):
        Columns.of(pictured, encoder=Thumbnail()).rows(pictured)


def test_an_encoder_is_trained_on_pictures_of_one_size(pictured: Recording) -> None:
    from tellback.recordings.pictures import RecordedPictures

    rng = np.random.default_rng(0)
    small = RecordedPictures(Recording(pictured.responses[:2], pictured.folder))
    assert small.draw(5, rng).shape == (5, 12, 12, 3)
    with pytest.raises(SettingError, match="of one size"):
        RecordedPictures(pictured).draw(50, rng)
    assert small.to_data()["sha256"] != RecordedPictures(pictured).to_data()["sha256"]
