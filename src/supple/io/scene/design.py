"""What a scene file asks of its damping: targets, and how to design for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.design import SettlingTime, Unloading
from supple.io.scene.build import Fields
from supple.io.scene.schema import Problems, guess, listed
from supple.materials import StVK


@dataclass(frozen=True)
class DesignOptions:
    """How a damping is designed.

    ``space``: with a "reduced" model or in "full"; None chooses. ``modes`` and ``size`` are those
    of the model's basis, beside the examples themselves. ``tolerance``, ``rounds`` and
    ``simulations`` are those of ``design_damping``. ``compare_linear``: also find the best linear
    damping; ``verify``: also measure in full space what came of a reduced design.
    """

    space: Literal["reduced", "full"] | None = None
    modes: int | None = None
    size: int | None = None
    tolerance: float = 0.005
    rounds: int = 5
    simulations: int = 15
    compare_linear: bool = True
    verify: bool = True

    def space_for(self, body: Body) -> Literal["reduced", "full"]:
        """Reduced, unless said otherwise, where a reduced model is exact in its coordinates.

        That is for StVK bodies that are held, and held still.
        """
        if self.space is not None:
            return self.space
        exact = all(isinstance(part.material, StVK) for part in body.parts)
        still = not body.held.moving and body.free_rigid_motions == 0
        return "reduced" if exact and still else "full"


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
        goal = next(name for name in ("residual", "wish", "settle") if name in each)
        asked = SettlingTime(each[goal]) if goal == "settle" else each[goal]
        try:
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
