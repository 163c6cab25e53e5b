"""Tet meshes fitted to the surface in each pose (pose space paper, Eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from supple.bodies.mass import MassModel
from supple.bodies.solid import Body
from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import turned_back
from supple.character.tissue.tet_rig import TetRig
from supple.core.checks import number
from supple.core.errors import StepFailed
from supple.core.types import Bools, Floats, Ints, Progress
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import Stage
from supple.materials import NeoHookean
from supple.mesh import Embedding, TetMesh
from supple.mesh.tet import EDGES, tet_volumes
from supple.solvers.linear.cholesky import Cholesky
from supple.solvers.newton import Newton

_POISSON = 0.3
_TOLERANCE = 1e-6
_MOST_ITERATIONS = 500  # poses of clips take 5 to 30
_BEYOND = -1.0  # barycentric: surface vertices so far outside of their tet tell it nothing
_SAME = 1e-12  # of the features: such a pose is the neutral one


@dataclass(frozen=True, eq=False)
class FitQuality:
    """How well a tet mesh follows the surface in some poses."""

    inverted: Floats
    """Share of tets that are turned inside out, (m,)."""
    errors: Floats
    """Distance between surface and tets, root mean square over the area, in edges, (m,)."""


def fitted(
    tet_rig: TetRig,
    poses: ArrayLike,
    *,
    gamma: float = 0.3,
    skin: Embedding | None = None,
    progress: Progress | None = None,
) -> TetRig:
    """The tet rig with corrections, so that tets fit the surface in ``poses`` (m, d), Eq. 3.

    In each pose the shape of least ‖A x − Φ̄(p)‖² + γ E(x) is found: the surface that the tets
    carry is near that of the rig, and tets are distorted little, and never inside out. Distances
    are measured in edges and averaged over the area, the energy E is that of a stiffness of 1
    averaged over the volume, so that ``gamma`` means the same at every size. ``skin`` is the
    surface in the tets, where it is known.
    """
    known = tet_rig.rig.checked_poses(poses, least=1)
    number("gamma", gamma, above=0)
    mesh, rig = tet_rig.mesh, tet_rig.rig
    surface = skin if skin is not None else Embedding(mesh, rig.surface())
    plain = TetRig(rig, mesh, tet_rig.near, tet_rig.shares, tet_rig.offsets)
    fit = _Fit(mesh, surface, gamma)
    corrections = np.zeros((len(known), mesh.n_vertices, 3))
    for k, pose in enumerate(known):
        if progress is not None:
            progress(k, len(known), "fitting tets to poses")
        if np.abs(pose - rig.neutral).max() <= _SAME:
            continue
        try:
            moved = fit(rig.vertices(pose)) - plain.vertices(pose)
        except StepFailed as failure:
            raise StepFailed(
                f"tets could not be fitted to pose {k}",
                time=0.0,
                residual=failure.residual,
                advice="Is the surface torn or folded there? A larger gamma= follows it less.",
            ) from failure
        corrections[k] = turned_back(plain.frames(pose), moved)
    if progress is not None:
        progress(len(known), len(known), "fitting tets to poses")
    weights = PoseWeights.of(np.array([rig.features(pose) for pose in known]))
    return plain.corrected(weights, corrections)


def fit_quality(tet_rig: TetRig, poses: ArrayLike, skin: Embedding | None = None) -> FitQuality:
    """How many tets are inside out in poses (m, d), and how far the surface is from the rig's."""
    mesh = tet_rig.mesh
    surface = skin if skin is not None else Embedding(mesh, tet_rig.rig.surface())
    areas, edge = _areas(surface), float(mesh.edge_lengths().mean())
    inverted, errors = [], []
    for pose in tet_rig.rig.checked_poses(poses, least=1):
        x = tet_rig.vertices(pose)
        inverted.append(float(TetMesh.inverted(x, mesh.cells).mean()))
        off = surface.matrix @ x - tet_rig.rig.vertices(pose)
        errors.append(float(np.sqrt(areas @ (off**2).sum(axis=1))) / edge)
    return FitQuality(np.array(inverted), np.array(errors))


