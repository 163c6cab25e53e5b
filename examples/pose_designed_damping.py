"""Damping designed once, used on any motion: a creature's belly (example damping paper, Fig. 13).

Wishes are for the neutral pose: side to side, the belly is lively when it swings little and settles
soon when it swings far; up and down it hardly swings at all. The curves that they lead to are then
used on clips that the design knows nothing of.
"""

import numpy as np
from shared.creature_flesh import CLIPS, DT, belly_example, creature_model, excitations
from shared.measuring import quick

import supple as sp

model, body = creature_model(16 if quick() else 24)
sideways = belly_example(body, (1.0, 0.0, 0.0), "side to side").scaled(0.02)
upwards = belly_example(body, (0.0, 0.0, 1.0), "up and down").scaled(0.02)
plain = sp.Rayleigh(mass=1.5, stiffness=1e-3)
rule = {"integrator": sp.TRBDF2(), "dt": DT}
fit = sp.design_damping(
    model,
    sp.ExampleDamping(plain, [sideways, upwards]),
    [
        sp.Unloading("side to side", 0.2, "90 % left after one cycle"),
        sp.Unloading("side to side", 1.0, "55 % left after one cycle"),
        sp.Unloading("up and down", 0.5, "10 % left after one cycle"),
    ],
    **rule,
)
print(fit.report)
assert fit.report.met

shown, after = {}, {}
print(f"\n{'clip':6} {'':13} {'largest':>17} {'on average after it stops':>26}")
for clip in CLIPS:
    shown[clip] = ways = {
        name: excitations(model, damping, clip, fit.damping, **rule)
        for name, damping in {"plain": plain, "designed": fit.damping}.items()
    }
    for k, example in enumerate(fit.damping.examples):
        far = {name: np.abs(chi[:, k]).max() for name, (chi, _) in ways.items()}
        left = {name: np.sqrt(np.mean(chi[stop:, k] ** 2)) for name, (chi, stop) in ways.items()}
        after[clip, example.name] = left["designed"] / left["plain"]
        print(
            f"{clip:6} {example.name:13} {far['plain']:8.3f} → {far['designed']:.3f} "
            f"{left['plain']:17.4f} → {left['designed']:.4f}"
        )
for clip in CLIPS:
    assert after[clip, "up and down"] < 0.7
    assert after[clip, "side to side"] > 1.2 * after[clip, "up and down"]
