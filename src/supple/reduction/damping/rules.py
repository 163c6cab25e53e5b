"""How a damping becomes one of a reduced model.

Rules, in this order: what the damping says itself; closed forms, which models from files and edited
ones know too; projection of whatever is linear in the velocity and does not follow the shape; sums
over the points of a cubature; and projection of the force on the whole body, exact and slow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.polynomial import Polynomial

from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import (
    BoundDamping,
    BoundViscousDamping,
    Damping,
    ExampleDamping,
    MatchedStrainRate,
    Rayleigh,
    StiffnessAt,
    StrainRate,
)
from supple.damping.caughey import Caughey
from supple.damping.coefficients import Coefficient
from supple.damping.viscous import Viscous
from supple.reduction.coordinates import vibrations
from supple.reduction.cubature.cubature import Cubature, CubatureWarning
from supple.reduction.damping.examples import Placed, ReducedExamples
from supple.reduction.damping.kept import Kept
from supple.reduction.damping.points import (
    CubatureDamping,
    MatchedDamping,
    PointDamping,
    ProjectedDamping,
)
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.strain_rate import StrainRateForm, check_size
from supple.reduction.model import ReducedModel
from supple.reduction.strain_polynomials import fibre_gram, moduli_gram, strain_grams

_ROUNDING = 1e-12
_ASYMMETRY = 1e-9  # share of the largest entry that counts as rounding
_FEW_CELLS = 400  # of which every one is summed over
_SAMPLES = 8  # states at which a cubature is compared with all cells
_SWING = 0.1  # of the size of the body, in these
_GOOD, _BAD = 0.05, 0.25  # errors of a cubature that are told, and that are too much
_cubatures: WeakKeyDictionary[Any, Cubature] = WeakKeyDictionary()
_placed, _forms = Kept(), Kept()


def reduced_damping(
    damping: Damping | Sequence[Damping] | None, model: ReducedModel
) -> ReducedDamping:
    """``damping`` as it acts on the coordinates of ``model`` (subspace StVK, Eq. 3).

    A list is the sum of its members. A damping may say itself what it is there, by ``reduced``; for
    some there is a closed form here; all others are projected, or summed over some cells.
    """
    if damping is None:
        return ReducedDamping(np.zeros((model.size, model.size)))
    if not isinstance(damping, Damping):
        if not isinstance(damping, Sequence) or isinstance(damping, str):
            raise InputError(
                f"damping={damping!r}: give a damping such as Rayleigh(stiffness=...), a list of "
                "dampings, or none"
            )
        return sum((reduced_damping(each, model) for each in damping), reduced_damping(None, model))
    own: ReducedDamping | None = damping.reduced(model)
    if own is not None:
        return own
    for kind, rule in _CLOSED_FORMS.items():
        if isinstance(damping, kind):
            return rule(damping, model)
    return _of_body(damping, model)


def _of_body(damping: Damping, model: ReducedModel) -> ReducedDamping:
    """Any damping, from the body: what of it is in cells there, and what is not."""
    body = model.body
    if body is None:
        raise InputError(
            f"damping={damping!r} is projected from the body, which a model from a file does not "
            "have; make the model anew with reduce(body, basis)"
        )
    bound = damping.bind(body)
    if bound.is_linear and not bound.depends_on_shape:
        return _projected(bound, model)
    total = reduced_damping(None, model)
    cells, outside = bound.in_cells(), bound.outside_cells()
    if cells is not None:
        everywhere = CubatureDamping(cells, model.vectors, None)
        cubature = _cubature_for(everywhere, cells, model)
        total += _of_points(everywhere if cubature is None else cubature, model)
    if outside is not None and outside.is_linear and not outside.depends_on_shape:
        total += _projected(outside, model)
    elif outside is not None:
        total += _of_points(ProjectedDamping(outside, body, model.vectors), model)
    return total


def _of_points(found: PointDamping, model: ReducedModel) -> ReducedDamping:
    nothing = np.zeros((model.size, model.size))
    if found.is_linear:
        return ReducedDamping(nothing, points=(found,))
    return ReducedDamping(nothing, beside=(found,))


def _cubature_for(everywhere: PointDamping, cells: Any, model: ReducedModel) -> Any:
    """The damping on few cells; None where it is better summed over all of them."""
    if model.mesh.n_cells <= _FEW_CELLS:
        return None
    cubature = model.cubature
    if cubature is None:
        known = model.groups[0].grams  # what edited models have in common
        if known not in _cubatures:
            # SciPy trains, and is not there where models only run
            from supple.reduction.cubature.training import train_cubature

            assert model.body is not None
            # whole cells: densities of dissipation are evaluated in all points of a cell
            _cubatures[known] = train_cubature(model.body, model.vectors, by_point=False)
        cubature = _cubatures[known]
    few = CubatureDamping(cells, model.vectors, cubature)
    error = _difference(few, everywhere, model)
    if error <= _GOOD:
        return few
    kept = error <= _BAD
    warnings.warn(
        f"the damping forces of {cubature.size} {cubature.kind} differ from those of all "
        f"{model.mesh.n_cells} cells by {100 * error:.2g} %; "
        + (
            "a cubature with a smaller error would do better: train_cubature(body, basis.vectors, "
            "tolerance=...), given to reduce(...)"
            if kept
            else "all of them are taken, which is slow"
        ),
        CubatureWarning,
        stacklevel=2,
    )
    return few if kept else None


def _difference(few: PointDamping, many: PointDamping, model: ReducedModel) -> float:
    """RMS of the relative error of the force over some random states of moderate size."""
    chance = np.random.default_rng(0)
    squares, modes = vibrations(model.stiffness(np.zeros(model.size)), model.mass)
    share = modes / np.maximum(squares, 1e-9 * squares.max())
    reach = _SWING * float(np.ptp(model.mesh.vertices, axis=0).max())
    errors = []
    for _ in range(_SAMPLES):
        q, v = (share @ chance.normal(size=(model.size, 2))).T
        q, v = (x * reach / np.abs(model.displacements(x)).max() for x in (q, v))
        true = many.evaluate(q, v)[0]
        size = np.linalg.norm(true)
        if size > 0:
            errors.append(np.linalg.norm(few.evaluate(q, v)[0] - true) / size)
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0


def _projected(bound: BoundDamping, model: ReducedModel) -> ReducedDamping:
    """Uᵀ C U of a damping with the force C v + c at every shape."""
    body = model.body
    assert body is not None  # it was bound to it
    rest, vectors = Shape(body, np.zeros_like(body.mesh.vertices)), model.vectors
    steady = bound.evaluate(rest, np.zeros_like(body.mesh.vertices))[1]
    if isinstance(bound, BoundViscousDamping):
        forces = bound.multiply(rest, vectors)
    else:
        forces = np.array([bound.evaluate(rest, phi)[1] for phi in vectors]) - steady
    flat = vectors.reshape(model.size, -1)
    C: Floats = flat @ forces.reshape(model.size, -1).T
    if np.abs(C - C.T).max() > _ASYMMETRY * np.abs(C).max():
        return replace(
            _of_points(ProjectedDamping(bound, body, vectors), model), steady=flat @ steady.ravel()
        )
    return ReducedDamping(0.5 * (C + C.T), steady=flat @ steady.ravel())


def _of_examples(damping: ExampleDamping, model: ReducedModel) -> ReducedDamping:
    base = reduced_damping(damping.base, model)
    if base.push().any():
        raise InputError(
            f"base={damping.base!r} pushes a body that is at rest, which examples cannot scale; "
            "give a base without wind"
        )
    rest = np.zeros(model.size)
    if base.beside:
        raise InputError(
            f"base={damping.base!r} is not linear in the velocity; give one that is, such as "
            "Rayleigh(stiffness=...), and the other beside it: [ExampleDamping(...), other]"
        )
    C = base.matrix(rest)
    placed = _placed.of(lambda: Placed.of(damping, model, C), damping, model.vectors, model.mass)
    examples = ReducedExamples.of(damping, model, C, placed)
    return replace(base, examples=examples)


def _of_rayleigh(damping: Rayleigh, model: ReducedModel) -> ReducedDamping:
    return _of_mass(damping.mass, model) + _of_stiffness(damping.stiffness, damping.at, model)


def _of_mass(given: Coefficient, model: ReducedModel) -> ReducedDamping:
    if isinstance(given, float | int):
        return ReducedDamping(given * model.mass)
    # the body of an edited model is made when it is asked for
    if not _is_by_group(given, model) and model.body is not None:
        return _projected(Rayleigh(mass=given).bind(model.body), model)
    alphas = _by_group("mass", given, model)
    shares = zip(alphas, model.groups, strict=True)
    constant = np.sum([alpha * group.mass.at(group.density) for alpha, group in shares], axis=0)
    return ReducedDamping(0.5 * (constant + constant.T))


def _of_stiffness(given: Coefficient, at: StiffnessAt, model: ReducedModel) -> ReducedDamping:
    r, at_rest = model.size, at is StiffnessAt.REST
    if not isinstance(given, Mapping) and np.ndim(given) == 0:
        if not given:
            return reduced_damping(None, model)
        if at_rest:
            K = model.stiffness(np.zeros(r))
            return ReducedDamping(float(given) * 0.5 * (K + K.T))  # type: ignore[arg-type]
    if model.cubature is not None:
        matched = MatchedDamping(model.cubature, _of_cells(given, model)[model.cubature.cells])
        if at_rest:
            C = matched.matrix(np.zeros(r))
            return ReducedDamping(0.5 * (C + C.T))
        return ReducedDamping(np.zeros((r, r)), points=(matched,))
    form = _matched(given, model)
    if at_rest:
        return ReducedDamping(form.matrix(np.zeros(r)))
    return ReducedDamping(np.zeros((r, r)), form)


def _matched(given: object, model: ReducedModel) -> StrainRateForm:
    """β/2 Ė:C:Ė with the elasticity of each group, or of each cell of the body."""
    check_size(model.size)
    if _is_by_group(given, model):
        betas = _by_group("stiffness", given, model)
        terms = [
            term
            for beta, group in zip(betas, model.groups, strict=True)
            if group.grams is not None
            for term in group.grams.terms(beta, *group.lame)
        ]
        return StrainRateForm(model.size, terms=terms)
    if model.body is None:
        raise InputError(
            "stiffness is given cell by cell, or by a region that this model was not told of, and "
            "a model from a file does not know the stiffness of its cells; make the model anew "
            "with reduce(body, basis), or give one number"
        )
    beta = _of_cells(given, model)
    lam, mu = np.zeros_like(beta), np.zeros_like(beta)
    fibres = []
    for part in model.body.parts:
        C = part.strain_elasticity(slice(None))
        if C is None:
            lam[part.cells], mu[part.cells] = part.lame
        else:
            damped = beta[part.cells] > 0
            moduli = beta[part.cells][damped, None, None] * C[damped]
            fibres.append(moduli_gram(model.mesh, model.vectors, part.cells[damped], moduli))
    form = _strain_rate_form(model, beta * lam, beta * mu)
    return sum((StrainRateForm(model.size, gram) for gram in fibres), form)


def _strain_rate_form(model: ReducedModel, bulk: Floats, shear: Floats) -> StrainRateForm:
    """∫ φ/2 tr(Ė)² + ψ Ė:Ė with φ and ψ of each cell."""
    cells = np.arange(model.mesh.n_cells)
    of_bulk, of_shear = strain_grams(model.mesh, model.vectors, cells, (bulk, shear))
    return StrainRateForm(model.size, of_bulk + of_shear)


def _of_strain_rate(damping: StrainRate, model: ReducedModel) -> ReducedDamping:
    """Exact for every material: r is quadratic in the rate of Green's strain."""
    form = _forms.of(lambda: _own_form(damping, model), damping, model.vectors)
    return ReducedDamping(np.zeros((model.size, model.size)), form)


