"""From a body and a basis to a reduced model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.types import Floats, Ints, Progress
from supple.materials import Material
from supple.mesh import Embedding, VolumeMesh
from supple.reduction.basis import Basis
from supple.reduction.coordinates import is_definite
from supple.reduction.cubature.cubature import Cubature, points_a_cell
from supple.reduction.cubature.training import train_cubature
from supple.reduction.damping.strain_rate import StrainGrams
from supple.reduction.errors.frequencies import COMPARED, compared_vibrations
from supple.reduction.errors.locking import swing_energies
from supple.reduction.errors.told import warn_of_errors
from supple.reduction.groups import Contribution, Group
from supple.reduction.model import ReducedModel
from supple.reduction.modes import Modes
from supple.reduction.runtime.floating import FloatingInertia
from supple.reduction.strain_polynomials import moduli_gram, polynomial_of, strain_grams

_FEW_MATERIALS = 16  # whose Gram matrices are cheaper to add up than to make again


def reduce(
    body: Body,
    basis: Basis,
    *,
    regions: Sequence[str] = (),
    skin: Embedding | None = None,
    cubature: Cubature | bool | None = None,
    compare: bool | Modes | None = None,
    progress: Progress | None = None,
) -> ReducedModel:
    """A small model of ``body`` that moves in the span of ``basis``.

    StVK bodies, also with fibres, get their exact energy polynomial. Other materials get
    ``cubature``, made by ``train_cubature`` for this basis, or by default one trained here. So do
    StVK bodies if asked for: ``cubature=True`` trains one. With many coordinates its steps are
    faster, and its forces right to about 1 %; what is exact is not given up unasked. The
    materials of ``regions`` can be edited later; ``skin`` is a surface to draw.

    The slowest frequencies are compared with those of the body, ``model.frequency_errors``, and so
    is the energy of a swing by a quarter of its size, ``model.locking``. A ModelWarning tells where
    one of the first three frequencies, or that energy, is off by more than 5 %. ``compare`` may
    give the modes of the body, or say whether to: by default, up to 60,000 vertices.
    """
    instance("body", body, Body, "Body(mesh, StVK(young=1e6, poisson=0.4))")
    instance("basis", basis, Basis, "modal_derivative_basis(body, modes=20, size=30)")
    if basis.vectors.shape[1:] != body.mesh.vertices.shape:
        raise InputError(
            f"the basis has vectors of shape {basis.vectors.shape[1:]}, the body "
            f"{body.mesh.vertices.shape}; make the basis from this body"
        )
    if isinstance(regions, str):
        raise InputError(f"regions={regions!r} is one name; give a sequence, e.g. [{regions!r}]")
    if body.held.moving:
        raise InputError(
            "a reduced model holds its supports still, but this body has supports that move; "
            "use fixed= instead, and push the model with forces"
        )
    loose = body.free_rigid_motions
    if loose and not body.free.all():
        raise InputError(
            f"the supports leave {loose} rigid motions free; hold the body firmly, or not at all"
        )
    if loose > 6:
        raise InputError(
            f"the body is in {loose // 6} pieces that are not joined; reduce them one by one"
        )
    vectors = np.ascontiguousarray(basis.vectors)
    if np.abs(vectors[:, ~body.free]).max(initial=0.0) > 0.0:
        raise InputError("the basis moves components that are held; make the basis from this body")
    exact = (cubature is None or cubature is False) and is_polynomial(body)
    if cubature is not None and not isinstance(cubature, bool):
        instance("cubature", cubature, Cubature, "train_cubature(body, basis.vectors), or True")
    if isinstance(cubature, Cubature) and cubature.n_coordinates != len(vectors):
        raise InputError(
            f"the cubature is for {cubature.n_coordinates} basis vectors, the basis has "
            f"{len(vectors)}; train it with train_cubature(body, basis.vectors)"
        )
    if isinstance(cubature, Cubature) and not _belongs(cubature, body, vectors):
        raise InputError(
            "the cubature was trained for another body or basis; train it with "
            "train_cubature(body, basis.vectors)"
        )
    found = cubature if isinstance(cubature, Cubature) else None
    if not exact and found is None:
        found = train_cubature(body, vectors, progress=progress)
    if compare is not None and not isinstance(compare, bool):
        instance("compare", compare, Modes, "vibration_modes(body, 6)")
    slowest = compared_vibrations(body, COMPARED, compare)
    swings = None
    if slowest is not None and slowest.rest is not None and len(slowest.modes.shapes):
        swings = swing_energies(body, slowest.rest, slowest.modes, vectors)
    model = ReducedModel(
        mesh=body.mesh,
        vectors=vectors,
        groups=_groups(body, vectors, tuple(regions), exact, progress),
        cubature=found,
        floating=FloatingInertia.of(body, vectors) if loose else None,
        body=body,
        body_frequencies=None if slowest is None else slowest.modes.frequencies,
        swings=swings,
    )
    if not is_definite(model.mass):
        raise InputError(
            "the basis vectors depend on each other; make them independent, e.g. with "
            "picked_basis(body, shapes)"
        )
    warn_of_errors(model, stacklevel=2)
    return model if skin is None else model.with_skin(skin)


def is_polynomial(body: Body) -> bool:
    """Whether the reduced energy of a body is a polynomial: ψ is a quadratic form of strain.

    What a material inherits beside an ``evaluate`` of its own does not count.
    """

    def is_quadratic(material: Material) -> bool:
        owner = next(cls for cls in type(material).__mro__ if "evaluate" in vars(cls))
        return bool(vars(owner).get("quadratic_in_strain", False))

    return all(is_quadratic(part.material) for part in body.parts)


def _belongs(cubature: Cubature, body: Body, vectors: Floats) -> bool:
    """Whether a cubature has the materials of ``body`` and the gradients of ``vectors``."""
    if cubature.size and cubature.cells.max() >= body.mesh.n_cells:
        return False
    given = cubature.points
    if given is not None and given.max() >= points_a_cell(body):
        return False
    fresh = Cubature.of_cells(body, vectors, cubature.cells, cubature.weights, points=given)
    same = fresh.materials == cubature.materials and fresh.counts == cubature.counts
    return same and all(
        np.allclose(array, cubature.arrays()[name], rtol=1e-9)
        for name, array in fresh.arrays().items()
    )


# -- the groups of cells that a model is made of, §6.5 -----------------------------------------


def _groups(
    body: Body, vectors: Floats, regions: Sequence[str], exact: bool, progress: Progress | None
) -> tuple[Group, ...]:
    """The groups that ``regions`` cut the body into, with their shares of a reduced model."""
    mesh = body.mesh
    inside = np.zeros((len(regions), mesh.n_cells), dtype=bool)
    for row, name in zip(inside, regions, strict=True):
        row[mesh.region(name)] = True
    kinds, of_cell = np.unique(inside, axis=1, return_inverse=True)
    done = 0

    def report(cells: int, _: int, what: str) -> None:
        if progress is not None:
            progress(done + cells, mesh.n_cells, what)

    groups = []
    for kind in range(kinds.shape[1]):
        cells = np.flatnonzero(of_cell.ravel() == kind)
        names = tuple(name for name, is_in in zip(regions, kinds[:, kind], strict=True) if is_in)
        young, poisson = _parameter(body, "young", cells), _parameter(body, "poisson", cells)
        same = young is not None and poisson is not None
        energy = grams = None
        if exact:
            energy, grams = _energy_shares(body, vectors, cells, same, report)
        density = _parameter(body, "density", cells)
        of_density = _mass_shares(body, vectors, cells, built=density is None)
        masses = (body.density * mesh.volumes)[cells]
        built_mass = float(masses.sum()) if density is None else None
        named = _scaled_only(body, cells)
        given = young, poisson, density, *of_density, energy, built_mass, named, grams
        groups.append(Group(names, cells, *given))
        done += len(cells)
    return tuple(groups)


def _energy_shares(
    body: Body, vectors: Floats, cells: Ints, same: bool, report: Progress
) -> tuple[Contribution, StrainGrams]:
    """Polynomials for λ = 1 and for μ = 1, and where these differ that of the cells as they are.

    Cells with fibres have moduli that go with μ, so their share is in the latter. Also the Gram
    matrices of the strains that all come from.
    """
    mesh, r = body.mesh, len(vectors)
    lam, mu = (np.empty(mesh.n_cells) for _ in range(2))
    fibred = np.zeros(mesh.n_cells, dtype=bool)
    for part in body.parts:
        lam[part.cells], mu[part.cells] = part.lame
        fibred[part.cells] = bool(part.extra)
    plain = cells[~fibred[cells]]
    units, built = _grams_of(mesh, vectors, plain, None if same else (lam, mu), report)
    for part in body.parts:
        at = np.flatnonzero(np.isin(part.cells, cells)) if part.extra else np.empty(0, int)
        moduli = part.strain_elasticity(at)
        if not len(at) or moduli is None:
            continue
        mine = part.cells[at]
        of_one = moduli / mu[mine, None, None]
        units[1] += moduli_gram(mesh, vectors, mine, of_one, progress=report)
        if built is not None:
            built += moduli_gram(mesh, vectors, mine, moduli)
    energy = Contribution(
        np.array([polynomial_of(gram, r) for gram in units]),
        None if built is None else polynomial_of(built, r),
    )
    # without fibres these need not be kept: they can be made again
    kept = np.array(units) if fibred[cells].any() else None
    return energy, StrainGrams(mesh, vectors, cells, built, kept)


def _grams_of(
    mesh: VolumeMesh,
    vectors: Floats,
    cells: Ints,
    moduli: tuple[Floats, Floats] | None,
    report: Progress,
) -> tuple[list[Floats], Floats | None]:
    """Gram matrices of strains for λ = 1 and for μ = 1, and for λ and μ of all cells if given.

    The latter are sums of the former over cells of one material, as long as these are few.
    """
    if moduli is None:
        return list(strain_grams(mesh, vectors, cells, progress=report)), None
    lam, mu = moduli
    kinds, of_cell = np.unique([lam[cells], mu[cells]], axis=1, return_inverse=True)
    if kinds.shape[1] > _FEW_MATERIALS:
        units = list(strain_grams(mesh, vectors, cells, progress=report))
        return units, np.add(*strain_grams(mesh, vectors, cells, (lam[cells], mu[cells])))
    done = 0

    def count(more: int, _: int, what: str) -> None:
        report(done + more, len(cells), what)

    units = list(strain_grams(mesh, vectors, cells[:0]))  # zeros
    built = np.zeros_like(units[0])
    for kind, factors in enumerate(kinds.T):
        mine = cells[of_cell.ravel() == kind]
        grams = strain_grams(mesh, vectors, mine, progress=count)
        for unit, factor, gram in zip(units, factors, grams, strict=True):
            unit += gram
            gram *= factor
            built += gram
        done += len(mine)
    return units, built


def _scaled_only(body: Body, cells: Ints) -> str:
    """The material in these cells whose stiffness can be scaled but not changed, if there is."""
    for part in body.parts:
        if part.extra and np.isin(part.cells, cells).any():
            return type(part.material).__name__
    return ""


def _parameter(body: Body, name: str, cells: Ints) -> float | None:
    """The one value that a parameter has in these cells, None if it has several."""
    values = np.empty(body.mesh.n_cells)
    for part in body.parts:
        values[part.cells] = part.material.per_cell(name, part.cells)
    chosen = values[cells]
    return float(chosen[0]) if (chosen == chosen[0]).all() else None


def _mass_shares(
    body: Body, vectors: Floats, cells: Ints, *, built: bool
) -> tuple[Contribution, Contribution, Contribution, Contribution]:
    """What is linear in the density: mass, weight, place and turning."""
    inside = np.zeros(body.mesh.n_cells)
    inside[cells] = 1.0
    arms = np.concatenate([body.mesh.vertices[None], vectors])
    sums = []
    for factors in (inside / body.density, inside):
        values = body.scaled_mass(factors)
        X, *times = (body.pattern.multiply(values, y) for y in arms)
        MU = np.array(times)
        # of a uniform acceleration, all mass moves alike: sum the rows of M U
        weight, place = MU.sum(axis=1), X.sum(axis=0)
        # A_ij = Σ y_i ⊗ M φ_j; its antisymmetric part is Σ y_i × M φ_j
        A = np.einsum("ink,jnl->ijkl", arms, MU, optimize=True)
        turning = np.stack([A[..., (k + 1) % 3, (k + 2) % 3] for k in range(3)], axis=-1)
        turning -= np.stack([A[..., (k + 2) % 3, (k + 1) % 3] for k in range(3)], axis=-1)
        mass = np.einsum("ijkk->ij", A[1:])
        sums.append((mass, weight, place, turning))
    a, b, c, d = (
        Contribution(unit[None], whole if built else None)
        for unit, whole in zip(*sums, strict=True)
    )
    return a, b, c, d
