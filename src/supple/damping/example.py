"""Damping designed by example (example damping, §4): each chosen deformation gets its own strength.

Over a base damping C, motion along example x_i is damped γ_i times as strongly, and motion that is
C-orthogonal to all examples as before:

    Ĉ = C + U (Π − I) Uᵀ                                                     (Eq. 9)

with U = C Q from the C-weighted QR decomposition X = Q R, and Π the non-negative part of R Γ R⁻¹.
The scales γ may be curves of the excitation χ_i, how much of example i is in the deformation, or of
its rate (Eqs. 16–17). Examples turn with the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import instance, numbers
from supple.core.errors import InputError
from supple.core.parameters import ARRAY, Kind, Parameter, described, parameter
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, Damping, another_damping
from supple.damping.curve import CURVE, Curve
from supple.damping.designed import Designed
from supple.damping.examples.bound import BoundExampleDamping
from supple.damping.examples.deformation import EXAMPLES, Example, Measure, label_of
from supple.damping.examples.excitation import At, Excitations, excitation_duals, plain_duals
from supple.damping.examples.felt import StrengthWarning, warn_of_contradictions

__all__ = [
    "EXAMPLES",
    "Example",
    "ExampleDamping",
    "Measure",
    "StrengthWarning",
    "check_base_damps",
    "examples_on",
    "excitation_duals",
    "felt_strengths",
    "known_examples",
]


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

    The base is any damping that is linear in the velocity, or several, which add up. Excitations
    are counted from the shape ``about`` (n, 3), the rest shape if none is given: for a body that
    hangs or stands, give the shape in which it does. ``overall`` scales all damping by a curve of
    the body's displacement from there, the root of the mean square over its mass [m]. Examples go
    with the body: where supports move and turn, as these carry it; where nothing holds it firmly,
    with the rigid motion that fits it best; local ones with what carries their part.
    ``symmetric`` makes the damping matrix symmetric where examples are not C-orthogonal; then only
    the mean of what two examples ask of each other is kept. ``definite=False`` takes contradictory
    strengths as they are: that may feed energy to the motion.
    """

    base: Damping | Sequence[Damping] = field(
        metadata=described(
            "any damping that is linear in the velocity, or several",
            kind=another_damping("Rayleigh(stiffness=1e-3)", several=True),
        )
    )
    examples: Sequence[Example] = field(metadata=described("the deformations", kind=EXAMPLES))
    _: KW_ONLY
    overall: Curve | None = parameter(
        None, "scales all damping by the displacement of the body [m]", kind=CURVE
    )
    symmetric: bool = parameter(False, "keep the symmetric part of the matrix alone")
    definite: bool = parameter(True, "bring contradictory strengths to such as never feed energy")
    about: Floats | None = parameter(
        None, "the shape (n, 3) that excitations are counted from", kind=ARRAY, unit="m"
    )
    wishes: Mapping[str, Any] | None = parameter(
        None, "what it was designed for, for ``redesign``", kind=WISHES
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(isinstance(base, ExampleDamping) for base in self.bases):
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
    def bases(self) -> tuple[Damping, ...]:
        """The dampings of the base, one or several."""
        return (self.base,) if isinstance(self.base, Damping) else tuple(self.base)

    @property
    def designed(self) -> Designed | None:
        """The body that it was designed for; None where it was not, or has been changed since."""
        return self.__dict__.get("_designed")

    def designed_for(self, body: Any) -> ExampleDamping:
        """The same damping, which knows its body or reduced model and says where that has changed.

        What was asked of it is in ``wishes``.
        """
        known = replace(self)
        known.__dict__["_designed"] = Designed(body)
        return known

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
        bound = self._bound(body)
        if self.definite:
            warn_of_contradictions(
                self.examples, bound.gram_at_rest, symmetric=self.symmetric, stacklevel=2
            )
        return bound

    def _bound(self, body: ElasticBody) -> BoundExampleDamping:
        bound = BoundExampleDamping(self, body)
        check_base_damps(self, bound.powers_at_rest())
        return bound

    def excitations(self, body: ElasticBody, u: ArrayLike) -> Floats:
        """χ (k,): how much of each example there is at displacements u (n, 3) [m].

        Seen from where the body has gone, as its curves see it.
        """
        about = None if self.about is None else body.checked("about", self.about)
        at = At(body.checked("u", u))
        return Excitations(body, self.examples, about).excitations(at)

    def felt_strengths(self, body: ElasticBody, sizes: ArrayLike | None = None) -> Floats:
        """How strongly motion along each example is damped, times the base damping, (k,).

        That is xᵢᵀĈxᵢ / xᵢᵀCxᵢ at the rest shape, where each curve is taken at 0, or at its
        own of ``sizes`` (k,): excitations, or rates [1/s]. It is what was asked for unless examples
        that have much in common ask for very different strengths.
        """
        _check_body(body)
        count = len(self.examples)
        at = None if sizes is None else numbers("sizes", sizes, ((count,),))
        return self._bound(body).felt_strengths(at)

    def made_orthogonal(self, body: ElasticBody) -> ExampleDamping:
        """The same with each example rid of what it shares with those before it.

        In the sense of the base damping at rest; then every strength is felt as it is asked for.
        """
        _check_body(body)
        local = [i for i, example in enumerate(self.examples) if example.is_local]
        if local:
            raise InputError(
                f"example {label_of(self.examples, local[0])} is local, and would no longer be; "
                "make those of the whole body orthogonal on their own"
            )
        G = self._bound(body).gram_at_rest
        R = np.linalg.cholesky(G).T
        unit = R / np.diag(R)[:, None]  # X = Q R, with q_i the part of x_i that is its own
        flat = np.reshape([example.shape for example in self.examples], (len(G), -1))
        shapes = np.linalg.solve(unit.T, flat)
        pairs = zip(self.examples, shapes, strict=True)
        made = [example.with_shape(x.reshape(example.shape.shape)) for example, x in pairs]
        return replace(self, examples=made)


def _check_body(body: ElasticBody) -> None:
    instance("body", body, ElasticBody, "the body that was reduced, model.body")


def felt_strengths(
    damping: ExampleDamping, body: ElasticBody, sizes: ArrayLike | None = None
) -> Floats:
    """How strongly motion along each example is damped, as ``ExampleDamping.felt_strengths``."""
    instance("damping", damping, ExampleDamping, "ExampleDamping(Rayleigh(mass=0.1), [...])")
    return damping.felt_strengths(body, sizes)


def examples_on(body: ElasticBody, damping: ExampleDamping) -> tuple[Floats, Floats]:
    """The examples on the free components of a body, and their duals, (k, n, 3) each.

    For a body that stays where it is.
    """
    return plain_duals(body, damping.examples)


def check_base_damps(damping: ExampleDamping, powers: Floats) -> None:
    """Stop where the base does not damp an example (``powers`` xᵀCx ≤ 0): γ times 0 is 0."""
    for i, power in enumerate(powers):
        if not power > 0:
            raise InputError(
                f"the base damping does nothing along example {label_of(damping.examples, i)}, so "
                "there is nothing to scale; give the base some damping there, of mass if the "
                "example moves the body as one"
            )


def known_examples(damping: Any) -> tuple[Example, ...]:
    """The examples of a damping, none if it has none."""
    return tuple(damping.examples) if isinstance(damping, ExampleDamping) else ()
