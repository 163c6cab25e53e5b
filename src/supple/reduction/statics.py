"""Shapes at rest under many loads at once: a small model that grows by what it misses.

Each round solves for all loads in the coordinates of one reduced model, where that takes next to
nothing, looks at the forces that these shapes leave unbalanced in the whole body, and adds the
shapes in which the body gives way to them. Last, each shape takes its own step of that kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import StepFailed
from supple.core.types import Floats, Progress
from supple.reduction.basis import Basis
from supple.reduction.derivatives import force_derivatives
from supple.reduction.errors.shapes import principal_shapes
from supple.reduction.model import ReducedModel
from supple.reduction.modes import SmallVibrations, mass_times, products
from supple.reduction.reducing import reduce
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_LINEAR, _BENT, _DERIVED = 12, 7, 16  # linear shapes, those of which derivatives are taken, these
_ADDED = 12  # vectors, in each round
_ROUNDS = 2
_GROUPS = 6  # of shapes; the stiffness is that of one of each
_ITERATIONS = 100
_BALANCED = 1e-9  # of the load
_SETTLING = 25  # iterations of the body, from a shape in a subspace
_SHRUNK = 0.5  # of a correction, where the next one with the same stiffness is no larger
_SHORTEST = 1e-3  # of a correction, in the line search
_FINEST = 1e-6  # of the load, whose square is the rounding of the energy
_CRUSHED = 0.01  # of the volume, inside out
_LEAST = 1e-2  # of the softest curvature at rest, for a descent direction


@dataclass(frozen=True, eq=False)
class LoadedShapes:
    """Shapes (k, n, 3) [m], and about how far each is from rest, as a share of itself, (k,).

    The latter compares what is unbalanced with the load, in the norm of the energy: ``scales`` (k,)
    [√J] are those of the loads. It is infinite of shapes that are inside out.
    """

    shapes: Floats
    errors: Floats
    scales: Floats


def shapes_under(body: Body, loads: Floats, *, progress: Progress | None = None) -> LoadedShapes:
    """Shapes of a held StVK body under loads (k, n, 3) [N]."""
    rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    loads = loads * body.free
    linear = rest.solve(loads)
    scales = _load_norms(loads, linear)
    vectors = _first_vectors(rest, linear)
    z = np.zeros((len(loads), len(vectors)))
    for done in range(_ROUNDS):
        model = reduce(body, Basis(vectors, np.ones(len(vectors))), compare=False)
        z = _reduced_shapes(model, loads, z)
        shapes = np.tensordot(z, vectors, 1)
        left = _unbalanced(body, loads, shapes)
        if progress is not None:
            progress(done + 1, _ROUNDS, "static shapes in a subspace")
        if done == _ROUNDS - 1:
            break
        new = principal_shapes(rest, rest.solve(left), vectors, _ADDED)
        if not len(new):
            break
        vectors = np.concatenate([vectors, new])
        z = np.pad(z, ((0, 0), (0, len(new))))
    return _corrected(body, loads, shapes, left, scales)


def _corrected(
    body: Body, loads: Floats, shapes: Floats, left: Floats, scales: Floats
) -> LoadedShapes:
    """Newton's step out of the subspace for each, where it leads nearer.

    Shapes that are about as large share a stiffness.
    """
    tangent = _Tangent(body)
    errors = np.full(len(loads), np.inf)
    order = np.argsort(np.linalg.norm(shapes.reshape(len(shapes), -1), axis=1), kind="stable")
    for some in np.array_split(order, min(_GROUPS, len(order))):
        try:
            tangent.take(shapes[some[len(some) // 2]])
        except NotPositiveDefinite:
            continue  # they are as far from rest as can be
        given = tangent.solve(left[some])
        after = shapes[some] + given
        still = _unbalanced(body, loads[some], after)
        again = tangent.solve(still)
        before_after = np.array([_norms(left[some], given), _norms(still, again)]) / scales[some]
        better = before_after[1] < before_after[0]
        shapes[some[better]] = after[better]
        errors[some] = np.where(better, before_after[1], before_after[0])
    errors[[_crushed(body, u) > _CRUSHED for u in shapes]] = np.inf
    return LoadedShapes(shapes, errors, scales)


class _Tangent:
    """The stiffness of a body at one shape after another, factorized on one pattern."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._factorization = Factorization(body.pattern, body.free)

    def take(self, u: Floats, *, definite: bool = False) -> bool:
        """The stiffness there, or one near it that is positive definite; whether the former.

        NotPositiveDefinite where there is none near: the body gives way to some load as to none.
        """
        if not definite:
            try:
                self._factorization.factorize(self._body.evaluate(u, order=2).stiffness)
            except NotPositiveDefinite:
                pass
            else:
                return True
        near = self._body.evaluate(u, order=2, definite=True).stiffness
        self._factorization.factorize(near)
        return False

    def solve(self, forces: Floats) -> Floats:
        """K⁻¹ f for each of the forces (k, n, 3)."""
        return self._factorization.solve(forces)


