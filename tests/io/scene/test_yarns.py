"""Scene files of woven cloth, yarn by yarn."""

import numpy as np
import pytest

import supple as sp
from supple.io.scene.scene import YarnScene
from supple.solvers import ConjugateGradients
from supple.yarns import Weave, YarnDamping, YarnRayleigh

BASE = """
[woven]
warps = 6
wefts = 5
spacing = [1e-3, 1.2e-3]
shear = 1e-8
[woven.warp]
radius = 2e-4
linear_density = 5e-5
stretch = 0.2
bending = 1e-9
[time]
duration = 0.01
dt = 1e-3
every = 2
"""


def test_a_patch_of_yarns(scene):
    made = scene("gravity = [0, 0, -9.81]\n")
    assert isinstance(made, YarnScene)
    assert made.mesh.n_vertices == 30
    assert made.mesh.n_yarns == 11
    assert made.cloth.weft is made.cloth.warp
    assert made.cloth.shear == 1e-8
    assert made.is_free
    assert (made.up, made.title, made.formats) == ("z", "scene", ("glb",))
    motion = made.simulation().run(made.duration, every=made.every)
    assert len(motion) == 6
    assert motion.positions[-1, :, 2].max() < 0


RICH = BASE.replace(
    "[woven.warp]",
    """weave = "satin"
period = 7
shift = 3
friction = 0.3
slip_speed = 1e-3
contact_stiffness = 0.1
position = [0, 0, 1]
rotation = [0, 0, 1.5707963267948966]
weft = { radius = 1e-4, density = 1300, young = 1e6, bending_young = 1e4 }
[woven.warp]""",
)


def test_everything_that_woven_cloth_can_have(scene):
    made = scene(
        """
        supports = [{ y = 0, x = [-0.002, 0] }, { vertices = [29] }]
        initial = { velocity = [0.1, 0, 0], rotation = [0, 0, 5] }
        damping = { stretch = 0.03, bending = 0.16, switch_angle = 0.1 }
        solver = { tolerance = 1e-5, max_iterations = 40, linear = "ConjugateGradients" }
        output = { formats = ["usda"], report = false }
        """,
        RICH,
    )
    cloth = made.cloth
    assert made.damping == YarnDamping(stretch=0.03, bending=0.16, switch_angle=0.1)
    held = [0, 1, 29]
    assert np.flatnonzero(made.fixed.all(axis=1)).tolist() == held
    assert (made.tolerance, made.max_iterations) == (1e-5, 40)
    assert made.linear == ConjugateGradients()
    assert (cloth.friction, cloth.slip_speed, cloth.contact_stiffness) == (0.3, 1e-3, 0.1)
    assert cloth.weft.stretch == pytest.approx(np.pi * 1e-8 * 1e6)
    assert cloth.weft.bending == pytest.approx(np.pi / 4 * 1e-16 * 1e4)
    top = Weave.satin(7, 3).over(6, 5).ravel()
    np.testing.assert_array_equal(cloth.net.warp_on_top, top)
    np.testing.assert_allclose(made.mesh.bounds[0], (-4 * 1.2e-3, 0, 1), atol=1e-12)
    sim = made.simulation()
    x = made.mesh.vertices
    wanted = np.array([0.1, 0, 0]) + np.cross((0, 0, 5), x - x.mean(axis=0))
    wanted[held] = 0
    np.testing.assert_allclose(sim.v[:, :3], wanted)
    assert not made.simulation(at_start=False).v.any()
    sim.step()