def _own_form(damping: StrainRate, model: ReducedModel) -> StrainRateForm:
    """That of viscosities, which do not follow from the material."""
    check_size(model.size)
    bulk, shear, fibre = (
        _of_cells(getattr(damping, name), model) for name in ("bulk", "shear", "fibre")
    )
    form = _strain_rate_form(model, bulk, shear)
    if fibre.any():
        axis = np.broadcast_to(np.asarray(damping.direction, dtype=float), (len(fibre), 3))
        form += StrainRateForm(model.size, fibre_gram(model.mesh, model.vectors, fibre, axis))
    return form


def _of_matched(damping: MatchedStrainRate, model: ReducedModel) -> ReducedDamping:
    return _of_stiffness(damping.stiffness, StiffnessAt.CURRENT, model)


def _of_caughey(damping: Caughey, model: ReducedModel) -> ReducedDamping:
    """M̃ Σ_j α_j (M̃⁻¹K̃)^j with the stiffness at rest (example damping, Eq. 13)."""
    squares, modes = vibrations(model.stiffness(np.zeros(model.size)), model.mass)
    strengths = Polynomial(damping.coefficients)(squares)
    terms = Polynomial(np.abs(damping.coefficients))(np.abs(squares))
    if (strengths < -_ROUNDING * terms).any():
        worst = int(np.argmin(strengths))
        raise InputError(
            f"these coefficients damp the vibration of {model.frequencies[worst]:.4g} Hz of this "
            f"model by less than nothing (Σ α_j ω^(2j) = {strengths[worst]:.4g} 1/s); give "
            "Caughey.from_ratios one more frequency near that"
        )
    MP = model.mass @ modes
    C: Floats = (MP * np.maximum(strengths, 0.0)) @ MP.T
    return ReducedDamping(0.5 * (C + C.T))


