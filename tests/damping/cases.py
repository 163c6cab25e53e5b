"""Instances of every damping model, what each promises, and a small body to try it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tests.helpers import large_deformation, shaken, soft

import supple as sp

GROWING = sp.Curve.monotone([(0.5, 0.3), (1.0, 1.0), (1.6, 4.0)])
FASTER = sp.Curve.bezier([(0.0, 0.3), (1.0, 1.0), (8.0, 6.0)])
SLOWER = sp.Curve.bezier([(0.1, 5.0), (2.0, 1.0), (20.0, 0.1)])
RATE = sp.SplineOver.RATE


@dataclass(frozen=True)
class Case:
    """A damping for a body, with ``unit`` lengths to a metre, and what it promises."""

    make: Callable[[sp.Body, float], sp.Damping]
    spares_rigid: bool = False
    """Whether a rigid velocity makes no force, at any shape."""
    turns: bool = True
    """Whether it is the same in a turned body."""
    coefficients: tuple[str, ...] = ()
    """Those that may be given by cell and by region."""


def _dashpot(body: sp.Body, unit: float) -> sp.Damping:
    a = np.zeros(3 * body.n_vertices)
    a[1], a[-2] = 1.0, -1.0
    return sp.Viscous(5.0 * np.outer(a, a) + np.eye(len(a)))


def _examples(body: sp.Body, unit: float) -> sp.Damping:
    shapes = np.random.default_rng(5).normal(size=(2, body.n_vertices, 3)) * 0.3 * unit
    curves = (sp.Curve.constant(3.0), sp.Curve.bezier([(0, 0.3), (0.5, 2.0)]))
    examples = [sp.Example(x, curve) for x, curve in zip(shapes, curves, strict=True)]
    return sp.ExampleDamping(sp.Rayleigh(mass=0.4, stiffness=0.01), examples, symmetric=True)


def _matched(body: sp.Body, unit: float) -> sp.Damping:
    return sp.MatchedStrainRate(stiffness=0.02)


def _principal(body: sp.Body, unit: float) -> sp.Damping:
    return sp.PrincipalStrain(stiffness=0.02)


def _strain_rate(body: sp.Body, unit: float) -> sp.Damping:
    return sp.StrainRate(shear=40 / unit, bulk=30 / unit, fibre=20 / unit, direction=(1, 2, -1))


def _spline(base, curve, over=sp.SplineOver.STRETCH):
    return lambda body, unit: sp.SplineDamping(base(body, unit), curve, over=over)


CASES: dict[str, Case] = {
    "Rayleigh": Case(
        lambda body, unit: sp.Rayleigh(mass=0.7, stiffness=0.02, at=sp.StiffnessAt.CURRENT),
        coefficients=("mass", "stiffness"),
    ),
    "Rayleigh at rest": Case(
        lambda body, unit: sp.Rayleigh(stiffness=0.02, at=sp.StiffnessAt.REST),
        turns=False,
        coefficients=("stiffness",),
    ),
    "Caughey": Case(lambda body, unit: sp.Caughey((0.5, 0.01, 1e-6)), turns=False),
    "Viscous": Case(_dashpot, turns=False),
    "ExampleDamping": Case(_examples, turns=False),
    "StrainRate": Case(
        _strain_rate, spares_rigid=True, coefficients=("shear", "bulk", "fibre")
    ),
    "PowerLaw, dry": Case(
        lambda body, unit: sp.PowerLaw(exponent=0, strength=40.0 / unit, width=0.5),
        spares_rigid=True,
        coefficients=("strength",),
    ),
    "PowerLaw, steep": Case(
        lambda body, unit: sp.PowerLaw(exponent=2, strength=3.0 / unit), spares_rigid=True
    ),
    "PowerLaw of another": Case(
        lambda body, unit: sp.PowerLaw(
            exponent=1.5, of=_strain_rate(body, unit), scale=2.0 / unit
        ),
        spares_rigid=True,
    ),
    "MomentumConserving, gradient": Case(
        lambda body, unit: sp.MomentumConserving(sp.Rayleigh(mass=0.7, stiffness=0.02)),
        spares_rigid=True,
    ),
    "MomentumConserving, cells": Case(
        lambda body, unit: sp.MomentumConserving(
            sp.Rayleigh(stiffness=0.02), by=sp.Conserving.CELLS
        ),
        spares_rigid=True,
    ),
    "MomentumConserving, body": Case(
        lambda body, unit: sp.MomentumConserving(
            sp.Rayleigh(mass=0.7, stiffness=0.02, at=sp.StiffnessAt.REST), by=sp.Conserving.BODY
        ),
        turns=False,
        spares_rigid=True,
    ),
    "Drag": Case(
        lambda body, unit: sp.Drag(strength=3.0 / unit**2),
    ),
    "MatchedStrainRate": Case(_matched, spares_rigid=True, coefficients=("stiffness",)),
    "PrincipalStrain": Case(_principal, spares_rigid=True, coefficients=("stiffness",)),
    "SplineDamping": Case(_spline(_matched, GROWING), spares_rigid=True),
    "SplineDamping of fibres": Case(_spline(_strain_rate, GROWING), spares_rigid=True),
    "SplineDamping of strains": Case(_spline(_principal, GROWING), spares_rigid=True),
    "SplineDamping rising": Case(
        _spline(_matched, FASTER, RATE), spares_rigid=True
    ),
    "SplineDamping falling": Case(
        _spline(_strain_rate, SLOWER, RATE), spares_rigid=True
    ),
    "SplineDamping of rising rates": Case(
        _spline(_principal, FASTER, RATE), spares_rigid=True
    ),
    "SplineDamping of falling rates": Case(
        _spline(_principal, SLOWER, RATE), spares_rigid=True
    ),
}  # fmt: skip


def the_body(material: type[sp.Material], unit: float = 1.0) -> sp.Body:
    """Six cells in general position, in a unit of length of which a metre has ``unit``."""
    mesh = shaken(sp.TetMesh.box((1.0, 0.8, 0.6), (1, 1, 1)))
    mesh = sp.TetMesh(mesh.vertices * unit, mesh.cells)
    constants = soft(material, young=1e4 / unit, density=1000.0 / unit**3)
    return sp.Body(mesh, constants, mass_model=sp.LumpedMass())


def held(body: sp.Body) -> sp.Body:
    """The body held at its vertices of least x."""
    mesh = body.mesh
    held = np.argsort(mesh.vertices[:, 0])[:4]
    return sp.Body(mesh, body.material, fixed=held, mass_model=sp.LumpedMass())


def the_state(body: sp.Body, *, inverted: bool = False, seed: int = 0):
    """A large deformation, a velocity with strain rates of some 1/s, and a change of either."""
    u = large_deformation(body.mesh, inverted=inverted, seed=seed)
    v, d = np.random.default_rng(seed + 10).normal(size=(2, *u.shape))
    return u, v, d