def test_rayleigh_damping_and_a_table_of_crossings(scene):
    text = 'damping = { model = "yarnrayleigh", stiffness = 0.1 }\n'
    made = scene(text, BASE.replace("shear = 1e-8", "table = [[1, 0], [0, 0]]"))
    assert made.damping == YarnRayleigh(stiffness=0.1)
    top = made.cloth.net.warp_on_top.reshape(6, 5)
    assert top[0].tolist() == [True, False, True, False, True]
    assert not top[1].any()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("warps = 6", "warps = 2", "woven.warps: got 2; must be a whole number, 3 or more"),
        ("warps = 6", "", "woven: give one of warps, garment; got none"),
        ("wefts = 5", "", "woven.warps: needs wefts beside it"),
        ("shear = 1e-8", "scale = 2", "woven.scale: needs garment beside it"),
        ("[1e-3, 1.2e-3]", "[1e-3]", "or two, between warps and between wefts"),
        ("shear = 1e-8", 'weave = "knit"', "must be one of plain, twill, satin"),
        ("shear = 1e-8", 'weave = "satin"\nover = 3', 'over goes with weave = "twill"'),
        ("shear = 1e-8", "over = 3", "woven.over: needs weave beside it"),
        ("shear = 1e-8", 'weave = "satin"\nperiod = 6', "woven: shift=2"),
        ("shear = 1e-8", 'weave = "plain"\ntable = [[1]]', "give one of weave, table"),
        ("shear = 1e-8", "table = [[1, 0], [2, 1]]", "1 where the warp is on top"),
        ("stretch = 0.2", "young = 1e6", "woven.warp.young: needs density beside it"),
        ("stretch = 0.2", "", "give one of stretch, young; got none"),
        ("radius = 2e-4", "radius = 0", "woven.warp.radius: got 0; must be a number more than 0"),
        ("[time]", "[integrator]\n[time]", "integrator: there is no such field"),
        ("[time]", "[[supports]]\nx = 7\n[time]", "supports[0]: no vertex is there"),
        ("[time]", "[[supports]]\n[time]", "supports[0]: say which vertices"),
        ("[time]", '[damping]\nmodel = "rayleigh"\n[time]', "one of YarnDamping, YarnRayleigh"),
        ("[time]", "[damping]\nmass = 1\n[time]", "damping.mass: there is no such field"),
        ("[time]", '[[obstacles]]\nshape = "plane"\nvertex_restitution = 0.5\n[time]',
         "obstacles[0].vertex_restitution: cloth does not bounce"),
        ("[time]", "[damping]\nstretch = -1\n[time]",
         "damping.stretch: got -1; must be a number [s] at least 0"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(refusal, old, new, message):
    refusal("", BASE.replace(old, new, 1), [message])


def test_yarns_fall_on_obstacles_and_follow_supports(scene):
    keys = "{ times = [0, 0.02], displacements = [[0, 0, 0], [0, 0, 1e-3]] }"
    made = scene(
        f"""
        gravity = [0, 0, -9.81]
        supports = [{{ x = 0, keyframes = {keys} }}]
        obstacles = [{{ shape = "plane", offset = -1e-3, friction = 0.3 }}]
        """,
        BASE.replace("duration = 0.01", "duration = 0.02"),
    )
    assert not made.is_free
    motion = made.simulation().run(made.duration)
    led = made.mesh.where(x=0)
    np.testing.assert_allclose(motion.positions[-1, led, 2], 1e-3, atol=1e-9)
    assert motion.positions[..., 2].min() > -1e-3
    assert motion.positions[-1, -1, 2] < 0


def test_yarns_are_laid_on_a_garment(scene, tmp_path):
    sheet = sp.SheetMesh.grid((0.01, 0.008), (2, 2))
    sp.write_sheet(sheet, tmp_path / "towel.obj")
    text = BASE.replace("warps = 6\nwefts = 5", 'garment = "towel.obj"\nscale = 2')
    made = scene("", text)
    low, high = made.mesh.bounds
    np.testing.assert_allclose(high - low, (0.02, 0.016, 0), atol=2.4e-3)
    assert made.mesh.n_vertices > 200
    made.simulation().step()
    flat = scene("", text.replace("scale = 2", 'scale = 2\npattern = "front_and_back"'))
    assert flat.mesh.n_vertices > 200
