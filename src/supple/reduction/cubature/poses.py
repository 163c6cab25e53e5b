"""The poses that a cubature is trained with, and the forces of single cells in them.

Half of the poses are drawn like thermal motion: Gaussian, with the inverse of the reduced rest
stiffness as covariance, so that every mode has the same energy on average. The other half are
shapes at rest under random loads, which a body takes by itself: in them large forces in stiff
directions cancel.

All is done in coordinates z for which the rest stiffness is the identity. There an error of the
force in a soft mode counts like one of the same share in a stiff mode, and nothing depends on which
vectors span the basis. Nor does it depend on the signs of modes, or on which ones are found where
several are equally fast: those come from the last bits of the arithmetic, and poses are drawn in a
frame that does not turn with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from supple.bodies.assembly import Part
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints, Progress
from supple.materials.moduli import four_fold
from supple.reduction.coordinates import is_definite
from supple.reduction.cubature.cubature import Cubature, gradients_of_basis

SCALES = np.geomspace(0.05, 1.0, 5)  # from nearly linear to the whole amplitude
_CHUNK = 2**20  # numbers in flight while cells are evaluated: 8 MB
_RIGID = 1e-14  # ω² over that of single cells that is zero but for rounding
_DEPENDENT = 1e-10  # least eigenvalue of the reduced mass, of vectors of unit mass
_MARGIN = 1.25  # a pose this much larger must not yet turn a cell inside out
_SHRINK = 0.8  # what a pose that does, or a load that is too large, is multiplied by
_AT_REST = 1e-9  # what is left of the load where a pose is at rest
_FIELDS = 2008  # seed of the fields that give a body's modes a frame; no seed of poses


@dataclass(frozen=True, eq=False)
class EnergyCoordinates:
    """Coordinates z of a basis for which the rest stiffness is the identity: q = B z.

    Rigid motions, which have no stiffness, get that of the softest deformation.
    """

    B: Floats
    """(r, r)"""
    omega: Floats
    """Angular frequency [rad/s] of each coordinate at rest, (r,)."""
    elastic: Bools
    """Which coordinates deform the body, (r,); the others are rigid motions."""
    shapes: Floats
    """Displacements for unit z, (r, n, 3)."""
    frame: Floats
    """(r, r): see ``frame_of``."""

    @classmethod
    def of(cls, body: Body, basis: Floats) -> EnergyCoordinates:
        flat = basis.reshape(len(basis), -1)
        rest = body.evaluate(np.zeros_like(basis[0]), order=2).stiffness
        K = np.array([body.pattern.multiply(rest, phi).reshape(-1) for phi in basis]) @ flat.T
        M = np.array([body.mass_times(phi).reshape(-1) for phi in basis]) @ flat.T
        if not is_definite(M, _DEPENDENT):
            raise InputError(
                "the basis vectors are not independent of each other; drop zero and repeated "
                "ones, e.g. by mass-PCA"
            )
        squares, modes = scipy.linalg.eigh((K + K.T) / 2, M)
        fastest = np.abs(np.einsum("bii->b", rest)).max() / body.mass_values.max()
        elastic = squares > _RIGID * fastest
        if not elastic.any():
            raise InputError(
                "the basis vectors deform no cell; give some that are not rigid motions"
            )
        omega = np.sqrt(np.where(elastic, squares, squares[elastic][0]))
        B = modes / omega
        return cls(B, omega, elastic, np.tensordot(B.T, basis, axes=1), frame_of(basis, modes))

    def normal(self, count: int, rng: np.random.Generator) -> Floats:
        """Independent normal numbers for each coordinate, (count, r)."""
        return rng.normal(size=(count, len(self.omega))) @ self.frame.T


def frame_of(basis: Floats, modes: Floats) -> Floats:
    """A rotation U (r, r) with which Σ_ij φ_i U_ij g_j depends on g and the body alone.

    The φ are shapes Σ_k basis_k modes_ki. Where signs, or a turn among equally fast ones, make Rφ
    of them, A = φ·G for fixed fields G turns into RA, and its polar factor U into RU.
    """
    rng = np.random.default_rng(_FIELDS)
    flat = basis.reshape(len(basis), -1)
    A = np.stack([flat @ rng.normal(size=flat.shape[1]) for _ in flat], axis=1)
    left, _, right = np.linalg.svd(modes.T @ A)
    return np.asarray(left @ right)


@dataclass(frozen=True, eq=False)
class PoseSampler:
    """Draws poses z, and gives the forces of cells in them."""

    body: Body
    coordinates: EnergyCoordinates
    amplitude: float
    """Largest displacement in a pose over the longest side of the body's bounding box."""
    progress: Progress | None = None

    # -- poses -------------------------------------------------------------------------

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Poses of thermal motion (count, r), at all scales up to the amplitude."""
        return self._scaled(self.coordinates.normal(count, rng))

    def draw_resting(self, count: int, rng: np.random.Generator, model: Cubature) -> Floats:
        """Poses (count, r) at rest under random loads, as far as ``model``, in z, can tell.

        The loads are alike in every mode, q_i ∝ 1/ω_i², and such that a linear body would move by
        the amplitude, or less where the body gives way to move by more.
        """
        loads = self.coordinates.normal(count, rng) / self.coordinates.omega
        poses = self._scaled(loads * self.coordinates.elastic)  # nothing would balance the others
        for pose in poses:
            load = pose.copy()  # the stiffness is the identity
            pose[:] = _rest(model, load)
            while self._largest_displacement(pose) > self.amplitude * self._size:
                load *= _SHRINK
                pose[:] = _rest(model, load)
        return poses

    def _scaled(self, z: Floats) -> Floats:
        for t, pose in enumerate(z):
            reach = self.amplitude * self._size * SCALES[t % len(SCALES)]
            pose *= reach / self._largest_displacement(pose)
        return z

    @property
    def _size(self) -> float:
        return float(np.ptp(self.body.mesh.vertices, axis=0).max())

    def _largest_displacement(self, z: Floats) -> float:
        u = z @ self.coordinates.shapes.reshape(len(z), -1)
        return float(np.linalg.norm(u.reshape(-1, 3), axis=1).max())

    def shrink_inverted(self, z: Floats) -> int:
        """Makes poses smaller until no cell is near an inversion it cannot survive; how many."""
        touched = np.zeros(len(z), dtype=bool)
        bad, shapes = np.arange(len(z)), self.coordinates.shapes
        while len(bad):
            fine = np.ones(len(bad), dtype=bool)
            for part, at in self._chunks(len(bad), fragile=True):
                psi, _ = energies_and_forces(part, at, shapes, _MARGIN * z[bad], 0)
                fine &= np.isfinite(psi).all(axis=(0, 2))
            bad = bad[~fine]
            z[bad] *= _SHRINK
            touched[bad] = True
        return int(touched.sum())

    # -- forces ------------------------------------------------------------------------

    def forces(self, z: Floats, cells: Ints, of_cells: Floats) -> Floats:
        """The whole body's force (T, r) in poses (T, r); fills ``of_cells`` (c, T, r)."""
        total = np.zeros_like(z)
        row = np.full(self.body.mesh.n_cells, -1)
        row[cells] = np.arange(len(cells))
        done = 0
        for part, at in self._chunks(len(z)):
            force = energies_and_forces(part, at, self.coordinates.shapes, z, 1)[1]
            total += force.sum(axis=0)
            rows = row[part.cells[at]]
            of_cells[rows[rows >= 0]] = force[rows >= 0]
            done += len(rows)
            if self.progress is not None:
                self.progress(done, len(row), "forces of cells")
        return total

    def stresses(self, z: Floats, cells: Ints, points: Ints, P: Floats, G: Floats) -> Floats:
        """As ``forces``, for one point of each cell, whose forces are P G.

        Fills the stresses P (c, T, 9), times volumes, and the gradients G (c, 9, r).
        """
        total = np.zeros_like(z)
        n_cells = self.body.mesh.n_cells
        done = 0
        for part, at in self._chunks(len(z)):
            _, stress, rows = _point_stresses(part, at, self.coordinates.shapes, z, 1)
            c, n, n_points, _ = stress.shape
            total += (stress.reshape(c, n, -1) @ rows).sum(axis=0)
            place = np.full(n_cells, -1)
            place[part.cells[at]] = np.arange(c)
            mine = np.flatnonzero(place[cells] >= 0)
            asked, single = place[cells[mine]], points[mine]
            P[mine] = stress.transpose(0, 2, 1, 3)[asked, single]
            G[mine] = rows.reshape(c, n_points, 9, -1)[asked, single]
            done += c
            if self.progress is not None:
                self.progress(done, n_cells, "stresses of points")
        return total

    def total_force(self, z: Floats) -> Floats:
        """The whole body's force (T, r) in poses (T, r)."""
        return self.forces(z, np.zeros(0, dtype=np.int64), np.empty((0, *z.shape)))

    def _chunks(self, poses: int, *, fragile: bool = False) -> Iterator[tuple[Part, slice]]:
        """The cells in chunks, or those only that do not survive inversion."""
        r = len(self.coordinates.omega)
        for part in self.body.parts:
            if fragile and part.material.survives_inversion:
                continue
            cells, points = part.weights.shape
            step = max(1, _CHUNK // (poses * (19 * points + r) + 9 * points * r))
            for a in range(0, cells, step):
                yield part, slice(a, min(a + step, cells))


def energies_and_forces(
    part: Part, at: Ints | slice, shapes: Floats, q: Floats, order: int
) -> tuple[Floats, Floats]:
    """ψ (c, T, points) of cells where u = Σ_i q_i φ_i, and their forces (c, T, r) if order ≥ 1.

    ``shapes`` φ are (r, n, 3), ``q`` (T, r).
    """
    psi, P, rows = _point_stresses(part, at, shapes, q, order)
    if order == 0:
        return psi, np.empty((len(psi), 0, q.shape[1]))
    c, n, points = psi.shape
    return psi, P.reshape(c, n, 9 * points) @ rows


def _point_stresses(
    part: Part, at: Ints | slice, shapes: Floats, q: Floats, order: int
) -> tuple[Floats, Floats, Floats]:
    """ψ (c, T, points), stresses times volumes (c, T, points, 9), gradients (c, 9 points, r)."""
    H, rows = _displacement_gradients(part, at, shapes, q)
    c, n, points = H.shape[:3]
    F = H.reshape(c * n, points, 3, 3)
    F.reshape(-1, 9)[:, ::4] += 1.0
    psi = np.empty((c * n, points))
    P = np.empty((c * n if order >= 1 else 0, points, 3, 3))
    A = np.empty((0, points, 6, 3, 3))
    lam, mu = (np.repeat(x[at], n) for x in part.lame)
    extra = (x if len(x) == 1 else np.repeat(x, n, axis=0) for x in part.extra_of(at))
    part.material.evaluate(F, lam, mu, psi, P, A, order, *extra)
    stress = P.reshape(-1, n, points, 9)
    if order >= 1:
        stress *= part.weights[at][:, None, :, None]
    return psi.reshape(c, n, points), stress, rows


def linear_forces(part: Part, at: Ints | slice, shapes: Floats, q: Floats) -> Floats:
    """Forces (c, T, r) of cells that follow Hooke's law, as all materials do near rest."""
    H, rows = _displacement_gradients(part, at, shapes, q)
    c, n, points = H.shape[:3]
    C = part.strain_elasticity(at)
    if C is None:
        lam, mu = (x[at][:, None, None, None] for x in part.lame)
        P = mu[..., None] * (H + H.swapaxes(-1, -2))
        P.reshape(c, n, points, 9)[..., ::4] += lam * np.einsum("etpii->etp", H)[..., None]
    else:
        P = np.einsum("eabij,etpij->etpab", four_fold(C), H, optimize=True)
    P *= part.weights[at][:, None, :, None, None]
    return np.asarray(P.reshape(c, n, 9 * points) @ rows)


def _displacement_gradients(
    part: Part, at: Ints | slice, shapes: Floats, q: Floats
) -> tuple[Floats, Floats]:
    """∇u (c, T, points, 3, 3) of u = Σ_i q_i φ_i, and those of the φ_i, (c, 9 points, r)."""
    G = gradients_of_basis(part, at, shapes)
    c, points = G.shape[:2]
    rows = G.reshape(c, 9 * points, len(shapes))
    return (q @ rows.transpose(0, 2, 1)).reshape(c, len(q), points, 3, 3), rows


def _rest(model: Cubature, load: Floats) -> Floats:
    """Where the energy less the work of the load is least; z (r,).

    Fully, although nearly would do for a pose: the way there is not the same on every processor.
    """
    from scipy.optimize import minimize  # slow to import

    length = float(np.linalg.norm(load))  # also that of the linear answer
    found = minimize(
        lambda z: model.evaluate(z, order=0)[0] - load @ z,
        np.zeros_like(load),
        jac=lambda z: model.evaluate(z, order=1)[1] - load,
        hess=lambda z: model.evaluate(z)[2],
        method="trust-exact",
        options={
            "gtol": _AT_REST * length,
            "maxiter": 50,
            "initial_trust_radius": length / 4,
            "max_trust_radius": length,
        },
    )
    return np.asarray(found.x)
