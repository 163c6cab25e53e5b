"""How the runs of a report compare at one point: the one that moves most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.dynamics.motion import Motion
from supple.io.report.look import Run
from supple.io.report.plots import Curve, Plot

_TIED = 1e-6  # share by which the squares of what moves equally far, by symmetry, may differ


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
