"""Ten thousand times at random: no strengths, shapes, frames and velocities feed energy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from tests.damping.examples.scenes import block, carried, free, moved
from tests.helpers import rotation, soft

import supple as sp
from supple.bodies.shape import Shape

MESH = block(regions=True)
REST = sp.StiffnessAt.REST
BASES = {
    "mass": sp.Rayleigh(mass=0.7),
    "rest": sp.Rayleigh(mass=0.2, stiffness=0.02, at=REST),
    "by region": sp.Rayleigh(mass={"left": 0.1, "right": 2.0}, stiffness={"left": 0.03}, at=REST),
    "current": sp.Rayleigh(mass=0.2, stiffness=0.02),
    "current by region": sp.Rayleigh(mass=0.1, stiffness={"left": 0.03, "right": 0.001}),
    "Caughey": sp.Caughey((0.3, 0.01)),
    "strain rate": sp.StrainRate(shear=3.0, bulk=2.0),
    "matched": sp.MatchedStrainRate(stiffness=0.02),
    "several": [sp.Rayleigh(mass=0.01), sp.StrainRate(shear=3.0)],
    "conserving": sp.MomentumConserving(sp.Rayleigh(mass=0.7), by=sp.Conserving.BODY),
}

X, EVERYWHERE = MESH.vertices, np.ones(MESH.n_vertices, dtype=bool)
PARTS = (
    ("right", ~np.isin(np.arange(len(X)), MESH.cells[MESH.region("left")])),
    ((X[:, 2] > 0.4) & (X[:, 0] > 0.2),) * 2,
    ((X[:, 1] < 0.3) & (X[:, 0] > 0.2),) * 2,
)
"""Regions, and their vertices; two of them overlap."""

DAMPINGS, SHAPES, VELOCITIES = 20, 5, 10
assert len(BASES) * DAMPINGS * SHAPES * VELOCITIES == 10_000


def curve(rng: np.random.Generator) -> sp.Curve:
    """Strengths from 0.001 to 1000, over sizes that shapes and velocities have."""
    gammas = 10.0 ** rng.uniform(-3, 3, size=3)
    if rng.random() < 0.3:
        return sp.Curve.constant(gammas[0] if rng.random() < 0.9 else 0.0)
    sizes = np.sort(rng.uniform(0.0, 0.3, size=3))
    make = (sp.Curve.linear, sp.Curve.monotone, sp.Curve.bezier)[rng.integers(3)]
    return make(list(zip(sizes, gammas, strict=True)))


def examples(rng: np.random.Generator) -> list[sp.Example]:
    """One to five, more or less alike, some of one part alone, some that bend."""
    common, alike = rng.normal(size=MESH.vertices.shape), rng.choice([0.0, 0.5, 0.9, 0.999])
    found = []
    for _ in range(rng.integers(1, 6)):
        shape = alike * common + (1 - alike) * rng.normal(size=common.shape)
        part = rng.integers(len(PARTS) + 2)
        region, inside = PARTS[part] if part < len(PARTS) else (None, EVERYWHERE)
        shape = np.where(inside[:, None], shape, 0.0)
        example = sp.Example(shape, curve(rng), measure=rng.choice(list(sp.Measure)), region=region)
        if rng.random() < 0.3:
            bend = np.where(inside[:, None], rng.normal(size=(2, *shape.shape)), 0.0)
            example = example.with_bend(bend, rng.uniform(0.05, 1.0))
        found.append(example)
    return found


def cases(base: sp.Damping, seed: int) -> Iterator[tuple[float, float]]:
    """vᵀĈv, and what it is a difference of, at random."""
    rng = np.random.default_rng(seed)
    fixed = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=(None, 0.1)))
    bodies = [fixed, carried(MESH), free(MESH)]
    for _ in range(DAMPINGS):
        body = bodies[rng.integers(3)]
        damping = sp.ExampleDamping(
            base,
            examples(rng),
            symmetric=bool(rng.integers(2)),
            overall=curve(rng) if rng.random() < 0.2 else None,
        )
        bound = damping.bind(body)
        for _ in range(SHAPES):
            u = np.where(body.free, rng.choice([0.0, 0.03, 0.3]) * rng.normal(size=(1, 3)), 0.0)
            u = u + np.where(body.free, 0.05 * rng.normal(size=MESH.vertices.shape), 0.0)
            if body is not fixed:
                u = moved(MESH, u, rotation(int(rng.integers(1000))), rng.normal(size=3))
            shape = Shape(body, u, order=2)
            shapes = bound._motion.at(shape)  # along which strengths differ
            for _ in range(VELOCITIES):
                v = np.tensordot(rng.normal(size=len(shapes)), shapes, 1)
                v = np.ascontiguousarray(v + rng.choice([0.0, 0.1]) * rng.normal(size=u.shape))
                v = v if body is not fixed else np.where(body.free, v, 0.0)  # supports may move
                dissipation, force = bound.evaluate(shape, v)
                plain = bound._base.evaluate(shape, v)  # examples may take all of it away
                size = np.linalg.norm(force) + np.linalg.norm(plain)
                yield 2.0 * dissipation, float(np.linalg.norm(v) * size)


@pytest.mark.parametrize("name", BASES)
def test_dissipation_is_never_negative(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.StrengthWarning)
        powers, sizes = np.array(list(cases(BASES[name], list(BASES).index(name)))).T
    assert np.isfinite(powers).all()
    assert (sizes > 0).all()
    worst = (powers / sizes).min()
    assert worst >= -1e-9, worst
    assert np.median(powers / sizes) > 1e-3  # most of them take much
