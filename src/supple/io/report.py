"""A report of a run as one page: what was simulated, how it looked, what was measured."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from supple.body import Body
from supple.errors import InputError
from supple.files import replacing
from supple.io.pictures import Camera, png_address, render
from supple.io.report_page import page
from supple.io.report_player import SCRIPT, Track, player_data
from supple.io.report_plots import Curve, Plot
from supple.io.surfaces import Shading, moving_surface
from supple.mesh import Embedding
from supple.motion import Motion
from supple.types import Floats, Ints

_STILLS = 6
_STILL_SIZE = (232, 276)
_PAINT = (0.78, 0.60, 0.47)
_CREASE = 40.0  # [degrees]


@dataclass(frozen=True, eq=False)
class Run:
    """One motion of a report.

    ``name`` tells runs apart; ``facts`` are names and values to list where runs are compared;
    ``steps`` (k, 2) the time [s] that each step led to and how long it took to compute [s], for
    the steps where that was measured.
    """

    name: str
    motion: Motion
    facts: Sequence[tuple[str, str]] = ()
    steps: Floats | None = None


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
    """
    if not runs:
        raise InputError("a report needs at least one run")
    if up not in ("z", "y"):
        raise InputError(f"up={up!r} must be 'z' or 'y'")
    look = _Look.of(runs, skin, colors, floor, up)
    parts = [f"<header><h1>{escape(title)}</h1>"]
    parts.append(f"<p>{escape(summary)}</p></header>" if summary else "</header>")
    player, data = _player(runs, look)
    parts += [player, _strip(runs, look)]
    if facts:
        rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts)
        parts.append(f"<h2>What was simulated</h2><table><tbody>{rows}</tbody></table>")
    point = _Tracked.of(runs[0].motion)
    if len(runs) > 1:
        parts.append("<h2>Side by side</h2>" + _comparison(runs, point))
    plots = "".join(plot.html() for plot in _plots(runs, point, free))
    parts.append(f'<h2>What was measured</h2><div class="plots">{plots}</div>')
    if source:
        parts.append(f"<details><summary>Scene file</summary><pre>{escape(source)}</pre></details>")
    parts.append(f"<footer>Written by Supple {_version()}.</footer>")
    scripts = f'<script type="application/json" id="motion">{data}</script>' if data else ""
    scripts += f"<script>{SCRIPT}</script>" if data else ""
    with replacing(path) as temporary:
        text = page(escape(title), "\n".join(parts), scripts)
        temporary.write_text(text, encoding="utf-8")


def floor_under(body: Body, *, up: Literal["z", "y"] = "z") -> float | None:
    """The level [m] that a body stands on; None where it hangs, sticks out or flies."""
    z = body.mesh.vertices[:, "xyz".index(up)]
    held = z[~body.free.all(axis=1)]
    if len(held) and held.max() <= z.min() + 0.1 * (z.max() - z.min()):
        return float(z.min())
    return None