def _crushed(body: Body, u: Floats) -> float:
    """The share of the volume that is inside out at displacements u (n, 3)."""
    mesh = body.mesh
    volumes = mesh.volumes
    return float(volumes[mesh.inverted(mesh.vertices + u, mesh.cells)].sum() / volumes.sum())


def _not_near(reason: str, error: float) -> StepFailed:
    return StepFailed(reason, time=0.0, residual=error, advice="Give a weaker load.")


class SettledShapes:
    """Shapes of the body itself at rest, from others that are near, with a bounded effort."""

    def __init__(self, body: Body) -> None:
        self._body, self._tangent = body, _Tangent(body)

    def under(self, load: Floats, start: Floats, scale: float, tolerance: float) -> Floats:
        """The shape (n, 3) [m] under a load (n, 3) [N]; StepFailed where it is not near.

        It leaves at most a share ``tolerance`` of the load unbalanced, whose norm is ``scale``, in
        that of the energy. Newton's method with a line search; as long as corrections shrink they
        are made with the same stiffness. One that stands in for an indefinite stiffness is stiffer,
        and its first correction too short to tell an error: that takes a second one. A shape that
        turns inside out is given up, since StVK resists that less the further it goes.
        """
        body, tangent, load = self._body, self._tangent, load * self._body.free
        u: Floats = start
        here, left = self._potential(load, u)
        fresh, last, definite = False, np.inf, False
        for _ in range(_SETTLING):
            if not fresh:
                try:
                    definite = not tangent.take(u, definite=definite)
                except NotPositiveDefinite as failure:
                    raise _not_near("it does not resist the load", last) from failure
                last = np.inf
            step = tangent.solve(left[None])[0]
            slope, length = float(np.vdot(left, step)), 1.0
            error = np.sqrt(max(slope, 0.0)) / scale
            shrunk = error <= _SHRUNK * last
            if error <= max(tolerance, _FINEST) and (shrunk or not definite):
                u = u + step
                break
            while length > _SHORTEST:
                there = u + length * step
                energy, still = self._potential(load, there)
                if energy <= here - 1e-4 * length * slope + (_FINEST * scale) ** 2:
                    break
                length *= 0.5
            else:
                raise _not_near("it does not come to rest", error)
            fresh = length == 1.0 and (not fresh or shrunk)
            last, u, here, left = error, there, energy, still
            if not fresh and _crushed(body, u) > _CRUSHED:
                break
        else:
            raise _not_near("it does not come to rest", error)
        if _crushed(body, u) > _CRUSHED:
            raise _not_near("the load turns it inside out", error)
        return u

    def _potential(self, load: Floats, u: Floats) -> tuple[float, Floats]:
        found = self._body.evaluate(u, order=1)
        return found.energy - float(np.vdot(load, u)), (load - found.gradient) * self._body.free


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


def _norms(forces: Floats, shapes: Floats) -> Floats:
    """In the norm of the energy: the root of f·K⁻¹f, (k,)."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("kna,kna->k", forces, shapes), 0.0)))


def _load_norms(loads: Floats, linear: Floats) -> Floats:
    scales = _norms(loads, linear)
    scales[scales == 0.0] = 1.0
    return scales


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
