"""A page that shows what flesh adds to a character: before and after, and how far it moves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np

from supple.character.runtime.soft_motion import SoftMotion
from supple.core.types import Floats
from supple.io.pictures import Camera
from supple.io.report.look import CREASE, PAINT, Look, Track
from supple.io.report.page import ending, figures, header, pairs, write_page
from supple.io.report.plots import Curve, Plot
from supple.io.surfaces import Shading
from supple.workflows.enrich.result import Enriched, length
from supple.workflows.enrich.source import body_vertices

_STILLS = 6
_STILL_SIZE = (232, 232)
_FAR = (0.80, 0.16, 0.10)  # the colour of what moves farthest
_CLIPS = 12  # that have a plot


def write_enrich_report(
    path: str | os.PathLike[str],
    made: Enriched,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
) -> None:
    """Writes a page with pictures, curves and a player, which needs no other file and no network.

    The clip in which flesh moves farthest is shown in full. ``facts`` are names and values to list.
    """
    motion = made.farthest
    character = made.rigged.character
    before = character.vertices_at(motion.times, motion.clip)
    look = _look(before, motion, made)
    shown = [motion, *(each for each in made.motions if each is not motion)][:_CLIPS]
    parts = [
        header(title, _summary(made, motion)),
        look.stage(),
        _strip(look, motion),
        f"<h2>How it was made</h2>{pairs(facts)}" if facts else "",
        f"<h2>Clips</h2>{_table(made)}",
        f"<h2>How far flesh moves</h2>{figures([_plot(m, follows=m is motion) for m in shown])}",
        *ending(),
    ]
    write_page(path, title, parts, look.scripts())


def _look(before: Floats, motion: SoftMotion, made: Enriched) -> Look:
    triangles = made.rigged.character.skin.triangles
    shading = Shading.cut(before[0], triangles, CREASE)
    source = shading.source
    positions = [before[:, source], (before + motion.displacements)[:, source]]
    body = body_vertices(made.rigged)[source]  # scenery may be far larger
    some = positions[1][:: max(1, len(before) // 60), body]
    camera = Camera.framing(some, aspect=_STILL_SIZE[0] / _STILL_SIZE[1])
    colors = np.tile(PAINT, (len(source), 1))
    names = ("as it came", "with flesh")
    tracks = [Track(name, motion.times, x) for name, x in zip(names, positions, strict=True)]
    return Look(tracks, shading.triangles, colors, camera, _STILL_SIZE)


def _strip(look: Look, motion: SoftMotion) -> str:
    """Frames without and with flesh, the latter the redder the farther it is moved."""
    frames = np.unique(np.linspace(0, len(motion.times) - 1, _STILLS).astype(int))
    far = np.linalg.norm(look.tracks[1].positions - look.tracks[0].positions, axis=2)
    most = max(float(far.max()), np.finfo(float).tiny)
    rows = []
    for i, name in enumerate(("as it came", "with flesh, red where it moves farthest")):
        figures = []
        for k in frames:
            share = (far[k] / most)[:, None] if i else np.zeros((far.shape[1], 1))
            painted = replace(look, colors=look.colors + share * (np.array(_FAR) - look.colors))
            time = f"{motion.times[k]:.2f} s"
            figures.append(
                f'<figure><img alt="{escape(motion.clip)} at {time}, {name}" '
                f'src="{painted.picture(i, int(k))}"><figcaption>{time}</figcaption></figure>'
            )
        rows.append(f"<p>{name}</p><div>{''.join(figures)}</div>")
    return f'<div class="strip">{"".join(rows)}</div>'


def _table(made: Enriched) -> str:
    head = ("", "Frames", "Length", "Plays", "Flesh moves by at most")
    rows = []
    for motion in made.motions:
        lasting = float(motion.times[-1] - motion.times[0])
        plays = "once, from rest"
        if motion.loops:
            plays = f"in a loop, which repeats itself after {motion.rounds} rounds"
        if not motion.agrees:
            plays = (
                f"in a loop, which does not repeat itself: {length(motion.gap)} apart after "
                f"{motion.rounds} rounds"
            )
        moved = f"{length(motion.largest)}, {100 * motion.largest / made.size:.2g} % of the body"
        cells = (str(len(motion.times)), f"{lasting:.2f} s", plays, moved)
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr><th>{escape(motion.clip)}</th>{values}</tr>")
    top = "".join(f"<th>{name}</th>" for name in head)
    return (
        f'<div class="scroll"><table class="compare"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _plot(motion: SoftMotion, *, follows: bool) -> Plot:
    far = np.linalg.norm(motion.displacements, axis=2)
    curves = [
        Curve("farthest vertex", far.max(axis=1), 1),
        Curve("root of the mean square", np.sqrt((far**2).mean(axis=1)), 2),
    ]
    across = "" if follows else "time [s]"
    return Plot(motion.clip, "m", motion.times, curves, from_zero=True, across=across)


def _summary(made: Enriched, motion: SoftMotion) -> str:
    count = len(made.motions)
    clips = "One clip" if count == 1 else f"{count} clips"
    if not motion.largest:
        return f"{clips}; nothing is soft."
    return (
        f"{clips}. Flesh moves farthest in {motion.clip}: by {length(motion.largest)}. A push "
        f"dies down to a twentieth within {made.settle:.2g} s."
    )
