"""Reduced elastic forces of any material from a few weighted cells, or points of cells.

The reduced energy Σ_e ∫ ψ(I + Σ_i q_i ∇φ_i) of all cells is replaced by Σ_e ξ_e ∫ ψ over some of
them, with weights ξ_e > 0 [An, Kim, James 2008]. Force and stiffness are its exact derivatives.
Where cells have several quadrature points, single ones stand for all just as well as whole cells
do, and cost a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple._kernels.reduction.cubature import add_reduced_stiffness
from supple.bodies.assembly import Part
from supple.bodies.solid import Body
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.threads import workspace
from supple.core.types import Floats, Ints
from supple.materials import Material
from supple.materials.base import material_of_file, name_for_file

_CHUNK = 2048  # points, over all copies, that are in flight: a megabyte, the cache


class CubatureWarning(UserWarning):
    """A cubature whose forces miss those of the whole body by more than a few per cent."""


@dataclass(frozen=True, eq=False, repr=False)
class Cubature:
    """Energy, force and stiffness of a reduced body from c of its cells, or of their points.

    Coordinates q (r,) belong to the basis that it was made with: u = Σ_i q_i φ_i.
    """

    cells: Ints
    """Which cells of the mesh, (c,); those of one material model stand together."""
    weights: Floats
    """How many cells, or points, like itself each one stands for: ξ > 0, (c,)."""
    volumes: Floats
    """Volume of each quadrature point times its weight [m³], (c, points)."""
    gradients: Floats
    """∂φ_i/∂X_j of each of r basis vectors at the quadrature points, (c, points, 3, 3, r)."""
    lam: Floats
    """Lamé's λ [Pa], (c,)."""
    mu: Floats
    """Lamé's μ [Pa], (c,)."""
    materials: tuple[type[Material], ...]
    """The material models in use."""
    counts: tuple[int, ...]
    """How many of the cells each of them has, in turn."""
    extra: tuple[Floats, ...] = ()
    """What each takes beside λ and μ: an array with a row a cell, or one for all; or an empty one.

    Without any, no material takes more.
    """
    training_error: float = np.nan
    """RMS over the training poses of the relative error of the force; NaN if not measured."""
    test_error: float = np.nan
    """The same over poses that were not used in training."""
    poses: int = 0
    """Number of training poses."""
    shrunk_poses: int = 0
    """How many poses, of training and test, were made smaller lest cells turn inside out."""
    points: Ints | None = None
    """Which quadrature point of its cell each one is, (c,); None where it is all of them."""

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            kind = np.int64 if name == "cells" else np.float64
            object.__setattr__(self, name, np.require(getattr(self, name), kind, ["C", "W"]))
        extra = self.extra or tuple(np.empty(0) for _ in self.materials)
        made = tuple(np.require(x, np.float64, ["C", "W"]) for x in extra)
        object.__setattr__(self, "extra", made)
        if self.points is not None:
            object.__setattr__(self, "points", np.require(self.points, np.int64, ["C", "W"]))
        _check(self)

    @property
    def size(self) -> int:
        """Number of cells, or of points, c."""
        return len(self.cells)

    @property
    def n_coordinates(self) -> int:
        """Number of reduced coordinates, r."""
        return int(self.gradients.shape[-1])

    @property
    def kind(self) -> str:
        """What it is made of, "cells" or "points"."""
        return "cells" if self.points is None else "points"

    def __repr__(self) -> str:
        return (
            f"Cubature({self.size} {self.kind}, {self.n_coordinates} coordinates, training error "
            f"{100 * self.training_error:.2g} %, test error {100 * self.test_error:.2g} %)"
        )

    @classmethod
    def of_cells(
        cls,
        body: Body,
        vectors: ArrayLike,
        cells: ArrayLike,
        weights: ArrayLike,
        *,
        points: ArrayLike | None = None,
        **measured: Any,
    ) -> Cubature:
        """The cubature with given cells (c,) and weights (c,) for the basis ``vectors`` (r, n, 3).

        With ``points`` (c,), of one quadrature point of each, counted from 0; a cell may then be
        there several times. ``measured`` are its errors and numbers of poses, if known.
        """
        basis = checked_vectors(body, vectors)
        index, xi, single = _checked_cells(body, cells, weights, points)
        chosen: dict[tuple[type[Material], bytes], list[tuple[Part, Ints, Floats, Ints]]] = {}
        for part in body.parts:
            place = np.full(body.mesh.n_cells, -1)
            place[part.cells] = np.arange(len(part.cells))
            mine = place[index] >= 0
            if mine.any():
                entry = part, place[index[mine]], xi[mine], single[mine]
                shared = b"".join(x.tobytes() for x in part.extra if len(x) == 1)
                chosen.setdefault((type(part.material), shared), []).append(entry)
        listed = [entry for entries in chosen.values() for entry in entries]
        columns = []
        for part, at, x, of in listed:
            volumes, G = part.weights[at], gradients_of_basis(part, at, basis)
            if points is not None:
                each = np.arange(len(at))
                volumes, G = volumes[each, of][:, None], G[each, of][:, None]
            columns.append((part.cells[at], x, x[:, None] * volumes, G))
        lame = [[constant[at] for constant in part.lame] for part, at, _, _ in listed]
        joined: Any = map(np.concatenate, [*zip(*columns, strict=True), *zip(*lame, strict=True)])
        return cls(
            **dict(zip(_ARRAYS, joined, strict=True)),
            materials=tuple(material for material, _ in chosen),
            extra=tuple(_joined_extra(entries) for entries in chosen.values()),
            counts=tuple(sum(len(at) for _, at, *_ in entries) for entries in chosen.values()),
            points=None if points is None else np.concatenate([of for *_, of in listed]),
            **measured,
        )

    # -- evaluating --------------------------------------------------------------------

    def evaluate(self, q: Floats, *, order: int = 2) -> tuple[float, Floats, Floats]:
        """Energy U [J] at coordinates q (r,), ∇U (r,) and ∇²U (r, r). Not checked.

        Derivatives above ``order`` are empty arrays. The energy is infinite where a material that
        does not survive inversion is turned inside out.
        """
        energies, forces, stiffnesses = self.evaluate_many(q[None], order=order)
        empty = np.empty((0, 0))
        force, stiffness = (x[0] if len(x) else empty for x in (forces, stiffnesses))
        return float(energies[0]), force, stiffness

    def evaluate_many(self, Q: Floats, *, order: int = 2) -> tuple[Floats, Floats, Floats]:
        """Energies (N,), forces (N, r) and stiffnesses (N, r, r) of N copies at Q (N, r)."""
        n, r = Q.shape
        energies: Floats = np.zeros(n)
        forces: Floats = np.zeros((n if order >= 1 else 0, r))
        stiffnesses: Floats = np.zeros((n if order >= 2 else 0, r, r))
        for group in self.groups:
            step = max(1, _CHUNK // len(group.volumes))
            for a in range(0, n, step):
                cut = slice(a, a + step)
                group.add(Q[cut], order, energies[cut], forces[cut], stiffnesses[cut])
        return energies, forces, stiffnesses

    @cached_property
    def groups(self) -> tuple[CubatureGroup, ...]:
        """The cells, material by material."""
        r = self.n_coordinates
        groups: list[CubatureGroup] = []
        a = 0
        for material, count in zip(self.materials, self.counts, strict=True):
            cut = slice(a, a + count)
            G = self.gradients[cut].reshape(-1, 9, r)
            volumes = self.volumes[cut].reshape(-1)
            extra = tuple(x for x in self.extra[len(groups) : len(groups) + 1] if x.size)
            groups.append(CubatureGroup(material, G, volumes, self.lam[cut], self.mu[cut], extra))
            a += count
        return tuple(groups)

    # -- variants, whose errors are not known ------------------------------------------

    def truncated(self, size: int) -> Cubature:
        """The cubature for the first ``size`` coordinates."""
        return self._changed(gradients=np.ascontiguousarray(self.gradients[..., :size]))

    def transformed(self, T: Floats) -> Cubature:
        """The cubature for coordinates p with q = T p, for T (r, s)."""
        return self._changed(gradients=np.ascontiguousarray(self.gradients @ T))

    def with_lame(self, cells: Ints, lam: float, mu: float) -> Cubature:
        """The cubature with other Lamé constants [Pa] in some cells of the mesh."""
        changed = np.isin(self.cells, cells)
        lams, mus = np.where(changed, lam, self.lam), np.where(changed, mu, self.mu)
        return self._changed(lam=lams, mu=mus)

    def _changed(self, **arrays: Floats) -> Cubature:
        return replace(self, training_error=np.nan, test_error=np.nan, **arrays)  # type: ignore[arg-type]

    # -- keeping -----------------------------------------------------------------------

    def header(self) -> dict[str, Any]:
        """What a file keeps beside the arrays, ready for JSON."""
        errors = {name: getattr(self, name) for name in ("training_error", "test_error")}
        return {
            "materials": [name_for_file(material) for material in self.materials],
            "counts": list(self.counts),
            **{name: None if np.isnan(error) else float(error) for name, error in errors.items()},
            "poses": self.poses,
            "shrunk_poses": self.shrunk_poses,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file keeps."""
        extra = {f"extra {k}": x for k, x in enumerate(self.extra) if x.size}
        points = {} if self.points is None else {"points": self.points}
        return {name: getattr(self, name) for name in _ARRAYS} | extra | points

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Cubature:
        """The cubature with this header and these arrays; InputError where they do not fit."""
        try:
            names = [str(name) for name in header["materials"]]
            given: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
            given["extra"] = tuple(arrays.get(f"extra {k}", np.empty(0)) for k in range(len(names)))
            given["points"] = arrays.get("points")
            given["counts"] = tuple(int(count) for count in header["counts"])
            given |= {name: int(header[name]) for name in ("poses", "shrunk_poses")}
            for name in ("training_error", "test_error"):
                given[name] = np.nan if header[name] is None else float(header[name])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"this is not a cubature, or a damaged one ({error!r}); train it again"
            ) from error
        return cls(materials=tuple(material_of_file(name) for name in names), **given)


_ARRAYS = ("cells", "weights", "volumes", "gradients", "lam", "mu")


@dataclass(frozen=True, eq=False)
class CubatureGroup:
    """The c cells of one material with m points: gradients G (m, 9, r), volumes (m,), λ, μ (c,)."""

    material: type[Material]
    G: Floats
    volumes: Floats
    lam: Floats
    mu: Floats
    extra: tuple[Floats, ...]

    def add(
        self, Q: Floats, order: int, energies: Floats, forces: Floats, stiffnesses: Floats
    ) -> None:
        """Adds its part for n copies at Q (n, r)."""
        n, c, m = len(Q), len(self.lam), len(self.volumes)
        rows = self.G.reshape(9 * m, -1)
        F = _numbers("F", n, 9 * m)
        np.matmul(Q, rows.T, out=F)
        F.reshape(-1, 9)[:, ::4] += 1.0  # F = I + Σ_i q_i ∇φ_i
        psi = _numbers("psi", n, m)
        P = _numbers("P", n if order >= 1 else 0, 9 * m)
        A = _numbers("A", n if order >= 2 else 0, 54 * m)
        lam, mu = (x if n == 1 else np.tile(x, n) for x in (self.lam, self.mu))
        at = (n * c, m // c)
        self.material.evaluate(
            F.reshape(*at, 3, 3),
            lam,
            mu,
            psi.reshape(at),
            P.reshape(-1, m // c, 3, 3),
            A.reshape(-1, m // c, 6, 3, 3),
            order,
            *self.extra,  # by cell, again for each copy
        )
        energies += psi @ self.volumes
        if order >= 1:
            P.reshape(n, m, 9)[:] *= self.volumes[:, None]
            forces += P @ rows
        if order >= 2:
            add_reduced_stiffness(A.reshape(n, m, 6, 3, 3), self.volumes, self.G, stiffnesses)


def _joined_extra(entries: list[tuple[Part, Ints, Floats, Ints]]) -> Floats:
    """What cells of one material take beside λ and μ, by cell or once for all."""
    found = [x for part, at, *_ in entries for x in part.extra_of(at)]
    if not found:
        return np.empty(0)
    shared = all(len(x) == 1 for part, *_ in entries for x in part.extra)
    return found[0] if shared else np.concatenate(found)


def _numbers(name: str, rows: int, columns: int) -> Floats:
    return workspace(f"cubature {name}", rows * columns).reshape(rows, columns)


def gradients_of_basis(part: Part, at: Ints | slice, basis: Floats) -> Floats:
    """∂φ_i/∂X_j at the points of some cells of a part, (c, points, 3, 3, r)."""
    shapes = basis[:, part.nodes[at]] - basis[:, part.nodes[at][:, :1]]  # (r, c, k, 3)
    c, points, k, _ = part.gradients[at].shape
    # The first node's share is zero, as in the deformation gradients of the cells.
    left = part.gradients[at][:, :, 1:].transpose(0, 1, 3, 2).reshape(c, points * 3, k - 1)
    right = shapes[:, :, 1:].transpose(1, 2, 3, 0).reshape(c, k - 1, -1)
    G = (left @ right).reshape(c, points, 3, 3, len(basis))  # j before i
    return np.ascontiguousarray(G.transpose(0, 1, 3, 2, 4))


def checked_vectors(body: Body, vectors: ArrayLike) -> Floats:
    """Basis vectors as a finite array (r, n, 3)."""
    basis = numbers("vectors", vectors)
    n = body.n_vertices
    if basis.ndim != 3 or basis.shape[1:] != (n, 3) or not len(basis):
        raise InputError(
            f"vectors has shape {basis.shape}; give basis vectors (r, {n}, 3), "
            "e.g. the shapes of vibration_modes"
        )
    return basis


def _checked_cells(
    body: Body, cells: ArrayLike, weights: ArrayLike, points: ArrayLike | None
) -> tuple[Ints, Floats, Ints]:
    n_cells, n_points = body.mesh.n_cells, points_a_cell(body)
    index, xi = np.asarray(cells), numbers("weights", weights)
    single = np.zeros_like(index) if points is None else np.asarray(points)
    fine = index.ndim == 1 and len(index) and np.issubdtype(index.dtype, np.integer)
    if not fine or ((index < 0) | (index >= n_cells)).any():
        raise InputError(f"cells must be one or more different indices from 0 to {n_cells - 1}")
    if (
        single.shape != index.shape
        or not np.issubdtype(single.dtype, np.integer)
        or ((single < 0) | (single >= n_points)).any()
    ):
        raise InputError(
            f"points must be {index.shape} indices from 0 to {n_points - 1}, one a cell"
        )
    if len(np.unique(n_points * index + single)) < len(index):
        what = "cells" if points is None else "points"
        raise InputError(f"{what} must be different from each other; one is there twice")
    if xi.shape != index.shape or not (xi > 0).all():
        raise InputError(f"weights must be {index.shape} positive numbers, one a cell")
    return index.astype(np.int64), xi, single.astype(np.int64)


def points_a_cell(body: Body) -> int:
    """Number of quadrature points in each cell."""
    return int(body.parts[0].weights.shape[1])


def _check(cubature: Cubature) -> None:
    """Stop at arrays that do not fit together, before a kernel reads beyond them."""
    c = cubature.cells.size
    # An array with too few dimensions gets a side of zero, which is refused.
    points, r = (*cubature.gradients.shape, 0, 0, 0, 0, 0)[1:5:3]
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_ARRAYS, (c,))
    shapes |= {"volumes": (c, points), "gradients": (c, points, 3, 3, r)}
    for name, shape in shapes.items():
        array = getattr(cubature, name)
        if array.shape != shape or 0 in shape:
            raise InputError(f"{name} of the cubature has shape {array.shape}; it must be {shape}")
        if not np.isfinite(array).all() or (name == "weights" and array.min() <= 0):
            raise InputError(f"{name} of the cubature must be finite, and weights positive")
    if cubature.points is not None and (cubature.points.shape != (c,) or points != 1):
        raise InputError(f"points of the cubature must be ({c},), each with a volume of its own")
    counts = cubature.counts
    if len(cubature.extra) != len(cubature.materials) or any(
        x.size and not (len(x) in (1, count) and np.isfinite(x).all() and material.takes(x))
        for material, x, count in zip(cubature.materials, cubature.extra, counts, strict=False)
    ):
        raise InputError(
            "extra of the cubature must be one array for each of its materials, as they give it, "
            "with a row for each of their cells or one row"
        )
    if len(counts) != len(cubature.materials) or min(counts, default=0) < 1 or sum(counts) != c:
        raise InputError(
            f"counts of the cubature is {counts}; give the number of cells of each of its "
            f"{len(cubature.materials)} materials, {c} together"
        )
