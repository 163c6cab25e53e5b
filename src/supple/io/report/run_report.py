"""A report of a run as one page: what was simulated, how it looked, what was measured."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import Literal

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.dynamics.motion import Motion
from supple.io.report.look import Look, Run, Shown
from supple.io.report.page import comparison, ending, figures, header, pairs, write_page
from supple.io.report.plots import Curve, Plot
from supple.io.report.tracked import Tracked, moving_plots
from supple.mesh import Embedding

__all__ = ["Run", "floor_under", "write_report"]

_STILLS = 6
_STILL_SIZE = (232, 276)


def write_report(
    path: str | os.PathLike[str],
    runs: Sequence[Run],
    *,
    title: str,
    summary: str = "",
    facts: Sequence[tuple[str, str]] = (),
    skin: Embedding | None = None,
    colors: Floats | None = None,
    free: bool = False,
    floor: float | None = None,
    up: Literal["z", "y"] = "z",
    source: str = "",
    obstacles: Sequence[Obstacle] = (),
) -> None:
    """Writes a page with pictures, plots and a player, which needs no other file and no network.

    Args:
        path: The file, ``*.html``; it appears whole or not at all.
        runs: One motion or more of the same mesh; the first one is shown in full.
        title: Of the page.
        summary: A sentence under the title.
        facts: Names and values that say what was simulated.
        skin: A surface embedded in the mesh, to be drawn instead of its boundary.
        colors: Red, green and blue of the skin's vertices in 0…1, (s, 3).
        free: The body is held by nothing: show its momenta.
        floor: Level [m] along ``up`` that shadows fall on, None for no shadow.
        up: The axis of the motion that points up.
        source: Text to append, e.g. the scene file.
        obstacles: What the body met, to be drawn too.
    """
    if not runs:
        raise InputError("a report needs at least one run")
    shown = Shown(skin, colors, floor, up)
    look = Look.of(runs, shown, size=_STILL_SIZE, obstacles=obstacles)
    parts = [header(title, summary), look.stage(), _strip(runs, look)]
    if facts:
        parts.append(f"<h2>What was simulated</h2>{pairs(facts)}")
    point = Tracked.of(runs[0].motion)
    if len(runs) > 1:
        parts.append("<h2>Side by side</h2>" + _comparison(runs, point))
    parts.append(f"<h2>What was measured</h2>{figures(_plots(runs, point, free))}")
    write_page(path, title, [*parts, *ending(source)], look.scripts())


def floor_under(body: ElasticBody, *, up: Literal["z", "y"] = "z") -> float | None:
    """The level [m] that a body stands on; None where it hangs, sticks out or flies."""
    z = body.mesh.vertices[:, "xyz".index(up)]
    held = z[~body.free.all(axis=1)]
    if len(held) and held.max() <= z.min() + 0.1 * (z.max() - z.min()):
        return float(z.min())
    return None


def _strip(runs: Sequence[Run], look: Look) -> str:
    rows = []
    for i, run in enumerate(runs):
        figures = "".join(
            f'<figure><img alt="The body at {run.motion.times[k]:.2f} s{look.of_run(i)}" '
            f'src="{look.picture(i, k)}"><figcaption>{run.motion.times[k]:.2f} s</figcaption>'
            "</figure>"
            for k in _moments(runs[0].motion, run.motion)
        )
        name = f"<p>{escape(run.name)}</p>" if len(runs) > 1 else ""
        rows.append(f"{name}<div>{figures}</div>")
    return f'<div class="strip">{"".join(rows)}</div>'


def _moments(first: Motion, motion: Motion) -> list[int]:
    """Frames to show: the start, where the first run moves farthest, the end, and between."""
    moved = first.displacements - first.displacements[0]
    peak = float(first.times[int(np.argmax((moved**2).sum(axis=2).max(axis=1)))])
    wanted = np.linspace(first.times[0], first.times[-1], _STILLS)
    inner = wanted[1:-1]
    if len(first) > 2 and len(inner):
        inner[int(np.argmin(np.abs(inner - peak)))] = peak
    frames = [int(np.argmin(np.abs(motion.times - t))) for t in (wanted[0], *inner, wanted[-1])]
    return sorted(set(frames))


def _plots(runs: Sequence[Run], point: Tracked, free: bool) -> list[Plot]:
    motion = runs[0].motion
    several = len(runs) > 1
    plots = moving_plots(runs, point)
    for run in runs:
        plots.append(_energies(run, f" · {run.name}" if several else ""))
    if free:
        for title, unit, values in (
            ("Linear momentum", "kg m/s", motion.linear_momentum),
            ("Angular momentum about the origin", "kg m²/s", motion.angular_momentum),
        ):
            axes = [Curve("xyz"[k], values[:, k], k + 1) for k in range(3)]
            plots.append(Plot(title, unit, motion.times, axes))
    for run in runs:
        if run.steps is not None and len(run.steps) > 1:
            plots.append(_step_times(run.steps, f" · {run.name}" if several else ""))
    return plots


def _energies(run: Run, suffix: str) -> Plot:
    motion = run.motion
    height = motion.gravitational - motion.gravitational[0]
    curves = [Curve("kinetic", motion.kinetic, 1), Curve("elastic", motion.elastic, 2)]
    caption = "Total: kinetic and elastic"
    if np.ptp(height) > 0:
        curves.append(Curve("gravitational", height, 3))
        caption = "Gravitational: since the start. Total: kinetic, elastic and gravitational"
    if motion.dissipated.any():
        curves.append(Curve("dissipated", motion.dissipated, 4))
    curves.append(Curve("total", motion.kinetic + motion.elastic + height, 5, dashed=True))
    return Plot(f"Energies{suffix}", "J", motion.times, curves, f"{caption}.")


def _step_times(steps: Floats, suffix: str) -> Plot:
    times, taken = np.asarray(steps).T
    return Plot(
        f"Computing time of each step{suffix}",
        "ms",
        times,
        [Curve("step", 1e3 * np.minimum(taken, 4 * np.percentile(taken, 95)))],
        f"{len(taken)} steps in {taken.sum():.3g} s; half of them took less than "
        f"{_milliseconds(float(np.median(taken)))}, the longest {_milliseconds(taken.max())}.",
        from_zero=True,
        dots=True,
    )


def _comparison(runs: Sequence[Run], point: Tracked) -> str:
    names = list(dict.fromkeys(name for run in runs for name, _ in run.facts))
    head = ["", *names, "Farthest", "Settled after", "Energy dissipated"]
    rows = []
    for run in runs:
        facts, settled = dict(run.facts), point.settled(run.motion)
        cells = [facts.get(name, "") for name in names]
        cells.append(f"{1e3 * np.abs(point.along(run.motion)).max():.3g} mm")
        cells.append("not within the run" if settled is None else f"{settled:.2f} s")
        cells.append(f"{run.motion.dissipated[-1]:.3g} J")
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr><th>{escape(run.name)}</th>{values}</tr>")
    note = (
        "Farthest and settled are those of the point plotted below; settled when it stays within "
        "a tenth of its largest distance from where it ended."
    )
    return f"{comparison(head, rows)}<p><small>{note}</small></p>"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"
