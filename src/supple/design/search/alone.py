"""Whether a target is within reach by itself: of curves with many points, whatever else they do.

One strength at every amplitude tells at once where a target lies between what the weakest and the
strongest leave (``reasons.beyond_reach``); where a body buckles, or a target has several moments,
it may be out of reach nevertheless. If so, it is not to draw others off what they can have.
"""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.design.search.bench import HIGH, LOW, Bench
from supple.design.search.evolution import evolved, smooth_spread
from supple.design.search.knots import Knots, evenly_spaced

OUT = 0.02
"""By which the nearest curve is off from a target that is out of reach, as the log of what is left."""
_POINTS = 10
_TILTS = (0.0, 1.0, -1.0)  # decades by which curves to begin with rise from the middle to an end
_LEVEL = 0.7  # log₁₀ γ in their middle
_TRIES = 60  # curves, from each beginning
_SPREAD = 0.4  # decades by which they differ


def is_within_reach(bench: Bench, i: int, seed: int) -> bool:
    """Whether curves with many points come near target i, from nudged starts too."""
    assert bench.best is not None
    best, example = bench.best, bench.asked[i].example
    largest = float(best.knots.places[example][-1])
    knots = Knots({example: evenly_spaced(largest, _POINTS)})
    places = knots.places[example]

    def rate(z: Floats) -> tuple[int, float]:
        return bench.worst_of(knots.damping(best.damping, z), i)

    near = (0, OUT**2)
    begins = [knots.read(best.damping, 10.0**LOW, 10.0**HIGH)]
    begins += [_LEVEL + tilt * np.linspace(-1, 1, _POINTS) for tilt in _TILTS]
    return any(
        rate(
            evolved(
                rate,
                begin,
                smooth_spread(places, _SPREAD),
                tries=_TRIES,
                seed=seed + n,
                low=LOW,
                high=HIGH,
                enough=near,
            )
        )
        <= near
        for n, begin in enumerate(begins)
    )
