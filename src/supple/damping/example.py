"""Damping designed by example (example damping, §4): each chosen deformation gets its own strength.

Over a base damping C, motion along example x_i is damped γ_i times as strongly, and motion that is
C-orthogonal to all examples as before:

    Ĉ = C + U (Π − I) Uᵀ                                                     (Eq. 9)

with U = C Q from the C-weighted QR decomposition X = Q R, and Π the non-negative part of R Γ R⁻¹.
The scales γ may be curves of the excitation χ_i, how much of example i is in the deformation, or of
its rate (Eqs. 16–17).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.damping.examples import couple
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.checks import instance, number, numbers
from supple.core.errors import InputError
from supple.core.parameters import ARRAY, Kind, Parameter, described, parameter
from supple.core.sparse import LowRank, interleaved
from supple.core.types import Floats
from supple.damping.base import (
    DAMPINGS,
    BoundDamping,
    BoundViscousDamping,
    Damping,
    another_damping,
)
from supple.damping.curve import CURVE, Curve

_ALIKE = 1e-10  # examples this close to a combination of the others cannot be told apart


class Measure(Enum):
    """What the curve of an example is a function of."""

    EXCITATION = "excitation"
    """The size of χ: how much of the example is in the deformation; 1 is the example itself."""
    RATE = "rate"
    """The size of its rate [1/s]: how fast that changes."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Example:
    """A deformation, and how strongly motion along it is damped.

    ``shape`` are displacements (n, 3) [m]. ``curve`` scales the base damping: a number, or a curve
    of the ``measure``.
    """

    shape: Floats = field(metadata=described("displacements (n, 3)", kind=ARRAY, unit="m"))
    curve: Curve = field(metadata=described("γ, times the base damping", kind=CURVE))
    measure: Measure = parameter(
        Measure.EXCITATION, "what the curve is a function of", kind=Measure
    )
    name: str = parameter("", "to know it by")

    def __init__(
        self,
        shape: ArrayLike,
        curve: Curve | float = 1.0,
        *,
        measure: Measure = Measure.EXCITATION,
        name: str = "",
    ) -> None:
        displacements = numbers("shape", shape)
        if displacements.ndim != 2 or displacements.shape[1] != 3:
            raise InputError(
                f"an example has shape {displacements.shape}; give displacements (n, 3), such as "
                "modes.shapes[0]"
            )
        if not displacements.any():
            raise InputError("an example that moves nothing cannot be damped; give displacements")
        instance("measure", measure, Measure, "Measure.RATE")
        displacements.setflags(write=False)
        for key, value in (
            ("shape", displacements),
            ("curve", Curve.of(curve)),
            ("measure", measure),
            ("name", str(name)),
        ):
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        label = f"{self.name!r}, " if self.name else ""
        return f"Example({label}{len(self.shape)} vertices, {self.curve})"

    @property
    def amplitude(self) -> float:
        """How far the vertex that moves most goes at excitation 1 [m]."""
        return float(np.linalg.norm(self.shape, axis=1).max())

    def scaled(self, amplitude: float) -> Example:
        """The example with its farthest vertex moved by ``amplitude`` [m] at excitation 1."""
        wanted = number("amplitude", amplitude, above=0, unit="m")
        return self.with_shape(self.shape * (wanted / self.amplitude))

    def with_shape(self, shape: ArrayLike) -> Example:
        """The example with another deformation."""
        return Example(shape, self.curve, measure=self.measure, name=self.name)

    def with_curve(self, curve: Curve | float) -> Example:
        """The example with another curve."""
        return Example(self.shape, curve, measure=self.measure, name=self.name)


def _examples(of: Parameter, value: Any) -> tuple[Example, ...]:
    examples = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(example, Example) for example in examples):
        raise InputError(f"{of.name}={value!r}: give a list such as [Example(shape, curve=3.0)]")
    return examples


EXAMPLES = Kind("examples", _examples)