@dataclass(frozen=True, eq=False)
class _Look:
    """What is drawn of each run: vertices (T, v, 3), the same triangles and colours for all."""

    positions: list[Floats]
    triangles: Ints
    colors: Floats
    camera: Camera

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        skin: Embedding | None,
        colors: Floats | None,
        floor: float | None,
        up: Literal["z", "y"] = "z",
    ) -> _Look:
        moving = [moving_surface(run.motion, skin) for run in runs]
        shading = Shading.cut(moving[0].rest, moving[0].triangles, _CREASE)
        paint = np.tile(_PAINT, (len(moving[0].rest), 1)) if colors is None else colors
        if paint.shape != moving[0].rest.shape:
            raise InputError(
                f"colors have shape {paint.shape}; the surface drawn needs {moving[0].rest.shape}"
            )
        positions = [surface.positions[:, shading.source] for surface in moving]
        if up == "y":  # the camera has z up: a quarter turn about x
            positions = [np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1) for p in positions]
        width, height = _STILL_SIZE
        camera = Camera.framing(
            np.concatenate([p[:: max(1, len(p) // 60)].reshape(-1, 3) for p in positions]),
            floor=floor,
            aspect=width / height,
        )
        return cls(positions, shading.triangles, paint[shading.source], camera)

    def picture(self, run: int, frame: int, scale: float = 1.0) -> str:
        size = (round(scale * _STILL_SIZE[0]), round(scale * _STILL_SIZE[1]))
        shape = self.positions[run][frame]
        image = render(shape, self.triangles, self.camera, size=size, colors=self.colors)
        return png_address(image)


@dataclass(frozen=True, eq=False)
class _Tracked:
    """The vertex that moves most, and the direction in which it mostly does."""

    vertex: int
    direction: Floats
    start: Floats

    @classmethod
    def of(cls, motion: Motion) -> _Tracked:
        moved = motion.displacements - motion.displacements[0]
        vertex = int(np.argmax((moved**2).sum(axis=2).max(axis=0)))
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


def _player(runs: Sequence[Run], look: _Look) -> tuple[str, str]:
    tracks = [
        Track(run.name, run.motion.times, positions)
        for run, positions in zip(runs, look.positions, strict=True)
    ]
    aspect = _STILL_SIZE[0] / _STILL_SIZE[1]
    made = player_data(tracks, look.triangles, look.colors, look.camera, aspect)
    stills = "".join(
        f'<img alt="The body as it started{_of(runs, i)}" src="{look.picture(i, 0, 1.6)}">'
        for i in range(len(runs))
    )
    names = "".join(f"<span>{escape(run.name)}</span>" for run in runs)
    names = f'<div class="names">{names}</div>' if len(runs) > 1 else ""
    html = (
        '<section id="player"><div class="stage"><canvas aria-label="The motion, in three '
        f'dimensions; drag to look around"></canvas><div class="fallback">{stills}</div>{names}'
        '</div><div class="bar"><button type="button">Play</button>'
        '<input type="range" min="0" max="1000" step="any" value="0" aria-label="Time">'
        "<output>0.00 s</output></div></section>"
    )
    return html, made or ""


def _strip(runs: Sequence[Run], look: _Look) -> str:
    rows = []
    for i, run in enumerate(runs):
        figures = "".join(
            f'<figure><img alt="The body at {run.motion.times[k]:.2f} s{_of(runs, i)}" '
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


def _plots(runs: Sequence[Run], point: _Tracked, free: bool) -> list[Plot]:
    motion = runs[0].motion
    several = len(runs) > 1
    where = ", ".join(f"{c:.3g}" for c in motion.mesh.vertices[point.vertex])
    plots = [
        Plot(
            "Displacement of the point that moves most",
            "m",
            motion.times,
            [Curve(r.name, _on(motion, r.motion, point.along(r.motion)), i + 1)
             for i, r in enumerate(runs)],
            f"Vertex {point.vertex}, at rest at ({where}) m, since the start, along "
            f"({', '.join(f'{round(c, 2) + 0.0:.2f}' for c in point.direction)}).",
        )
    ]  # fmt: skip
    if several:
        curves = [
            Curve(r.name, _on(motion, r.motion, r.motion.kinetic), i + 1)
            for i, r in enumerate(runs)
        ]
        plots.append(Plot("Energy of motion", "J", motion.times, curves, from_zero=True))
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


def _comparison(runs: Sequence[Run], point: _Tracked) -> str:
    names = list(dict.fromkeys(name for run in runs for name, _ in run.facts))
    head = [*names, "Farthest", "Settled after", "Energy dissipated"]
    rows = []
    for run in runs:
        facts, settled = dict(run.facts), point.settled(run.motion)
        cells = [facts.get(name, "") for name in names]
        cells.append(f"{1e3 * np.abs(point.along(run.motion)).max():.3g} mm")
        cells.append("not within the run" if settled is None else f"{settled:.2f} s")
        cells.append(f"{run.motion.dissipated[-1]:.3g} J")
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr><th>{escape(run.name)}</th>{values}</tr>")
    top = "".join(f"<th>{escape(name)}</th>" for name in ("", *head))
    note = (
        "Farthest and settled are those of the point plotted below; settled when it stays within "
        "a tenth of its largest distance from where it ended."
    )
    return (
        f'<div class="scroll"><table class="compare"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div><p><small>{note}</small></p>"
    )


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"


def _on(first: Motion, other: Motion, values: Floats) -> Floats:
    """Values of another motion at the times of the first."""
    if len(first) == len(other) and np.array_equal(first.times, other.times):
        return values
    return np.interp(first.times, other.times, values)


def _of(runs: Sequence[Run], i: int) -> str:
    return f", {escape(runs[i].name)}" if len(runs) > 1 else ""


def _version() -> str:
    from supple import __version__

    return __version__
