"""What every damping model offers to a simulation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.parameters import Model, checked
from supple.core.registry import Registry, snake_case
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Floats

if TYPE_CHECKING:
    from supple.damping.cells import BoundCellDamping


@dataclass(frozen=True)
class DampingTangent:
    """Which derivative of ∇₂R(u, c_v (u − û_v)) by u a Newton iteration wants."""

    c_v: float
    definite: bool = False
    """A positive semidefinite stand-in."""
    consistent: bool = False
    """With ∂∇₂R/∂u, where that is known and may be indefinite."""


class BoundDamping(ABC):
    """A damping model at work on one body: R(x, v), ∇₂R and ∂∇₂R/∂v."""

    is_gradient: bool = True
    """Whether the force is the gradient of R; if not, ``potential`` stands in for R."""
    is_linear: bool = True
    """Whether the force is linear in v."""
    depends_on_shape: bool = True
    """Whether R changes with the shape; where it does not, solvers have less to do."""
    uses_stiffness: bool = False
    """Whether ``multiply`` needs K(u) as a matrix, as ``add_matrix`` does."""
    uses_stiffness_matrix: bool = False
    """Whether every evaluation needs K(u) as a matrix."""
    is_thinning: bool = False
    """Whether viscosity falls as rates grow, so that at rest it is far more than in motion."""
    pattern: BlockPattern | None = None
    """Where ∂∇₂R/∂v has blocks, if beyond the body's own pattern."""

    @abstractmethod
    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        """R [W], the dissipation function, and ∇₂R [N], (n, 3), at velocity v (n, 3) [m/s].

        The body feels the negative of ∇₂R.
        """

    @property
    def matrix_is_hessian(self) -> bool:
        """Whether ``potential`` has ∂∇₂R/∂v as its curvature; then line searches trust it."""
        return self.is_linear

    def potential(self, shape: Shape, v: Floats, near: Floats) -> float:
        """A function of v [W], zero at ``near``, whose gradient there is ∇₂R; for line searches."""
        dissipation, _ = self.evaluate(shape, v)
        return dissipation - self.evaluate(shape, near)[0]

    @abstractmethod
    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        """Add factor · ∂∇₂R/∂v to blocks on the body's pattern, or on ``pattern`` if it has one.

        ``values`` are (blocks, 3, 3). ``definite`` asks for a positive semidefinite stand-in.
        """

    def add_shape_derivative(self, shape: Shape, v: Floats, factor: float, values: Floats) -> None:
        """Add factor · ∂∇₂R/∂u, or what is symmetric and sparse of it, as ``add_matrix`` does.

        A Newton iteration gets by without, but may go to and fro where damping follows the shape.
        """
        return  # nothing follows the shape

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        """Add what a Newton iteration sees of ∇₂R as u changes: c_v ∂∇₂R/∂v, and ∂∇₂R/∂u."""
        self.add_matrix(shape, v, of.c_v, values, definite=of.definite)
        if of.consistent and not of.definite:
            self.add_shape_derivative(shape, v, 1.0, values)

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        """C(u) x for each of x (k, n, 3), where the force is linear in v: ∂∇₂R/∂v = C(u)."""
        if not self.is_linear:
            raise InputError(
                f"{type(self).__name__.lstrip('_')} is not linear in the velocity: no matrix "
                "times v is its force; give Rayleigh(...), StrainRate(...) or another that is"
            )
        product = self._multiply_sparse(shape, shapes)
        beside = self.low_rank(shape, np.zeros_like(shape.u))
        if beside is not None:
            product = product + np.stack([beside.multiply(x) for x in shapes])
        return product

    def _multiply_sparse(self, shape: Shape, shapes: Floats) -> Floats:
        pattern = self.pattern or shape.body.pattern
        key = (self, "matrix")
        if key not in shape.known:  # asked for once or more a shape, with many x each time
            values = np.zeros((pattern.n_blocks, 3, 3))
            self.add_matrix(shape, np.zeros_like(shape.u), 1.0, values, definite=False)
            shape.known[key] = values
        return pattern.multiply_many(shape.known[key], shapes)

    def update_duals(self, shape: Shape, v: Floats, step: Floats, length: float) -> None:
        """Update dual variables of the tangent, taken at a shape and v, after a share of a step."""
        return  # it has none

    def reset_duals(self) -> None:
        """Another stage begins."""
        return  # nothing to reset

    @property
    def advice(self) -> str:
        """What a person may try where a stage cannot be solved."""
        if not self.depends_on_shape:
            return ""
        return (
            "Damping that follows the shape can keep a buckling body from settling: "
            "Newton(iterations=3) goes on all the same."
        )

    def in_cells(self) -> BoundCellDamping | None:
        """What of this damping is a sum over quadrature points; None if nothing is."""
        return None

    def outside_cells(self) -> BoundDamping | None:
        """The rest of it; None if that is all."""
        return self

    def low_rank(self, shape: Shape, v: Floats) -> LowRank | None:
        """What ∂∇₂R/∂v has beside the sparse part that ``add_matrix`` gives."""
        return None


class BoundViscousDamping(BoundDamping):
    """Damping by a matrix: ∇₂R = C(u) v, C symmetric."""


_B = TypeVar("_B", bound=ElasticBody)


def body_for(damping: Damping, kind: type[_B], body: ElasticBody) -> _B:
    """``body``, which must be of the kind that the damping is for."""
    if not isinstance(body, kind):
        raise InputError(
            f"{type(damping).__name__} damps a {kind.__name__}, and the body is a "
            f"{type(body).__name__}; Rayleigh(stiffness=...) takes any"
        )
    return body


class Damping(ABC):
    """A description of damping, which checks itself; ``bind`` sets it up for a body."""

    def __post_init__(self) -> None:
        checked(self)

    @abstractmethod
    def bind(self, body: ElasticBody) -> BoundDamping:
        """This damping for ``body``."""

    @property
    def spares_rigid_motion(self) -> bool:
        """Whether it does nothing to a body that moves as one, whatever its shape then is.

        Free reduced bodies take what says so: they know the rates of the deformation alone.
        """
        return False

    def reduced(self, model: Any) -> Any:
        """This damping on the coordinates of a reduced model, as a ``ReducedDamping``.

        None leaves it to the rules of ``supple.reduction.damping``: what is linear in the velocity
        and does not follow the shape is projected.
        """
        return None


DAMPINGS: Registry[type[Damping]] = Registry(
    "damping", "supple.dampings", base=Damping, naming=snake_case
)
"""Every damping model; tests, scene files and damping files go over it."""


def another_damping(example: str, *, several: bool = False) -> Model:
    """A parameter that is a damping itself, or several."""
    return Model(DAMPINGS, Damping, example, several=several)
