"""A report of a run as one page: what was simulated, how it looked, what was measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from supple.io.shown_bodies import Skins, shown_bodies
from supple.mesh import MeshGroup

__all__ = ["Run", "floor_under", "write_report"]

_STILLS = 6
_STILL_SIZE = (232, 276)
_CURVES = 5  # that a plot can tell apart
_TIED = 1e-6  # share by which the squares of what moves equally far, by symmetry, may differ


def write_report(
    path: str | os.PathLike[str],
    runs: Sequence[Run],
    *,
    title: str,
    summary: str = "",
    facts: Sequence[tuple[str, str]] = (),
    skin: Skins = None,
    colors: Floats | Mapping[str, Floats] | None = None,
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
        skin: A surface embedded in the mesh, to be drawn instead of its boundary; of several bodies
            a table of them, by the bodies' names.
        colors: Red, green and blue of the skin's vertices in 0…1, (s, 3), or such a table.
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
    parts = [header(title, summary), look.stage(), _names(runs[0].motion), _strip(runs, look)]
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


def _names(motion: Motion) -> str:
    """What several bodies are called, each in its colour."""
    if not isinstance(motion.mesh, MeshGroup):
        return ""
    named = "".join(
        f'<span><i style="background:rgb({",".join(f"{round(255 * c)}" for c in each.color)})"></i>'
        f"{escape(each.name)}</span>"
        for each in shown_bodies(motion)
        if each.color is not None
    )
    return f'<div class="bodies">{named}</div>'


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
    plots = _body_plots(motion) if isinstance(motion.mesh, MeshGroup) else []
    plots = plots or moving_plots(runs, point)
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
        plots += _contacts(run, f" · {run.name}" if several else "")
        if run.steps is not None and len(run.steps) > 1:
            plots.append(_step_times(run.steps, f" · {run.name}" if several else ""))
    return plots


def _body_plots(motion: Motion) -> list[Plot]:
    """How far the middle of each of several bodies has gone, by as many as a plot can show."""
    bodies = shown_bodies(motion)
    middles = [each.motion.displacements.mean(axis=1) for each in bodies]
    gone = [np.linalg.norm(x - x[0], axis=1) for x in middles]
    farthest = sorted(np.argsort([-away.max() for away in gone], kind="stable")[:_CURVES].tolist())
    curves = [Curve(bodies[k].name, gone[k], number) for number, k in enumerate(farthest, 1)]
    those = "Those that go farthest: m" if len(bodies) > _CURVES else "M"
    caption = f"{those}ean displacement of each body's vertices since the start, as a distance."
    return [Plot("How far bodies have gone", "m", motion.times, curves, caption, from_zero=True)]


def _contacts(run: Run, suffix: str) -> list[Plot]:
    if run.steps is None or run.contacts is None or not run.contacts.any():
        return []
    return [
        Plot(
            f"Contacts in each step{suffix}",
            "",
            run.steps[:, 0],
            [Curve("contacts", run.contacts.astype(float))],
            "Contacts with obstacles that press, and pairs of surfaces that are near, where they "
            f"were most in the step; {int(run.contacts.max()):,} at most.",
            from_zero=True,
        )
    ]


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


# -- how runs compare at one point: the one that moves most ---------------------------------


@dataclass(frozen=True, eq=False)
class Tracked:
    """The vertex that moves most, and the direction in which it mostly does."""

    vertex: int
    direction: Floats
    start: Floats

    @classmethod
    def of(cls, motion: Motion) -> Tracked:
        moved = motion.displacements - motion.displacements[0]
        farthest = (moved**2).sum(axis=2).max(axis=0)
        vertex = int(np.argmax(farthest >= (1 - _TIED) * farthest.max()))
        path = moved[:, vertex]
        direction = np.linalg.svd(path, full_matrices=False)[2][0]
        direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
        return cls(vertex, direction, motion.displacements[0, vertex])

    def along(self, motion: Motion) -> Floats:
        """Displacement since the start along the direction [m], (T,)."""
        moved: Floats = (motion.displacements[:, self.vertex] - self.start) @ self.direction
        return moved

    def settled(self, motion: Motion) -> float | None:
        """Time [s] after which it stays within a tenth of its largest distance from its end.

        None where that is not before the last tenth of the motion.
        """
        away = np.abs(self.along(motion) - self.along(motion)[-1])
        late = np.flatnonzero(away > 0.1 * away.max()) if away.max() > 0 else np.array([0])
        time = float(motion.times[min(int(late[-1]) + 1, len(motion) - 1)])
        return time if time <= motion.times[-1] - 0.1 * motion.duration else None


def moving_plots(
    runs: Sequence[Run], point: Tracked, colors: Sequence[int] | None = None
) -> list[Plot]:
    """How far the point goes in each run and, where there are several, the energy of motion.

    ``colors`` are the numbers of the runs' colours, from 1 by default.
    """
    motion = runs[0].motion
    painted = list(zip(runs, colors or range(1, len(runs) + 1), strict=True))
    where = ", ".join(f"{c:.3g}" for c in motion.mesh.vertices[point.vertex])
    plots = [
        Plot(
            "Displacement of the point that moves most",
            "m",
            motion.times,
            [Curve(r.name, _on(motion, r.motion, point.along(r.motion)), c) for r, c in painted],
            f"Vertex {point.vertex}, at rest at ({where}) m, since the start, along "
            f"({', '.join(f'{round(d, 2) + 0.0:.2f}' for d in point.direction)}).",
        )
    ]
    if len(runs) > 1:
        curves = [Curve(r.name, _on(motion, r.motion, r.motion.kinetic), c) for r, c in painted]
        plots.append(Plot("Energy of motion", "J", motion.times, curves, from_zero=True))
    return plots


def _on(first: Motion, other: Motion, values: Floats) -> Floats:
    """Values of another motion at the times of the first."""
    if len(first) == len(other) and np.array_equal(first.times, other.times):
        return values
    return np.interp(first.times, other.times, values)