def sound_cells(tet_rig: TetRig, poses: ArrayLike, *, least: float = 0.2) -> Bools:
    """Cells that keep their shape in all of ``poses`` (m, d), (cells,).

    A tet's shape is its mean ratio, negative where it is inside out; ``least`` is the share of it
    that must be left of that at rest. Corrections mend the poses they were made for; on the way
    between them a few tets may still be pressed flat. What stands for others, such as the cells of
    a cubature, is better chosen among the sound ones.
    """
    share, mesh = number("least", least, at_least=0, below=1), tet_rig.mesh
    enough = share * _shapes(mesh.vertices, mesh.cells)
    sound = np.ones(mesh.n_cells, dtype=bool)
    for pose in tet_rig.rig.checked_poses(poses, least=1):
        sound &= _shapes(tet_rig.vertices(pose), mesh.cells) >= enough
    return sound


@dataclass(frozen=True, eq=False)
class _Ties(MassModel):
    """The surface term of Eq. 3 as a mass: AᵀA splits into one matrix for each cell."""

    matrices: Floats

    def of_cells(self, exact: Floats) -> Floats:
        return self.matrices


class _Fit:
    """Solves Eq. 3 for one pose after the other."""

    def __init__(self, mesh: TetMesh, skin: Embedding, gamma: float) -> None:
        self._mesh, self._A = mesh, skin.matrix
        self._neutral, self._areas = skin.surface.vertices, _areas(skin)
        self._ties = 2 * self._areas / float(mesh.edge_lengths().mean()) ** 2
        products = skin.weights[:, :, None] * skin.weights[:, None, :]
        of_cells = np.zeros((mesh.n_cells, 4, 4))
        np.add.at(of_cells, skin.cells, self._ties[:, None, None] * products)
        material = NeoHookean(young=gamma / mesh.volume, poisson=_POISSON, density=1.0)
        body = Body(mesh, material, mass_model=_Ties(of_cells))
        self._problem = BodyProblem(body, terms_of(body))
        newton = Newton(tolerance=_TOLERANCE, max_iterations=_MOST_ITERATIONS, linear=Cholesky())
        self._solver = newton.bind(self._problem)

    def __call__(self, target: Floats) -> Floats:
        """Positions (n, 3) [m] for a surface at ``target`` (s, 3) [m].

        The material is infinitely stiff towards inversion, and the start is the neutral shape as
        a whole, moved and turned to the target: so tets never come to be inside out.
        """
        start = self._placed(target)
        u = start - self._mesh.vertices
        # ½ ‖A x − Φ̄‖² has the gradient AᵀA (u − u₀) − Aᵀ (Φ̄ − A x₀): a mass and a force.
        pull = self._A.T @ (self._ties[:, None] * (target - self._A @ start))
        stage = Stage(0.0, 0.0, u, 1.0, u, u)
        self._problem.begin(StageStart(stage, np.asarray(pull)))
        return np.asarray(self._mesh.vertices + self._solver.solve(stage, [u]))

    def _placed(self, target: Floats) -> Floats:
        """The neutral mesh, moved and turned so that its surface is as near as it can be."""
        here, there = self._areas @ self._neutral, self._areas @ target
        turn, _ = Rotation.align_vectors(target - there, self._neutral - here, weights=self._areas)
        return np.asarray(turn.apply(self._mesh.vertices - here) + there)


def _shapes(x: Floats, cells: Ints) -> Floats:
    """Mean ratio of each tet, 1 for a regular one and negative where inside out, (m,)."""
    volumes, corners = tet_volumes(x, cells), x[cells]
    squares = ((corners[:, EDGES[:, 1]] - corners[:, EDGES[:, 0]]) ** 2).sum(axis=(1, 2))
    return np.asarray(np.sign(volumes) * 12 * np.cbrt(3 * np.abs(volumes)) ** 2 / squares)


def _areas(skin: Embedding) -> Floats:
    """The share of the area around each vertex of the surface, (s,); none far outside the tets."""
    surface = skin.surface
    third = np.repeat(surface.areas / 3, 3)
    areas = np.bincount(surface.triangles.ravel(), weights=third, minlength=surface.n_vertices)
    areas[skin.weights.min(axis=1) < _BEYOND] = 0.0
    return np.asarray(areas / areas.sum())
