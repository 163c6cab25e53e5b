"""Why targets are missed, and what is met in steps of one length alone."""

from __future__ import annotations

import numpy as np
from tests.design.search.benches import bench_of

import supple as sp
from supple.design.search.knots import Knots
from supple.design.search.reasons import beyond_reach, due_to_steps
from supple.design.testbeds import make_testbed

BASE = sp.Rayleigh(mass=0.3)


def test_what_holds_for_one_step_alone_is_told(reduced, examples):
    """A band of strong damping that large swings pass within a step."""
    bend = examples[0].scaled(0.02)
    damping = sp.ExampleDamping(BASE, [bend])
    steep = Knots({0: np.array([0.03, 0.06, 2.0])})
    smooth = Knots({0: np.array([0.5, 2.0])})
    bed = make_testbed(reduced, damping, dt=1 / 60, relaxed=True)
    for knots, z, count in ((steep, [2.3, -2.0, -2.0], 1), (smooth, [1.0, 0.5], 0)):
        curves = knots.damping(damping, np.array(z))
        left = bed.unload(curves, 0, 2.0).residual
        bench = bench_of(bed, damping, [sp.Unloading("bend", 2.0, left)])
        notes = due_to_steps(bench, bench.trial(knots, np.array(z)))
        assert len(notes) == count
    assert bed.dt == 1 / 60


def test_the_strongest_need_not_take_most(reduced, examples):
    """Far from rest γ = 1000 holds the example, and the beam goes on in other shapes."""
    bend = examples[0].scaled(0.2)
    damping = sp.ExampleDamping(sp.Rayleigh(stiffness=2e-3), [bend])
    bed = make_testbed(reduced, damping, dt=1 / 60, relaxed=True)
    left = {g: bed.unload(damping.with_curves([g]), 0, 2.0).residual for g in (10.0, 100.0, 1000.0)}
    least = min(left, key=left.__getitem__)
    assert least < 1000.0
    wanted = 0.5 * (left[least] + left[1000.0])
    bench = bench_of(bed, damping, [sp.Unloading("bend", 2.0, wanted)])
    found = bench.trial(Knots({0: np.array([2.0])}), np.array([0.0]))
    assert not beyond_reach(bench, found, 0)
