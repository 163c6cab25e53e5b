"""Damping of a character, designed in its neutral pose."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, model_of, poses_at
from tests.refusals import refused

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.design.testbeds import make_testbed

MESH = beam()
RULE = {"integrator": sp.TRBDF2(), "dt": 1 / 60}


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    return model_of(FramedBend(MESH.boundary()), MESH, poses_at([0.0, 1.2], 7), 6)


@pytest.fixture(scope="module")
def sway(model: PoseSpaceModel) -> sp.Example:
    return sp.Example(np.moveaxis(model.bases[0], 2, 0)[0], name="sway").scaled(0.05)


@pytest.mark.verify
def test_release_of_a_vibration_decays_by_its_ratio(
    model: PoseSpaceModel, sway: sp.Example
) -> None:
    zeta, omega = 0.04, float(np.sqrt(model.squares[0, 0]))
    damping = sp.ExampleDamping(sp.Rayleigh(mass=2 * zeta * omega / 4), [sway.with_curve(4.0)])
    dt = 2 * np.pi / omega / 100
    bed = make_testbed(model, damping, integrator=sp.TRBDF2(), dt=dt)
    test = bed.unload(damping, 0, 0.01)
    assert bed.linear_period(0) == pytest.approx(2 * np.pi / omega, rel=1e-6)
    assert test.residual / 0.01 == pytest.approx(sp.DampingRatio(zeta).share(1.0), rel=1e-2)
    assert test.period == pytest.approx(2 * np.pi / omega / np.sqrt(1 - zeta**2), rel=1e-2)


@pytest.mark.verify
def test_wishes_are_met_where_the_character_moves(model: PoseSpaceModel, sway: sp.Example) -> None:
    """Released on the rig itself, by hand, the swing leaves what was asked for."""
    wish = sp.Unloading("sway", 1.0, "20 % left after one cycle")
    fit = sp.design_damping(model, sp.ExampleDamping(sp.Rayleigh(mass=0.5), [sway]), [wish], **RULE)
    assert fit.report.met
    live = sp.PoseSimulation(model, damping=fit.damping, **RULE)
    basis = model.at(live.pose).shapes().reshape(-1, 6)
    live.q = np.linalg.lstsq(basis, sway.shape.ravel(), rcond=None)[0]
    way = live.q / np.linalg.norm(live.q)
    first = way @ live.q
    swings = []
    for _ in range(round(1.5 * fit.report.results[0].after.period * 60)):
        live.step(live.pose)
        swings.append(way @ live.q)
    assert max(swings[len(swings) // 3 :]) == pytest.approx(0.2 * first, rel=0.05)


def test_shapes_of_another_mesh_are_refused(model: PoseSpaceModel) -> None:
    other = sp.Example(np.ones((5, 3)), name="other")
    damping, wish = sp.ExampleDamping(sp.Rayleigh(mass=0.5), [other]), sp.Unloading(0, 1.0, 0.2)
    refused("shape", sp.design_damping, model, damping, [wish], **RULE)
