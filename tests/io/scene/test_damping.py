"""Scene files with dampings of every kind, alone and several."""

import numpy as np
import pytest
from tests.io.conftest import solid_scene

import supple as sp
from supple.damping import DAMPINGS, save_damping
from supple.io.scene.models import fields_of, required_of

BASE = solid_scene(
    "box = { size = [1.0, 0.2, 0.1], cells = [4, 1, 1] }\nregions.outer.x = [0.5, inf]",
    "StVK",
    "[[supports]]\nx = 0",
)

RATE = sp.StrainRate(shear=5.0, bulk=2.0)

ONE = {
    'model = "strain_rate"\nshear = 5\nbulk = 2': RATE,
    'model = "StrainRate"\nshear = 5\nbulk = 2': RATE,
    'model = "strain-rate"\nfibre = { outer = 3 }\ndirection = [1, 0, 0]': sp.StrainRate(
        fibre={"outer": 3.0}, direction=(1, 0, 0)),
    'model = "power_law"\nexponent = 0\nstrength = 40\nwidth = 1e-3': sp.PowerLaw(
        exponent=0, strength=40.0, width=1e-3),
    'model = "power_law"\nexponent = 2\nscale = 3\n'
    'of = { model = "strain_rate", shear = 5, bulk = 2 }': sp.PowerLaw(
        exponent=2, of=RATE, scale=3),
    'model = "power_law"\nexponent = 2\nscale = 3\nof = { stiffness = 0.1 }': sp.PowerLaw(
        exponent=2, of=sp.Rayleigh(stiffness=0.1), scale=3),
    'model = "drag"\nstrength = 2\nwind = [1, 0, 0]': sp.Drag(strength=2, wind=(1, 0, 0)),
    'stiffness = 0.1\nconserving = "body"': sp.MomentumConserving(
        sp.Rayleigh(stiffness=0.1), by=sp.Conserving.BODY),
    'model = "strain_rate"\nshear = 5\nbulk = 2\nconserving = "cells"': sp.MomentumConserving(
        RATE, by=sp.Conserving.CELLS),
}  # fmt: skip


@pytest.mark.parametrize("text", ONE, ids=lambda text: text.splitlines()[0])
def test_each_model_is_what_it_says(scene, text):
    assert repr(scene(f"[damping]\n{text}\n").damping) == repr(ONE[text])


def test_every_model_whose_parameters_can_be_written_is_known(refusal):
    written = {
        name for name, cls in DAMPINGS.by_name.items() if set(required_of(cls)) <= {*fields_of(cls)}
    }
    others = {"viscous", "by_example", "momentum_conserving"}
    assert written == set(DAMPINGS.names) - others
    for name in others:
        assert "save_damping" in refusal(f'[damping]\nmodel = "{name}"\n')


def test_several_dampings_add_up(scene, tmp_path):
    save_damping([sp.Rayleigh(mass=1), sp.Drag(strength=1)], tmp_path / "two.toml")
    made = scene("""
        initial = { example = "bend" }
        damping = [
            { model = "strain_rate", shear = 5, bulk = 2 },
            { mass = 0.5, examples = [{ name = "bend", mode = 1 }] },
            { file = "two.toml" },
        ]
    """)
    rate, example, mass, drag = made.damping
    assert rate == RATE
    assert example.base == sp.Rayleigh(mass=0.5)
    assert made.by_example is example
    assert (mass, drag.strength) == (sp.Rayleigh(mass=1), 1)
    made.simulation().step()
    assert scene('damping = [{ model = "strain_rate", shear = 5, bulk = 2 }]').damping == RATE
    assert scene("").damping is None


def test_an_example_with_a_reach_bends(scene):
    bend = '{ name = "bend", mode = 1, amplitude = 0.1, reach = 2.0 }'
    made = scene(f"""
        initial = {{ example = "bend", excitation = 2.0 }}
        damping = {{ mass = 0.5, examples = [{bend}] }}
    """)
    example = made.by_example.examples[0]
    assert example.reach == 2.0
    assert made.body.energy(example.at(2.0)) < 0.5 * made.body.energy(2.0 * example.shape)
    sim = made.simulation()
    assert np.array_equal(sim.state.u, example.at(2.0))


BAD = {
    "damping = 1": ("damping:", "strain_rate"),
    "damping = []": ("damping:", "[[damping]]"),
    "[[damping]]\nmass = 1\n[[damping]]\nmodel = 'strain_rat'": (
        "damping[1].model", "strain_rat", "power_law", "did you mean strain_rate?"),
    "[[damping]]\nmass = 1\n[[damping]]\nmodel = 7": ("damping[1].model", "got 7"),
    "[damping]\nshear = 1": ("damping.shear", 'or "strain_rate"', '"rayleigh"'),
    "[damping]\nmodel = 'drag'\nstrengt = 1": (
        "damping.strengt", "did you mean strength", "damping.strength: is missing"),
    "[damping]\nmodel = 'drag'\nstrength = 1\nwind = [1, 2]": ("damping.wind",),
    "[damping]\nmodel = 'drag'\nstrength = -1": ("damping.strength", "-1"),
    "[damping]\nmodel = 'strain_rate'\nshear = -1": ("damping.shear", "-1", "zero or more"),
    "[damping]\nmodel = 'strain_rate'\nshear = 'much'": ("damping.shear", '"much"'),
    "[damping]\nmodel = 'strain_rate'\nshear = { nowhere = 1 }": ("damping:", "nowhere"),
    "[damping]\nmodel = 'strain_rate'\nfibre = 1": ("damping.fibre", "direction"),
    "[damping]\nmodel = 'power_law'\nexponent = -1\nstrength = 1": ("damping.exponent", "-1"),
    "[damping]\nmodel = 'power_law'\nexponent = 1": ("damping:", "strength"),
    "[damping]\nmodel = 'power_law'\nexponent = 1\nscale = 1\nof = { model = 'drag' }": (
        "damping.of.strength", "is missing"),
    "[damping]\nmodel = 'power_law'\nexponent = 1\nscale = 1\nof = 3": ("damping.of", "got 3"),
    "[damping]\nmodel = 'power_law'\nexponent = 1\nscale = 1\n"
    "of = { model = 'drag', strength = 1 }": ("damping:", "acts in cells alone"),
    "[damping]\nmass = 1\nconserving = 'energy'": (
        "damping.conserving", "velocity_gradient, cells, body"),
    "[[damping]]\nmass = 1\n[[damping.examples]]\nmode = 1\n"
    "[[damping]]\nmass = 2\n[[damping.examples]]\nmode = 2": ("damping:", "only one"),
    "[[damping]]\nmass = 1\n[[damping]]\nmass = 1\n[[damping.examples]]\nmode = 100": (
        "damping[1].examples[0].mode", "100"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_bad_damping_names_field_and_cure(refusal, text):
    refusal(text, words=BAD[text])


def test_tables_within_tables_without_end_are_refused(refusal):
    deep = "{ model = 'power_law', exponent = 1, scale = 1, of = " * 200 + "1" + "}" * 200
    told = refusal(f"damping = {deep}\n")
    assert "nested too deeply" in told or "got 1" in told