def _wishes(of: Parameter, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or "targets" not in value:
        raise InputError(
            f"{of.name}={value!r}: design_damping writes these; give none, or those it wrote"
        )
    return value


WISHES = Kind("table", _wishes)


@DAMPINGS.register(name="by_example")
@dataclass(frozen=True, eq=False)
class ExampleDamping(Damping):
    """A base damping with its own strength along each of a few example deformations.

    The base is any damping that is linear in the velocity. Excitations are counted from the shape
    ``about`` (n, 3), the rest shape if none is given: for a body that hangs or stands, give the
    shape in which it does. ``overall`` scales all damping by a curve of the body's displacement
    from there, the root of the mean square over its mass [m]. Where supports move, displacements
    are counted from where they carry the body; a turn of theirs counts as a deformation.
    ``symmetric`` makes the damping matrix symmetric where examples are not C-orthogonal; then only
    the mean of what two examples ask of each other is kept.
    """

    base: Damping = field(
        metadata=described(
            "any damping that is linear in the velocity",
            kind=another_damping("Rayleigh(stiffness=1e-3)"),
        )
    )
    examples: Sequence[Example] = field(metadata=described("the deformations", kind=EXAMPLES))
    _: KW_ONLY
    overall: Curve | None = parameter(
        None, "scales all damping by the displacement of the body [m]", kind=CURVE
    )
    symmetric: bool = parameter(False, "keep the symmetric part of the matrix alone")
    about: Floats | None = parameter(
        None, "the shape (n, 3) that excitations are counted from", kind=ARRAY, unit="m"
    )
    wishes: Mapping[str, Any] | None = parameter(
        None, "what it was designed for, for ``redesign``", kind=WISHES
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.base, ExampleDamping):
            raise InputError(
                "the base has examples of its own; list all examples in one ExampleDamping"
            )
        shapes = {example.shape.shape for example in self.examples}
        if self.about is not None:
            shapes.add(self.about.shape)
        if len(shapes) > 1:
            raise InputError(
                f"examples of different bodies: shapes {sorted(shapes)}; all need the vertices of "
                "one mesh"
            )

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curve of each example."""
        return tuple(example.curve for example in self.examples)

    def with_curves(self, curves: Iterable[Curve | float]) -> ExampleDamping:
        """The same examples with other curves, one each."""
        pairs = zip(self.examples, curves, strict=True)
        return replace(self, examples=[example.with_curve(curve) for example, curve in pairs])

    def index(self, example: int | str) -> int:
        """The place of an example in the list, from that place or from its name."""
        if isinstance(example, str):
            names = [each.name for each in self.examples]
            if example in names:
                return names.index(example)
            known = ", ".join(repr(name) for name in names if name) or "none has a name"
            raise InputError(f"there is no example {example!r}; there are: {known}")
        count = len(self.examples)
        whole = isinstance(example, int | np.integer) and not isinstance(example, bool)
        if not whole or not 0 <= example < count:
            raise InputError(f"example={example!r}: there are {count}, numbered from 0")
        return int(example)

    def bind(self, body: ElasticBody) -> BoundDamping:
        return _BoundExampleDamping(self, body)


class _BoundExampleDamping(BoundDamping):
    is_gradient = False

    def __init__(self, damping: ExampleDamping, body: ElasticBody) -> None:
        base = damping.base.bind(body)
        if not isinstance(base, BoundViscousDamping):
            raise InputError(
                f"base={damping.base!r}: examples need a damping that is linear in the velocity, "
                "such as Rayleigh(...)"
            )
        self._body, self._base, self._damping = body, base, damping
        X, self._duals = examples_on(body, damping)
        self._X: Floats = interleaved(X)
        moves = body.held.moving
        self._carriers = np.flatnonzero(~body.free.any(axis=1)) if moves else np.zeros(0, int)
        varying = [example for example in damping.examples if not example.curve.is_constant]
        self._measures = {example.measure for example in varying}
        self.is_linear = Measure.RATE not in self._measures
        self.depends_on_shape = bool(varying) or damping.overall is not None
        self.depends_on_shape |= base.depends_on_shape
        self.uses_stiffness, self.pattern = base.uses_stiffness, base.pattern
        self.uses_stiffness_matrix = base.uses_stiffness and len(X) > 0
        self._about = np.zeros_like(body.mesh.vertices)
        if damping.about is not None:
            self._about = body.checked("about", damping.about)
        still = np.zeros_like(body.mesh.vertices)
        rest = Shape(body, still, order=2 if base.depends_on_shape else 1)
        self._constant = None if base.depends_on_shape else self._products(rest)
        check_base_damps(damping, np.diag(self._at(rest)[1]))

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        force = self._force(shape, v, near=v)
        return 0.5 * float(np.vdot(v, force)), force

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        # Ĉ need not be symmetric and may change with v, so that no R has Ĉv as its gradient;
        # with Ĉ frozen, dv·Ĉ(near + ½ dv) has it at ``near``, and is convex
        dv = v - near
        return float(np.vdot(dv, self._force(shape, near + 0.5 * dv, near=near)))

    def _force(self, shape: Shape, v: Floats, *, near: Floats) -> Floats:
        """Ĉ v with Ĉ as it is at velocity ``near`` (Eqs. 9 and 16)."""
        force = self._base.evaluate(shape, v)[1]
        if len(self._X):
            force = force + LowRank(self._at(shape)[0], self._coupling(shape, near)).multiply(v)
        return force * self._overall(shape)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._base.add_matrix(shape, v, factor * self._overall(shape), values, definite=definite)

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        # Ĉ v = C(u) z with z = v + X W (C X)ᵀ v, of which C is what follows the shape most
        z = v
        if len(self._X):
            rows = len(self._X), v.size
            amounts = self._coupling(shape, v) @ (self._at(shape)[0].reshape(rows) @ v.ravel())
            z = v + (amounts @ self._X.reshape(rows)).reshape(v.shape)
        self._base.add_shape_derivative(shape, z, factor * self._overall(shape), values)

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        if not len(self._X):
            return None
        coupling = self._coupling(shape, v, of_derivative=True)
        return LowRank(self._at(shape)[0], coupling, self._overall(shape))

    def _uncarried(self, field: Floats) -> Floats:
        """A field without what moving supports, in the mean, lend to all of the body."""
        if not len(self._carriers):
            return field
        rest: Floats = field - field[self._carriers].mean(axis=0)
        return rest

    def _overall(self, shape: Shape) -> float:
        """γ(‖u‖) (Eq. 17)."""
        if self._damping.overall is None:
            return 1.0
        u = self._uncarried(shape.u - self._about)
        square = float(np.vdot(u, self._body.mass_times(u))) / self._body.total_mass
        return float(self._damping.overall(np.sqrt(max(square, 0.0))))

    def _coupling(self, shape: Shape, v: Floats, *, of_derivative: bool = False) -> Floats:
        """W with Ĉ = C + C X W (C X)ᵀ or, about, that of the derivative of Ĉ v by v.

        Along an example with a curve of the rate, γ(|χ̇|) χ̇ has the derivative γ + γ' |χ̇|.
        """
        duals = self._duals.reshape(len(self._X), -1)
        of = {measure: np.zeros(len(self._X)) for measure in Measure}
        if Measure.EXCITATION in self._measures:
            of[Measure.EXCITATION] = duals @ self._uncarried(shape.u - self._about).ravel()
        if Measure.RATE in self._measures:
            of[Measure.RATE] = duals @ self._uncarried(v).ravel()
        examples = self._damping.examples
        gamma = np.array([e.curve.at(of[e.measure][i]) for i, e in enumerate(examples)])
        if of_derivative and Measure.RATE in self._measures:
            for i, example in enumerate(examples):
                if example.measure is Measure.RATE:
                    rate = of[Measure.RATE][i]
                    steeper = gamma[i] + example.curve.with_slope(rate)[1] * abs(rate)
                    gamma[i] = max(steeper, 0.1 * gamma[i])  # a drag that falls is kept definite
        G = self._at(shape)[1]
        W: Floats = np.empty_like(G)
        couple(G, gamma, self._damping.symmetric, W, np.empty_like(G), np.empty_like(G))
        return W

    def _at(self, shape: Shape) -> tuple[Floats, Floats]:
        """C X (k, n, 3) and XᵀCX (k, k) at a shape."""
        if self._constant is not None:
            return self._constant
        if self not in shape.known:
            shape.known[self] = self._products(shape)
        found: tuple[Floats, Floats] = shape.known[self]
        return found

    def _products(self, shape: Shape) -> tuple[Floats, Floats]:
        CX = self._base.multiply(shape, self._X)
        shape_of_rows = len(CX), CX[0].size if len(CX) else 0
        G = self._X.reshape(shape_of_rows) @ CX.reshape(shape_of_rows).T
        return CX, 0.5 * (G + G.T)


def examples_on(body: ElasticBody, damping: ExampleDamping) -> tuple[Floats, Floats]:
    """The examples on the free components of a body, and their duals, (k, n, 3) each."""
    given = [body.checked("an example", example.shape) for example in damping.examples]
    X = np.where(body.free, np.reshape(given, (-1, body.n_vertices, 3)), 0.0)
    momenta = np.reshape([body.mass_times(x) for x in X], X.shape)
    return X, excitation_duals(X, np.where(body.free, momenta, 0.0))


def excitation_duals(X: Floats, MX: Floats) -> Floats:
    """D with χ = D u, the mass-weighted least-squares excitations: (XᵀMX)⁻¹ XᵀM (§4.2).

    ``X`` and ``MX`` hold one example a row, in any coordinates.
    """
    k = len(X)
    if not k:
        return MX
    gram = X.reshape(k, -1) @ MX.reshape(k, -1).T
    scale = np.sqrt(np.diag(gram))
    if not (scale > 0).all():
        still = int(np.argmin(scale))
        raise InputError(f"example {still} moves nothing that is free to move")
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    if values[0] < _ALIKE:
        worst = np.sort(np.argsort(-np.abs(vectors[:, 0]))[:2])
        listed = " and ".join(str(i) for i in worst)
        raise InputError(
            f"examples {listed} are alike, or one is a combination of others; leave one out"
        )
    duals: Floats = np.asarray(np.linalg.solve(gram, MX.reshape(k, -1)), dtype=float)
    return duals.reshape(MX.shape)


def check_base_damps(damping: ExampleDamping, powers: Floats) -> None:
    """Stop where the base does not damp an example (``powers`` xᵀCx ≤ 0): γ times 0 is 0."""
    for i, power in enumerate(powers):
        if not power > 0:
            name = damping.examples[i].name
            label = f"{i} ({name!r})" if name else f"{i}"
            raise InputError(
                f"the base damping does nothing along example {label}, so there is nothing to "
                "scale; give the base some mass or stiffness damping there"
            )


def known_examples(damping: Any) -> tuple[Example, ...]:
    """The examples of a damping, none if it has none."""
    return tuple(damping.examples) if isinstance(damping, ExampleDamping) else ()
