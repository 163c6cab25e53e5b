"""Scene files of cloth: sheets, patterns, materials, supports, dampings, obstacles that move."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from tests.bodies.cloth.sheets import ISOTROPIC
from tests.character.sample_rigs import bar, turned_quarter

import supple as sp
from supple.bodies.cloth import HingeBending, QuadraticBending
from supple.character import Dressing
from supple.damping import ClothStrainRate, Drag

GRID = "grid = { size = [1.0, 0.5], cells = [4, 2] }"
BASE = f"""
[mesh]
{GRID}
[material]
model = "IsotropicCloth"
young = 1e5
thickness = 1e-3
areal_density = 0.2
[time]
duration = 0.1
fps = 60
"""
OF_FILE = BASE.replace(GRID, 'sheet = "sheet.obj"')
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def test_a_grid_is_a_cloth(scene):
    made = scene("")
    assert isinstance(made.body, sp.Cloth)
    assert (made.body.n_vertices, made.body.n_cells) == (15, 16)
    assert made.body.total_mass == pytest.approx(0.2 * 0.5)
    assert made.is_free
    assert made.skin is None
    assert isinstance(made.simulation().run(0.02).mesh, sp.SheetMesh)


def test_a_grid_is_turned_and_moved(scene):
    places = "rotation = [1.5707963267948966, 0, 0]\nposition = [0, 1, 2]"
    made = scene("", BASE.replace(GRID, f"{GRID}\n{places}"))
    low, high = made.mesh.bounds
    np.testing.assert_allclose(low, (0, 1, 2), atol=1e-12)
    np.testing.assert_allclose(high, (1, 1, 2.5), atol=1e-12)
    assert made.mesh.area == pytest.approx(0.5)  # the pattern stays


def test_everything_that_cloth_can_have(scene):
    made = scene(
        """
        gravity = [0, 0, -9.81]
        mass = "lumped"
        solver = { method = "newton", iterations = 1 }
        integrator = "BackwardEuler"
        loads = [{ point = [0, 0, 1e-3], x = 0.5 }]
        supports = [
            { x = 0 },
            { x = 1, oscillation = { amplitude = [0, 0, 0.1], frequency = 1 } },
        ]
        obstacles = [{ shape = "sphere", radius = 0.2, centre = [0.5, 0.2, -0.5], friction = 0.3 }]
        cloth.bending = "hinges"
        cloth.rest_angles = 0.1
        cloth.strain_limit = { stretch = 0.05, firmness = 20 }
        [materials.hem]
        model = "OrthotropicCloth"
        young_warp = 2e5
        young_weft = 1e5
        shear = 1e4
        warp = [0, 1]
        thickness = 2e-3
        areal_density = 0.4
        bending_warp = 1e-5
        [mesh.regions.hem]
        x = [0.5, inf]
        [[damping]]
        model = "cloth_strain_rate"
        shear = 0.1
        bending = { hem = 1e-6, "everything else" = 0 }
        [[damping]]
        model = "drag"
        strength = 0.1
        wind = [0, 1, 0]
        """
    )
    body = made.body
    assert isinstance(body.bending, HingeBending)
    assert body.bending.rest_angles == 0.1
    assert (body.strain_limit.stretch, body.strain_limit.firmness) == (0.05, 20)
    assert set(body.material) == {"hem", "everything else"}
    np.testing.assert_array_equal(body.material["hem"].warp, (0, 1))
    assert body.total_mass == pytest.approx(0.25 * 0.2 + 0.25 * 0.4)
    assert [type(each) for each in made.dampings] == [ClothStrainRate, Drag]
    assert len(body.supports) == 1
    assert made.simulation().run(0.05).displacements[-1].any()


def test_quadratic_bending_can_be_named(scene):
    assert isinstance(scene('cloth = { bending = "quadratic" }').body.bending, QuadraticBending)
    assert scene("").body.bending is None


def test_a_sheet_starts_in_equilibrium(scene):
    held = "supports = [{ x = [0, 0.25] }]\ninitial = { equilibrium = true }"
    thick = BASE.replace("thickness = 1e-3", "thickness = 1e-2")
    made = scene(f"gravity = [0, 0, -9.81]\n{held}", thick)
    motion = made.simulation().run(0.05)
    assert motion.kinetic.max() < 1e-6 * abs(motion.gravitational[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mass = 3", "mass: got 3; must be one of consistent, lumped"),
        ("[cloth]\nbend = 1", "cloth.bend: there is no such field; did you mean bending?"),
        ('[cloth]\nbending = "stiff"', "must be one of quadratic, hinges"),
        ('[cloth]\nbending = "quadratic"\nrest_angles = 1.0', "give bending = \"hinges\""),
        ("[cloth]\nstrain_limit = { firmness = 3 }", "cloth.strain_limit.stretch: is missing"),
        ("[[supports]]\nx = 7", "supports[0]: no vertex is there"),
        ("[[loads]]\npressure = 3", "loads[0].pressure: there is no such field"),
        ("[initial]\nmode = 1", "initial.mode: there is no such field"),
        ("[damping]\nmodel = \"strain_rate\"\nshear = 1", "damping"),
        ("[damping]\nmass = 1\noverall = 2", "examples and overall are for solids"),
        ("[[targets]]\nexample = 1\nstart = 1\nresidual = 0.5", "targets: there is no such field"),
        ("woven = {}", "woven.spacing: is missing"),
    ],
)  # fmt: skip
def test_what_cloth_does_not_have_is_refused(refusal, text, message):
    refusal(text, words=[message])


def test_materials_of_cloth_are_told_apart_from_those_of_solids(refusal):
    for old, new, told in (
        ("IsotropicCloth", "StVK",
         'material.model: got "StVK"; must be one of IsotropicCloth, OrthotropicCloth'),
        ("young = 1e5", "", "material.young: is missing"),
        (GRID, "box = { size = [1, 1, 1], cells = [1, 1, 1] }",
         'got "IsotropicCloth"; must be one of Corotational'),
        (GRID, "scale = 2", "give one of file, box, surface, voxels, builtin, grid, sheet"),
    ):  # fmt: skip
        refusal("", BASE.replace(old, new), [told])


# -- from files --------------------------------------------------------------------------


def test_a_sheet_from_a_file_lies_as_it_is(scene, tmp_path):
    (tmp_path / "sheet.obj").write_text(SQUARE + "f 1 2 3 4\n")
    made = scene("", OF_FILE.replace("[material]", "scale = 2\n[material]"))
    assert made.mesh.pattern is None
    assert made.mesh.area == pytest.approx(4.0)


def test_texture_coordinates_are_the_pattern(scene, refusal, tmp_path):
    textures = "vt 0 0\nvt 0.5 0\nvt 0.5 1\nvt 0 1\n"
    (tmp_path / "sheet.obj").write_text(SQUARE + textures + "f 1/1 2/2 3/3 4/4\n")
    wanted = OF_FILE.replace("[material]", 'pattern = "uv"\nuv_scale = 2\n[material]')
    mesh = scene("", wanted).mesh
    assert mesh.area == pytest.approx(2.0)
    np.testing.assert_array_equal(mesh.pattern, [(0, 0), (1, 0), (1, 2), (0, 2)])
    (tmp_path / "sheet.obj").write_text(SQUARE + "f 1 2 3 4\n")
    assert "has no texture coordinates" in refusal("", wanted)


def test_seams_cut_the_pattern(tmp_path):
    textures = "vt 0 0\nvt 1 0\nvt 1 1\nvt 5 0\nvt 6 1\nvt 5 1\n"
    path = tmp_path / "seams.obj"
    path.write_text(SQUARE + textures + "f 1/1/ 2/2/ 3/3/\nf 1/-3 3/-2 4/-1\n")
    mesh = sp.read_sheet(path, pattern=True)
    assert mesh.pattern.shape == (2, 3, 2)
    np.testing.assert_array_equal(mesh.pattern[1], [(5, 0), (6, 1), (5, 1)])
    assert mesh.n_vertices == 4


def usd_square(stage, path, side=1):
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr([(0, 0, 0), (side, 0, 0), (side, side, 0), (0, side, 0)])
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    return mesh


@pytest.mark.parametrize("interpolation", ["vertex", "faceVarying"])
def test_usd_sheets_have_patterns(tmp_path, interpolation):
    pytest.importorskip("pxr")
    from pxr import Sdf, Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "sheet.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    mesh = usd_square(stage, "/sheet", side=100)
    primvars = UsdGeom.PrimvarsAPI(mesh)
    st = primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation)
    st.Set([(0, 0), (0.5, 0), (0.5, 1), (0, 1)])
    stage.Save()
    found = sp.read_sheet(tmp_path / "sheet.usda", pattern=True)
    assert found.area == pytest.approx(0.5)
    assert found.bounds[1].tolist() == [1, 1, 0]


@pytest.mark.parametrize("seams", [False, True])
def test_gltf_sheets_have_patterns(tmp_path, seams):
    sheet = sp.SheetMesh.grid((1.0, 0.5), (3, 2))
    flat = sheet.vertices[:, :2] * [1.5, 1.0]
    pattern = flat[sheet.cells] if seams else flat
    if seams:
        pattern[sheet.centroids[:, 0] > 0.5] += [4.0, 0.0]
    sheet = replace(sheet, pattern=pattern)
    motion = sp.Simulation(sp.Cloth(sheet, ISOTROPIC), dt=1e-2).run(1e-2)
    sp.export_motion(motion, tmp_path / "sheet.glb")
    found = sp.read_sheet(tmp_path / "sheet.glb", pattern=True)
    assert found.n_cells == sheet.n_cells
    assert found.area == pytest.approx(sheet.area, rel=1e-5) == pytest.approx(0.75, rel=1e-5)
    assert (found.pattern.ndim == 3) is seams
    bare = trimesh.Trimesh(sheet.vertices, sheet.cells, process=False)
    bare.export(tmp_path / "bare.glb")
    with pytest.raises(sp.MeshError, match="has no texture coordinates"):
        sp.read_sheet(tmp_path / "bare.glb", pattern=True)


def test_patterns_of_other_files_are_refused(tmp_path):
    sp.write_surface(sp.SheetMesh.grid((1, 1), (1, 1)).surface(), tmp_path / "sheet.ply")
    assert sp.read_sheet(tmp_path / "sheet.ply").n_cells == 2
    with pytest.raises(sp.MeshError, match="texture coordinates are read from"):
        sp.read_sheet(tmp_path / "sheet.ply", pattern=True)


# -- contact with itself -------------------------------------------------------------------


def test_cloth_meets_itself(scene, refusal):
    pytest.importorskip("ipctk")
    assert scene("").self_contact is None
    assert scene("self_contact = false").self_contact is None
    assert scene("self_contact = true").self_contact == sp.SelfContact()
    made = scene("self_contact = { distance = 0.02, friction = 0.3 }")
    assert made.self_contact == sp.SelfContact(distance=0.02, friction=0.3)
    assert made.simulation().self_contact is made.self_contact
    made.simulation().step()
    assert "ADMM knows none" in refusal('self_contact = true\nsolver = "ADMM"\n')
    assert "implicit integrator" in refusal('self_contact = true\nintegrator = "RK4"\n')
    assert "self_contact: got 3; must be true, or a table" in refusal("self_contact = 3\n")
    told = refusal("self_contact = { distance = 0 }")
    assert "self_contact.distance: got 0; must be a number [m] more than 0" in told


# -- obstacles that change shape ---------------------------------------------------------

RISING = (
    'obstacles = [{{ shape = "animated_mesh", file = "{file}", friction = 0.5, '
    "position = [0, 0, -0.1], delay = 0.01 }}]"
)


@pytest.fixture
def rising():
    """A block that rises by 0.1 m in 0.1 s."""
    block = sp.TetMesh.box((1.0, 1.0, 0.05), (1, 1, 1))
    body = sp.Body(block, sp.StVK(young=1e6, poisson=0.3))
    sim = sp.Simulation(body, dt=0.01)
    sim.state.v[:, 2] = 1.0
    return sim.run(0.1)


@pytest.mark.parametrize("ending", ["motion", "npz", "usda"])
def test_an_animated_mesh_lifts_cloth(scene, tmp_path, rising, ending):
    file = tmp_path / f"rising.{ending}"
    if ending == "motion":
        rising.save(file)
    elif ending == "npz":
        surface = rising.mesh.boundary()
        places = rising.positions[:, surface.vertex_ids]
        np.savez(file, times=rising.times, positions=places, triangles=surface.triangles)
    else:
        pytest.importorskip("pxr")
        sp.export_motion(rising, file)
    made = scene(RISING.format(file=file.name))
    (obstacle,) = made.obstacles
    assert isinstance(obstacle, sp.AnimatedMesh)
    np.testing.assert_allclose(obstacle.times, 0.01 + rising.times, atol=1e-7)
    top = [obstacle.vertices_at(t)[0][:, 2].max() for t in (0.0, 0.06, 0.11)]
    np.testing.assert_allclose(top, [-0.05, 0.0, 0.05], atol=1e-6)
    motion = made.simulation().run(0.1)
    assert motion.positions[-1, :, 2].min() > 0.02
    assert motion.positions[1, :, 2].max() == 0.0


def test_animations_that_cannot_be_read_say_why(refusal, tmp_path):
    np.savez(tmp_path / "poor.npz", times=[0.0, 1.0])
    words = ("obstacles[0].file", "no positions and no triangles")
    refusal(RISING.format(file="poor.npz"), words=words)
    (tmp_path / "not.npz").write_text("nothing")
    assert "cannot be read as .npz" in refusal(RISING.format(file="not.npz"))
    (tmp_path / "still.obj").write_text(SQUARE)
    assert "is read from .motion, .npz" in refusal(RISING.format(file="still.obj"))


def test_a_stage_that_stands_still_is_no_animation(refusal, tmp_path):
    pytest.importorskip("pxr")
    from pxr import Usd

    stage = Usd.Stage.CreateNew(str(tmp_path / "still.usda"))
    usd_square(stage, "/sheet")
    stage.Save()
    assert "no mesh that moves" in refusal(RISING.format(file="still.usda"))


def test_a_stage_may_move_its_meshes_as_a_whole(tmp_path):
    pytest.importorskip("pxr")
    from pxr import Gf, Usd, UsdGeom

    from supple.mesh.files.usd import read_usd_motion

    stage = Usd.Stage.CreateNew(str(tmp_path / "moved.usda"))
    stage.SetTimeCodesPerSecond(10)
    top = UsdGeom.Xform.Define(stage, "/top")
    move = top.AddTranslateOp()
    for code in (0, 5, 10):
        move.Set(Gf.Vec3d(0, 0, code), code)
    usd_square(stage, "/top/sheet")
    stage.Save()
    times, positions, triangles = read_usd_motion(tmp_path / "moved.usda")
    np.testing.assert_allclose(times, [0, 0.5, 1.0])
    np.testing.assert_allclose(positions[:, 0, 2], [0, 5, 10])
    assert triangles.shape == (2, 3)


def test_a_character_is_an_obstacle(scene, refusal, tmp_path):
    turned_quarter(bar()).write(tmp_path / "bar.glb")
    given = (
        'shape = "character", file = "bar.glb", scale = 2, repeat = 2, speed = 2, rate = 30, '
        "velocity = [1, 0, 0], friction = 0.3, margin = 1e-3, "
        "dressing = { settling = 0.1, easing = 0.2 }"
    )
    (obstacle,) = scene(f"obstacles = [{{ {given} }}]").obstacles
    assert isinstance(obstacle, sp.AnimatedMesh)
    clothes = Dressing(settling=0.1, easing=0.2)
    wanted = sp.read_character(tmp_path / "bar.glb", scale=2).animated_mesh(
        repeat=2, speed=2, rate=30, velocity=(1, 0, 0), dressing=clothes
    )
    np.testing.assert_array_equal(obstacle.positions, wanted.positions)
    assert (obstacle.friction, obstacle.margin) == (0.3, 1e-3)
    assert "there is no clip 'run'" in refusal(f'obstacles = [{{ {given}, clip = "run" }}]')


# -- dressing ----------------------------------------------------------------------------------

WORN = """
gravity = [0, 0, -9.81]
damping = {{ model = "cloth_strain_rate", bulk = 30, shear = 20 }}
integrator = "BackwardEuler"
solver = {{ iterations = 1 }}
time = {{ duration = 0.18, dt = 3e-3, every = 10 }}
[mesh]
sheet = "{assets}/cloth/newton_unisex_shirt.usd"
scale = 0.0095
rotation = [1.5707963267948966, 0, 0]
position = [0.004, -0.04, -0.27]
[material]
young = 4e6
poisson = 0.42857142857142855
thickness = 5e-4
areal_density = 0.19
bending_stiffness = 1e-5
[[obstacles]]
shape = "character"
file = "{assets}/characters/khronos_CesiumMan.glb"
rate = 120
margin = 5.5e-3
friction = 0.3
friction_from = 0.15
turned = {{ Skeleton_arm_joint_L__4_ = [0, -0.65, 0], Skeleton_arm_joint_R = [0, 0.65, 0] }}
[obstacles.dressing]
slim = 0.15
growing = 0.15
easing = 0.2
start = {{ Skeleton_arm_joint_L__4_ = [0, 0.3, 0], Skeleton_arm_joint_R = [0, -0.3, 0] }}
"""


def test_a_shirt_is_put_on(assets, scene):
    """Arms lowered into the sleeves, no friction while he fills out, arms spread as he walks."""
    made = scene(WORN.format(assets=assets.as_posix()), "")
    (man,) = made.obstacles
    assert (man.friction_at(0.1), man.friction_at(0.16)) == (0.0, 0.3)
    motion = made.simulation().run(0.18, every=10)
    for x, time in zip(motion.positions, motion.times, strict=True):
        assert man.at(x, time).distance.min() > -0.5 * man.margin
    mesh = made.body.mesh
    worn = replace(mesh, vertices=motion.positions[-1])
    assert np.percentile(worn.edge_lengths() / mesh.edge_lengths(), 99) < 1.1


def test_joints_of_a_character_are_turned_in_scenes(scene, refusal, tmp_path):
    turned_quarter(bar()).write(tmp_path / "bar.glb")
    read = sp.read_character(tmp_path / "bar.glb")
    joint = read.rig.names[-1]
    text = """
        [[obstacles]]
        shape = "character"
        file = "bar.glb"
        turned = {{ "{joint}" = [0, 0.5, 0] }}
        dressing = {{ settling = 0.1, start = {{ "{joint}" = [0.3, 0, 0] }} }}
        """
    (obstacle,) = scene(text.format(joint=joint)).obstacles
    wanted = read.animated_mesh(
        turned={joint: (0, 0.5, 0)},
        dressing=Dressing(settling=0.1, start=read.rig.turned({joint: (0.3, 0, 0)})),
    )
    np.testing.assert_array_equal(obstacle.positions, wanted.positions)
    assert "nowhere" in refusal(text.format(joint="nowhere"))
