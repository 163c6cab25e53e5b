"""One motion under every damping model: a soft bar that is stretched, set spinning and let go.

Strengths are such that the first swing, without the spin, leaves the same share of the stretch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, on_white, plain
from scipy.optimize import brentq

import supple as sp
from supple.io.pictures import Camera, render

mpl.use("Agg")
import matplotlib.pyplot as plt

SIZE, YOUNG, DENSITY = (1.0, 0.2, 0.2), 2e4, 1000.0  # [m], [Pa], [kg/m³]
STRETCH, SPIN = 0.15, 2.0  # at the start; [rad/s] about z
LEFT = 0.6  # share of the stretch after one cycle
DT, DURATION = 1 / 200, 3.0  # [s]
SHOWN = ("Rayleigh(mass=)", "Rayleigh(stiffness=, at=REST)", "StrainRate", "PowerLaw(exponent=0)")
MOMENTS = (0.0, 0.2, 0.6, 1.1, 1.6, 2.2, 2.7)  # [s]
PIXELS = 236, 236

MESH = sp.TetMesh.box(size=SIZE, cells=(10, 2, 2))
X = MESH.vertices - MESH.vertices.mean(axis=0)
BODY = sp.Body(MESH, sp.StVK(young=YOUNG, poisson=0.3, density=DENSITY), mass_model=sp.LumpedMass())
PULLED = np.outer(X[:, 0], (STRETCH, 0.0, 0.0))  # [m], (n, 3)
ENDS = MESH.where(x=0), MESH.where(x=SIZE[0])


@dataclass(frozen=True)
class Model:
    """A panel: its title, and the damping of a strength."""

    title: str
    of: Callable[[float], sp.Damping | None]
    guess: float
    body: sp.ElasticBody = BODY


def springs() -> sp.SpringNetwork:
    """The edges of the same mesh as springs, as stiff to stretching as the solid."""
    edges = MESH.cells[:, list(combinations(range(4), 2))].reshape(-1, 2)
    net = sp.SpringMesh(MESH.vertices, np.unique(np.sort(edges, axis=1), axis=0))
    mass = np.bincount(
        MESH.cells.ravel(), np.repeat(DENSITY * MESH.volumes / 4, 4), minlength=len(X)
    )
    soft = sp.SpringNetwork(net, stiffness=1.0, mass=mass)
    return sp.SpringNetwork(net, stiffness=BODY.energy(PULLED) / soft.energy(PULLED), mass=mass)


def dashpots() -> np.ndarray:
    """Unit dashpots along x between the two ends, (3n, 3n)."""
    n = len(X)
    C = np.zeros((3 * n, 3 * n))
    for a in ENDS[0]:
        for b in ENDS[1]:
            i, j = 3 * a, 3 * b
            C[i, i] += 1
            C[j, j] += 1
            C[i, j] -= 1
            C[j, i] -= 1
    return C


def by_example(strength: float) -> sp.Damping:
    stretch = sp.Example(PULLED, curve=sp.Curve.constant(strength))
    return sp.ExampleDamping(sp.Rayleigh(mass=0.1), [stretch])


def large_only(strength: float) -> sp.Damping:
    """Next to nothing within 3 % of rest, all of it from 8 % on."""
    curve = sp.Curve.monotone([(0.92, 1), (0.97, 0.01), (1.03, 0.01), (1.08, 1)])
    return sp.SplineDamping(sp.StrainRate(shear=strength), curve)


MODELS = (
    Model("no damping", lambda _: None, 0.0),
    Model("Rayleigh(mass=)", lambda s: sp.Rayleigh(mass=s), 2.0),
    Model("Rayleigh(stiffness=)", lambda s: sp.Rayleigh(stiffness=s), 0.01),
    Model(
        "Rayleigh(stiffness=, at=REST)",
        lambda s: sp.Rayleigh(stiffness=s, at=sp.StiffnessAt.REST),
        0.01,
    ),
    Model("Caughey", lambda s: sp.Caughey((0.0, s, 0.02 * s / 14.0**2)), 0.01),
    Model("Viscous, dashpots end to end", lambda s: sp.Viscous(s * dashpots()), 1.0),
    Model("ExampleDamping, the stretch", by_example, 20.0),
    Model("Drag", lambda s: sp.Drag(strength=s), 100.0),
    Model("StrainRate", lambda s: sp.StrainRate(shear=s), 100.0),
    Model("MatchedStrainRate", lambda s: sp.MatchedStrainRate(stiffness=s), 0.01),
    Model("PrincipalStrain", lambda s: sp.PrincipalStrain(stiffness=s), 0.01),
    Model(
        "MomentumConserving(Rayleigh, REST)",
        lambda s: sp.MomentumConserving(
            sp.Rayleigh(stiffness=s, at=sp.StiffnessAt.REST), sp.Conserving.BODY
        ),
        0.01,
    ),
    Model("PowerLaw(exponent=0)", lambda s: sp.PowerLaw(exponent=0, strength=s), 100.0),
    Model("PowerLaw(exponent=2)", lambda s: sp.PowerLaw(exponent=2, strength=s), 100.0),
    Model("SplineDamping, small swings free", large_only, 200.0),
    Model(
        "SpringStrainRate, on springs", lambda s: sp.SpringStrainRate(matched=s), 0.01, springs()
    ),
)


def released(model: Model, strength: float, *, spin: float, duration: float) -> sp.Motion:
    sim = sp.Simulation(model.body, damping=model.of(strength), dt=DT)
    sim.state.u = PULLED
    sim.state.v = np.cross((0.0, 0.0, spin), X + PULLED)
    return sim.run(duration)


def stretch(motion: sp.Motion) -> np.ndarray:
    """Distance between the middles of the ends over its rest value, less one, (T,)."""
    x = motion.positions
    ends = x[:, ENDS[1]].mean(axis=1) - x[:, ENDS[0]].mean(axis=1)
    return np.asarray(np.linalg.norm(ends, axis=1) / SIZE[0] - 1)


def share_left(model: Model, strength: float) -> float:
    """Stretch at the first return over that at the start, without spin."""
    e = stretch(released(model, strength, spin=0.0, duration=0.7))
    turn = np.flatnonzero((e[1:-1] < e[:-2]) & (e[1:-1] <= e[2:]))[0] + 1
    return float(e[turn:].max() / e[0])


def strength_of(model: Model) -> float:
    if model.of(1.0) is None:
        return 0.0

    def off(log: float) -> float:
        return share_left(model, model.guess * np.exp(log)) - LEFT

    low, high = -0.5, 0.5
    while off(low) < 0:
        low -= 0.7
    while off(high) > 0:
        high += 0.7
    return float(model.guess * np.exp(brentq(off, low, high, xtol=0.01)))


def curves(found: dict[str, tuple[float, sp.Motion]]) -> None:
    figure, grid = plt.subplots(
        4, 4, figsize=(11.5, 8.2), sharex=True, sharey=True, layout="constrained"
    )
    for axes, (title, (_, motion)) in zip(grid.flat, found.items(), strict=True):
        axes.axhline(0, color=INK, linewidth=0.6)
        axes.plot(motion.times, 100 * stretch(motion), color=COLORS[0], linewidth=1.3)
        spin = axes.twinx()
        momentum = motion.angular_momentum[:, 2]
        spin.plot(motion.times, 100 * momentum / momentum[0], "--", color=COLORS[1], linewidth=1.6)
        axes.set_ylim(-18, 18)
        spin.set_ylim(-109, 109)
        spin.set_yticks([0, 100], ["0", "100"] if axes in grid[:, -1] else ["", ""])
        axes.set_title(title, fontsize=9, color=INK)
        axes.set_xlim(0, DURATION)
        plain(axes)
        plain(spin)
        spin.grid(False)
    figure.supxlabel("time [s]", fontsize=9, color=INK)
    figure.supylabel("stretch [%], solid", fontsize=9, color=COLORS[0])
    figure.text(1.005, 0.5, "angular momentum [%], dashed", rotation=90, va="center", fontsize=9,
                color=COLORS[1])  # fmt: skip
    figure.savefig(IMAGES / "damping_models.png", dpi=100, bbox_inches="tight")


def strip(found: dict[str, tuple[float, sp.Motion]]) -> None:
    """Moments of some of the motions, seen from above at a slant."""
    figure, rows = plt.subplots(len(SHOWN), 1, figsize=(11.5, 1.42 * len(SHOWN)))
    facets = MESH.boundary_facets().ravel()
    flat = np.arange(len(facets)).reshape(-1, 3)  # no vertices shared: flat faces, sharp edges
    ahead = X[facets, 0].reshape(-1, 3).mean(axis=1) > 0  # one half in another colour
    colors = np.where(np.repeat(ahead, 3)[:, None], (0.80, 0.62, 0.50), (0.45, 0.60, 0.72))
    middle = MESH.vertices.mean(axis=0)
    camera = Camera(tuple(middle), 1.22, azimuth=-90.0, elevation=52.0)
    for axes, title in zip(rows, SHOWN, strict=True):
        motion = found[title][1]
        pictures = [
            render((MESH.vertices + motion.at(t))[facets], flat, camera, size=PIXELS, colors=colors)
            for t in MOMENTS
        ]
        cropped = [on_white(picture)[28:-28] for picture in pictures]
        axes.imshow(np.concatenate(cropped, axis=1))
        axes.set_title(title, fontsize=9, color=INK, loc="left", pad=1)
        axes.set_axis_off()
    for k, t in enumerate(MOMENTS):
        rows[-1].text(
            (k + 0.5) / len(MOMENTS), -0.02, f"{t:g} s", ha="center", va="top", fontsize=9,
            color=INK, transform=rows[-1].transAxes,
        )  # fmt: skip
    figure.subplots_adjust(0.01, 0.05, 0.99, 0.96, hspace=0.12)
    figure.savefig(IMAGES / "damping_models_frames.png", dpi=100)


def main() -> None:
    found = {}
    for model in MODELS:
        strength = strength_of(model)
        motion = released(model, strength, spin=SPIN, duration=DURATION)
        found[model.title] = strength, motion
        lost = 1 - motion.angular_momentum[-1, 2] / motion.angular_momentum[0, 2]
        print(f"{model.title:36} {strength:10.4g}  spin lost {lost:8.1e}", flush=True)
    curves(found)
    strip(found)


if __name__ == "__main__":
    main()
