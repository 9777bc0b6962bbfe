"""Small recordings: a made-up house whose rooms people have described."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tellback.recordings import RecordedResponse, Recording, Said, write

THINGS = ("mug", "plate", "book", "lamp", "apple", "spoon", "towel", "pen")
PLACES = ("shelf", "sink", "desk", "table")
WORDINGS = (
    "put the {thing} on the {place}",
    "The {thing} goes to the {place}.",
    "I saw it carry a {thing} over to the {place}",
    "{thing} moved, now by the {place}",
)


def small_recording(
    rooms: int = 3,
    responses: int = 8,
    people: int = 6,
    each: int = 3,
    seed: int = 0,
    things: Sequence[str] = THINGS,
) -> Recording:
    """Each room has responses with different goals; some people describe each of them."""
    rng = np.random.default_rng(seed)
    found = []
    for room in range(rooms):
        pairs = [(thing, place) for thing in things for place in PLACES]
        for i in rng.choice(len(pairs), responses, replace=False):
            thing, place = pairs[i]
            tellers = rng.choice(people, each, replace=False)
            found.append(
                RecordedResponse(
                    f"{room}-{thing}-{place}",
                    f"room {room}",
                    tuple(
                        Said(
                            f"{WORDINGS[p % len(WORDINGS)].format(thing=thing, place=place)} ({p})",
                            f"person {p}",
                        )
                        for p in tellers
                    ),
                    goal=f"{thing} {place}",
                    steps=(("pick", thing), ("go", place), ("put", thing, place)),
                    step_descriptions=tuple(
                        tuple(Said(f"{did} ({p})", f"person {p}") for p in tellers)
                        for did in (
                            f"take the {thing}",
                            f"walk to the {place}",
                            f"drop the {thing}",
                        )
                    ),
                )
            )
    return Recording(tuple(found))


def written(folder: Path, recording: Recording | None = None, name: str = "r.jsonl") -> Path:
    """The file of a recording."""
    write(folder / name, recording or small_recording())
    return folder / name


def line(**changes: Any) -> dict[str, Any]:
    """A sound line of a file, with some fields changed; None leaves one out."""
    data = {
        "id": "a",
        "group": "kitchen",
        "goal": "mug",
        "tokens": ["mug"],
        "descriptions": [{"text": "it took the mug", "person": "Ann"}, "a mug was taken"],
        **changes,
    }
    return {name: value for name, value in data.items() if value is not None}


def lines_file(path: Path, *lines: Any) -> Path:
    """A file of lines, each a text or data."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def alfred_data(name: str = "trial_1", room: int = 7, who: str = "assignment_id") -> dict[str, Any]:
    """A trajectory in ALFRED's layout, made up."""
    did = [("GotoLocation", ["shelf"]), ("PickupObject", ["vase"]), ("NoOp", [])]
    return {
        "task_id": name,
        "task_type": "pick_up",
        "pddl_params": {"object_target": "Vase", "object_sliced": False, "toggle_target": ""},
        "scene": {"floor_plan": f"FloorPlan{room}", "scene_num": room},
        "plan": {
            "high_pddl": [
                {"high_idx": i, "discrete_action": {"action": action, "args": args}}
                for i, (action, args) in enumerate(did)
            ]
        },
        "turk_annotations": {
            "anns": [
                {
                    who: "A1",
                    "task_desc": "Get the vase.",
                    "high_descs": ["Go to the shelf.", "Take the vase."],
                },
                {who: "A2", "task_desc": "Fetch a vase", "high_descs": ["Too few."]},
            ]
        },
    }
