"""Scene files of several bodies: what they may say, and what comes of it."""

import numpy as np
import pytest

import supple as sp
from supple.contact.attachments import Glue, Pin, Spring
from supple.io import load_scene
from supple.yarns import WovenBody, YarnDamping

pytest.importorskip("ipctk")

BASE = """
[bodies.block]
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
material = { young = 6e4, poisson = 0.4, density = 500 }
position = [0, 0, 0.1]
[bodies.ball]
rigid = { shape = "box", size = [0.1, 0.1, 0.1], density = 300 }
position = [0.3, 0, 0]
[time]
duration = 0.1
fps = 60
"""
SHEET = """
[bodies.sheet]
mesh = { grid = { size = [1, 1], cells = [1, 1] } }
material = { young = 1e4, thickness = 1e-3, areal_density = 0.2 }
position = [0, 0, 1]
scale = 0.5
[bodies.cord]
springs = { chain = { start = [0, 0, 2], end = [0, 0, 3], count = 4 }, stiffness = 10, mass = 0.1 }
supports = [{ place = "end" }]
"""
RUG = """
[damping]
model = "strain_rate"
shear = 1
[bodies.rug]
woven = { warps = 4, wefts = 5, spacing = 0.02, warp = { radius = 4e-4, linear_density = 2e-4, \
stretch = 50, bending = 1e-8 }, shear = 1e-5, position = [0, 0, 0.25] }
supports = [{ x = 0 }]
initial = { velocity = [0, 0, -0.1] }
"""


def test_bodies_of_every_kind_have_their_names(scene):
    made = scene(SHEET)
    kinds = {name: type(body) for name, body in made.bodies.items()}
    assert kinds == {
        "sheet": sp.Cloth, "cord": sp.SpringNetwork, "block": sp.Body, "ball": sp.RigidBody,
    }  # fmt: skip
    assert made.mesh.names == tuple(kinds)
    sim = made.simulation()
    assert sim.bodies == tuple(made.bodies.values())
    assert sim.self_contact == sp.SelfContact()
    assert not made.is_free
    assert not made.bodies["cord"].free[4].any()


def test_bodies_are_scaled_turned_and_moved_in_this_order(scene):
    quarter = "rotation = [0, 0, 1.5707963267948966]\nscale = 2"
    made = scene(
        "",
        BASE.replace("position = [0, 0, 0.1]", f"position = [0, 0, 0.1]\n{quarter}").replace(
            "position = [0.3, 0, 0]", f"position = [3, 0, 0]\n{quarter}"
        ),
    )
    block, ball = made.bodies["block"], made.bodies["ball"]
    np.testing.assert_allclose(block.mesh.bounds, [(-0.2, 0, 0.1), (0, 0.2, 0.3)], atol=1e-12)
    np.testing.assert_allclose(ball.mesh.skin.bounds, [(2.9, -0.1, -0.1), (3.1, 0.1, 0.1)])
    assert ball.total_mass == pytest.approx(300 * 0.2**3)
    sheet = scene(SHEET).bodies["sheet"]
    np.testing.assert_allclose(sheet.mesh.bounds, [(0, 0, 1), (0.5, 0.5, 1)])
    assert sheet.total_mass == pytest.approx(0.2 * 0.25)  # the pattern is scaled too


def test_selections_count_from_where_a_body_is_put(scene):
    made = scene("", BASE.replace("[bodies.ball]", "supports = [{ z = 0.1 }]\n[bodies.ball]"))
    np.testing.assert_array_equal(
        made.bodies["block"].free.all(axis=1), made.bodies["block"].mesh.vertices[:, 2] > 0.15
    )


def test_each_body_is_damped_by_its_own_or_else_by_that_of_all(scene):
    own = BASE.replace(
        "[bodies.ball]", 'damping = { model = "strain_rate", shear = 3 }\n[bodies.ball]'
    )
    made = scene("damping = { mass = 2 }", own)
    assert made.dampings["block"] == sp.StrainRate(shear=3)
    assert made.dampings["ball"] == sp.Rayleigh(mass=2)
    assert scene("", own).dampings["ball"] is None


