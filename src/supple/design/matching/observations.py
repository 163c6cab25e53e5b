"""Static shapes as they were observed: where points are when the body rests under a known load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import number, numbers, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.embedding import Embedding
from supple.mesh.surface import Surface

if TYPE_CHECKING:
    import scipy.sparse as sparse


@dataclass(frozen=True, eq=False, kw_only=True)
class StaticObservation:
    """A body seen at rest under a load that is known.

    ``positions`` (k, 3) [m] are where k points were seen; components that were not seen are NaN.
    The points are ``vertices`` (k,), or ``points`` (k, 3) [m], markers told by their places on the
    unloaded body, or all vertices if neither is given. ``gravity`` (3,) [m/s²] and ``forces``
    (n, 3) [N] are the load, ``noise`` [m] is the standard deviation of the positions, where known.
    """

    positions: ArrayLike
    vertices: ArrayLike | None = None
    points: ArrayLike | None = None
    gravity: ArrayLike = (0.0, 0.0, 0.0)
    forces: ArrayLike | None = None
    noise: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        vector("gravity", self.gravity)
        if self.noise is not None:
            number("noise", self.noise, above=0, unit="m")
        if self.vertices is not None and self.points is not None:
            raise InputError("vertices and points are both given; points are markers, give one")
        seen = np.asarray(self.positions, dtype=float)
        if seen.ndim != 2 or seen.shape[1] != 3 or np.isinf(seen).any():
            raise InputError(
                f"positions have shape {seen.shape}; give (k, 3) [m], NaN for what was not seen"
            )


@dataclass(frozen=True, eq=False)
class Seen:
    """An observation of a certain body.

    Predicted are places (k, 3) + matrix (k, n) u, of which the components ``known`` (k, 3) count.
    """

    observation: StaticObservation
    places: Floats
    matrix: sparse.csr_matrix
    positions: Floats
    known: Bools
    forces: Floats | None

    @classmethod
    def of(cls, observation: StaticObservation, body: Body) -> Seen:
        """The observation, checked against the body."""
        places, matrix = _points(observation, body)
        positions = np.array(observation.positions, dtype=float)
        if positions.shape != places.shape:
            raise InputError(
                f"positions have shape {positions.shape} for {len(places)} points that were seen; "
                f"give one row for each, {places.shape}"
            )
        known = ~np.isnan(positions)
        far = np.abs(np.where(known, positions - places, 0.0)).max(initial=0.0)
        if far > 2 * body.mesh.diagonal:
            raise InputError(
                f"positions are up to {far:.3g} m from the unloaded places of their points, on a "
                f"body of {body.mesh.diagonal:.3g} m; check units and frame: both are metres in "
                "the frame of the mesh"
            )
        given = observation.forces
        forces = None if given is None else body.checked("forces", given)
        return cls(observation, places, matrix, positions, known, forces)

    def errors(self, u: Floats) -> Floats:
        """Predicted minus seen, of the components that were seen, (N,) [m]."""
        off: Floats = (self.places + self.matrix @ u - self.positions)[self.known]
        return off

    def derivatives(self, fields: Floats) -> Floats:
        """What displacements (k, n, 3) add to the errors, (N, k)."""
        return np.stack([(self.matrix @ field)[self.known] for field in fields], axis=1)


def _points(observation: StaticObservation, body: Body) -> tuple[Floats, sparse.csr_matrix]:
    """Unloaded places (k, 3) of what was seen, and the matrix (k, n) of its displacements."""
    from scipy import sparse  # slow to import

    X = body.mesh.vertices
    if observation.points is not None:
        places = numbers("points", observation.points)
        if places.ndim != 2 or places.shape[1] != 3:
            raise InputError(f"points have shape {places.shape}; give (k, 3) [m]")
        unused: Ints = np.zeros((1, 3), dtype=np.int64)  # a surface has a triangle at least
        return places, Embedding(body.mesh, Surface(places, unused)).matrix
    n, index = len(X), np.arange(len(X))
    if observation.vertices is not None:
        index = vertex_indices("vertices", observation.vertices, n)
    entries = np.ones(len(index)), index, np.arange(len(index) + 1)
    return X[index], sparse.csr_matrix(entries, shape=(len(index), n))
