"""Bases of several poses and what lies between them (pose space paper, §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.character.model.weights import PoseWeights
from supple.character.tissue.posed_body import posed_body
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import Alignment, aligned
from supple.character.training.basis import PoseBasis, pose_basis, shared_sizes
from supple.character.training.contact import PoseContact
from supple.character.training.modes import checked_regions
from supple.character.training.self_contact import self_contact
from supple.core.checks import instance, numbers
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints, Progress
from supple.mesh import TetMesh


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
        gram: Floats = (flat.T @ flat).reshape(m, r, m, r).swapaxes(1, 2)
        return gram

    def at(self, w: Floats) -> tuple[Floats, Floats]:
        """The diagonal of Υ (r,) and the reduced mass M̃ (r, r) for weights w (m,) of the poses."""
        # M̃ = Υᵀ (Σ_i Σ_j w_i w_j U_iᵀ M U_j) Υ, whose diagonal is 1 (Eqs. 15 and 16)
        mixed = np.einsum("i,j,ijkl->kl", w, w, self.gram, optimize=True)
        upsilon = 1 / np.sqrt(np.diagonal(mixed))
        return upsilon, upsilon[:, None] * mixed * upsilon

    def shapes(self, w: Floats, which: Ints | None = None) -> Floats:
        """U = Σ_i w_i U_i Υ, (n, 3, r), or (k, 3, r) for the vertices ``which`` (k,)."""
        some = self.bases if which is None else self.bases[:, which]
        basis: Floats = np.einsum("i,inar->nar", w, some, optimize=True) * self.at(w)[0]
        return basis


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
    places = np.stack([tet_rig.vertices(pose) for pose in p])
    frames = [tet_rig.frames(pose) for pose in p]
    found: list[PoseBasis] = []
    for k, x in enumerate(places):
        touching = contact and k > 0 if isinstance(contact, bool) else contact[k]
        own = None if stiff is None else stiff[k]
        try:
            found.append(
                _basis(
                    body, x, own, touching, modes=modes, size=sizes, regions=regions,
                    driven=_turned(frames[k], driven),
                )
            )  # fmt: skip
        except InputError as error:
            raise type(error)(f"pose {k}: {error}") from error
        if progress is not None:
            progress(k + 1, len(p), "bases of poses")
    features = np.stack([tet_rig.rig.features(pose) for pose in p])
    masses = np.ascontiguousarray(body.mass.diagonal()[::3])
    alignment = aligned(
        np.stack([basis.vectors.transpose(1, 2, 0) for basis in found]),
        places,
        body.mesh.cells,
        masses,
        features,
        found[0].regions,
        None if frames[0] is None else np.stack([frame for frame in frames if frame is not None]),
    )
    return PoseBases(
        PoseWeights.of(features),
        alignment,
        masses,
        found[0].regions,
        found[0].members,
        np.stack([basis.squares for basis in found]),
    )


def _turned(frames: Floats | None, fields: Floats | None) -> Floats | None:
    """Fields (k, n, 3) of the neutral frames in the world, where frames (n, 3, 3) are turned."""
    if frames is None or fields is None:
        return fields
    return np.asarray(np.einsum("nij,knj->kni", frames, fields))


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
