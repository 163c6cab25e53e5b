"""Rigid bodies: as good as rigid, with mass and inertia from a closed surface.

An affine body (Lan et al., Affine Body Dynamics, 2022) moves by x = A X + p: twelve coordinates
and a stiff energy κ V ‖AᵀA − I‖² that keeps A a rotation. Here the twelve are where four vertices
are, x = Σ w_k x_k with weights that never change, so a rigid body is one tet to everything that
works on vertices. With AᵀA − I = 2 E, Green's strain, the energy is that of a Saint
Venant–Kirchhoff material with ν = 0.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.constrained import ConstrainedBody, orthonormal, rigid_motions, spin_of
from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.bodies.supports import Support
from supple.core.checks import number, numbers, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.materials import StVK
from supple.mesh import Surface, VolumeMesh, read_surface
from supple.mesh.rigid import RigidMesh

_STIFFNESS = 1e10


class RigidBody(ConstrainedBody, Body):
    """A body that moves and turns, and hardly deforms.

    ``shape`` is a closed surface: a ``Surface``, the name of a file that ``read_surface`` reads, or
    a solid mesh, whose boundary is taken. ``density`` [kg/m³] is that of what it encloses.
    ``stiffness`` [Pa] is what holds it together, Young's modulus of a solid that can deform evenly
    alone. ``fixed=True`` holds it where it is.

    Its ``mesh`` has four vertices, and so have states and forces; ``mesh.skin`` is the surface,
    ``positions(u)`` where that is, and ``pose(u)`` how the body is placed and turned.
    """

    mesh: RigidMesh

    def __init__(
        self,
        shape: Surface | VolumeMesh | str | os.PathLike[str],
        *,
        density: float,
        stiffness: float = _STIFFNESS,
        fixed: bool = False,
        supports: Sequence[Support] = (),
    ) -> None:
        number("density", density, above=0, unit="kg/m³")
        number("stiffness", stiffness, above=0, unit="Pa")
        if not isinstance(fixed, bool | np.bool_):
            raise InputError(
                f"fixed={fixed!r}: a rigid body is held as a whole; give True or False"
            )
        mesh = shape if isinstance(shape, RigidMesh) else RigidMesh.of(_surface_of(shape))
        share = mesh.moments.volume / float(mesh.volumes[0])  # the tet is not the solid
        material = StVK(young=stiffness * share, poisson=0.0, density=density * share)
        values = {
            "mesh": mesh,
            "material": material,
            "fixed": np.arange(4) if fixed else None,
            "supports": supports,
            "mass_model": LumpedMass(),  # four equal masses are exact
            "stiffness_modulus": float(stiffness),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mesh.skin!r}, {self.total_mass:.4g} kg)"

    @cached_property
    def contact_vertices(self) -> Ints:
        """Those of the skin, (s,)."""
        return np.arange(self.mesh.points.count)

    @property
    def advice(self) -> str:
        return ""

    @property
    def only_newton(self) -> str:
        return "rigid bodies need"

    # -- as one of few shapes --------------------------------------------------------------

    def nearest(self, u: Floats) -> Floats:
        return self.placed(*self.pose(u))

    def motions(self, u: Floats) -> Floats:
        return orthonormal(rigid_motions(self.mesh.vertices + u))

    def curving(self, u: Floats, v: Floats) -> Floats:
        x = self.mesh.vertices + u
        spin = spin_of(x, v)
        return np.cross(spin, np.cross(spin, x - x.mean(axis=0)))

    def left_by_impacts(self, before: Floats, after: Floats) -> float:
        lost = float(np.vdot(before, before) - np.vdot(after, after))
        return 0.125 * self.total_mass * max(lost, 0.0)

    # -- as a rigid body -----------------------------------------------------------------

    @property
    def centre(self) -> Floats:
        """Centre of mass at rest [m], (3,)."""
        return self.mesh.moments.centre

    @cached_property
    def inertia(self) -> Floats:
        """Inertia about the centre at rest [kg m²], (3, 3)."""
        S = self.total_mass * self.mesh.moments.spread
        return np.asarray(np.trace(S) * np.eye(3) - S)

    def positions(self, u: ArrayLike) -> Floats:
        """Where the vertices of the skin are [m], (s, 3), at displacements u (4, 3)."""
        return self.mesh.points.moved(self.checked("u", u))

    def pose(self, u: ArrayLike) -> tuple[Floats, Floats]:
        """Rotation R (3, 3) and where the centre is [m], (3,), at displacements u (4, 3)."""
        given = self.checked("u", u)
        centre = (self.mesh.vertices + given).mean(axis=0)
        return self.mesh.poses(given)[0], np.asarray(centre)

    def placed(self, rotation: ArrayLike, centre: ArrayLike) -> Floats:
        """Displacements (4, 3) that turn the body by R (3, 3) and put its centre there [m]."""
        R = numbers("rotation", rotation, ((3, 3),))
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
            raise InputError("rotation is not one; give R (3, 3) with R Rᵀ = I and det R = 1")
        arms = self.mesh.vertices - self.centre
        return np.asarray(vector("centre", centre) + arms @ R.T - self.mesh.vertices)

    def velocity(
        self, linear: ArrayLike = (0, 0, 0), spin: ArrayLike = (0, 0, 0), u: ArrayLike | None = None
    ) -> Floats:
        """Velocities (4, 3) [m/s] of a body at u that moves [m/s] and turns [rad/s], (3,) each."""
        x = self.mesh.vertices + (0.0 if u is None else self.checked("u", u))
        arms = x - x.mean(axis=0)
        return np.asarray(vector("linear", linear) + np.cross(vector("spin", spin), arms))

    def stretch(self, u: ArrayLike) -> float:
        """The largest strain at u: how far from rigid the body is."""
        A = self._map(self.mesh.vertices + self.checked("u", u))
        return float(np.abs(np.linalg.svd(A, compute_uv=False) - 1.0).max())

    def _map(self, x: Floats) -> Floats:
        """A of x = A X + p, (3, 3)."""
        X = self.mesh.vertices
        spans: Floats = (x[1:] - x[0]).T @ np.linalg.inv((X[1:] - X[0]).T)
        return spans


def _surface_of(shape: Surface | VolumeMesh | str | os.PathLike[str]) -> Surface:
    if isinstance(shape, Surface):
        return shape
    if isinstance(shape, VolumeMesh):
        return shape.boundary()
    if isinstance(shape, str | os.PathLike):
        return read_surface(shape)
    raise InputError(
        f"shape is a {type(shape).__name__}; give a closed Surface, a solid mesh such as a "
        "TetMesh, or the name of a file with a surface"
    )
