"""A reduced model of a body without supports as a body among others."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.constrained import ConstrainedBody, orthonormal, rigid_motions, spin_of
from supple.bodies.elastic_body import PointResponses
from supple.bodies.supports import HeldComponents
from supple.core.checks import instance, number, numbers, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.damping.base import BoundDamping
from supple.mesh.embedding import carriers
from supple.mesh.floating import FloatingMesh
from supple.mesh.points import CarriedPoint
from supple.reduction.body import skin_of
from supple.reduction.floating_energy import FloatingEnergy, Frame
from supple.reduction.floating_space import FloatingSpace
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.floating import FloatingLoad

_FIRMNESS = 30.0


class FloatingBody(ConstrainedBody):
    """A ``ReducedModel`` of a body without supports in a world: it flies, turns and wobbles.

    It moves as ``model.simulation()`` does, and touches others and obstacles with its skin, or the
    surface of its mesh where it has none; not itself. Its state has up to 4 + 3 r vertices, which
    carry the skin along: ``pose(u)`` is how the body is turned and where its centre is,
    ``coordinates(u)`` are q (r,), and ``placed`` and ``velocity`` set them. It takes the dampings
    that such a model takes.

    At rest it is turned by ``rotation`` (3, 3), with its ``centre`` of mass (3,) [m] there, so that
    one model makes many bodies; without them it is where the model is. What is no shape of the
    model is kept small by ``firmness``: it would vibrate that many times as fast as the fastest
    vibration of the model.
    """

    mesh: FloatingMesh

    def __init__(
        self,
        model: ReducedModel,
        *,
        rotation: ArrayLike | None = None,
        centre: ArrayLike | None = None,
        firmness: float = _FIRMNESS,
    ) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        number("firmness", firmness, above=1)
        if model.floating is None:
            raise InputError(
                "this model is of a body with supports, which hold it where it is; give "
                "ReducedBody(model), or reduce a body without supports"
            )
        self.model, self.fixed, self.supports = model, None, ()
        self.firmness, self._inertia = float(firmness), model.floating
        self._space = FloatingSpace.of(self._inertia)
        self._energy = FloatingEnergy(model, self._space, self.firmness * self._fastest)
        self._turned = np.eye(3) if rotation is None else _rotation("rotation", rotation)
        at = self._inertia.centre if centre is None else vector("centre", centre)
        X, triangles, shapes = skin_of(model)
        arms = X - self._inertia.centre
        weights, R = self._space.weights(arms, shapes), self._turned.T
        self.mesh = FloatingMesh.of(at + arms @ R, triangles, at + self._space.rest @ R, weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    @property
    def only_newton(self) -> str:
        return "free reduced bodies need"

    # -- where it is ---------------------------------------------------------------------

    @cached_property
    def centre(self) -> Floats:
        """Centre of mass at rest [m], (3,)."""
        return np.asarray(self.mesh.vertices.mean(axis=0))

    def frame(self, u: Floats) -> Frame:
        """How the places that carry the body are turned at a state u (n, 3), and its q."""
        return self._energy.frame(self.mesh.vertices + u)

    def pose(self, u: ArrayLike) -> tuple[Floats, Floats]:
        """Rotation R (3, 3) and where the centre of mass is [m], (3,), at a state u (n, 3)."""
        frame = self.frame(self.checked("u", u))
        return frame.R, frame.centre

    def coordinates(self, u: ArrayLike) -> Floats:
        """q (r,) of the model at a state u (n, 3)."""
        return self.frame(self.checked("u", u)).q

    def rates(self, u: ArrayLike, v: ArrayLike) -> Floats:
        """q̇ (r,) of the model at a state u with velocities v, (n, 3)."""
        of = self._energy.rates(self.frame(self.checked("u", u)))
        return np.asarray(np.tensordot(of, self.checked("v", v), 2))

    def rates_at(self, frame: Frame) -> Floats:
        """∂q/∂x at a frame, (r, n, 3)."""
        return self._energy.rates(frame)

    def placed(self, rotation: ArrayLike, centre: ArrayLike, q: ArrayLike | None = None) -> Floats:
        """The state (n, 3) of a body turned by R (3, 3), with its centre there [m], shaped by q."""
        R = _rotation("rotation", rotation)
        z = self._energy.shape(self._shaped("q", q))
        return np.asarray(vector("centre", centre) + z @ R.T - self.mesh.vertices)

    def velocity(
        self,
        linear: ArrayLike = (0, 0, 0),
        spin: ArrayLike = (0, 0, 0),
        u: ArrayLike | None = None,
        rates: ArrayLike | None = None,
    ) -> Floats:
        """Velocities (n, 3) [m/s] at u, for those of the centre [m/s], of turning [1/s] and of q.

        ``linear`` and ``spin`` are (3,), ``rates`` q̇ (r,).
        """
        at = np.zeros_like(self.mesh.vertices) if u is None else self.checked("u", u)
        frame = self.frame(at)
        inner = np.tensordot(self._shaped("rates", rates), self._space.shapes, 1) @ frame.R.T
        arms = self.mesh.vertices + at - frame.centre
        return np.asarray(vector("linear", linear) + np.cross(vector("spin", spin), arms) + inner)

    def _shaped(self, name: str, given: ArrayLike | None) -> Floats:
        if given is None:
            return np.zeros(self.model.size)
        return numbers(name, given, ((self.model.size,),))

    def positions(self, u: ArrayLike) -> Floats:
        """Where the vertices of the skin are [m], (s, 3), at a state u (n, 3)."""
        return self.mesh.points.moved(self.checked("u", u))

    def push(self, load: FloatingLoad) -> Floats:
        """What ``model.pull`` and ``model.project`` give, as a force on the state, (n, 3) [N]."""
        instance("load", load, FloatingLoad, "model.pull(vertex, (0, 0, 1))")
        return self._space.forces(load.force, load.moments)

    def misfit(self, u: ArrayLike) -> float:
        """How far the state is from a shape of the model, in the mean over its mass [m]."""
        x = self.mesh.vertices + self.checked("u", u)
        frame = self._energy.frame(x)
        return float(np.sqrt(((frame.z - self._energy.shape(frame.q)) ** 2).sum(axis=1).mean()))

    def point_at(self, place: Floats) -> CarriedPoint:
        """The point of the body, inside or of its surface, that is at a place at rest (3,) [m]."""
        model = self.model
        there = self._inertia.centre + (place - self.centre) @ self._turned
        nodes, weights = carriers(model.mesh, there[None])
        shapes = np.einsum("k,rki->ri", weights[0], model.vectors[:, nodes[0]])
        arm = weights[0] @ model.mesh.vertices[nodes[0]] - self._inertia.centre
        own = self._space.weights(arm[None], shapes[:, None])[0]
        return CarriedPoint.mean(np.arange(self.n_vertices), own, self.mesh.vertices)

    @property
    def _fastest(self) -> float:
        return float(np.sqrt(max(self.model.vibrations[0][-1], 0.0)))

    @cached_property
    def point_responses(self) -> PointResponses:
        """By rigid motions and the vibrations of the model."""
        squares, modes = self.model.vibrations
        inner = np.tensordot(modes.T, self._space.shapes, 1)
        fields = np.concatenate([orthonormal(rigid_motions(self.mesh.vertices)), inner])
        fields[:6] /= np.sqrt(self._space.mass)
        at = np.array([self.points.of(field) for field in fields])
        shares = np.einsum("kpi,kpi->pk", at, at) / 3.0
        return PointResponses(shares, np.concatenate([np.zeros(6), np.maximum(squares, 0.0)]))

    # -- as one of few shapes --------------------------------------------------------------

    def nearest(self, u: Floats) -> Floats:
        frame = self.frame(u)
        z = self._energy.shape(frame.q)
        return np.asarray(frame.centre + z @ frame.R.T - self.mesh.vertices)

    def motions(self, u: Floats) -> Floats:
        x = self.mesh.vertices + u
        inner = self._space.shapes @ self.frame(u).R.T
        return orthonormal(np.concatenate([rigid_motions(x), inner]))

    def curving(self, u: Floats, v: Floats) -> Floats:
        """ω × (ω × y) + 2 ω × ẏ, with ω that of the mean axes."""
        frame = self.frame(u)
        q_rate = np.tensordot(self._energy.rates(frame), v, 2)
        inner = np.tensordot(q_rate, self._space.shapes, 1) @ frame.R.T
        x = self.mesh.vertices + u
        spin = spin_of(x, v - inner)
        turning = np.cross(spin, x - frame.centre)
        return np.asarray(np.cross(spin, turning + 2.0 * inner))

    # -- what a body has to say --------------------------------------------------------

    @cached_property
    def contact_vertices(self) -> Ints:
        """All of the skin."""
        return np.arange(self.mesh.points.count)

    @cached_property
    def held(self) -> HeldComponents:
        return HeldComponents(np.ones((self.n_vertices, 3), dtype=bool), ())

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        values = np.zeros(self.pattern.n_blocks)
        values[self.pattern.indptr[:-1]] = self._space.mass
        return np.asarray(values * cell_factors[0])

    @property
    def total_mass(self) -> float:
        return self._inertia.mass

    @property
    def infeasible(self) -> str:
        return "a free reduced body is so far from its shapes that it has no frame of its own"

    @property
    def _rounding(self) -> tuple[float, float]:
        of = float(np.finfo(float).eps) * self._energy.kappa * np.sqrt(3 * self.n_vertices)
        return of * float(np.abs(self.mesh.vertices).max()), of

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        energy = self._energy
        at = energy.balance(self.mesh.vertices + u)
        none = np.zeros((0, 3))
        if at is None:
            lost = np.full_like(u, np.nan)
            return Evaluation(np.inf, lost, none, np.empty((0, 3, 3)))
        factor = 1.0 if asked.cell_factors is None else float(asked.cell_factors[0])
        gradient = factor * energy.force(at) if asked.order >= 1 else none
        product, values = none, np.empty((0, 3, 3))
        if asked.direction is not None:
            of = energy.matrix(at)
            product = factor * np.einsum("abij,bj->ai", of, asked.direction)
        if asked.order >= 2:
            blocks = factor * energy.matrix(at, definite=asked.definite)
            values = self.on_pattern(blocks)
            if asked.stiffness is not None:
                asked.stiffness[...] = values
                values = asked.stiffness
        return Evaluation(factor * at.energy, gradient, product, values)

    def on_pattern(self, blocks: Floats) -> Floats:
        """Blocks (n, n, 3, 3) as those of the pattern, (blocks, 3, 3)."""
        return np.ascontiguousarray(blocks[self.pattern.rows, self.pattern.cols])

    def damped_by(self, damping: Any) -> Any:
        from supple.damping.sums import bound_sum
        from supple.reduction.damping.all_motion import BoundToAllMotion
        from supple.reduction.damping.floating import BoundFloatingDamping
        from supple.reduction.runtime.floating_parts import free_damping, of_all_motion

        whole, inner = of_all_motion(damping)
        found: list[BoundDamping] = [BoundToAllMotion(self, each) for each in whole]
        if inner or not whole:
            found.append(BoundFloatingDamping(self, free_damping(inner)))
        return bound_sum(self, found)

    @cached_property
    def weights_of_vertices(self) -> Floats:
        """ψ (N, n) of all vertices of the body that was reduced."""
        arms = self.model.mesh.vertices - self._inertia.centre
        return self._space.weights(arms, self.model.vectors)


def _rotation(name: str, given: ArrayLike) -> Floats:
    R = numbers(name, given, ((3, 3),))
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
        raise InputError(f"{name} is not one; give R (3, 3) with R Rᵀ = I and det R = 1")
    return R
