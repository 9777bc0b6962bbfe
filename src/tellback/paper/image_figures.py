"""Figures of the image world: its objects, reconstructions, rounds and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tellback.agents import ModelAgent
from tellback.encoders import Autoencoder, Pictures
from tellback.figures import new_figure, save_figure, styled
from tellback.lab.results import Results
from tellback.models.model import Speaking
from tellback.protocol import rounds
from tellback.roles import AgentSpec, Round
from tellback.streams import Streams
from tellback.worlds import Images
from tellback.worlds.pictures import VARIANTS, Gallery, Shape

GOOD, BAD = "#009e73", "#d55e00"
SPOKEN_AFTER = (10, 100)  # rounds after which the model describes objects, beside the end
SHOWN = 4  # rounds drawn from the beginning, and from the end


def draw(found: Results, worlds: Sequence[Images], folder: Path) -> list[Path]:
    """All figures: of the worlds, and of the tuned LORIL's run on the first reported seed."""
    one_each = {world.variant: world for world in worlds}
    world, loril, study = worlds[0], found.tuned("LORIL"), found.study
    return [
        *draw_objects(world, folder / "objects"),
        *draw_reconstructions(list(one_each.values()), folder / "reconstructions"),
        *draw_run(world, loril, study.rounds, study.reported[0], folder),
    ]


def draw_objects(world: Images, path: Path) -> list[Path]:
    """Every object once, and a few pictures of one object in each variant."""
    types, colours = world.types, world.colours
    rng = np.random.default_rng(0)
    with styled():
        varied = [variant for variant in VARIANTS if variant != "canon"]
        rows = len(types) + len(varied)
        figure = new_figure(1.05 * len(colours), 1.15 * rows)
        figure.suptitle("Every object (canon), and how pictures of one may vary", fontsize=10)
        axes = figure.subplots(rows, len(colours), squeeze=False)
        for row, kind in enumerate(types):
            for axis, colour in zip(axes[row], colours, strict=True):
                _show(axis, Shape(kind, colour).picture(), f"{colour} {kind}")
        for row, variant in enumerate(varied, start=len(types)):
            gallery = Gallery(types, colours, variant)
            for axis in axes[row]:
                _show(axis, gallery.shape((types[-1], colours[0]), rng).picture(), variant)
        return save_figure(figure, path)


def draw_reconstructions(worlds: Sequence[Images], path: Path) -> list[Path]:
    """Pictures of each world, above their reconstructions by its autoencoder."""
    with styled():
        figure = new_figure(9.0, 2.4 * len(worlds))
        figure.suptitle("Pictures, and their reconstructions by the autoencoder", fontsize=10)
        axes = figure.subplots(2 * len(worlds), 8, squeeze=False)
        for i, world in enumerate(worlds):
            encoder = world.encoder
            assert isinstance(encoder, Autoencoder)
            pictures = world.gallery.draw(8, np.random.default_rng(1))
            again = encoder.build(world.gallery).reconstruct(pictures)
            for j in range(8):
                _show(axes[2 * i, j], pictures[j], world.variant)
                _show(axes[2 * i + 1, j], again[j], "")
        return save_figure(figure, path)


def draw_run(world: Images, spec: AgentSpec, total: int, seed: int, folder: Path) -> list[Path]:
    """Play one run; draw its first and last rounds, and its model's sentences."""
    simulation = world.build(Streams(seed).init("world"))
    agent = spec.build(simulation.world.facts, Streams(seed).init("agent"))
    objects = world.gallery.objects
    shown = objects[:: max(1, len(objects) // 6)][:6]
    spoken: dict[int, list[str]] = {}
    drawn: list[Round] = []
    played: Iterator[Round] = islice(rounds(simulation, agent, seed=seed), total)
    for one in played:
        if one.t <= SHOWN or one.t > total - SHOWN:
            drawn.append(one)
        if one.t in (*SPOKEN_AFTER, total):
            spoken[one.t] = _spoken(world, agent, shown)
    title = f"The first and the last rounds of {total:,}: {spec.label()}, seed {seed}"
    return [
        *_draw_rounds(drawn, title, folder / "storyboard"),
        *_draw_speech(shown, spoken, spec, folder / "speech"),
    ]


def _draw_rounds(drawn: Sequence[Round], title: str, path: Path) -> list[Path]:
    with styled():
        count = len(drawn[0].task.context.shapes)
        figure = new_figure(1.25 * (count + 2.4), 1.3 * len(drawn))
        figure.suptitle(title, fontsize=10)
        axes = figure.subplots(
            len(drawn), count + 1, squeeze=False, width_ratios=[2.4, *[1.0] * count]
        )
        for row, (t, task, choice, description, _, regret, _) in zip(axes, drawn, strict=True):
            good = regret <= 0
            told = f"Round {t}\nasked: {task.instruction}\ntold: {description}"
            lines = "\n".join(fill(line, 40) for line in told.splitlines())
            _write(row[0], f"{lines}\nregret {regret:.3g}", BAD if not good else "black")
            for y, (axis, shape) in enumerate(zip(row[1:], task.context.shapes, strict=True)):
                chosen = y == choice.response
                _show(axis, shape.picture(), "chosen" if chosen else "")
                for side in axis.spines.values() if chosen else ():
                    side.set(color=GOOD if good else BAD, linewidth=2.5)
        return save_figure(figure, path)


def _draw_speech(
    shown: Sequence[tuple[str, str]], spoken: dict[int, list[str]], spec: AgentSpec, path: Path
) -> list[Path]:
    with styled():
        figure = new_figure(2.4 * len(spoken) + 1.4, 1.15 * len(shown))
        figure.suptitle(f"What the model says of a picture: {spec.label()}", fontsize=10)
        widths = [1.0, *[2.0] * len(spoken)]
        axes = figure.subplots(len(shown), 1 + len(spoken), squeeze=False, width_ratios=widths)
        for i, (row, thing) in enumerate(zip(axes, shown, strict=True)):
            _show(row[0], Shape(*thing).picture(), "")
            for axis, (t, sentences) in zip(row[1:], spoken.items(), strict=True):
                _write(axis, fill(f"“{sentences[i]}”", 34), "black")
                if i == 0:
                    axis.set_title(f"after {t:,} rounds", fontsize=8.5, loc="left")
        return save_figure(figure, path)


def _spoken(world: Images, agent: Any, shown: Sequence[tuple[str, str]]) -> list[str]:
    """A sentence of the agent's model for each object, drawn at random."""
    if not isinstance(agent, ModelAgent) or not isinstance(agent.model, Speaking):
        return ["(has no words)"] * len(shown)
    scene = world.features([Shape(*thing) for thing in shown])
    rng = np.random.default_rng(0)
    return [agent.model.speak(features, rng) for features in scene]


def _show(axis: Any, picture: Pictures, title: str) -> None:
    axis.imshow(picture)
    axis.set_title(title, fontsize=6.5, pad=2)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(False)
    for side in axis.spines.values():
        side.set(visible=True, color="#cccccc", linewidth=0.6)


def _write(axis: Any, text: str, colour: str) -> None:
    axis.axis("off")
    axis.text(0.0, 0.5, text, fontsize=7.5, va="center", color=colour, transform=axis.transAxes)
