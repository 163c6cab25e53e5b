"""Designs for bodies whose releases take long: few of them have to do."""

from __future__ import annotations

import supple as sp
from supple.design.testbeds import ReducedTestbed

BAND = [
    (0.1932, 0.0709),
    (0.386, 0.0309),
    (0.773, 0.0214),
    (1.61, 0.688),
    (2.9, 2.28),
    (4.51, 0.0416),
    (6.44, 0.0153),
    (9.11, 0.0273),
    (12.88, 0.0561),
]


def test_slow_bodies_go_on_where_they_are_close(reduced, examples, monkeypatch):
    """From a curve that leaves nearly what is wished, of far swings that few curves leave it of.

    With beginnings elsewhere, as where nothing is close, 2 → 1.5 ended 0.8 % off.
    """
    monkeypatch.setattr(ReducedTestbed, "is_slow", True)
    bend = sp.Example(examples[0].shape, name="bend", measure=sp.Measure.RATE).scaled(0.4)
    base = sp.Rayleigh(stiffness=2e-3, at=sp.StiffnessAt.REST)
    damping = sp.ExampleDamping(base, [sp.bent_example(reduced, bend, reach=2.0)])
    given = damping.with_curves([sp.Curve.linear([(x, 0.7 * gamma) for x, gamma in BAND])])
    targets = [sp.Unloading("bend", 1.0, 0.35), sp.Unloading("bend", 2.0, 1.5)]
    fit = sp.design_damping(reduced, given, targets)
    assert fit.report.met, str(fit.report)
