"""A pose-space model, laid out for compiled loops: only what a step reads, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple._kernels.character.basis import Groups, PoseArrays
from supple._kernels.character.damping import LawRoom
from supple._kernels.character.forces import BLOCK, Room
from supple._kernels.character.stage import Cells, ExactRoom, Rig, Workspace
from supple._kernels.linear_algebra.dense import padded
from supple._kernels.reduction.newton import Balance
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.memory import apart
from supple.core.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class StepArrays:
    """What a step needs of a model, and where."""

    needed: Ints
    """Vertices of the tet mesh whose place in a pose is needed, (k,)."""
    cells: Ints
    """The cubature cells in their order here, (c,)."""
    arrays: PoseArrays
    widest: int
    """Columns of the cell, or vertex, that has most."""
    gradients: int
    """How many numbers the gradients of all cells are."""

    @classmethod
    def of(cls, model: PoseSpaceModel, dtype: Any) -> StepArrays:
        """For bases stored as ``dtype``."""
        mesh_cells = model.tet_rig.mesh.cells[model.cells]
        regions = np.asarray(model.members[:, mesh_cells].any(axis=2)).T  # (c, regions)
        order, cell_groups, parts = _grouped(regions, model.regions)
        at_cells = mesh_cells[order]
        which = model.inertial_vertices
        vertex_order, vertex_groups, of_groups = _grouped(model.members[:, which].T, model.regions)
        at_vertices = which[vertex_order]
        used = np.concatenate([at_cells.ravel(), at_vertices])
        needed, place = np.unique(used, return_inverse=True)
        corners = place[: at_cells.size].reshape(at_cells.shape)
        rest = model.tet_rig.mesh.vertices
        gram, gaps, rows, columns = _entries(model.gram, model.gaps.values)
        arrays = PoseArrays(
            poses=model.weights.compiled,
            gram=gram,
            gap_poses=model.gaps.weights.compiled,
            gaps=gaps,
            rows=rows,
            columns=columns,
            cells=_with_basis(cell_groups, model.bases, at_cells, parts, dtype),
            corners=np.ascontiguousarray(corners),
            back=np.linalg.inv((rest[at_cells[:, 1:]] - rest[at_cells[:, :1]]).swapaxes(1, 2)),
            cell_weights=np.ascontiguousarray(model.cell_weights[:, order]),
            lame=np.ascontiguousarray(model.lame[:, order]),
            vertices=_with_basis(
                vertex_groups, model.bases, at_vertices[:, None], of_groups, dtype
            ),
            places=np.ascontiguousarray(place[at_cells.size :]),
            masses=model.inertial_weights[vertex_order] * model.masses[at_vertices],
            sums=np.einsum("n,mnir->mir", model.masses, model.bases),
        )
        counts = np.diff(arrays.cells.column_starts)
        widths = [*counts, *np.diff(arrays.vertices.column_starts), 1]
        gradients = int(9 * (counts * np.diff(arrays.cells.starts)).sum())
        return cls(needed, model.cells[order], arrays, int(max(widths)), gradients)

    def workspace(self, vectors: int) -> Workspace:
        """State and scratch of one character, with a history of so many vectors."""
        arrays, wide = self.arrays, self.widest
        m, _, r = arrays.sums.shape
        c, s, k = len(arrays.corners), 3 * len(arrays.places), len(self.needed)
        shapes: dict[str, tuple[int, ...]] = {
            "history": (vectors, r),
            "rig_history": (vectors, s),
            "entries": arrays.rows.shape,
            "U": (12 * wide,),
            "G": (self.gradients,),
            "volumes": (c,),
            "gap": (r, r),
            "interpolated_x": (k, 3),
            "interpolated_frames": (k, 3, 3),
            "interpolated_features": arrays.poses.features.shape[1:],
            "saved": (vectors, r),
            "rig_saved": (vectors, s),
            "scale": (r,),
            "external": (r,),
            "external_saved": (r,),
            "account": (7,),
            "account_saved": (7,),
            "counts": (7,),
        }
        shapes |= dict.fromkeys(("w", "distances"), (m,))
        shapes |= dict.fromkeys(("gap_w", "gap_distances"), (len(arrays.gaps),))
        shapes |= dict.fromkeys(("excess", "lag", "effective"), (s,))
        square = dict.fromkeys(("M", "C0", "B", "K", "A"), (r, r))
        of_balance = square | {
            "grams": (0, 0, 0),
            "gram_factors": (0,),
            "z_rate": (0,),
            "line": (4,),
        }
        by_cell: dict[str, tuple[int, ...]]
        by_cell = dict.fromkeys(("lam", "mu", "beta"), (c,)) | dict.fromkeys(
            ("psi", "power"), (c, 1)
        )
        by_cell |= {"A": (c, 1, 6, 3, 3)}
        workspace = Workspace(
            **{name: np.zeros(shape) for name, shape in shapes.items()},
            cells=Cells(*(np.zeros(by_cell.get(name, (c, 1, 3, 3))) for name in Cells._fields)),
            law_room=LawRoom(
                **{name: np.zeros((c, 1, 3, 3)) for name in ("P", "stress")},
                **{name: np.zeros((c, 1, 6, 3, 3)) for name in ("A", "derivative")},
                C1=np.zeros((r, r)),
            ),
            room=Room(*map(np.zeros, (9 * BLOCK * padded(wide), wide * padded(wide), wide))),
            balance=Balance(*(np.zeros(of_balance.get(name, (r,))) for name in Balance._fields)),
            exact=ExactRoom(
                **{name: np.zeros((r, r)) for name in ("J", "factors")},
                **{name: np.zeros(r) for name in ("start", "force", "delta", "left")},
            ),
            rig=Rig(*np.zeros((len(Rig._fields), s))),
        )
        return apart(workspace)


@dataclass(frozen=True, eq=False)
class SkinArrays:
    """What it takes to show the surface: the bases at the tets that carry it."""

    needed: Ints
    """Vertices of the tet mesh that carry surface vertices, (k,)."""
    corners: Ints
    """Those of each surface vertex, among these, (surface vertices, 4)."""
    shares: Floats
    """(surface vertices, 4)"""
    groups: Groups
    rows: Ints
    """The place among ``needed`` of each vertex of the groups."""

    @classmethod
    def of(cls, model: PoseSpaceModel, dtype: Any) -> SkinArrays:
        carriers = model.tet_rig.mesh.cells[model.skin_cells]
        needed, corners = np.unique(carriers, return_inverse=True)
        order, groups, parts = _grouped(model.members[:, needed].T, model.regions)
        blocks = [  # (count, 3, m, s)
            model.bases[:, needed[members]][..., columns].transpose(1, 2, 0, 3)
            for columns, members in parts
        ]
        return cls(
            needed=needed,
            corners=np.ascontiguousarray(corners.reshape(carriers.shape)),
            shares=np.ascontiguousarray(model.skin_weights),
            groups=_laid_out(groups, blocks, dtype),
            rows=order,
        )


def _grouped(regions: Bools, of_columns: Ints) -> tuple[Ints, Groups, list[tuple[Ints, Ints]]]:
    """Things in ``regions`` (k, regions), ordered so that those in the same ones stand together.

    Things in no region are left out. Also the columns and the members of each group.
    """
    kinds, which = np.unique(regions, axis=0, return_inverse=True)
    parts: list[tuple[Ints, Ints]] = []
    for number, kind in enumerate(kinds):
        columns = np.flatnonzero(kind[of_columns])
        members = np.flatnonzero(which.ravel() == number)
        if len(columns) and len(members):
            parts.append((columns, members))
    none = np.empty(0, dtype=np.int64)
    groups = Groups(
        columns=np.concatenate([none, *(columns for columns, _ in parts)]),
        column_starts=np.cumsum([0, *(len(columns) for columns, _ in parts)]),
        starts=np.cumsum([0, *(len(members) for _, members in parts)]),
        basis=np.empty(0),
        basis_starts=none,
    )
    return np.concatenate([none, *(members for _, members in parts)]), groups, parts


def _with_basis(
    groups: Groups, bases: Floats, at: Ints, parts: list[tuple[Ints, Ints]], dtype: Any
) -> Groups:
    """The groups with the basis at vertices ``at`` (k, corners) of each member, in their order."""
    blocks: list[Floats] = []
    for columns, members in parts:
        mine = at[len(blocks) : len(blocks) + len(members)]
        blocks += [bases[:, corners][..., columns] for corners in mine]  # (m, corners, 3, s)
    return _laid_out(groups, blocks, dtype)


def _laid_out(groups: Groups, blocks: list[Floats], dtype: Any) -> Groups:
    """The groups with blocks of their basis, one behind the other."""
    starts = np.cumsum([0, *(block.size for block in blocks)])[:-1]
    basis = np.concatenate([*(block.ravel() for block in blocks), np.empty(0)]).astype(dtype)
    return groups._replace(basis=basis, basis_starts=starts)


def _entries(gram: Floats, gaps: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Σ_ij w_i w_j U_iᵀ M U_j as a sum over i ≥ j, and D_i, in the same entries.

    They are those of the lower triangle that are not always zero, and the diagonal.
    """
    rows, columns = np.tril_indices(gram.shape[-1])
    sums = []
    for i in range(len(gram)):
        for j in range(i + 1):
            both = gram[i, i] if i == j else gram[i, j] + gram[j, i]
            sums.append(0.5 * (both + both.T)[rows, columns])
    mass, stiffness = np.array(sums), gaps[:, rows, columns]
    kept = (mass != 0).any(axis=0) | (stiffness != 0).any(axis=0) | (rows == columns)
    mass, stiffness = (np.ascontiguousarray(each[:, kept]) for each in (mass, stiffness))
    return mass, stiffness, rows[kept], columns[kept]
