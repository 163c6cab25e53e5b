"""Bases of a body in its poses: modes and derivatives, region by region (pose space, §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.character.model.weights import PoseWeights, interpolated_mass
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import Alignment, aligned
from supple.character.training.contact import PoseContact, self_contact
from supple.character.training.modes import ConstrainedRest, checked_regions
from supple.core.checks import instance, numbers, whole_number
from supple.core.errors import ContactNotKept, InputError
from supple.core.types import Bools, Floats, Ints, Progress
from supple.materials import Material
from supple.mesh import TetMesh
from supple.reduction.basis import mass_pca
from supple.reduction.modes import mass_times, products

_VANISHING = 1e-9  # derivatives below this share of the largest one vanish by symmetry


@dataclass(frozen=True, eq=False, repr=False)
class PoseBasis:
    """Shapes that span the deformations of a body in one pose, u = Σ U_k q_k.

    They are mass-orthonormal within a region.
    """

    vectors: Floats
    """(r, n, 3) [1/√kg]"""
    regions: Ints
    """The region that each of them lives in, (r,)."""
    members: Bools
    """Which vertices are in each region, (regions, n)."""
    squares: Floats
    """ω² of the reduced body [1/s²], ascending, (r,)."""

    def __repr__(self) -> str:
        r, n = self.vectors.shape[:2]
        return f"PoseBasis({r} vectors in {len(self.members)} regions, {n} vertices)"


def pose_basis(
    body: Body,
    *,
    modes: int | Sequence[int] = 20,
    size: int | Sequence[int] = 30,
    regions: ArrayLike | None = None,
    contact: PoseContact | None = None,
    driven: Floats | None = None,
    progress: Progress | None = None,
) -> PoseBasis:
    """The most important combinations of modes and derivatives in each region.

    ``regions`` (d, n) are weights in [0, 1], 1 where a region is free to move, 0 outside; without
    them there is one of all vertices. ``modes`` is how many linear modes each of them has.
    ``size`` is how many vectors, for each region (d,), or altogether: then they are shared out.
    ``contact`` is kept by all vectors. ``driven`` are accelerations (k, n, 3) [m/s²], the
    strongest of which counts as much as the slowest mode: what the body does under them is spanned
    as well.
    """
    instance("body", body, Body, "posed_body(body, vertices)")
    weights = checked_regions(np.ones(body.n_vertices) if regions is None else regions, body)
    counts = _one_each("modes", modes, len(weights))
    sizes = shared_sizes(body, size, weights)
    vectors = []
    for k, (region, count, share) in enumerate(zip(weights, counts, sizes, strict=True)):
        vectors.append(_of_region(body, region, contact, driven, count, share))
        if progress is not None:
            progress(k + 1, len(weights), "regions")
    U = np.concatenate(vectors)
    numbers = np.repeat(np.arange(len(weights)), sizes)
    return PoseBasis(U, numbers, weights > 0, _squares(body, U))


def shared_sizes(body: Body, size: int | Sequence[int], regions: Floats) -> list[int]:
    """How many vectors each region (d, n) has, if ``size`` is for all of them together.

    They get the same number, but none more than half of its free components.
    """
    if not isinstance(size, int | np.integer):
        return _one_each("size", size, len(regions))
    most = np.array([(body.free & (w > 0)[:, None]).sum() // 2 for w in regions])
    if whole_number("size", size, at_least=len(regions)) > most.sum():
        raise InputError(f"size={size}: the free vertices carry no more than {most.sum()}")
    sizes = np.zeros(len(regions), dtype=np.int64)
    while (left := size - sizes.sum()) > 0:
        room = np.flatnonzero(sizes < most)
        room = room[np.lexsort((-most[room], sizes[room]))][:left]  # the emptiest, then the largest
        sizes[room] += 1
    return [int(share) for share in sizes]


def _one_each(name: str, given: int | Sequence[int], count: int) -> list[int]:
    each = [given] * count if isinstance(given, int | np.integer) else list(given)
    if len(each) != count:
        raise InputError(f"{name} has {len(each)} numbers for {count} regions; give one for each")
    return [whole_number(name, one, at_least=1) for one in each]


def _of_region(
    body: Body,
    region: Floats,
    contact: PoseContact | None,
    driven: Floats | None,
    modes: int,
    size: int,
) -> Floats:
    """Mass-orthonormal vectors (size, n, 3)."""
    rest = ConstrainedRest(body, region, contact)
    if rest.size < size <= rest.free:
        raise ContactNotKept(
            f"size={size}: the contact leaves only {rest.size} displacements; give at most that"
        )
    found, fields = rest.modes(min(modes, rest.size))
    derivatives = rest.derivatives(found, fields)
    norms = np.sqrt(np.einsum("kna,kna->k", derivatives, mass_times(body, derivatives)))
    present = norms > _VANISHING * norms.max()
    derivatives[~present] = 0.0
    norms[~present] = 1.0
    # The weights of subspace StVK, Eq. 16; where there are both ψ^ij and ψ^ji, each counts half.
    squares, (i, j) = found.squares, rest.pairs(len(fields)).T
    scale = squares[0] ** 2 / (squares[i] * squares[j])
    if (i > j).any():
        scale[i != j] *= np.sqrt(0.5)
    shapes = [
        (squares[0] / squares)[:, None, None] * found.shapes,
        (scale / norms)[:, None, None] * derivatives,
    ]
    if driven is not None:
        static_responses = rest.static_responses(driven)
        shapes.append(static_responses / np.sqrt(np.linalg.norm(_gram(body, static_responses), 2)))
    return mass_pca(body, np.concatenate(shapes), size).vectors


def _gram(body: Body, shapes: Floats) -> Floats:
    """Products by mass of shapes (k, n, 3), (k, k)."""
    return products(shapes, mass_times(body, shapes))


def _squares(body: Body, U: Floats) -> Floats:
    """ω² (r,) of the body in the span of U (r, n, 3), ascending."""
    rest = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
    stiff = products(U, body.pattern.multiply_many(rest, U))
    heavy = _gram(body, U)
    try:
        squares: Floats = scipy.linalg.eigh(stiff, heavy, eigvals_only=True)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "regions overlap so much that their vectors depend on each other; give regions of "
            "which each has vertices of its own, or fewer vectors"
        ) from error
    return squares


@dataclass(frozen=True, eq=False, repr=False)
class PoseBases:
    """Aligned bases U_i of m poses, and the basis U = Σ_i w_i U_i Υ of any other pose.

    They lie in the neutral frames of the vertices where the rig has frames, in the world otherwise.
    Υ makes the mass norm of each column 1; mass is lumped, so that frames leave it alone.
    """

    weights: PoseWeights
    alignment: Alignment
    masses: Floats
    """Of the vertices [kg], (n,)."""
    regions: Ints
    """The region that each column lives in, (r,)."""
    members: Bools
    """Which vertices are in each region, (regions, n)."""
    squares: Floats
    """ω² of the reduced body in each pose [1/s²], ascending, (m, r)."""

    def __repr__(self) -> str:
        m, n, _, r = self.bases.shape
        return f"PoseBases({r} vectors in {m} poses, {n} vertices)"

    @property
    def bases(self) -> Floats:
        """U_i, aligned, (m, n, 3, r)."""
        return self.alignment.bases

    @cached_property
    def gram(self) -> Floats:
        """U_iᵀ M U_j, (m, m, r, r)."""
        m, n, _, r = self.bases.shape
        heavy = np.sqrt(self.masses)[:, None, None] * self.bases
        flat = heavy.reshape(m, 3 * n, r).swapaxes(0, 1).reshape(3 * n, m * r)
        return np.asarray((flat.T @ flat).reshape(m, r, m, r).swapaxes(1, 2))

    def at(self, w: Floats) -> tuple[Floats, Floats]:
        """The diagonal of Υ (r,) and the reduced mass M̃ (r, r) for weights w (m,) of the poses."""
        return interpolated_mass(w, self.gram)

    def shapes(self, w: Floats, which: Ints | None = None) -> Floats:
        """U = Σ_i w_i U_i Υ, (n, 3, r), or (k, 3, r) for the vertices ``which`` (k,)."""
        some = self.bases if which is None else self.bases[:, which]
        return np.asarray(np.einsum("i,inar->nar", w, some, optimize=True) * self.at(w)[0])


def pose_bases(
    body: Body,
    tet_rig: TetRig,
    poses: ArrayLike,
    *,
    modes: int | Sequence[int] = 20,
    size: int | Sequence[int] = 30,
    regions: ArrayLike | None = None,
    contact: bool | Sequence[PoseContact | None] = False,
    young: ArrayLike | None = None,
    driven: Floats | None = None,
    progress: Progress | None = None,
) -> PoseBases:
    """A basis for each of the ``poses`` (m, d), the neutral one first, aligned to each other.

    ``body`` is the neutral one, with LumpedMass(). ``modes``, ``size`` and ``regions`` (d, n) are
    those of ``pose_basis``. ``contact`` True looks for self-contact in every pose but the neutral
    one; or it is given, pose by pose. ``young`` (m, cells) [Pa] is the stiffness in each pose,
    where it is not that of the body. ``driven`` are accelerations in the neutral frames of the
    vertices (k, n, 3) [m/s²], as ``pose_basis`` takes them.
    """
    instance("body", body, Body, "Body(mesh, material, fixed=bones, mass_model=LumpedMass())")
    if not isinstance(body.mesh, TetMesh) or not isinstance(body.mass_model, LumpedMass):
        raise InputError(
            "poses need a body of tets with lumped mass; give "
            "Body(TetMesh(...), ..., mass_model=LumpedMass())"
        )
    p = np.atleast_2d(numbers("poses", poses))
    whole = np.ones(body.n_vertices) if regions is None else regions
    sizes = shared_sizes(body, size, checked_regions(whole, body))
    stiff = None if young is None else numbers("young", young, ((len(p), body.n_cells),))
    if not isinstance(contact, bool) and len(contact) != len(p):
        raise InputError(f"contact has {len(contact)} entries for {len(p)} poses; give one each")
    features, places, frames = tet_rig.in_poses(p)
    found: list[PoseBasis] = []
    for k, x in enumerate(places):
        touching = contact and k > 0 if isinstance(contact, bool) else contact[k]
        own = None if stiff is None else stiff[k]
        drive = driven
        if driven is not None and frames is not None:
            drive = np.einsum("nij,knj->kni", frames[k], driven)
        options = {"modes": modes, "size": sizes, "regions": regions, "driven": drive}
        try:
            found.append(_basis(body, x, own, touching, **options))
        except InputError as error:
            raise type(error)(f"pose {k}: {error}") from error
        if progress is not None:
            progress(k + 1, len(p), "bases of poses")
    masses = np.ascontiguousarray(body.mass.diagonal()[::3])
    vectors = np.stack([basis.vectors.transpose(1, 2, 0) for basis in found])
    of_columns, members = found[0].regions, found[0].members
    alignment = aligned(vectors, places, body.mesh.cells, masses, features, of_columns, frames)
    squares = np.stack([basis.squares for basis in found])
    return PoseBases(PoseWeights.of(features), alignment, masses, of_columns, members, squares)


def basis_in_pose(
    body: Body,
    tet_rig: TetRig,
    pose: Floats,
    *,
    contact: bool | PoseContact | None = None,
    young: Floats | None = None,
    **options: Any,
) -> Floats:
    """The basis that one pose (d,) has by itself, in the neutral frames, (n, 3, r).

    ``missing_pose`` asks for it. The ``options`` are those of ``pose_basis``.
    """
    vectors = _basis(body, tet_rig.vertices(pose), young, contact, **options).vectors
    frames = tet_rig.frames(pose)
    if frames is None:
        return vectors.transpose(1, 2, 0)
    return np.asarray(np.einsum("nji,rnj->nir", frames, vectors))


def _basis(
    body: Body,
    vertices: Floats,
    young: Floats | None,
    contact: bool | PoseContact | None,
    **options: Any,
) -> PoseBasis:
    """The basis with the vertices there; ``contact`` True looks for self-contact."""
    posed = posed_body(body, vertices, young)
    if isinstance(contact, bool):
        contact = self_contact(posed.mesh, body.mesh) if contact else None
    return pose_basis(posed, contact=contact, **options)


def posed_body(body: Body, vertices: Floats, young: Floats | None = None) -> Body:
    """The body at rest with its vertices at ``vertices`` (n, 3) [m], and as heavy everywhere.

    Each cell keeps its mass (§5.2). ``young`` (cells,) [Pa] is the stiffness in this pose, where it
    is another one.
    """
    turned = TetMesh.inverted(vertices, body.mesh.cells)
    if turned.any():
        raise InputError(
            f"{turned.sum()} cells are inside out in this pose, the first is cell "
            f"{int(turned.argmax())}; fit the mesh to the pose (Eq. 3), or choose a milder pose"
        )
    mesh = replace(body.mesh, vertices=vertices)
    values = {"density": body.density * body.mesh.volumes / mesh.volumes}
    if young is not None:
        values["young"] = young
    if isinstance(body.material, Material):
        return replace(body, mesh=mesh, material=replace(body.material, **values))
    parts = {name: replace(material, **values) for name, material in body.material.items()}
    return replace(body, mesh=mesh, material=parts)
