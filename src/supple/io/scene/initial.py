"""How a scene starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.bodies.cloth import Cloth
from supple.bodies.solid import Body
from supple.io.scene.build import noting
from supple.io.scene.design import named_example
from supple.io.scene.schema import Problems


@dataclass(frozen=True)
class Initial:
    """How a scene starts.

    ``equilibrium``: at rest under its loads; ``velocity`` (3,) [m/s] of the whole body;
    ``rotation`` (3,) [rad/s] about its centre of mass; ``mode``: bent into this vibration mode,
    counted from 1, with ``amplitude`` [m] where it moves most; ``example``: bent into
    ``excitation`` times this example of the damping, by its name, or by its number from 0.
    """

    equilibrium: bool = False
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mode: int | None = None
    amplitude: float = 0.0
    example: int | str | None = None
    excitation: float = 1.0


def build_initial(
    given: dict[str, Any], body: Body | Cloth, names: list[str] | None, problems: Problems
) -> Initial:
    """How a scene starts, from its table; notes what this body cannot do."""
    if given.get("equilibrium"):
        with noting(problems, "initial.equilibrium"):
            body.require_supports("an equilibrium")
    free = int(body.free.sum())
    mode = given.get("mode")
    if mode is not None and mode >= free:
        known = f"has modes 1 to {free - 1}" if free > 1 else "cannot move: all of it is held"
        problems.add("initial.mode", f"got {mode}; the body {known}")
    if "example" in given:
        example = named_example(given["example"], names, "initial.example", problems)
        given = given | {"example": example}
    rows: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Initial(**rows)
