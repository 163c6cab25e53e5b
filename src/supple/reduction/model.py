"""A reduced model: a body whose displacements are u = Σ q_i φ_i, with few coordinates q."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction.projection import project_point
from supple.bodies.solid import Body
from supple.core.checks import instance, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import Embedding, Surface, VolumeMesh
from supple.reduction.coordinates import expand, output_array, vibrations
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.detail import all_but, slowest_vibrations, transformed, truncated
from supple.reduction.edits import Late, edited_model
from supple.reduction.errors.swings import SwingEnergies
from supple.reduction.groups import Group
from supple.reduction.polynomial import Quartic
from supple.reduction.runtime.floating import FloatingInertia, FloatingLoad


@dataclass(frozen=True, eq=False)
class Skin:
    """A surface that moves with a reduced model: its own basis, multiplied out beforehand.

    ``vertices`` (s, 3) at rest [m], ``triangles`` (t, 3), ``vectors`` (r, s, 3).
    """

    vertices: Floats
    triangles: Ints
    vectors: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel:
    """A body in r coordinates: M̃ q̈ + D̃ + R̃(q) = f̃ (subspace StVK, Eq. 4).

    Made by ``reduce``. ``vectors`` (r, n, 3) are the basis, ``groups`` the materials, ``cubature``
    evaluates materials other than StVK, ``floating`` carries a body without supports, and ``skin``
    is a surface to draw.
    """

    mesh: VolumeMesh
    vectors: Floats
    groups: tuple[Group, ...]
    cubature: Cubature | None = None
    floating: FloatingInertia | None = None
    skin: Skin | None = None
    up: Literal["y", "z"] | None = None
    """The axis that points up, where it was said."""
    body: Body | None = Late()  # type: ignore[assignment]  # noqa: RUF009  # edits do without it
    """The body that was reduced, with its edits; a model from a file has none."""
    body_frequencies: Floats | None = None
    """The slowest frequencies of the body [Hz], where they were compared; edits forget them."""
    swings: SwingEnergies | None = None
    """What ``locking`` comes from; edits forget it too."""
    origin: tuple[Floats, Floats] | None = None
    """Of a part of another model: the vectors of that one, and its own by them, (r of that, r)."""

    def __repr__(self) -> str:
        kind = "cubature" if self.cubature is not None else "exact StVK"
        where = "free" if self.floating is not None else "supported"
        return f"ReducedModel({self.size} coordinates, {kind}, {where}, {self.mesh!r})"

    @property
    def size(self) -> int:
        """Number of coordinates r."""
        return len(self.vectors)

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions whose material can be edited."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.regions))

    # -- mass and elasticity -------------------------------------------------------------

    @cached_property
    def mass(self) -> Floats:
        """Reduced mass M̃ = Uᵀ M U, (r, r); the identity until a density is edited."""
        total = self._by_density("mass")
        return 0.5 * (total + total.T)

    def _by_density(self, name: str) -> Floats:
        """What is linear in the densities, summed over the groups."""
        known: dict[str, Floats] = self.__dict__.setdefault("_of_densities", {})
        if name not in known:
            known[name] = _summed([getattr(g, name).at(g.density) for g in self.groups])
        return known[name]

    @cached_property
    def inverse_mass(self) -> Floats:
        """M̃⁻¹, (r, r)."""
        return np.ascontiguousarray(np.linalg.inv(self.mass))

    @cached_property
    def total_mass(self) -> float:
        """Mass of the whole body [kg]."""
        total = 0.0
        for group in self.groups:
            if group.density is not None:
                total += group.density * float(self.mesh.volumes[group.cells].sum())
            elif group.built_mass is not None:
                total += group.built_mass
            else:
                raise InputError(
                    "this model is from a file that does not tell the mass of a body whose density "
                    "differs from cell to cell; make it anew with reduce(body, basis)"
                )
        return total

    @cached_property
    def quartic(self) -> Quartic | None:
        """The exact energy polynomial of an StVK body."""
        shares = [group.energy.at(*group.lame) for group in self.groups if group.energy is not None]
        return Quartic(self.size, _summed(shares)) if shares else None

    def evaluate(self, q: Floats) -> tuple[float, Floats, Floats]:
        """Elastic energy [J], force (r,) and stiffness (r, r) at q (r,), not checked."""
        if self.quartic is not None:
            return self.quartic.evaluate(q)
        assert self.cubature is not None
        return self.cubature.evaluate(q)

    def energy(self, q: ArrayLike) -> float:
        """Elastic energy U(q) [J]."""
        return self.evaluate(self.checked("q", q))[0]

    def force(self, q: ArrayLike) -> Floats:
        """Reduced elastic force R̃(q) = Uᵀ ∇U(Uq), (r,) (Eq. 6)."""
        return self.evaluate(self.checked("q", q))[1]

    def stiffness(self, q: ArrayLike) -> Floats:
        """Reduced tangent stiffness K̃(q) = Uᵀ K(Uq) U, (r, r) (Eq. 8)."""
        given = self.checked("q", q)
        return self.evaluate(given)[2] if given.any() else self.rest_stiffness.copy()

    @cached_property
    def rest_stiffness(self) -> Floats:
        """K̃ at rest, (r, r)."""
        if self.quartic is not None:
            return self.quartic.stiffness_at_rest
        return self.evaluate(np.zeros(self.size))[2]

    @cached_property
    def vibrations(self) -> tuple[Floats, Floats]:
        """ω² [1/s²] of small vibrations, ascending (r,), and their coordinates in columns."""
        return vibrations(self.rest_stiffness, self.mass)

    @cached_property
    def frequencies(self) -> Floats:
        """Frequencies of small vibrations of the reduced model [Hz], (r,)."""
        return np.sqrt(np.maximum(self.vibrations[0], 0.0)) / (2 * np.pi)

    @property
    def frequency_errors(self) -> Floats | None:
        """By which shares the slowest vibrations are too fast, (k,), where the body's are known.

        A basis that holds their shapes has zeros here.
        """
        if self.body_frequencies is None:
            return None
        count = min(len(self.body_frequencies), self.size)
        return self.frequencies[:count] / self.body_frequencies[:count] - 1.0

    @cached_property
    def locking(self) -> float | None:
        """The share of energy that a swing by a quarter of the size takes too much, if compared."""
        return None if self.swings is None else self.swings.excess

    # -- between the body and the coordinates --------------------------------------------

    def displacements(self, q: ArrayLike, *, out: Floats | None = None) -> Floats:
        """u = Σ q_i φ_i [m], (n, 3)."""
        return expand(self.checked("q", q), self.vectors, out)

    def coordinates(self, u: ArrayLike) -> Floats:
        """The coordinates (r,) whose shape is nearest to displacements u (n, 3).

        For a free body, u are displacements in the frame that moves with it.
        """
        given = numbers("u", u, (self.mesh.vertices.shape,))
        Q, R = self._orthonormal
        return np.asarray(np.linalg.solve(R, given.ravel() @ Q), dtype=float)

    @cached_property
    def _orthonormal(self) -> tuple[Floats, Floats]:
        """The basis as Q R, with Q (3n, r) orthonormal and R (r, r) triangular."""
        Q, R = np.linalg.qr(self.vectors.reshape(self.size, -1).T)
        return Q, R

    def project(self, force: ArrayLike, *, at: Literal["mesh", "skin"] = "mesh") -> Any:
        """External forces [N] as ``step`` takes them: f̃ = Uᵀ f (Eq. 7).

        They act on all vertices of the mesh, (n, 3), or of the skin, (s, 3) (§3.1).
        """
        vectors, vertices = self._pulled(at)
        f = numbers("force", force, (vertices.shape,))
        if self.floating is not None:
            return self._floating_load(vectors, vertices, f)
        return vectors.reshape(self.size, -1) @ f.ravel()

    def pull(
        self,
        vertex: int,
        force: ArrayLike,
        *,
        at: Literal["mesh", "skin"] = "mesh",
        out: Floats | None = None,
    ) -> Any:
        """A force (3,) [N] on one vertex, as ``step`` takes it; reads that vertex's rows only.

        The vertex is one of the mesh, or of the skin.
        """
        vectors, vertices = self._pulled(at)
        if whole_number("vertex", vertex, at_least=0) >= len(vertices):
            where = "has" if at == "mesh" else "has a skin with"
            raise InputError(
                f"vertex={vertex!r}: this model {where} vertices 0 to {len(vertices) - 1}"
            )
        f = vector("force", force)
        if self.floating is not None:
            one = slice(vertex, vertex + 1)
            return self._floating_load(vectors[:, one], vertices[one], f[None])
        result = np.empty(self.size) if out is None else output_array("out", out, (self.size,))
        project_point(vectors, vertex, f, result)
        return result

    def _pulled(self, at: str) -> tuple[Floats, Floats]:
        """The basis (r, m, 3) and the places at rest (m, 3) of what forces act on."""
        if at == "mesh":
            return self.vectors, self.mesh.vertices
        if at != "skin":
            raise InputError(f"at={at!r}: forces act on the 'mesh' or on the 'skin'")
        if self.skin is None:
            raise InputError(
                "at='skin': this model has no skin; make it with reduce(body, basis, "
                "skin=Embedding(...))"
            )
        return self.skin.vectors, self.skin.vertices

    def _floating_load(self, vectors: Floats, places: Floats, forces: Floats) -> FloatingLoad:
        """Forces (k, 3) [N] of the world on a free body, where its basis is (r, k, 3)."""
        assert self.floating is not None
        moments = np.empty((1 + self.size, 3, 3))
        moments[0] = (places - self.floating.centre).T @ forces
        moments[1:] = vectors.transpose(0, 2, 1) @ forces
        return FloatingLoad(forces.sum(axis=0), moments)

    def weight(self, gravity: ArrayLike) -> Floats:
        """Reduced force of gravity for an acceleration (3,) [m/s²], (r,)."""
        return self._by_density("weight") @ vector("gravity", gravity)

    def gravitational(self, q: Floats, gravity: Floats) -> float:
        """Potential energy in gravity [J], zero at the origin."""
        return -float(self._by_density("place") @ gravity + self.weight(gravity) @ q)

    def momenta(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Linear [kg m/s] and, about the origin, angular momentum [kg m²/s], (3,) each."""
        arms, turning = np.concatenate([[1.0], q]), self._by_density("turning")
        return v @ self._by_density("weight"), np.einsum("i,ijk,j->k", arms, turning, v)

    def checked(self, name: str, q: ArrayLike) -> Floats:
        return numbers(name, q, ((self.size,),))

    # -- variants --------------------------------------------------------------------------

    def edited(
        self,
        region: str | None = None,
        *,
        young: float | None = None,
        poisson: float | None = None,
        density: float | None = None,
    ) -> ReducedModel:
        """The model with another material in one region, or in all of the body (§6.5).

        It is the model that ``reduce`` would make of the changed body with the same basis.
        """
        changes = {"young": young, "poisson": poisson, "density": density}
        return edited_model(self, region, changes)

    def detail(self, size: int, *, modes: int | None = None) -> ReducedModel:
        """A level of detail: the model in fewer coordinates, with the slowest vibrations it has.

        They are the first ``size``, as they are at rest. For large swings keep fewer ``modes`` of
        them; the other coordinates are then where these lead when they are large (their modal
        derivatives), without which they would be too stiff.
        """
        return transformed(self, slowest_vibrations(self, size, modes))

    def without(self, vectors: int | Sequence[int]) -> ReducedModel:
        """The model without some of its basis vectors, counted from 0 (§6.5)."""
        return transformed(self, all_but(self.size, vectors))

    def truncated(self, size: int) -> ReducedModel:
        """The model with the first ``size`` basis vectors only (§6.5).

        Vibrations are mixed of all vectors, and become faster where one is missing: ``detail``
        keeps them. A ModelWarning tells where it is no longer like its body, as in ``reduce``.
        """
        if not 1 <= whole_number("size", size, at_least=1) <= self.size:
            raise InputError(
                f"size={size}: this model has {self.size} coordinates; give at most that"
            )
        if size == self.size:
            return self
        fewer = truncated(self, size)
        from supple.reduction.errors.told import warn_of_errors  # which needs SciPy

        warn_of_errors(fewer, stacklevel=2)
        return fewer

    def with_skin(self, embedding: Embedding) -> ReducedModel:
        """The model with a surface that moves with it, to draw."""
        instance("embedding", embedding, Embedding, "Embedding(mesh, surface)")
        if not np.array_equal(embedding.mesh.vertices, self.mesh.vertices):
            raise InputError(
                "the surface is embedded in another mesh than the model's; embed it in that one: "
                "Embedding(model.mesh, surface)"
            )
        surface = embedding.surface
        vectors = np.array([embedding.displace(phi) for phi in self.vectors])
        return replace(self, skin=Skin(surface.vertices, surface.triangles, vectors))

    def skin_embedding(self) -> Embedding | None:
        """The skin as ``export_motion`` takes it: ``export_motion(motion, path, skin=...)``."""
        if self.skin is None:
            return None
        return Embedding(self.mesh, Surface(self.skin.vertices, self.skin.triangles))

    # -- use -------------------------------------------------------------------------------

    def simulation(self, *, copies: int | None = None, **options: Any) -> Any:
        """The model in motion: a ReducedSimulation, or a CrowdSimulation of ``copies``.

        A body without supports gets a FloatingSimulation. The options are those of these classes.
        """
        from supple.reduction.runtime.crowd import CrowdSimulation  # these three know the model
        from supple.reduction.runtime.floating_simulation import FloatingSimulation
        from supple.reduction.runtime.simulation import ReducedSimulation

        if copies is not None:
            return CrowdSimulation(self, copies=copies, **options)
        if self.floating is not None:
            return FloatingSimulation(self, **options)
        return ReducedSimulation(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for ``load_model``, in one piece or not at all."""
        from supple.reduction.model_file import save_model

        save_model(self, path)


def _summed(shares: list[Floats]) -> Floats:
    return shares[0] if len(shares) == 1 else np.asarray(np.sum(shares, axis=0))
