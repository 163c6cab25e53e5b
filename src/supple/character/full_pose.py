"""Flesh on a rig in full: what reduced models are measured against (pose space, Eq. 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import diags_array
from scipy.sparse.linalg import splu

from supple.body import Body
from supple.character.posed_body import posed_body
from supple.character.tet_rig import TetRig
from supple.checks import instance, number, numbers, vector
from supple.errors import InputError, StepFailed
from supple.integrators import BackwardEuler, ImplicitIntegrator, Stage, State
from supple.types import Bools, Floats

_ITERATIONS = 30


class FullPoseSimulation:
    """M ü + D u̇ + f_int(Φ(p), u) = f_ext − M ẍ(p): every vertex of the tet mesh is free to move.

    Each step takes the pose as a new rest shape, which costs a few hundred times as much as a
    reduced one. ``body`` is the neutral one, ``mass`` and ``stiffness`` are those of Rayleigh
    damping. ``held`` (n, 3) are components that follow the rig beside those that the body fixes.
    The integrator is one with a single stage.
    """

    def __init__(
        self,
        body: Body,
        tet_rig: TetRig,
        *,
        mass: float = 0.0,
        stiffness: float = 0.0,
        integrator: ImplicitIntegrator | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        held: Bools | None = None,
        pose: ArrayLike | None = None,
        tolerance: float = 1e-8,
    ) -> None:
        instance("body", body, Body, "Body(mesh, material, fixed=bones, mass_model=LumpedMass())")
        self.body, self.tet_rig = body, tet_rig
        self.integrator = integrator if integrator is not None else BackwardEuler()
        self.dt = number("dt", dt, above=0, unit="s")
        self._damping = number("mass", mass, at_least=0), number("stiffness", stiffness, at_least=0)
        self._tolerance = number("tolerance", tolerance, above=0, below=1)
        self._masses = np.asarray(body.mass.diagonal())
        free = np.asarray(body.free, dtype=bool).copy()
        if held is not None:
            free &= ~np.asarray(held, dtype=bool)
        self._free = np.flatnonzero(free.ravel())
        self._weight = self._masses * np.tile(vector("gravity", gravity), body.n_vertices)
        self.reset(pose)

    def reset(self, pose: ArrayLike | None = None) -> None:
        """At rest in a pose, the neutral one unless given."""
        given = self.tet_rig.rig.neutral if pose is None else pose
        self.pose = numbers("pose", given, (self.tet_rig.rig.neutral.shape,))
        x = self.tet_rig.vertices(self.pose).ravel()
        still = np.zeros_like(x)
        self._flesh = State(0.0, still, still, still)
        self._bones = State(0.0, x, still, still)

    @property
    def displacements(self) -> Floats:
        """From the rig's shape [m], (n, 3)."""
        return self._flesh.u.reshape(-1, 3)

    def step(self, pose: ArrayLike, *, force: ArrayLike | None = None) -> None:
        """On to a pose (d,), ``dt`` [s] later; ``force`` (n, 3) [N] at the vertices."""
        p = numbers("pose", pose, (self.pose.shape,))
        x = self.tet_rig.vertices(p)
        posed = posed_body(self.body, x)
        flesh, bones = (self._stage(state) for state in (self._flesh, self._bones))
        f = self._weight - self._masses * bones.acceleration(x.ravel())
        if force is not None:
            f = f + numbers("force", force, (x.shape,)).ravel()
        alpha, beta = self._damping
        masses, free = self._masses[self._free], self._free
        u = self._flesh.u.copy()
        for _ in range(_ITERATIONS):
            shape = u.reshape(-1, 3)
            K = posed.stiffness(shape)[free][:, free]
            v, a = flesh.velocity(u)[free], flesh.acceleration(u)[free]
            parts = [f[free], -posed.force(shape).ravel()[free], -masses * (a + alpha * v)]
            rest = np.sum([*parts, -beta * (K @ v)], axis=0)
            if np.abs(rest).max(initial=0.0) <= self._tolerance * np.abs(parts).max(initial=0.0):
                break
            diagonal = (flesh.c_a + flesh.c_v * alpha) * masses
            matrix = (1 + flesh.c_v * beta) * K + diags_array(diagonal)
            u[free] += splu(matrix.tocsc()).solve(rest)
        else:
            raise StepFailed(
                "the Newton iteration did not converge",
                time=flesh.time,
                residual=float(np.abs(rest).max()),
                advice="Take shorter steps.",
            )
        self._flesh, self._bones, self.pose = flesh.state(u), bones.state(x.ravel()), p

    def _stage(self, state: State) -> Stage:
        stages = self.integrator.stages(state, None, self.dt)
        stage = next(stages)
        if abs(stage.time - state.time - self.dt) > 1e-9 * self.dt:
            raise InputError(
                f"integrator={self.integrator!r} has several stages; give BackwardEuler() or "
                "Newmark()"
            )
        return stage
