"""Whether a target is within reach by itself: of curves with many points, whatever else they do.

One strength at every amplitude tells at once where a target lies between what the weakest and the
strongest leave (``reasons.beyond_reach``); where a body buckles, or a target has several moments,
it may be out of reach nevertheless. If so, it is not to draw others off what they can have.
"""

from __future__ import annotations

import numpy as np

from supple.design.search.bench import HIGH, LOW, Bench, Trial
from supple.design.search.evolution import evolved, smooth_spread
from supple.design.search.knots import Knots, evenly_spaced
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.search.together import solve_by_derivatives

OUT = 0.02
"""By which the nearest curve is off from a target that is out of reach, about relatively."""
POINTS = 10
"""Of curves that tell."""
_NEAR = 0, OUT**2  # quality of those that come near
_TILTS = (0.0, 1.0, -1.0)  # decades by which curves to begin with rise from the middle to an end
_LEVEL = 0.7  # log₁₀ γ in their middle
_TRIES = 60  # curves, from each beginning
_SPREAD = 0.4  # decades by which they differ


def nearest_alone(bench: Bench, i: int, seed: int) -> Trial:
    """A curve with many points that comes near target i, from nudged starts too, or the nearest."""
    assert bench.best is not None
    best, example = bench.best, bench.asked[i].example
    places = evenly_spaced(float(best.knots.places[example][-1]), POINTS)
    knots = Knots({example: places})
    alone = bench.alone(i, best.damping)
    begins = [knots.read(best.damping, LOWEST, HIGHEST)]
    begins += [_LEVEL + tilt * np.linspace(-1, 1, POINTS) for tilt in _TILTS]
    for n, begin in enumerate(begins):
        z = evolved(
            lambda z: alone.trial(knots, z).quality,
            begin,
            smooth_spread(places, _SPREAD),
            tries=_TRIES,
            seed=seed + n,
            low=LOW,
            high=HIGH,
            enough=_NEAR,
        )
        if alone.best is None or not is_near(alone.best):
            solve_by_derivatives(alone, alone.trial(knots, z), patiently=True)
        if alone.best is not None and is_near(alone.best):
            break
    bench.simulations[i] += alone.simulations[0]
    assert alone.best is not None
    return alone.best


def is_near(trial: Trial) -> bool:
    """Whether a trial comes near its targets."""
    return trial.quality <= _NEAR
