"""How a scene starts, what it asks of its damping, and how to design for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import Vector, checked, parameter
from supple.core.types import Floats
from supple.design import Envelope, SettlingTime, Unloading, wish
from supple.io.scene.build import Fields
from supple.io.scene.schema import Problems, guess, listed
from supple.mesh import WovenMesh
from supple.reduction.reducing import is_polynomial

_VELOCITY = Vector(as_tuple=True)


@dataclass(frozen=True)
class Initial:
    """How a scene starts."""

    equilibrium: bool = parameter(False, "at rest under its loads")
    velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), "of the whole body", unit="m/s", kind=_VELOCITY
    )
    rotation: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), "about its centre of mass", unit="rad/s", kind=_VELOCITY
    )
    mode: int | None = parameter(None, "bent into this vibration mode, counted from 1")
    amplitude: float = parameter(0.0, "of that mode, where it moves most", unit="m")
    example: int | str | None = None
    """Bent into this example of the damping, by its name, or by its number from 0."""
    excitation: float = parameter(1.0, "how many times that example")

    def __post_init__(self) -> None:
        checked(self)

    def velocities(self, body: ElasticBody, u: Floats) -> Floats:
        """Those of the whole body at displacements u (n, 3): v (n, 3) [m/s]."""
        x = body.mesh.vertices + u
        share = body.mass_times(np.ones_like(x))
        centre = (share * x).sum(axis=0) / share.sum(axis=0)
        v = np.array(self.velocity) + np.cross(self.rotation, x - centre)
        if isinstance(body.mesh, WovenMesh):
            v[body.mesh.crossings :] = 0.0  # yarns do not slide
        return np.where(body.free, v, 0.0)


@dataclass(frozen=True)
class DesignOptions:
    """How a damping is designed; see ``design_damping`` too."""

    space: Literal["reduced", "full"] | None = None
    """With a reduced model or in full; None chooses."""
    modes: int | None = parameter(None, "of the reduced model's basis, beside the examples")
    size: int | None = parameter(None, "of that basis, beside the examples")
    tolerance: float = parameter(0.005, "of a target that is met", above=0, below=1)
    rounds: int = parameter(5, "over all targets, at most; from the second on with more points")
    simulations: int = parameter(15, "for a target in each round, at most", at_least=2)
    relaxed: bool = parameter(False, "let go from equilibria with the excitations of the examples")
    compare_linear: bool = parameter(True, "also find the best linear damping")
    verify: bool = parameter(True, "also measure in full space what came of a reduced design")
    motion_error: bool = parameter(
        False, "also tell in the report how far its reduced motion is from that of the body"
    )

    def space_for(self, body: Body) -> Literal["reduced", "full"]:
        """Reduced, unless said otherwise, where a reduced model is exact in its coordinates.

        That is for StVK bodies that are held, and held still.
        """
        if self.space is not None:
            return self.space
        exact = is_polynomial(body)
        still = not body.held.moving and body.free_rigid_motions == 0
        return "reduced" if exact and still else "full"


_GOALS: dict[str, Callable[[Any, Path], Any]] = {
    "residual": lambda given, folder: given,
    "wish": wish,
    "settle": lambda given, folder: SettlingTime(given),
    "envelope": lambda given, folder: Envelope(given),
    "recording": lambda given, folder: Envelope.recorded(given),
}
GOALS = tuple(_GOALS)
"""What a target may ask for; one of these."""


def build_initial(
    given: dict[str, Any], body: Body | Cloth, names: list[str] | None, problems: Problems
) -> Initial:
    """How a scene starts, from its table; notes what this body cannot do."""
    if given.get("equilibrium"):
        with problems.noting("initial.equilibrium"):
            body.require_supports("an equilibrium")
    free, mode = int(body.free.sum()), given.get("mode")
    if mode is not None and mode >= free:
        known = f"has modes 1 to {free - 1}" if free > 1 else "cannot move: all of it is held"
        problems.add("initial.mode", f"got {mode}; the body {known}")
    if "example" in given:
        example = named_example(given["example"], names, "initial.example", problems)
        given = given | {"example": example}
    return Initial(**given)


def build_targets(
    given: Sequence[Fields], names: Sequence[str] | None, problems: Problems
) -> tuple[Unloading, ...]:
    """The targets, for examples of these names; None where those are not known."""
    targets: list[Unloading] = []
    taken: set[tuple[int | str, float]] = set()
    for i, each in enumerate(given):
        path = f"targets[{i}]"
        example = named_example(each["example"], names, f"{path}.example", problems)
        if example is None:
            continue
        if (example, each["start"]) in taken:
            problems.add(
                f"{path}.start", f"another target starts {example!r} from {each['start']:g} too"
            )
        taken.add((example, each["start"]))
        goal = next(name for name in GOALS if name in each)
        try:
            asked = _GOALS[goal](each[goal], problems.folder)
            targets.append(Unloading(example, each["start"], asked))
        except InputError as error:
            problems.add(f"{path}.{goal}", str(error))
    return tuple(targets)


def named_example(
    given: int | str, names: Sequence[str] | None, path: str, problems: Problems
) -> int | str | None:
    """The name of an example or, where it has none, its place in the list."""
    if names is None:
        return given
    if not names:
        problems.add(path, "there are no examples; add [[damping.examples]]")
        return None
    known = listed(repr(name) for name in names if name)
    if isinstance(given, str):
        if given in names:
            return given
        hint = guess(given, names) or f"; there are: {known or 'none with a name'}"
        problems.add(path, f"no example {given!r}{hint}")
        return None
    if given > len(names):
        problems.add(path, f"got {given}; there are {len(names)}, counted from 1: {known}")
        return None
    return names[given - 1] or given - 1
