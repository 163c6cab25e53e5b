"""Benches for targets."""

from __future__ import annotations

from collections.abc import Sequence

import supple as sp
from supple.design.search.bench import Asked, Bench
from supple.design.testbed import Testbed, Watch


def bench_of(
    bed: Testbed,
    damping: sp.ExampleDamping,
    targets: Sequence[sp.Unloading],
    tolerance: float = 0.005,
) -> Bench:
    asked = []
    for target in targets:
        i = damping.index(target.example)
        asked.append(Asked(i, target, Watch.of(target, bed.linear_period(i))))
    return Bench(bed, damping, asked, tolerance=tolerance, tell=lambda *_: None)