def test_changes_of_the_damping_are_those_of_all_bodies(scene, tmp_path):
    own = BASE.replace("[bodies.ball]", "damping = { mass = 3 }\n[bodies.ball]")
    scene("", own)
    (file,) = tmp_path.glob("*.toml")
    made = load_scene(file, changes={"damping": [{"mass": 7}], "self_contact": False})
    assert set(made.dampings.values()) == {sp.Rayleigh(mass=7)}
    assert made.self_contact is False
    assert set(load_scene(file, changes={"damping": []}).dampings.values()) == {None}


def test_velocity_and_spin_are_about_each_centre(scene):
    fast = BASE.replace(
        "[bodies.ball]", "initial = { velocity = [1, 0, 0], rotation = [0, 0, 2] }\n[bodies.ball]"
    )
    sim = scene("", fast).simulation()
    block = sim.bodies[0]
    arms = block.mesh.vertices - (0.05, 0.05, 0.15)
    expected = np.add((1, 0, 0), np.cross((0, 0, 2), arms))
    np.testing.assert_allclose(sim.state_of("block").v, expected, atol=1e-12)
    assert not sim.state_of("ball").v.any()


def test_a_rigid_body_on_rails_is_led(scene):
    led = BASE.replace("density = 300 }", "density = 300, moves = { turning = [0, 0, 3] } }")
    made = scene("self_contact = false", led)
    sim = made.simulation()
    sim.step()
    ball = made.bodies["ball"]
    R, centre = ball.pose(sim.state_of("ball").u)
    turn = 3 / 60
    np.testing.assert_allclose(centre, (0.3 * np.cos(turn), 0.3 * np.sin(turn), 0), atol=1e-9)
    np.testing.assert_allclose(R[:, 0], (np.cos(turn), np.sin(turn), 0), atol=1e-9)
    held = BASE.replace("density = 300 }", "density = 300, fixed = true }")
    assert not scene("", held).bodies["ball"].free.any()


def test_attachments_name_their_bodies(scene):
    made = scene(
        """
        self_contact = false
        [[attachments]]
        kind = "spring"
        body = "block"
        at = 0
        other = "ball"
        point = [0.25, 0, 0]
        stiffness = 5
        [[attachments]]
        kind = "glue"
        body = "block"
        other = "ball"
        within = 0.3
        [[attachments]]
        kind = "pin"
        body = "ball"
        at = [0.3, 0, 0.05]
        moves = { velocity = [0, 0, 2] }
        """
    )
    spring, glue, pin = made.attachments
    block, ball = made.bodies["block"], made.bodies["ball"]
    assert (type(spring), type(glue), type(pin)) == (Spring, Glue, Pin)
    assert (spring.body, spring.other, glue.other, pin.body) == (block, ball, ball, ball)
    np.testing.assert_allclose(pin.point(0.5), (0.3, 0, 1.05))
    assert made.simulation().attachments == made.attachments


def test_one_body_can_be_read_alone(scene, tmp_path):
    targets = """
    [[bodies.block.damping.examples]]
    mode = 1
    [[bodies.block.targets]]
    example = 1
    start = 1
    residual = 0.5
    """
    held = BASE.replace(
        "[bodies.ball]", "supports = [{ z = 0.1 }]\ndamping = { mass = 1 }\n[bodies.ball]"
    )
    held = held.replace("damping = { mass = 1 }", "damping.mass = 1").replace(
        "[time]", f"{targets}\n[time]"
    )
    made = scene("", held)
    assert made.with_targets == ("block",)
    (file,) = tmp_path.glob("*.toml")
    alone = load_scene(file, body="block")
    assert isinstance(alone, sp.Scene)
    assert alone.alone == "block"
    assert len(alone.targets) == 1
    np.testing.assert_array_equal(alone.mesh.vertices, made.bodies["block"].mesh.vertices)
    assert sp.workflows.designing.open_design(file).alone == "block"
    with pytest.raises(sp.InputError, match="no body 'bal'; did you mean ball"):
        load_scene(file, body="bal")
    with pytest.raises(sp.InputError, match="moves in its world alone"):
        load_scene(file, body="ball")


