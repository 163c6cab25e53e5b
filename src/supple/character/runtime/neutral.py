"""The neutral pose of a character as a body, for what dampings ask of one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from supple._kernels.elasticity import elements
from supple.bodies.assembly import gradients_at
from supple.bodies.mass import LumpedMass
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.types import Floats, Ints
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.mesh import TetMesh
from supple.reduction.coordinates import vibrations
from supple.reduction.cubature.cubature import CubatureWarning

_SAMPLES = 6  # states at which cubature cells are compared with all
_SWING = 0.05  # of the body's diagonal, in these
_ROUNDING = 1e-9
_GOOD = 0.1  # an error that is not worth a word
_known: WeakKeyDictionary[PoseSpaceModel, NeutralModel] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class _Few:
    """Some cells of a part, with weights."""

    cells: Ints
    weights: Floats


class NeutralModel:
    """The reduced model of the neutral pose, and the body that it is of."""

    def __init__(self, model: PoseSpaceModel) -> None:
        self._basis = model.bases[0]  # (n, 3, r)
        self._masses = model.masses
        self._few = _Few(model.cells, model.cell_weights[0])
        self._material, self._lame, self._fixed = model.material, model.lame[0], model.fixed
        self.mesh: TetMesh = model.tet_rig.mesh
        self.size = model.n_coordinates
        lengths = np.sqrt(np.diag(model.gram[0, 0]))
        self.scale: Floats = 1 / lengths
        """The diagonal of Υ (r,)."""
        self.mass: Floats = model.gram[0, 0] * np.outer(self.scale, self.scale)
        self.total_mass = float(model.masses.sum())
        rig = model.tet_rig.rig
        self._gap = model.gaps.at(rig.features(rig.neutral), self.scale)

    @classmethod
    def of(cls, model: PoseSpaceModel) -> NeutralModel:
        """That of a model, made once."""
        if model not in _known:
            _known[model] = cls(model)
        return _known[model]

    def coordinates(self, shape: Floats) -> Floats:
        """The nearest coordinates (r,) to displacements (n, 3), by mass."""
        momenta = self.gathered(self._masses[:, None] * shape)
        return np.asarray(np.linalg.solve(self.mass, momenta), dtype=np.float64)

    def gathered(self, forces: Floats) -> Floats:
        """The reduced force (r,) of forces (n, 3) [N]."""
        return np.asarray(self.scale * np.einsum("ni,nir->r", forces, self._basis))

    def displacements(self, q: Floats) -> Floats:
        """(n, 3) for coordinates (r,)."""
        return np.asarray(self._basis @ (self.scale * q))

    # -- the body ------------------------------------------------------------------------

    @cached_property
    def body(self) -> Body:
        """The body, each cell with the moduli of the nearest cubature cell."""
        middles = self.mesh.vertices[self.mesh.cells].mean(axis=1)
        near = _nearest(middles[self._few.cells], middles)
        lam, mu = np.maximum(self._lame[near], 1e-9 * self._lame.max()).T
        poisson = lam / (2 * (lam + mu))
        material = self._material(
            young=2 * mu * (1 + poisson),
            poisson=poisson,
            density=self.total_mass / self.mesh.volumes.sum(),
        )
        fixed = self._fixed if self._fixed.any() else None
        return Body(self.mesh, material, fixed=fixed, mass_model=LumpedMass())

    def vertex_factors(self, cell_factors: Floats) -> Floats:
        """A number of every cell (cells,) at the vertices (n,), by mass."""
        ones = np.ones((self.body.n_vertices, 3))
        shares, whole = (
            self.body.pattern.multiply(self.body.scaled_mass(factors), ones)[:, 0]
            for factors in (cell_factors, np.ones_like(cell_factors))
        )
        return np.asarray(shares / whole)

    @cached_property
    def stiffness(self) -> Floats:
        """K̃ at rest, of the cubature cells and what they lack, (r, r)."""
        # by the material itself: the body needs more packages than a finished model may
        lam, mu = np.ascontiguousarray(np.maximum(self._lame, 1e-9 * self._lame.max()).T)
        F = np.tile(np.eye(3), (len(lam), 1, 1, 1))
        psi, P, A = np.empty((len(lam), 1)), np.empty_like(F), np.empty((len(lam), 1, 6, 3, 3))
        self._material.evaluate(F, lam, mu, psi, P, A, 2)
        return self._reduced(A) + self._gap

    @cached_property
    def following(self) -> float:
        """s: the share of damping by the stiffness that may follow the shape.

        What cubature cells lack at rest, D, has eigenvalues of both signs. With B(q) of the cells,
        B(q) + D is K̃ at rest, but gives power where they are strained and B is less. But
        s B(q) + (1 − s) B(0) + D, which is K̃ at rest too, is positive semidefinite everywhere if
        (1 − s) B(0) + D is. Twice what the neutral pose needs is taken, for other poses.
        """
        values, vectors = np.linalg.eigh(self.stiffness)
        root = vectors / np.sqrt(np.maximum(values, _ROUNDING * values[-1]))
        most = float(np.linalg.eigvalsh(root.T @ (self.stiffness - self._gap) @ root)[-1])
        lacking = 1.0 - 1.0 / max(most, 1.0)
        return max(1.0 - 2.0 * lacking, 0.0) if lacking > _ROUNDING else 1.0

    def matrix(self, damping: BoundCellDamping) -> Floats:
        """∂∇₂R/∂v of the cubature cells at rest, (r, r)."""
        part, cells = self.body.parts[0], self._few.cells
        F = np.tile(np.eye(3), (len(cells), 1, 1, 1))
        elasticity = damping.needs_elasticity
        points = Points.of(part, cells, F, np.zeros_like(F), elasticity=elasticity)
        sums = PointSums.zeros("neutral", points, order=2)
        damping.add_points(points, sums)
        return self._reduced(sums.A.copy())

    def _reduced(self, A: Floats) -> Floats:
        """Σ_e w_e G_eᵀ A_e G_e of stress derivatives (c, 1, 6, 3, 3) of the cubature cells."""
        rule, cells = self.mesh.quadrature(), self._few.cells
        weights = (rule.weights[cells, 0] * self._few.weights)[:, None]
        nodes, gradients = self.mesh.cells[cells], rule.gradients[cells]
        total = np.zeros((self.size, self.size))
        U = self._basis * self.scale
        for k in range(self.size):
            rate = np.einsum("eai,eaj->eij", U[nodes, :, k], gradients[:, 0])[:, None]
            P = np.empty_like(rate)
            elements.apply_derivative(A, np.ascontiguousarray(rate), P)
            force = np.zeros_like(self.mesh.vertices)
            elements.add_nodal_forces(nodes, gradients, weights, P, force)
            total[k] = self.gathered(force)
        return 0.5 * (total + total.T)

    # -- how good the cubature is --------------------------------------------------------

    def error(self, damping: BoundCellDamping) -> float:
        """RMS of the relative error of the force of the cubature cells over some random states."""
        chance = np.random.default_rng(0)
        squares, modes = vibrations(self.stiffness, self.mass)
        share = modes / np.maximum(squares, 1e-9 * squares.max())
        reach = _SWING * float(np.linalg.norm(np.ptp(self.mesh.vertices, axis=0)))
        errors = []
        for _ in range(_SAMPLES):
            both = (self.displacements(x) for x in (share @ chance.normal(size=(self.size, 2))).T)
            u, v = (np.ascontiguousarray(x * reach / np.abs(x).max()) for x in both)
            true = self.gathered(damping.evaluate(Shape(self.body, u), v)[1])
            size = np.linalg.norm(true)
            if size > 0 and np.isfinite(size):
                errors.append(np.linalg.norm(self._force_of_few(damping, u, v) - true) / size)
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0

    def _force_of_few(self, damping: BoundCellDamping, u: Floats, v: Floats) -> Floats:
        part, cells = self.body.parts[0], self._few.cells
        F = gradients_at(part, cells, u, 1.0, "F")
        rate = gradients_at(part, cells, v, 0.0, "rate")
        points = Points.of(part, cells, F, rate, elasticity=damping.needs_elasticity)
        sums = PointSums.zeros("few", points, order=1)
        damping.add_points(points, sums)
        weights = (part.weights[cells, 0] * self._few.weights)[:, None]
        force = np.zeros_like(u)
        nodes, gradients = part.nodes[cells], part.gradients[cells]
        elements.add_nodal_forces(nodes, gradients, weights, sums.P, force)
        return self.gathered(force)

    def tell_error(self, name: str, damping: BoundCellDamping) -> None:
        """Warn where the cubature cells are few for a damping."""
        if len(self._few.cells) == self.mesh.n_cells and (self._few.weights == 1.0).all():
            return
        error = self.error(damping)
        if error > _GOOD:
            warnings.warn(
                f"{name}: the damping forces of the {len(self._few.cells)} cubature cells differ "
                f"from those of all {self.mesh.n_cells} by {100 * error:.2g} % in the neutral "
                "pose; Rayleigh(stiffness=...) is corrected for that, and a model with more cells "
                "comes closer",
                CubatureWarning,
                stacklevel=2,
            )


def _nearest(points: Floats, others: Floats) -> Ints:
    """Which of the points (c, 3) is nearest to each of the others (n, 3)."""
    found = np.empty(len(others), dtype=np.int64)
    for start in range(0, len(others), 1024):
        here = others[start : start + 1024]
        away = ((here[:, None] - points[None]) ** 2).sum(axis=2)
        found[start : start + 1024] = away.argmin(axis=1)
    return found
