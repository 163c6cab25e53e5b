"""Scene files: what they can say, and how they are refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.io.conftest import solid_scene
from tests.refusals import refused

import supple as sp
from supple.integrators import INTEGRATORS
from supple.io.scene.fields import SCENE
from supple.io.scene.scene import load_scene
from supple.io.scene.schema import Choice, Named, Problems, Table, Tables
from supple.materials import MATERIALS
from supple.mesh import write_mesh
from supple.solvers.linear import LINEAR_SOLVERS

BOX = "box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }"
BRICKS = BOX.replace("cells", "bricks = true, cells")
BASE = solid_scene(BOX)
HELD = "[[supports]]\nx = 0\n"
BURST = HELD + "oscillation = {{ amplitude = [0, 0, {}], frequency = {}, duration = 0.05 }}"


# -- what scenes can say -----------------------------------------------------------------


def test_smallest_scene_has_sensible_defaults(scene):
    made = scene("")
    assert made.title == "scene"
    assert isinstance(made.body.material, sp.StableNeoHookean)
    assert isinstance(made.integrator, sp.TRBDF2)
    assert made.dt == pytest.approx(1 / 60)
    assert made.formats == ("glb",)
    assert made.damping is None
    assert made.body.free.all()


EVERY = {
    '[materials.all]\nmodel = "{}"\nyoung = 2e4\npoisson = 0.2\n[mesh.regions.all]\n'
    "x = [-inf, inf]": (MATERIALS, str.upper, lambda made: made.body.material["all"]),
    'integrator = "{}"': (INTEGRATORS, str, lambda made: made.integrator),
    'solver = {{ linear = "{}" }}': (LINEAR_SOLVERS, str, lambda made: made.solver.linear),
}


@pytest.mark.parametrize(
    ("text", "cls"), [(text, cls) for text, (classes, *_) in EVERY.items() for cls in classes]
)
def test_everything_registered_appears_by_its_name(scene, text, cls):
    _, spelled, found = EVERY[text]
    assert type(found(scene(text.format(spelled(cls.__name__))))) is cls


def test_integrator_and_linear_solver_take_their_parameters(scene):
    made = scene("""
        integrator = { name = "Newmark", beta = 0.3, gamma = 0.6 }
        [solver]
        tolerance = 1e-5
        linear = { name = "ConjugateGradients", max_iterations = 7 }
    """)
    assert made.solver.tolerance == 1e-5
    assert made.integrator == sp.Newmark(beta=0.3, gamma=0.6)
    assert made.solver.linear == sp.ConjugateGradients(max_iterations=7)


def test_supports_hold_components_and_move(scene):
    moved = "x = [0.9, inf], oscillation = { amplitude = [0, 0.1, 0], frequency = 2 }"
    made = scene(f'supports = [{{ x = 0, components = "xz" }}, {{ {moved} }}]')
    X = made.body.mesh.vertices
    assert (made.body.free[X[:, 0] == 0] == [False, True, False]).all()
    simulation = made.simulation()
    for _ in range(3):
        simulation.step()
    tip = simulation.state.u[X[:, 0] > 0.9]
    assert np.allclose(tip, [0, 0.1 * np.sin(4 * np.pi * simulation.state.time), 0])


def test_burst_ends_and_stays_still(scene):
    made = scene(BURST.format(0.05, 20))
    simulation = made.simulation()
    moved = []
    for _ in range(6):
        simulation.step()
        moved.append(np.abs(simulation.state.u[made.body.mesh.where(x=0)]).max())
    assert max(moved[:3]) > 1e-3
    assert max(moved[3:]) == 0


def test_burst_has_the_derivatives_of_its_closed_form(scene):
    """s(t) = A sin(ωt) sin²(πt/T), also where a millisecond is a large part of a swing."""
    (support,) = scene(BURST.format(0.001, 400)).body.supports
    w, q, A = 2 * np.pi * 400, 2 * np.pi / 0.05, 0.001
    for t in np.linspace(0.0013, 0.0487, 12):
        # sin²(x) = (1 − cos 2x)/2, then products as sums: three pure sines.
        waves = ((w, 0.5), (w + q, -0.25), (w - q, -0.25))
        u = A * sum(c * np.sin(k * t) for k, c in waves)
        v = A * sum(c * k * np.cos(k * t) for k, c in waves)
        a = A * sum(-c * k * k * np.sin(k * t) for k, c in waves)
        np.testing.assert_allclose(support.displacement_at(t, 1), [[0, 0, u]], atol=1e-12 * A)
        np.testing.assert_allclose(support.velocity_at(t, 1), [[0, 0, v]], atol=1e-12 * A * w)
        np.testing.assert_allclose(
            support.acceleration_at(t, 1), [[0, 0, a]], atol=1e-12 * A * w * w
        )
    for t in (-0.01, 0.0, 0.05, 0.06):
        assert not support.velocity_at(t, 1).any()
        assert not support.acceleration_at(t, 1).any()


def test_body_held_everywhere_loads_and_has_no_mode(scene, refusal):
    everything = "[[supports]]\nx = [-inf, inf]\n"
    assert not scene(everything).body.free.any()
    words = ("initial.mode", "all of it is held")
    refusal(everything + "[initial]\nmode = 1\namplitude = 0.1", words=words)


def test_scaled_builtin_keeps_its_skin_on_it(scene):
    made = scene("", BASE.replace(BOX, 'builtin = "creature"\nresolution = 16\nscale = 10'))
    assert made.skin.mesh is made.body.mesh
    assert made.skin.surface.bounds[1, 2] == pytest.approx(4.3, rel=0.05)
    assert made.body.mesh.bounds[1, 2] == pytest.approx(4.3, rel=0.1)


def test_rotation_and_keyframes_move_supports(scene):
    turn = "rotation = { centre = [0, 0.1, 0.1], rate = [3, 0, 0] }"
    keys = "keyframes = { times = [0, 0.02], displacements = [[0, 0, 0], [0.01, 0, 0]] }"
    made = scene(f"[[supports]]\nx = 0\n{turn}\n[[supports]]\nx = 1\n{keys}\n")
    simulation = made.simulation()
    for _ in range(2):
        simulation.step()
    assert np.allclose(simulation.state.u[made.body.mesh.where(x=1)], [0.01, 0, 0])
    assert np.abs(simulation.state.u[made.body.mesh.where(x=0)]).max() > 1e-3


def test_vertices_by_list_file_and_place(scene, tmp_path):
    (tmp_path / "list.bou").write_text("1,2,3")
    made = scene('[[supports]]\nfile = "list.bou"\n[[supports]]\nvertices = [5]\n')
    assert np.flatnonzero(~made.body.free.all(axis=1)).tolist() == [0, 1, 2, 5]
    builtin = BASE.replace(BOX, 'builtin = "beam"\nresolution = 5')
    made = scene('[[supports]]\nplace = "root"\n', builtin)
    assert np.allclose(made.body.mesh.vertices[~made.body.free.all(axis=1)][:, 0], 0)


def test_loads_act_between_their_times(scene):
    made = scene(
        HELD
        + "[[loads]]\nx = 1\npoint = [0, 0, 2]\nstart = 0.02\nend = 0.05\n"
        + "[[loads]]\nx = 1\ntraction = [0, 3, 0]\n"
        + "[[loads]]\npressure = 5\n"
    )
    ends = made.body.mesh.where(x=1)
    added = made.force(0.03)[ends, 2].sum() - made.force(0.0)[ends, 2].sum()
    assert added == pytest.approx(2 * len(ends))
    assert np.array_equal(made.force(0.0), made.force(0.05))
    assert made.force(0.0)[:, 1].sum() == pytest.approx(3 * 0.04)


def test_initial_state_moves_and_turns_about_the_centre_of_mass(scene):
    made = scene("[initial]\nvelocity = [1, 2, 3]\nrotation = [0, 0, 4]\n")
    v = made.simulation().state.v
    momentum = made.body.mass_times(v).sum(axis=0)
    assert momentum == pytest.approx(made.body.total_mass * np.array([1, 2, 3]))
    X = made.body.mesh.vertices
    assert v == pytest.approx(np.array([1, 2, 3]) + np.cross([0, 0, 4], X - [0.5, 0.1, 0.1]))


def test_initial_mode_has_its_amplitude(scene):
    u = scene(HELD + "[initial]\nmode = 2\namplitude = 0.03\n").simulation().state.u
    assert np.linalg.norm(u, axis=1).max() == pytest.approx(0.03)


def test_initial_equilibrium_stays(scene):
    made = scene("gravity = [0, 0, -9.81]\n" + HELD + "[initial]\nequilibrium = true\n")
    simulation = made.simulation()
    start = simulation.state.u.copy()
    assert np.abs(start).max() > 1e-4
    simulation.step()
    assert np.allclose(simulation.state.u, start, atol=1e-4 * np.abs(start).max())


def test_damping_by_ratios_regions_and_stiffness(scene):
    made = scene('[damping]\nfrequencies = [1, 6]\nratios = [0.02, 0.02]\nat = "rest"\n')
    assert made.damping == sp.Rayleigh.from_ratios((1, 6), (0.02,) * 2, at=sp.StiffnessAt.REST)
    left = "mass = 0.5\nstiffness = { left = 1e-3 }\n[mesh.regions.left]\nx = [-inf, 0.4]"
    assert scene(f"[damping]\n{left}").damping.stiffness == {"left": 1e-3}


def test_old_names_are_still_read(scene):
    with pytest.warns(FutureWarning, match="'stiffness_at' of damping is called 'at' now"):
        made = scene('[damping]\nmass = 1\nstiffness_at = "rest"\n')
    assert made.damping == sp.Rayleigh(mass=1, at=sp.StiffnessAt.REST)
    with pytest.warns(FutureWarning, match="KeptCholesky.*LaggedCholesky"):
        made = scene('[solver]\nlinear = "KeptCholesky"\n')
    assert made.solver.linear == sp.LaggedCholesky()


def test_material_covers_what_regions_leave(scene):
    regions = "[mesh.regions.left]\nx = [-inf, 0.4]\n"
    body = scene(regions + "[materials.left]\nyoung = 7\npoisson = 0.1\n").body
    assert body.material["left"].young == 7
    assert sum(len(body.mesh.regions[name]) for name in body.material) == body.mesh.n_cells


def test_mesh_file_gives_constants_and_scale(scene, tmp_path):
    mesh = sp.HexMesh.box((1000.0, 200.0, 200.0), (2, 1, 1)).with_region("all", np.arange(2))
    values = {"all": {"young": 3e4, "poisson": 0.25, "density": 900.0}}
    write_mesh(sp.HexMesh(mesh.vertices, mesh.cells, mesh.regions, values), tmp_path / "bar.veg")
    base = '[mesh]\nfile = "bar.veg"\nscale = 0.001\n[material]\nmodel = "StVK"\nfrom_file = true\n'
    made = scene("", base + "[time]\nduration = 1\ndt = 0.01\nevery = 5\n")
    assert made.body.total_mass == pytest.approx(900 * 0.04)
    assert (made.dt, made.every) == (0.01, 5)


def test_voxels_and_skin(scene, tmp_path):
    surface = sp.TetMesh.box((1.0, 0.5, 0.5), (2, 1, 1)).boundary()
    sp.write_surface(surface, tmp_path / "block.obj")
    made = scene("", BASE.replace(BOX, 'voxels = "block.obj"\nresolution = 4\nscale = 2.0'))
    assert isinstance(made.body.mesh, sp.HexMesh)
    assert made.body.mesh.volume == pytest.approx(2.0)
    assert made.skin.surface.n_vertices == surface.n_vertices
    made = scene("", BASE.replace(BOX, BOX + '\nskin = "block.obj"'))
    assert made.skin.mesh is made.body.mesh


def test_quadratic_and_lumped(scene):
    made = scene('mass = "lumped"\n', BASE.replace(BOX, BOX + "\nquadratic = true"))
    assert isinstance(made.body.mesh, sp.QuadraticTetMesh)
    assert isinstance(made.body.mass_model, sp.LumpedMass)


# -- how scenes are refused --------------------------------------------------------------

BAD = {
    "gravty = [0, 0, 1]": ("gravty", "did you mean gravity"),
    "gravity = [0, 1]": ("gravity", "array of 3"),
    "gravity = [0, 0, true]": ("gravity[2]", "true"),
    "gravity = [0, 0, 1" + "0" * 400 + "]": ("gravity[2]", "number"),
    "gravity = " + "[" * 5000 + "]" * 5000: ("nested too deeply",),
    "gravity = [0, 0, nan]": ("gravity[2]", "nan"),
    "mass = 'heavy'": ("mass", "heavy", "consistent, lumped"),
    "title = 3": ("title", "text"),
    "integrator = 'TRBDF3'": ("integrator", "TRBDF3", "did you mean TRBDF2"),
    "[integrator]\nname = 'TRBDF2'\ngamma = 1.5": ("integrator.gamma", "1.5"),
    "[integrator]\nname = 'BDF2'\ngamma = 0.5": ("integrator.gamma", "no such field"),
    "[solver]\ntolerance = 2": ("solver.tolerance", "got 2"),
    "[solver]\nlinear = 'Cholesk'": ("solver.linear", "did you mean Cholesky"),
    "[damping]\nmass = -1": ("damping.mass", "-1"),
    "[damping]\nratios = [0.1, 0.1]": ("damping.ratios", "needs frequencies"),
    "[damping]\nstiffness = { nowhere = 1 }": ("damping", "nowhere"),
    "[damping]\nfrequencies = [1, 1]\nratios = [0.1, 0.1]": ("damping", "two different"),
    "[[supports]]\nx = 5": ("supports[0]", "no vertex is there"),
    "[[supports]]\ncomponents = 'xyz'": ("supports[0]", "say which vertices"),
    "[[supports]]\nx = 0\ncomponents = 'w'": ("supports[0].components", "xyz"),
    "[[supports]]\nx = [1, 0]": ("supports[0].x", "[low, high]"),
    "[[supports]]\nvertices = [99]": ("supports[0]", "99"),
    "[[supports]]\nplace = 'feet'": ("supports[0]", "no place 'feet'"),
    "[[supports]]\nfile = 'lost.bou'": ("supports[0].file", "lost.bou"),
    "[supports]\nx = 0": ("supports", "[[supports]]"),
    "[[supports]]\nx = 0\n[[supports]]\nx = 0\nrotation = {centre=[0,0,0],rate=[1,0,0]}": (
        "supports", "held twice"),
    "[[supports]]\nx=0\nkeyframes={times=[1,0],displacements=[[0,0,0],[0,0,0]]}": (
        "supports[0]", "increase"),
    "[[loads]]\nx = 1": ("loads[0]", "one of point, traction, pressure"),
    "[[loads]]\npoint = [0, 0, 1]": ("loads[0]", "say which vertices"),
    "[[loads]]\npressure = 1\nstart = 2\nend = 1": ("loads[0]", "before"),
    "[initial]\nmode = 1": ("initial.mode", "needs amplitude"),
    "[initial]\nmode = 0\namplitude = 1": ("initial.mode", "1 or more"),
    "[initial]\nmode = 500\namplitude = 1": ("initial.mode", "500"),
    "[initial]\nequilibrium = true": ("initial.equilibrium", "held in place"),
    "[output]\nformats = ['gbl']": ("output.formats[0]", "did you mean glb"),
    "[materials.soft]\nyoung = 1\npoisson = 0.1": ("materials", "soft"),
    "[mesh.regions.r]\nx = [7, 8]": ("mesh.regions.r", "no cell centroid"),
}  # fmt: skip


@pytest.mark.parametrize("text", list(BAD), ids=lambda text: text[:40].replace("\n", " "))
def test_bad_scene_names_field_and_cure(refusal, text):
    refusal(text, words=BAD[text])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("poisson = 0.3", "poisson = 0.5", ("material.poisson", "less than 0.5")),
        ("young = 1e5", "", ("material.young", "missing")),
        ("young = 1e5", "young = 'soft'", ("material.young", '"soft"', "number")),
        ("[material]", "[material]\nmodel = 'StVk2'", ("material.model", "did you mean StVK")),
        ("[material]", "[material]\nyuong = 1", ("material.yuong", "did you mean young")),
        ("young = 1e5\npoisson = 0.3", "from_file = true", ("material", "no material")),
        ("fps = 60", "", ("time", "one of dt, fps")),
        ("fps = 60", "fps = 60\ndt = 0.1", ("time", "got dt and fps")),
        ("fps = 60", "fps = 60\nevery = 2", ("time.every", "needs dt")),
        ("duration = 0.1", "duration = 0", ("time.duration", "more than 0")),
        ("duration = 0.1", "", ("time.duration", "missing")),
        (BOX, "", ("mesh", "one of file, box, surface, voxels, builtin")),
        (BOX, BOX + "\nedge = 1.0", ("mesh.edge", "needs surface")),
        (BOX, "file = 'beem.msh'", ("mesh.file", "beem.msh", "did you mean beam.msh")),
        (BOX, "builtin = 'creatur'", ("mesh.builtin", "did you mean creature")),
        (BOX, BOX.replace("[3, 1, 1]", "[3, 0, 1]"), ("mesh.box.cells[1]", "got 0")),
        (BOX, BRICKS + "\nquadratic = true", ("mesh", "tets")),
    ],
)  # fmt: skip
def test_bad_table_names_field_and_cure(refusal, tmp_path, old, new, words):
    (tmp_path / "beam.msh").write_text("not read")
    refusal("", BASE.replace(old, new), words)


def test_all_problems_come_at_once(refusal):
    text = "gravity = 1\nmas = 'lumped'\n[damping]\nmass = -1\n[[supports]]\nq = 1\n"
    words = ("5 problems", "gravity", "mas:", "damping.mass", "supports[0].q", "material.poisson")
    refusal(text, BASE.replace("poisson = 0.3", "poisson = 0.7"), words)


def test_file_that_is_not_toml_is_refused(refusal, tmp_path):
    assert "not TOML" in refusal("gravity = [0, 0")
    refused(r"no scene file.*lost\.toml", load_scene, tmp_path / "lost.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    refused("not text", load_scene, tmp_path / "binary.toml")


_VALUES = st.recursive(
    st.none().map(lambda _: 0) | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=6), x, max_size=3),
    max_leaves=8,
)  # fmt: skip
_PATHS = st.sampled_from(sorted(SCENE.fields))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_PATHS | st.text(max_size=6), _VALUES, max_size=5))
def test_any_table_is_read_or_refused_with_reasons(tmp_path_factory, table):
    problems = Problems(tmp_path_factory.getbasetemp())
    SCENE.read(table, "", problems)
    assert problems.found  # mesh and time cannot both be right by chance
    for text in problems.found:
        assert len(text) < 1500


def test_no_field_is_called_by_two_kinds_of_words():
    def names(kind):
        if isinstance(kind, Table):
            for name, inner in kind.fields.items():
                yield name
                yield from names(inner)
        elif isinstance(kind, (Named, Tables)):
            yield from names(kind.item)

    assert all(name == name.lower() and " " not in name for name in names(SCENE))
    assert isinstance(SCENE.fields["mass"], Choice)
