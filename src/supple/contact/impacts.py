"""What an impact does to velocities: what presses on an obstacle comes to rest along its normal.

A rule of second order makes a vertex that meets an obstacle fly back at the speed at which it came,
and again a moment later: v and a of such a stage are differences over a kink in its path. Moreau's
law of plastic impact says what they are after it. The impulse acts along the normals of what
presses and takes as little as it can: v is projected, in the metric of the mass, onto velocities at
which nothing moves into its obstacle or out of it,

    min ½ ‖v' − v‖²_M    with    n_i·v'_i = n_i·v_obstacle,i

A whole body keeps on rebounding by its elasticity; what stops is the share of the mass that its
vertices at the obstacle stand for, which goes to nothing as the mesh is refined.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.contact.pairs import ContactPairs
from supple.core.types import Bools, Floats, Ints

_EXACT = 1e-10  # of the residual that conjugate gradients may leave
_MOST = 200
_ALONG = 1e-8  # of a unit: normals of one vertex that are the same but for rounding
_REDUNDANT = 1e-4  # of what a row weighs: what is left of one that the others say already
_NO_MORE = 1e-13  # of a push: what rounding leaves of it
_STILL = 1e-12  # of the velocity: what need not be projected


class PressedNormals:
    """Orthonormal directions in which vertices press: one row for each, ``vertex`` (k,)."""

    def __init__(self, vertex: Ints, normal: Floats, free: Bools) -> None:
        """``normal`` (k, 3) as pairs have them, several of a vertex included; ``free`` (n, 3)."""
        self._free = free
        normal = np.where(free[vertex], normal, 0.0)
        order = np.argsort(vertex, kind="stable")
        vertices: list[int] = []
        rows: list[Floats] = []
        for row in order:  # Gram and Schmidt, for the few vertices in a crease
            n = normal[row].copy()
            for known in range(len(vertices) - 1, -1, -1):
                if vertices[known] != vertex[row]:
                    break
                n -= np.dot(n, rows[known]) * rows[known]
            size = float(np.linalg.norm(n))
            if size > _ALONG:
                vertices.append(int(vertex[row]))
                rows.append(n / size)
        self.vertex = np.array(vertices, dtype=np.int64)
        self.directions = np.reshape(rows, (-1, 3))

    def wanted(self, velocity: Floats, vertex: Ints, like: Floats) -> Floats:
        """Components (k,) of what moves with obstacles, at ``velocity`` (j, 3) at each pair."""
        carried = np.zeros_like(like)
        carried[vertex] = velocity
        return self.components(carried)

    def components(self, field: Floats) -> Floats:
        """Of a field (n, 3), along each direction (k,)."""
        return np.asarray(np.einsum("ki,ki->k", field[self.vertex], self.directions))

    def spread(self, components: Floats, like: Floats) -> Floats:
        """The field (n, 3) that has these components (k,) and nothing else."""
        field = np.zeros_like(like)
        np.add.at(field, self.vertex, components[:, None] * self.directions)
        return field

    def tangential(self, field: Floats) -> Floats:
        """The field without its components along the directions, and at rest where it is held."""
        along = self.spread(self.components(field), field)
        return np.where(self._free, field - along, 0.0)

    def projected(self, field: Floats, wanted: Floats, body: ElasticBody) -> Floats:
        """The field next to one (n, 3), by the mass of a body, with components ``wanted`` (k,)."""
        off = wanted - self.components(field)
        if np.abs(off).max(initial=0.0) <= _STILL * np.abs(field).max(initial=0.0):
            return field
        from scipy.sparse.linalg import LinearOperator, cg  # slow to import

        # M δ is a sum of normals: tangential(M (δ_n + δ_t)) = 0, solved for δ_t
        normal_part = self.spread(off, field)
        mass = body.mass_diagonal[:, None]

        def multiply(x: Floats) -> Floats:
            return self.tangential(body.mass_times(x.reshape(field.shape))).ravel()

        def precondition(x: Floats) -> Floats:  # Jacobi: cells of all sizes take as few iterations
            return self.tangential(self.tangential(x.reshape(field.shape)) / mass).ravel()

        shape = field.size, field.size
        matrix = LinearOperator(shape, matvec=multiply, dtype=np.float64)
        inverse = LinearOperator(shape, matvec=precondition, dtype=np.float64)
        pushed = body.mass_times(normal_part)
        left = -self.tangential(pushed)
        if np.linalg.norm(left) <= _NO_MORE * np.linalg.norm(pushed):  # nothing is left to follow
            return np.asarray(field + normal_part)
        tangential_part, _ = cg(matrix, left.ravel(), rtol=_EXACT, maxiter=_MOST, M=inverse)
        result: Floats = field + normal_part + tangential_part.reshape(field.shape)
        return result


class PressedPoints(PressedNormals):
    """The same for points between vertices as well, whose normals share nodes: one row a pair."""

    def __init__(self, pairs: ContactPairs, free: Bools) -> None:
        from scipy.linalg.lapack import dpstrf  # slow to import
        from scipy.sparse import csr_array

        self._free = free
        spread = pairs.shares[:, :, None] * pairs.normal[:, None]  # (k, nodes, 3)
        places = (3 * pairs.nodes[:, :, None] + np.arange(3)).reshape(pairs.count, -1)
        rows = np.repeat(np.arange(pairs.count), places.shape[1])
        shape = pairs.count, free.size
        every = csr_array((spread.ravel(), (rows, places.ravel())), shape=shape)
        moved = every.multiply(free.ravel()).tocsr()
        gram = (moved @ moved.T).toarray()
        factor, order, rank, _ = dpstrf(
            gram, tol=_REDUNDANT * float(gram.diagonal().max(initial=0.0)), lower=1
        )
        self._rows = order[:rank] - 1  # which say something of their own
        self._factor = np.tril(factor[:rank, :rank])
        self.vertex, self._normals = pairs.vertex[self._rows], pairs.normal[self._rows]
        self._all, self._moved = every[self._rows], moved[self._rows]

    def wanted(self, velocity: Floats, vertex: Ints, like: Floats) -> Floats:
        return np.asarray(np.einsum("ki,ki->k", self._normals, velocity[self._rows]))

    def components(self, field: Floats) -> Floats:
        return np.asarray(self._all @ field.ravel())

    def spread(self, components: Floats, like: Floats) -> Floats:
        from scipy.linalg import cho_solve  # slow to import

        field: Floats = self._moved.T @ cho_solve((self._factor, True), components)
        return field.reshape(like.shape)

    def tangential(self, field: Floats) -> Floats:
        moved = np.where(self._free, field, 0.0)
        return moved - self.spread(self._moved @ moved.ravel(), field)


def pressed_normals(pairs: ContactPairs, free: Bools) -> PressedNormals:
    """The directions in which pairs press."""
    if len(pairs.between):
        return PressedPoints(pairs, free)
    return PressedNormals(pairs.vertex, pairs.normal, free)