def _of_matrix(damping: Viscous, model: ReducedModel) -> ReducedDamping:
    """Φᵀ C Φ."""
    flat = model.vectors.reshape(model.size, -1)
    size, wanted = damping.matrix.shape[0], flat.shape[1]
    if size != wanted:
        raise InputError(
            f"the damping matrix is ({size}, {size}), but the model's mesh has {wanted // 3} "
            f"vertices; give ({wanted}, {wanted})"
        )
    C: Floats = flat @ (damping.matrix @ flat.T)
    return ReducedDamping(0.5 * (C + C.T))


def _is_by_group(given: object, model: ReducedModel) -> bool:
    """Whether a coefficient is one number, or given by regions that the model was told of."""
    if isinstance(given, Mapping):
        return all(region in model.regions for region in given)
    return np.ndim(given) == 0  # type: ignore[arg-type]


def _of_cells(given: object, model: ReducedModel) -> Floats:
    """A coefficient for every cell; where several regions hold a cell, the one named last."""
    n = model.mesh.n_cells
    if isinstance(given, Mapping):
        values = np.zeros(n)
        for region, value in given.items():
            values[model.mesh.region(region)] = float(value)
        return values
    values = np.broadcast_to(np.asarray(given, dtype=float), (n,)) if np.ndim(given) == 0 else given  # type: ignore[arg-type,assignment]
    if np.shape(values) != (n,):
        raise InputError(
            f"a coefficient has {np.shape(values)} numbers for {n} cells; give one a cell"
        )
    return np.array(values, dtype=float)


