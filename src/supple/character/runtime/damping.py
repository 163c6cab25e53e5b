"""Damping of a character in motion.

One rule for all: a closed form where there is one, constant matrices in the frames of the vertices,
and densities of dissipation at the cubature cells, which have F and Ḟ at hand in every step. The
rates are those of the flesh relative to the rig, and the rest shape is that of the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.polynomial import Polynomial

from supple._kernels.character.damping import BASE, BESIDE, Constants, Laws
from supple._kernels.damping.law_call import law_in_python
from supple._kernels.reduction.example_newton import Examples
from supple.bodies.assembly import Part
from supple.bodies.shape import Shape
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.neutral import NeutralModel
from supple.character.tissue.posed_damping import check_examples, check_for_flesh, listed
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.damping import (
    BoundDamping,
    Caughey,
    Damping,
    ExampleDamping,
    MatchedStrainRate,
    Rayleigh,
    StiffnessAt,
    Viscous,
)
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.coefficients import spread_over_cells
from supple.damping.laws import WIDTH, CellLaw
from supple.reduction.damping.examples import ReducedExamples

_ROUNDING = 1e-12
_numbers = count(1)
_in_python: WeakValueDictionary[int, _PythonLaw] = WeakValueDictionary()
_plans: WeakKeyDictionary[PoseSpaceModel, list[tuple[Any, _Plan]]] = WeakKeyDictionary()
_MOST_PLANS = 8  # of a model, that are kept


@dataclass(frozen=True, eq=False)
class PoseDamping:
    """C = C₀ + B(q), which examples may change, and what is beside them; for compiled loops."""

    beta: float
    """Of the base: its cells have the material part of β K̃ [s]."""
    beta_at_rest: float
    """And what they have of it at rest, times this [s]."""
    constants: Constants
    laws: Laws
    designed: ReducedExamples | None
    examples: Examples | None
    """The same, for compiled loops."""
    kept: tuple[Any, ...]
    """What laws in Python are kept alive by."""

    @classmethod
    def of(
        cls, damping: Damping | Sequence[Damping] | None, model: PoseSpaceModel, cells: Ints
    ) -> PoseDamping:
        """The damping on the coordinates of a model, with cubature cells (c,) in this order."""
        plans = _plans.setdefault(model, [])
        plan = next((kept for given, kept in plans if given is damping), None)
        if plan is None:
            plan = _Plan.of(damping, model)
            plans.append((damping, plan))
            del plans[:-_MOST_PLANS]
        return plan.made(cells)

    def force(self, q: Floats, v: Floats, C: Floats) -> Floats:
        """Of rates v (r,) at q (r,), where the base is C (r, r)."""
        return np.asarray(C @ v if self.designed is None else self.designed.force(q, v, C))


def base_at_rest(damping: Damping | Sequence[Damping], model: PoseSpaceModel) -> Floats:
    """C (r, r) of dampings that are linear, in the neutral pose, where nothing is deformed."""
    return _Plan.of(damping, model).base_at_rest(model)


class _PythonLaw:
    """A density that is known to Python alone, at cells of a part."""

    def __init__(self, bound: BoundCellDamping, part: Part, cells: Ints) -> None:
        self._bound, self._part, self._cells = bound, part, cells
        self.number = next(_numbers)
        _in_python[self.number] = self

    def law(self) -> CellLaw:
        """For compiled loops."""
        none = np.zeros((WIDTH, len(self._cells)))
        return CellLaw(law_in_python(_run_in_python), none, np.array([float(self.number)]))

    def add(
        self, F: Floats, D: Floats, P0: Floats, A0: Floats, to: PointSums, *, stress: bool
    ) -> None:
        points = Points(self._part, self._cells, F, D, P0, A0)
        if stress and to.order >= 2:
            self._bound.add_tangent_points(points, to)
        else:
            self._bound.add_points(points, to)


def _run_in_python(
    F: Floats, D: Floats, P0: Floats, A0: Floats, numbers: Floats, r: Floats, P: Floats, A: Floats,
    order: int, factor: float, stress: bool,
) -> None:  # fmt: skip
    to = PointSums(r, P, A, order=order, factor=factor, definite=True)
    _in_python[int(numbers[0])].add(F, D, P0, A0, to, stress=stress)


@dataclass(eq=False)
class _Matrix:
    """What C₀ or C₁ is made of."""

    alpha: float = 0.0
    gap: float = 0.0
    at_rest: float = 0.0
    series: list[float] = field(default_factory=list)
    forms: list[Callable[[Floats], Floats]] = field(default_factory=list)
    """Each gives C x of fields x (k, n, 3)."""


@dataclass(eq=False)
class _Plan:
    """What a damping is on a model, before it is laid out for a step."""

    beta: float = 0.0
    beta_at_rest: float = 0.0
    matrices: tuple[_Matrix, _Matrix] = field(default_factory=lambda: (_Matrix(), _Matrix()))
    cells: list[tuple[BoundCellDamping, bool]] = field(default_factory=list)
    """Dampings of cells, and whether they are in the base."""
    designed: ReducedExamples | None = None
    forms: Floats = field(default_factory=lambda: np.zeros((2, 0, 0)))

    @classmethod
    def of(cls, damping: Damping | Sequence[Damping] | None, model: PoseSpaceModel) -> _Plan:
        plan, given = cls(), listed(damping)
        by_example = [each for each in given if isinstance(each, ExampleDamping)]
        if len(by_example) > 1:
            raise InputError(
                "two dampings by example in one list; give one, with the examples of both over one "
                "base"
            )
        for each in given:
            if not isinstance(each, ExampleDamping):
                plan._add(model, each, BESIDE if by_example else BASE)
        for each in by_example:
            check_examples(each)
            for base in each.bases:
                plan._add(model, base, BASE, must_be_linear=True)
        if any(matrix.forms for matrix in plan.matrices):
            plan.forms = np.array([_form(model, matrix.forms) for matrix in plan.matrices])
        if by_example:
            C, neutral = plan.base_at_rest(model), NeutralModel.of(model)
            plan.designed = ReducedExamples.of(by_example[0], cast(Any, neutral), C)
        return plan

    # -- one by one ----------------------------------------------------------------------

    def _add(
        self, model: PoseSpaceModel, damping: Damping, row: int, *, must_be_linear: bool = False
    ) -> None:
        """One damping, in the base or beside it."""
        matrix = self.matrices[row]
        check_for_flesh(damping)
        if isinstance(damping, Rayleigh):
            self._add_rayleigh(model, damping, row)
        elif isinstance(damping, MatchedStrainRate):
            self._add_rayleigh(model, Rayleigh(stiffness=damping.stiffness), row)
        elif isinstance(damping, Caughey):
            _add_series(damping, matrix, np.maximum(model.squares, 0.0))
        elif isinstance(damping, Viscous):
            matrix.forms.append(_applied(damping, model))
        else:
            self._add_bound(model, damping, row, must_be_linear=must_be_linear)

    def _add_rayleigh(self, model: PoseSpaceModel, damping: Rayleigh, row: int) -> None:
        matrix = self.matrices[row]
        alpha, beta = damping.mass, damping.stiffness
        if _is_number(alpha):
            matrix.alpha += float(cast(float, alpha))
        else:
            neutral = NeutralModel.of(model)
            of_cells = spread_over_cells("mass", alpha, neutral.body)
            masses = (neutral.vertex_factors(of_cells) * model.masses)[:, None]
            matrix.forms.append(lambda fields: masses * fields)
        if not _is_number(beta):
            if damping.at is StiffnessAt.REST:
                raise InputError(
                    f"stiffness={beta!r}: at rest a character takes one number; leave out "
                    "at=StiffnessAt.REST, with which stiffness by region or cell works"
                )
            self._add_bound(model, MatchedStrainRate(stiffness=beta), row)
        elif damping.at is StiffnessAt.REST:
            matrix.at_rest += float(cast(float, beta))
        elif beta:
            body, whole = NeutralModel.of(model), float(cast(float, beta))
            following = body.following * whole
            if row == BASE:
                self.beta += following
                self.beta_at_rest += whole - following
                matrix.gap += whole
            else:
                matrix.gap += following
                matrix.at_rest += whole - following
                bound = MatchedStrainRate(stiffness=following).bind(body.body)
                self._add_cells(model, bound, row, told="")

    def _add_bound(
        self, model: PoseSpaceModel, damping: Damping, row: int, *, must_be_linear: bool = False
    ) -> None:
        """Any damping, bound to the body of the neutral pose."""
        body = NeutralModel.of(model).body
        bound = damping.bind(body)
        if must_be_linear and not bound.is_linear:
            raise InputError(
                f"base={damping!r} is not linear in the velocity; give one that is, such as "
                "Rayleigh(stiffness=...), and the other beside it: [ExampleDamping(...), other]"
            )
        cells, outside = bound.in_cells(), bound.outside_cells()
        if cells is not None:
            self._add_cells(model, cells, row, told=type(damping).__name__)
        if outside is not None:
            self.matrices[row].forms.append(_constant(damping, outside, model))

    def _add_cells(
        self, model: PoseSpaceModel, bound: BoundDamping, row: int, *, told: str
    ) -> None:
        assert isinstance(bound, BoundCellDamping)
        if told:
            NeutralModel.of(model).tell_error(told, bound)
        self.cells.append((bound, row == BASE and bound.is_linear))

    def base_at_rest(self, model: PoseSpaceModel) -> Floats:
        """C (r, r) of the base in the neutral pose, where nothing is deformed."""
        matrix, neutral = self.matrices[BASE], NeutralModel.of(model)
        C: Floats = matrix.alpha * neutral.mass
        times = self.beta + self.beta_at_rest + matrix.at_rest
        if times or matrix.series:
            K = np.diag(np.maximum(model.squares[0], 0.0))
            C = C + times * K
            power = K
            for a in matrix.series:
                power = power @ np.linalg.solve(neutral.mass, K)
                C = C + a * power
        if matrix.forms:
            own = _form(model, matrix.forms, poses=1)[0]
            lower = np.zeros_like(C)
            lower[np.tril_indices(len(C))] = own
            full = lower + np.tril(lower, -1).T
            C = C + full * np.outer(neutral.scale, neutral.scale)
        for bound, in_base in self.cells:
            if in_base:
                C = C + neutral.matrix(bound)
        return C

    # -- laid out ------------------------------------------------------------------------

    def made(self, cells: Ints) -> PoseDamping:
        """For a step, with arrays of its own, and the cubature cells in this order."""
        laws: list[tuple[CellLaw, bool]] = []
        kept: list[Any] = []
        for bound, in_base in self.cells:
            found = bound.laws(cells)
            if found is None:
                python = _PythonLaw(bound, bound.body.parts[0], cells)
                kept.append(python)
                found = (python.law(),)
            laws += [(law, in_base) for law in found]
        examples = None
        if self.designed is not None:
            examples = self.designed.compiled(np.zeros_like(self.designed.mass))
        return PoseDamping(
            self.beta, self.beta_at_rest, self._constants(), _laid_out(laws, len(cells)),
            self.designed, examples, tuple(kept),
        )  # fmt: skip

    def _constants(self) -> Constants:
        both = self.matrices
        longest = max(len(matrix.series) for matrix in both)
        beside = both[BESIDE]
        other = beside.alpha or beside.gap or beside.at_rest or beside.series or beside.forms
        return Constants(
            alpha=np.array([matrix.alpha for matrix in both]),
            gap=np.array([matrix.gap for matrix in both]),
            at_rest=np.array([matrix.at_rest for matrix in both]),
            series=np.array([np.pad(m.series, (0, longest - len(m.series))) for m in both]),
            forms=self.forms,
            needs_stiffness=any(matrix.at_rest or matrix.series for matrix in both),
            has_forms=any(matrix.forms for matrix in both),
            has_beside=bool(other),
        )


def _add_series(damping: Caughey, matrix: _Matrix, squares: Floats) -> None:
    """M̃ Σ_j α_j (M̃⁻¹K̃)^j with the stiffness of the pose (example damping, Eq. 13)."""
    strengths = Polynomial(damping.coefficients)(squares)
    terms = Polynomial(np.abs(damping.coefficients))(squares)
    if (strengths < -_ROUNDING * terms).any():
        worst = np.unravel_index(np.argmin(strengths), strengths.shape)
        frequency = np.sqrt(squares[worst]) / (2 * np.pi)
        raise InputError(
            f"these coefficients damp the vibration of {frequency:.4g} Hz of this character "
            f"by less than nothing (Σ α_j ω^(2j) = {strengths[worst]:.4g} 1/s); give "
            "Caughey.from_ratios one more frequency near that"
        )
    first, second, *more = [*damping.coefficients, 0.0, 0.0]
    matrix.alpha += first
    matrix.at_rest += second
    while more and not more[-1]:
        more.pop()
    total = np.zeros(max(len(more), len(matrix.series)))
    total[: len(more)] += more
    total[: len(matrix.series)] += matrix.series
    matrix.series[:] = total.tolist()


def _laid_out(laws: list[tuple[CellLaw, bool]], count: int) -> Laws:
    longest = max((len(law.numbers) for law, _ in laws), default=0)
    directions = np.zeros((len(laws), count, 3))
    for k, (law, _) in enumerate(laws):
        if law.directions is not None:
            directions[k] = law.directions
    return Laws(
        addresses=np.array([law.address for law, _ in laws], dtype=np.int64),
        in_base=np.array([in_base for _, in_base in laws], dtype=bool),
        coefficients=np.reshape([law.coefficients for law, _ in laws], (-1, WIDTH, count)).copy(),
        numbers=np.reshape(
            [np.pad(law.numbers, (0, longest - len(law.numbers))) for law, _ in laws],
            (len(laws), longest),
        ).copy(),
        fibred=np.array([law.directions is not None for law, _ in laws], dtype=bool),
        directions=directions,
    )


def _is_number(value: Any) -> bool:
    return not isinstance(value, Mapping) and np.ndim(value) == 0


def _applied(damping: Viscous, model: PoseSpaceModel) -> Callable[[Floats], Floats]:
    """C x of a matrix, whose axes turn with the rig."""
    size, wanted = damping.matrix.shape[0], 3 * len(model.masses)
    if size != wanted:
        raise InputError(
            f"the damping matrix is ({size}, {size}), but the tet mesh of the character has "
            f"{wanted // 3} vertices; give ({wanted}, {wanted})"
        )

    def apply(fields: Floats) -> Floats:
        found: Floats = (damping.matrix @ fields.reshape(len(fields), -1).T).T
        return found.reshape(fields.shape)

    return apply


def _constant(
    damping: Damping, bound: BoundDamping, model: PoseSpaceModel
) -> Callable[[Floats], Floats]:
    """C x of what a damping has outside of cells; refused where that is no constant matrix."""
    body = NeutralModel.of(model).body
    rest = Shape(body, np.zeros_like(body.mesh.vertices))
    still = bound.evaluate(rest, np.zeros_like(rest.u))[1]
    if not bound.is_linear or bound.depends_on_shape or still.any():
        raise InputError(
            f"damping={damping!r} is neither a sum over cells nor a constant matrix, and a "
            "character has no more of its body than cubature cells; give StrainRate, "
            "MatchedStrainRate, PrincipalStrain, PowerLaw, SplineDamping, Rayleigh, Caughey or "
            "Viscous"
        )
    return lambda fields: bound.multiply(rest, np.ascontiguousarray(fields))


def _form(
    model: PoseSpaceModel, parts: Sequence[Callable[[Floats], Floats]], poses: int | None = None
) -> Floats:
    """U_iᵀ C U_j + U_jᵀ C U_i of pairs i ≥ j of poses, lower triangles, (pairs, entries)."""
    m, n, _, r = model.bases.shape
    m = m if poses is None else poses
    entries = np.tril_indices(r)
    found = np.zeros((m * (m + 1) // 2, len(entries[0])))
    if not parts:
        return found
    flat = model.bases[:m].reshape(m, 3 * n, r)
    products = []
    for U in flat:
        fields = np.ascontiguousarray(U.T.reshape(r, n, 3))
        total = sum((part(fields) for part in parts), np.zeros_like(fields))
        products.append(total.reshape(r, -1).T)
    pair = 0
    for i in range(m):
        for j in range(i + 1):
            both = flat[i].T @ products[j]
            both = 0.5 * (both + both.T) * (1.0 if i == j else 2.0)
            found[pair] = both[entries]
            pair += 1
    return found
