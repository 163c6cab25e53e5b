"""Shapes that are mixed: blend shapes, or morph targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.character.rigs.base import PoseRig, one_pose
from supple.core.checks import instance, number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False)
class BlendShapeRig(PoseRig):
    """x = X + Σ_i w_i Δ_i: a pose (s,) are the weights of the shapes.

    ``offsets`` (s, n, 3) [m] lead from the neutral shape to each of the others; ``from_shapes``
    takes the shapes themselves. ``reach`` is by how much a weight is changed where nearby poses are
    tried.
    """

    rest: Surface
    offsets: Floats
    reach: float = 0.01

    def __post_init__(self) -> None:
        instance("rest", self.rest, Surface, 'read_surface("face.obj")')
        offsets = numbers("offsets", self.offsets)
        n = self.rest.n_vertices
        if offsets.ndim != 3 or offsets.shape[1:] != (n, 3) or not len(offsets):
            raise InputError(f"offsets have shape {offsets.shape}; give (shapes, {n}, 3)")
        number("reach", self.reach, above=0)
        self._set(offsets=offsets, triangles=self.rest.triangles, neutral=np.zeros(len(offsets)))

    @classmethod
    def from_shapes(
        cls, rest: Surface, shapes: Sequence[Surface] | ArrayLike, *, reach: float = 0.01
    ) -> BlendShapeRig:
        """From surfaces, or their vertices (s, n, 3) [m], that have the triangles of ``rest``."""
        x = vertices_of("shapes", shapes, rest.n_vertices)
        return cls(rest, x - rest.vertices, reach)

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        w = one_pose(pose, len(self.offsets))
        chosen = slice(None) if which is None else which
        moved = np.tensordot(w, self.offsets[:, chosen], axes=1)
        return np.asarray(self.rest.vertices[chosen] + moved)

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Weights changed by up to ``size`` times the ``reach``."""
        w = one_pose(pose, len(self.offsets))
        return w + size * self.reach * rng.uniform(-1.0, 1.0, w.shape)


def vertices_of(name: str, shapes: Sequence[Surface] | ArrayLike, n: int) -> Floats:
    """Vertices (s, n, 3) of surfaces, or as they are given."""
    given = [each.vertices if isinstance(each, Surface) else each for each in shapes]  # type: ignore[union-attr]
    for k, each in enumerate(given):
        if np.shape(each) != (n, 3):
            raise InputError(f"{name}[{k}] has vertices of shape {np.shape(each)}; give ({n}, 3)")
    return numbers(name, given)
