"""Shapes at rest under many loads at once: a small model that grows by what it misses.

Each round solves for all loads in the coordinates of one reduced model, where that takes next to
nothing, looks at the forces that these shapes leave unbalanced in the whole body, and adds the
shapes in which the body gives way to them. Last, each shape takes its own step of that kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.solid import Body
from supple.core.types import Floats, Ints, Progress
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import Stage
from supple.reduction.basis import Basis
from supple.reduction.derivatives import force_derivatives
from supple.reduction.errors.shapes import principal_shapes
from supple.reduction.model import ReducedModel
from supple.reduction.modes import SmallVibrations, mass_times, products
from supple.reduction.reducing import reduce
from supple.solvers.linear.cholesky import Cholesky
from supple.solvers.newton import Newton

_LINEAR, _BENT, _DERIVED = 12, 7, 16  # linear shapes, those of which derivatives are taken, these
_ADDED = 12  # vectors, in each round
_ROUNDS = 2
_GROUPS = 6  # of shapes; the stiffness is that of one of each
_ITERATIONS = 100
_BALANCED = 1e-9  # of the load
_SETTLING = 25  # iterations of the body, from a shape in a subspace,
_ROUGH = 1e-4  # and the share of forces that may then be left
_LEAST = 1e-2  # of the softest curvature at rest, for a descent direction


@dataclass(frozen=True, eq=False)
class LoadedShapes:
    """Shapes (k, n, 3) [m], and about how far each is from rest, as a share of itself, (k,).

    The latter compares what is unbalanced with the load, in the norm of the energy.
    """

    shapes: Floats
    errors: Floats


def shapes_under(body: Body, loads: Floats, *, progress: Progress | None = None) -> LoadedShapes:
    """Shapes of a held StVK body under loads (k, n, 3) [N]."""
    rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    loads = loads * body.free
    linear = rest.solve(loads)
    scales = np.sqrt(_energies(loads, linear))
    scales[scales == 0.0] = 1.0
    vectors = _first_vectors(rest, linear)
    z = np.zeros((len(loads), len(vectors)))
    for done in range(_ROUNDS):
        model = reduce(body, Basis(vectors, np.ones(len(vectors))), compare=False)
        z = _reduced_shapes(model, loads, z)
        shapes = np.tensordot(z, vectors, 1)
        tangents = _tangents(body, shapes)
        left = _unbalanced(body, loads, shapes)
        given = tangents.given(left)
        if progress is not None:
            progress(done + 1, _ROUNDS, "static shapes in a subspace")
        new = principal_shapes(rest, given, vectors, _ADDED)
        if done == _ROUNDS - 1 or not len(new):
            break
        vectors = np.concatenate([vectors, new])
        z = np.pad(z, ((0, 0), (0, len(new))))
    errors = [np.sqrt(np.maximum(_energies(left, given), 0.0)) / scales]
    after = shapes + given  # Newton's step out of the subspace, where it leads nearer
    left = _unbalanced(body, loads, after)
    errors.append(np.sqrt(np.maximum(_energies(left, tangents.given(left)), 0.0)) / scales)
    better = errors[1] < errors[0]
    shapes[better] = after[better]
    return LoadedShapes(shapes, np.minimum(*errors))


class SettledShapes:
    """Shapes of the body itself at rest, from others that are near, with a bounded effort."""

    def __init__(self, body: Body) -> None:
        self._problem = BodyProblem(body, terms_of(body))
        newton = Newton(tolerance=_ROUGH, max_iterations=_SETTLING, linear=Cholesky())
        self._solver = newton.bind(self._problem)

    def under(self, load: Floats, start: Floats) -> Floats:
        """The shape (n, 3) [m] under a load (n, 3) [N]; StepFailed where it is not near."""
        stage = Stage(0.0, 0.0, start, 0.0, start, start)
        self._problem.begin(StageStart(stage, load))
        return self._solver.solve(stage, [start])


def _first_vectors(rest: SmallVibrations, linear: Floats) -> Floats:
    """The linear shapes (k, n, 3) under the loads, and how they turn into each other.

    These are the derivatives of Eq. 14, of shapes that are as large as the loads make them.
    """
    body = rest.body
    none = np.empty((0, *body.free.shape))
    shapes = principal_shapes(rest, linear, none, _LINEAR)
    amounts = np.abs(products(linear, mass_times(body, shapes))).max(axis=0)
    bent = shapes[:_BENT] * amounts[:_BENT, None, None]
    i, j = np.triu_indices(len(bent))
    derivatives = rest.solve(-force_derivatives(body, bent)[i, j] * body.free)
    return np.concatenate([shapes, principal_shapes(rest, derivatives, shapes, _DERIVED)])


def _unbalanced(body: Body, loads: Floats, shapes: Floats) -> Floats:
    left: Floats = (loads - np.stack([body.force(u) for u in shapes])) * body.free
    return left


def _energies(forces: Floats, shapes: Floats) -> Floats:
    return np.asarray(np.einsum("kna,kna->k", forces, shapes))


@dataclass(frozen=True, eq=False)
class _Tangents:
    """The stiffness of a few shapes, each for those that are as large."""

    groups: list[tuple[Ints, SmallVibrations]]

    def given(self, forces: Floats) -> Floats:
        """K(u)⁻¹ f for each of the forces, (k, n, 3)."""
        given = np.empty_like(forces)
        for some, tangent in self.groups:
            given[some] = tangent.solve(forces[some])
        return given


def _tangents(body: Body, shapes: Floats) -> _Tangents:
    order = np.argsort(np.linalg.norm(shapes.reshape(len(shapes), -1), axis=1))
    groups = []
    for some in np.array_split(order, min(_GROUPS, len(order))):
        u = shapes[some[len(some) // 2]]
        groups.append((some, SmallVibrations(body, u, definite=True)))
    return _Tangents(groups)


def _reduced_shapes(model: ReducedModel, loads: Floats, starts: Floats) -> Floats:
    """Coordinates (k, r) at rest under loads; each starts as well as it can, also as the last."""
    flat = model.vectors.reshape(model.size, -1)
    forces = loads.reshape(len(loads), -1) @ flat.T
    found, last = np.zeros_like(starts), np.zeros(model.size)
    for k, f in enumerate(forces):
        tries = [starts[k], last, np.zeros(model.size)]
        potentials = [model.evaluate(z)[0] - f @ z for z in tries]
        found[k] = last = _minimum(model, f, tries[int(np.argmin(potentials))])
    return found


def _minimum(model: ReducedModel, f: Floats, z: Floats) -> Floats:
    """The z at which U(z) − f·z is least, from there downhill: Newton with a line search."""
    energy, R, K = model.evaluate(z)
    scale = float(np.linalg.norm(f)) or 1.0
    least = _LEAST * float(np.linalg.eigvalsh(model.stiffness(np.zeros_like(z)))[0])
    for _ in range(_ITERATIONS):
        residual = R - f
        if np.linalg.norm(residual) <= _BALANCED * scale:
            break
        curvatures, axes = np.linalg.eigh(K)
        curvatures = np.maximum(np.abs(curvatures), least)
        step = -axes @ ((axes.T @ residual) / curvatures)
        slope, length, here = float(residual @ step), 1.0, energy - f @ z
        while length > 1e-6:
            there = z + length * step
            energy, R, K = model.evaluate(there)
            if energy - f @ there <= here + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            break  # rounding alone is left to gain
        z = there
    return z