def _by_group(name: str, given: object, model: ReducedModel) -> list[float]:
    """The coefficient of each group of the model."""
    if not isinstance(given, Mapping):
        if np.ndim(given):  # type: ignore[arg-type]
            raise InputError(
                f"{name} is given cell by cell, which a model from a file cannot tell apart; give "
                "one number, or numbers by region, or make the model anew with reduce(body, basis)"
            )
        return [float(given)] * len(model.groups)  # type: ignore[arg-type]
    unknown = [region for region in given if region not in model.regions]
    if unknown:
        raise InputError(
            f"{name} names region {unknown[0]!r}, which this model was not told of; make it with "
            f"reduce(body, basis, regions=[{unknown[0]!r}])"
        )
    # as in full space: a region named later overrides one named before
    values = [0.0] * len(model.groups)
    for region, value in given.items():
        for k, group in enumerate(model.groups):
            if region in group.regions:
                values[k] = float(value)
    return values


_CLOSED_FORMS: dict[type[Damping], Callable[[Any, ReducedModel], ReducedDamping]] = {
    Rayleigh: _of_rayleigh,
    StrainRate: _of_strain_rate,
    MatchedStrainRate: _of_matched,
    Caughey: _of_caughey,
    Viscous: _of_matrix,
    ExampleDamping: _of_examples,
}
