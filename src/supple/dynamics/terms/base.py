"""What a term of the equation of motion promises.

    M a + ∇₂R(u, v) + ∇U(u) = f

is a sum, and so is its solution in a stage: inertia, elasticity, each damping, external forces,
obstacles and self-contact are terms. A problem is a list of them and knows none by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.bodies.shape import Shape
from supple.contact.contacts import Impact
from supple.core.sparse import BlockPattern, LowRank
from supple.core.types import Floats, Ints
from supple.integrators import Stage, State
from supple.solvers.interface import Tangent

if TYPE_CHECKING:
    from supple.dynamics.splitting import Splitter


@dataclass(frozen=True, eq=False)
class StageStart:
    """What a stage begins with."""

    stage: Stage
    external: Floats
    """External force [N], (n, 3)."""
    start: State | None = None
    """Where the step began, if the body is in motion."""
    latest: Floats | None = None
    """Where the last stage of the step ended, (n, 3)."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where terms are evaluated: displacement, velocity and acceleration in a stage, all (n, 3).

    Held components move as their supports do.
    """

    stage: Stage
    shape: Shape
    v: Floats
    a: Floats

    @property
    def u(self) -> Floats:
        """Displacements [m], (n, 3)."""
        return self.shape.u


@dataclass(eq=False)
class Share:
    """What one term adds to the balance of forces at a point."""

    force: Floats
    """The gradient of its potential [N], (n, 3)."""
    potential: float
    """Its part of the incremental potential [J]."""
    magnitude: float = 0.0
    """Size [J] of what the potential is a difference of: its rounding is relative to that."""
    floor: float = 0.0
    """Norm of the force [N] that rounding alone may leave."""
    scale: float | None = None
    """Norm of the forces [N] that the sum is to be measured against, if not that of ``force``."""

    @property
    def force_scale(self) -> float:
        return float(np.linalg.norm(self.force)) if self.scale is None else self.scale


class BlockSum:
    """A sum of block matrices (blocks, 3, 3) in an array of its own."""

    def __init__(self, values: Floats) -> None:
        self._values, self._empty = values, True

    def add(self, blocks: Floats) -> None:
        """Add all blocks; the first that are added are merely copied."""
        if self._empty:
            np.copyto(self._values, blocks)
        else:
            self._values += blocks
        self._empty = False

    @property
    def values(self) -> Floats:
        """The sum so far, to be added to in place."""
        if self._empty:
            self._values.fill(0.0)
            self._empty = False
        return self._values


class Term(ABC):
    """One summand of the equation of motion of a body.

    Only ``evaluate`` has to be written; all else is nothing unless a term says otherwise.
    """

    pattern: BlockPattern | None = None
    """Where ``add_matrix`` has blocks, if beyond the body's own pattern."""
    has_potential: bool = True
    """Whether its potential has its force as gradient everywhere in a stage."""
    matrix_is_hessian: bool = True
    """Whether its matrix is the curvature of its potential."""
    uses_stiffness_matrix: bool = False
    """Whether every evaluation needs K(u) as a matrix."""
    advice: str = ""
    """What a person may try where a stage cannot be solved."""

    does_work: bool = False
    """Whether it puts in energy that is not that of a force, an obstacle or a support."""
    dissipates: bool = False
    """Whether it takes energy that no damping and no contact accounts for."""
    why_implicit: str = ""
    """What rules without stages cannot do for it, if they cannot move the body."""

    def set_gravity(self, gravity: Floats) -> None:
        """Know of gravity (3,) [m/s²]; what is constant of weight is among external forces."""
        return  # weight is that alone

    def begin(self, start: StageStart) -> None:
        """Get ready for a stage."""
        return  # there is nothing to get ready

    # -- where forces balance ----------------------------------------------------------------

    @abstractmethod
    def evaluate(self, at: Point) -> Share:
        """Force and potential at a point."""

    def lagged_potential(self, at: Point, share: Share, lagged: Point) -> float:
        """The potential [J] at a point where its share is known, lagged at another one."""
        return share.potential

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        """Add the derivative of the force by u, on the body's pattern or that of the term."""
        return  # the force does not change with u

    def low_rank(self, at: Point) -> LowRank | None:
        """What the derivative has beside blocks."""
        return None

    def pair_blocks(self, at: Point, tangent: Tangent) -> tuple[Ints, Floats] | None:
        """Blocks (k, 3, 3) between vertices that share no cell, with their keys (k,)."""
        return None

    def nearby_keys(self, at: Point) -> Ints:
        """The keys of pairs of vertices that may soon have such blocks."""
        return np.zeros(0, dtype=np.int64)

    def update_duals(self, at: Point, step: Floats, length: float) -> None:
        """Update dual variables of the matrix at a point after a share of a step made with it."""
        return  # it has none

    # -- what stands in the way --------------------------------------------------------------

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, up to 1, on which nothing stands in the way."""
        return 1.0

    def is_feasible(self, u: Floats) -> bool:
        """Whether u (n, 3) is a shape that may be at all."""
        return True

    def feasible_starts(self, latest: Floats, starts: Sequence[Floats]) -> Sequence[Floats]:
        """``starts``, or how far each is reached from the shape ``latest`` (n, 3)."""
        return starts

    def no_start(self, *, feasible: bool) -> str | None:
        """Why no start, or no ``feasible`` one, has finite forces, if that is of its making."""
        return None

    # -- the active set ----------------------------------------------------------------------

    @property
    def nonsmooth(self) -> bool:
        """Whether its force is nonsmooth in the stage at hand."""
        return False

    @property
    def has_smoothed_friction(self) -> bool:
        """Whether its force turns round within tiny ways."""
        return False

    @property
    def has_barriers(self) -> bool:
        """Whether it has barriers at work, beside whose stiffness all else is soft."""
        return False

    def update_multipliers(self, share: Share, step: Floats, length: float) -> float:
        """The primal–dual update after a share of a step; by how much its force changes [N]."""
        return 0.0

    def weigh(self, share: float) -> bool:
        """Take this share of the weights of contacts from now on; whether that is another one."""
        return False  # it has none

    def snapshot(self) -> Callable[[], None] | None:
        """What takes back all that ``update_multipliers`` and ``weigh`` do from now on."""
        return None

    def refresh(self, at: Point, enough: float) -> bool:
        """Update what is lagged; whether that changes its force by more than ``enough`` [N]."""
        return False

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        """u (n, 3), with what is inside obstacles moved out of them."""
        return u

    # -- outside of stages -------------------------------------------------------------------

    def stored_energy(self, shape: Shape) -> float:
        """Its part of U [J]."""
        return 0.0

    def gravitational(self, u: Floats) -> float:
        """What of ``stored_energy`` is potential energy in gravity [J]."""
        return 0.0

    def kinetic(self, u: Floats, v: Floats) -> float:
        """Kinetic energy [J] beside ½ v·M v, where the mass depends on the shape."""
        return 0.0

    def momentum(self, u: Floats, v: Floats) -> Floats | None:
        """Momentum [kg m/s], (n, 3), beside M v."""
        return None

    def inertia(self, state: State) -> Floats | None:
        """What holds against acceleration [N], (n, 3), beside M a."""
        return None

    def accelerated(self, u: Floats, v: Floats, force: Floats, a: Floats) -> Floats:
        """``a`` (n, 3) with M a = ``force`` (n, 3) [N], where that is not all that there is to it.

        Held components are as prescribed.
        """
        return a

    def free_force(self, shape: Shape, v: Floats) -> Floats | None:
        """Its part of ∇₂R + ∇U [N], (n, 3), in motion without stages, and between steps."""
        return None

    def power(self, shape: Shape, v: Floats) -> float:
        """Power that it takes from the motion [W], v·∇₂R."""
        return 0.0

    def carried(self) -> tuple[Floats, Floats] | None:
        """Forces [N] and velocities [m/s], (k, 3) each, of what moves by itself and may press."""
        return None

    def pushed_out(self, now: State) -> float:
        """Work [J] of its forces on what was inside an obstacle at the start of a step."""
        return 0.0

    def work(self, now: State, after: State) -> float:
        """What it puts in between two states [J], if ``does_work``."""
        return 0.0

    def taken_by_impacts(self, now: State, after: State) -> float:
        """Energy [J] that impacts took between two states of what does not spring back."""
        return 0.0

    def begin_step(self) -> None:
        """Get ready for a step, or for another try at it."""
        return  # there is nothing to get ready

    def end_stage(self, solution: State) -> State:
        """Take note of a stage that was solved; the state that it leads to."""
        return solution

    def impact(self, now: State, dt: float, external: Floats) -> Impact | None:
        """The first impact, with restitution, of the step just tried from ``now``."""
        return None

    def set_restitution_speeds(self, speeds: Mapping[tuple[int, int], float]) -> None:
        """Let pairs part at these speeds [m/s] in the stages to come."""
        return  # there are no pairs

    def end_step(self) -> None:
        """Take note of a step that is done."""
        return  # nothing of it is kept

    @property
    def contacts(self) -> int:
        """How many contacts are active."""
        return 0

    def state(self) -> dict[str, Floats]:
        """What the next step depends on, for checkpoints."""
        return {}

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Go on from what ``state`` gave."""
        return  # that is nothing

    def memory(self) -> Any:
        """What the next step depends on, to ``recall`` while the program runs."""
        return self.state()

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave."""
        self.restore(memory)

    def go_on_from(self, before: Term) -> None:
        """Take over what a term of this kind noted of the motion, though settings have changed."""
        return  # nothing it notes outlasts them

    # -- ADMM --------------------------------------------------------------------------------

    def split(self, splitter: Splitter, places: Ints) -> None:
        """Tell what takes a body apart into local terms what there is to take.

        ``places`` are those of the term's blocks among the problem's.
        """
        return  # nothing of it is local

    def needs_new_contacts(self, stage: Stage, u: Floats) -> bool:
        """Whether u needs local terms that the last splitting had not; the next one has them."""
        return False