def test_a_design_asks_which_body(scene, tmp_path):
    scene("")
    (file,) = tmp_path.glob("*.toml")
    with pytest.raises(sp.InputError, match="has 2 bodies, and a damping is designed for one"):
        sp.workflows.designing.open_design(file)


PIN = '[[attachments]]\nkind = "pin"\nbody = "block"\nat = 0\n'


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (PIN.replace("block", "blck"), "", "",
         "attachments[0].body: no body 'blck'; did you mean block?"),
        (PIN + 'other = "x"', "", "",
         "attachments[0].other: no body 'x'; there are: 'block', 'ball'"),
        (PIN.replace("pin", "nail"), "", "", "must be one of Pin, Spring, Glue"),
        (PIN.replace("at = 0", "at = 99"), "", "",
         "attachments[0]: at=99: there is no such vertex"),
        ('[[attachments]]\nbody = "block"', "", "",
         "attachments[0].kind: is missing; give one of pin"),
        ("[damping.ball]\nmass = 1", "", "", "[bodies.ball.damping]"),
        ("", "[bodies.ball]", "[bodies.block]", "two bodies are called 'block'"),
        ("", "position = [0.3, 0, 0]", "position = [0.05, 0.05, 0.05]",
         "self_contact: 'block' and 'ball'"),
        ("[solver]\nmethod = 'ADMM'", "", "", "solver: several bodies need solver=Newton()"),
        ("integrator = 'RK4'", "", "", "integrator: RK4 is explicit and cannot keep a body rigid"),
        ("", "[bodies.block]", "[[bodies]]\n[bodies.block]",
         "a table for each body, such as [bodies.ball]"),
        ("", "rigid = {", "rigd = {",
         "bodies.ball: give one of mesh, rigid, springs, woven; got none"),
        ("", 'shape = "box"', 'shape = "plane"', "bodies.ball.rigid.shape"),
        ("", "density = 300", "fixed = true", "bodies.ball.rigid.density: is missing"),
        ("", "young = 6e4", "yuong = 6e4",
         "bodies.block.material.yuong: there is no such field; did you"),
        ("", "[bodies.ball]", "supports = [{ x = 7 }]\n[bodies.ball]",
         "bodies.block.supports[0]: no vertex"),
        ("", "[bodies.ball]", 'damping = { model = "cloth_strain_rate", shear = 1 }\n[bodies.ball]',
         "bodies.block.damping"),
        ("[bodies.rug]\nwoven = {}", "", "", "bodies.rug.woven.spacing: is missing"),
        (RUG, "", "", "bodies.rug.damping: is missing; [damping] is not for yarns"),
        (RUG, "[bodies.ball]", "[bodies.rug.damping]\nmodel = 'Rayleigh'\n[bodies.ball]",
         "bodies.rug.damping.model"),
        ("[mesh]\nbox = 3", "", "", "mesh: there is no such field"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_told_with_its_place(refusal, text, old, new, message):
    refusal(text, BASE.replace(old, new, 1) if old else BASE, [message])


def test_woven_cloth_is_a_body_among_others(scene, tmp_path):
    damped = '[bodies.rug.damping]\nmodel = "YarnDamping"\nstretch = 0.01\nbending = 0.02\n'
    made = scene(RUG + damped)
    rug = made.bodies["rug"]
    assert isinstance(rug, WovenBody)
    assert made.dampings["rug"] == YarnDamping(stretch=0.01, bending=0.02)
    x = rug.cloth.net.positions
    assert (x[:, 2] == 0.25).all()
    held = x[:, 0] == 0
    assert not rug.free[:20][held].any()
    assert rug.free[:20][~held].all()
    sim = made.simulation()
    v = sim.state_of("rug").v
    np.testing.assert_array_equal(v[:20][~held], [(0, 0, -0.1)] * int((~held).sum()))
    assert not v[20:].any(), "yarns do not slide"
    motion = sim.run(2 / 60)
    assert motion.mesh.names == ("rug", "block", "ball")
    assert np.abs(motion.displacements[-1, :20][~held, 2]).min() > 1e-3
    sp.export_motion(motion, tmp_path / "rug.glb")
