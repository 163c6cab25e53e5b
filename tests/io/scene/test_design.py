"""Scene files that say how motions die away: damping by example, targets and design."""

import numpy as np
import pytest
from tests.io.conftest import solid_scene

import supple as sp
from supple.bodies.mass import LumpedMass
from supple.damping import save_damping
from supple.design import HalfLife
from supple.mesh import write_mesh

BOX = "box = { size = [1.0, 0.2, 0.1], cells = [4, 1, 1] }"
BASE = solid_scene(BOX + "\nregions.outer.x = [0.5, inf]", "StVK", "[[supports]]\nx = 0\n")
DAMPING = "[damping]\nmass = 0.5\n"
BEND = DAMPING + '[[damping.examples]]\nname = "bend"\nmode = 1\n'
DOWN = (0.0, 0.0, -9.81)
GRAVITY = "gravity = [0, 0, -9.81]\n"


def only(made):
    (example,) = made.damping.examples
    return example.shape


# -- bases ---------------------------------------------------------------------------------


def test_caughey_by_coefficients_and_by_any_number_of_ratios(scene):
    made = scene('[damping]\nmodel = "Caughey"\ncoefficients = [0.1, 1e-3]\n')
    assert made.damping == sp.Caughey((0.1, 1e-3))
    three = "frequencies = [1, 2, 47]\nratios = [0.02, 0.02, 0.02]\n"
    made = scene(f'mass = "lumped"\n[damping]\nmodel = "caughey"\n{three}')
    assert made.damping == sp.Caughey.from_ratios((1, 2, 47), (0.02, 0.02, 0.02))
    assert isinstance(made.body.mass_model, LumpedMass)


def test_saved_damping_is_taken_from_its_file(scene, tmp_path):
    body = scene("").body
    shape = sp.vibration_modes(body, 1).shapes[0]
    curve = sp.Curve.monotone([(0.1, 0.5), (1.0, 4.0)])
    saved = sp.ExampleDamping(sp.Rayleigh(mass=0.3), [sp.Example(shape, curve, name="bend")])
    (tmp_path / "saved").mkdir()
    save_damping(saved, tmp_path / "saved" / "damping.toml")
    made = scene('[damping]\nfile = "saved/damping.toml"\n[[targets]]\nexample = "bend"\n'
                 "start = 0.5\nresidual = 0.2\n")  # fmt: skip
    assert made.damping.base == saved.base
    assert made.damping.curves == (curve,)
    np.testing.assert_array_equal(only(made), shape)
    assert made.targets == (sp.Unloading("bend", 0.5, 0.2),)


# -- where examples come from ---------------------------------------------------------------


def test_mode_goes_a_tenth_of_the_body_or_as_far_as_said(scene):
    made = scene(BEND)
    shape = only(made)
    mode = sp.vibration_modes(made.body, 1).shapes[0]
    assert np.linalg.norm(shape, axis=1).max() == pytest.approx(0.1)
    cosine = np.vdot(shape, mode) / np.linalg.norm(shape) / np.linalg.norm(mode)
    assert abs(cosine) == pytest.approx(1.0)
    assert made.damping.about is None
    shape = only(scene(BEND + "amplitude = 0.03\n"))
    assert np.linalg.norm(shape, axis=1).max() == pytest.approx(0.03)


def test_force_is_the_total_over_the_vertices_chosen(scene):
    made = scene(DAMPING + "[[damping.examples]]\nforce = [0, 0, 0.4]\nx = 1\n")
    tip = made.body.mesh.where(x=1)
    load = made.body.point_force(tip, (0, 0, 0.4 / len(tip)))
    np.testing.assert_allclose(only(made), sp.static_shape(made.body, load), rtol=1e-6, atol=1e-12)
    assert made.damping.examples[0].name == "example 1"


def test_place_of_a_builtin_body_takes_a_force(scene):
    base = BASE.replace(BOX, 'builtin = "beam"\nresolution = 5')
    made = scene(DAMPING + '[[damping.examples]]\nforce = [0, 2, 0]\nplace = "tip"\n', base)
    assert only(made)[made.body.mesh.where(x=1), 1].min() > 0


def test_shapes_come_from_files_of_the_same_mesh(scene, tmp_path):
    mesh = scene("").body.mesh
    bent = mesh.vertices + [0, 0, 0.1] * mesh.vertices[:, :1] ** 2
    write_mesh(sp.TetMesh(bent, mesh.cells), tmp_path / "bent.vtu")
    write_mesh(sp.TetMesh(mesh.vertices + 0.5, mesh.cells), tmp_path / "moved.vtu")
    write_mesh(sp.TetMesh(bent + 0.5, mesh.cells), tmp_path / "both.vtu")
    wanted = bent - mesh.vertices
    shape = only(scene(DAMPING + '[[damping.examples]]\nshape = "bent.vtu"\n'))
    np.testing.assert_allclose(shape, wanted, atol=1e-12)
    pair = DAMPING + '[[damping.examples]]\nbetween = ["moved.vtu", "both.vtu"]\n'
    np.testing.assert_allclose(only(scene(pair)), wanted, atol=1e-12)
    scaled = scene(pair, BASE.replace(BOX, BOX + "\nscale = 2"))
    np.testing.assert_allclose(only(scaled), 2 * wanted, atol=1e-12)


def test_moment_of_a_motion(scene, tmp_path):
    plain = scene("[initial]\nmode = 1\namplitude = 0.05\n")
    motion = plain.simulation().run(0.1, record=tmp_path / "a.motion")
    text = DAMPING + '[[damping.examples]]\nmotion = "a.motion"\ntime = 0.05\namplitude = 0.2\n'
    u = motion.at(0.05)
    wanted = u * 0.2 / np.linalg.norm(u, axis=1).max()
    np.testing.assert_allclose(only(scene(text)), wanted, atol=1e-12)


def test_region_keeps_the_rest_still(scene):
    made = scene(BEND + 'region = "outer"\nblend = 0.1\n')
    still = made.body.mesh.vertices[:, 0] <= 0.5
    assert not only(made)[still].any()
    assert np.linalg.norm(only(made), axis=1).max() == pytest.approx(0.1)


def test_a_local_example(scene):
    made = scene(BEND + 'region = "outer"\nlocal = true\n')
    assert made.damping.examples[0].region == "outer"
    assert scene(BEND + 'region = "outer"\n').damping.examples[0].region is None


def test_strengths_as_they_are(scene):
    assert scene(BEND).damping.definite
    assert not scene(BEND.replace("mass", "definite = false\nmass")).damping.definite


def test_under_gravity_examples_are_about_the_equilibrium(scene):
    made = scene(GRAVITY + BEND + "[[damping.examples]]\nforce = [0, 0.2, 0]\nx = 1\n")
    about = sp.static_shape(made.body, gravity=DOWN)
    np.testing.assert_allclose(made.damping.about, about, atol=1e-9)
    mode = sp.vibration_modes(made.body, 1, at=about).shapes[0]
    bend, push = (example.shape for example in made.damping.examples)
    mode *= 0.1 / np.linalg.norm(mode, axis=1).max()
    np.testing.assert_allclose(np.abs(bend), np.abs(mode), atol=1e-6)
    tip = made.body.mesh.where(x=1)
    load = made.body.point_force(tip, (0, 0.2 / len(tip), 0))
    loaded = sp.static_shape(made.body, load, gravity=DOWN)
    np.testing.assert_allclose(push, loaded - about, atol=1e-8)
    assert scene(GRAVITY + BEND.replace("mass", 'about = "rest"\nmass')).damping.about is None


def test_curves_measures_and_options(scene):
    made = scene("""
        [damping]
        stiffness = { outer = 1e-3 }
        mass = 0.5
        overall = { bezier = [[0.01, 1], [0.1, 3]] }
        symmetric = true
        examples = [
            { name = "bend", mode = 1, curve = { linear = [[0, 0.5], [1, 2]] } },
            { name = "twist", mode = 2, curve = 3, measure = "rate" },
        ]
    """)
    bend, twist = made.damping.examples
    assert bend.curve == sp.Curve.linear([(0, 0.5), (1, 2)])
    assert twist.curve == sp.Curve.constant(3)
    assert twist.measure is sp.Measure.RATE
    assert made.damping.overall == sp.Curve.bezier([(0.01, 1), (0.1, 3)])
    assert made.damping.symmetric
    assert made.damping.base.stiffness == {"outer": 1e-3}
    made.simulation().step()


def test_overall_needs_no_examples(scene):
    text = DAMPING + "overall = { monotone = [[0.01, 1], [0.1, 3]] }\n"
    assert scene(text).damping.examples == ()


def test_scene_starts_from_an_example(scene):
    made = scene(GRAVITY + BEND + '[initial]\nexample = "bend"\nexcitation = 0.5\n')
    u = made.simulation().state.u
    np.testing.assert_allclose(u, made.damping.about + 0.5 * only(made), atol=1e-12)
    assert scene(BEND + "[initial]\nexample = 1\n").initial.example == "bend"


# -- targets -------------------------------------------------------------------------------


def test_targets_name_examples_or_count_them_from_one(scene):
    made = scene(
        BEND
        + "[[damping.examples]]\nmode = 2\n"
        + '[[targets]]\nexample = "bend"\nstart = 0.8\nresidual = 0.2\n'
        + '[[targets]]\nexample = 2\nstart = 1.6\nwish = "half-life 0.4 s"\n'
        + '[design]\nspace = "full"\nrounds = 3\ncompare_linear = false\n'
    )
    first, second = made.targets
    assert first == sp.Unloading("bend", 0.8, 0.2)
    assert second == sp.Unloading("example 2", 1.6, HalfLife(0.4))
    settling = '[[targets]]\nexample = "bend"\nstart = 0.8\n'
    for words in ("settle = 0.3\n", 'wish = "settles in 0.3 s"\n'):
        (target,) = scene(BEND + settling + words).targets
        assert target == sp.Unloading("bend", 0.8, sp.SettlingTime(0.3))
    assert (made.design.space, made.design.rounds) == ("full", 3)
    assert not made.design.compare_linear


@pytest.mark.parametrize(
    ("old", "new", "space"),
    [
        ("", "", "reduced"),
        ("StVK", "NeoHookean", "full"),
        ("x = 0\n", "x = 0\ncomponents = 'xy'\n", "full"),
        ("x = 0\n", "x = 0\noscillation = {amplitude = [0, 0.1, 0], frequency = 2}\n", "full"),
    ],
)
def test_reduced_models_are_chosen_where_they_are_exact(scene, old, new, space):
    made = scene("", BASE.replace(old, new))
    assert made.design.space_for(made.body) == space


# -- refusals ------------------------------------------------------------------------------

TARGET = '[[targets]]\nexample = "bend"\nstart = 1\n'
BAD = {
    "[damping]\nmodel = 'Rayleig'": ("damping.model", "did you mean rayleigh"),
    "[damping]\ncoefficients = [1]": ("damping.coefficients", 'goes with model = "caughey"'),
    "[damping]\nmodel = 'Caughey'": ("damping", "coefficients, or frequencies"),
    "[damping]\nmodel = 'Caughey'\ncoefficients = [1]\nmass = 1": ("damping.mass", '"rayleigh"'),
    "[damping]\nmodel = 'Caughey'\ncoefficients = [1, 1e-3, 1e-9]": ("mass = \"lumped\"",),
    "mass='lumped'\n[damping]\nmodel = 'Caughey'\ncoefficients = [1, -1]": ("less than nothing",),
    "[damping]\nfrequencies = [1, 2, 3]\nratios = [0.1, 0.1, 0.1]": ("two", "caughey"),
    "[damping]\nfile = 'lost.toml'": ("damping.file", "lost.toml"),
    "[damping]\nfile = 'scene.toml'": ("damping.file", "not a damping file"),
    "[damping]\nfile = 'scene.toml'\nmass = 1": ("damping.file", "leave out mass"),
    "[damping]\nsymmetric = true": ("damping.symmetric", "needs examples"),
    "[damping]\nabout = 'rest'": ("damping.about", "needs examples or overall"),
    DAMPING + "overall = 'much'": ("damping.overall", "at least 0, or a table with one of linear"),
    DAMPING + "overall = { linear = [[1, 0], [2, 0]] }": ("damping.overall.linear", "positive"),
    DAMPING + "[[damping.examples]]\nname = 'a'": ("one of mode, force, shape, between, motion",),
    BEND + "force = [0, 0, 1]\nx = 1": ("damping.examples[0]", "got mode and force"),
    BEND + "x = 1": ("damping.examples[0].x", "needs force"),
    BEND + "time = 1": ("damping.examples[0].time", "needs motion"),
    BEND + "blend = 1": ("damping.examples[0].blend", "needs region"),
    BEND + "local = true": ("damping.examples[0].local", "needs region"),
    BEND + "region = 'outr'": ("damping.examples[0].region", "did you mean outer"),
    BEND + "amplitude = 0": ("damping.examples[0].amplitude", "more than 0"),
    BEND + "measure = 'speed'": ("damping.examples[0].measure", "excitation, rate"),
    BEND + "curve = -1": ("damping.examples[0].curve", "-1"),
    BEND + "curve = { lineal = [[0, 1]] }": ("curve.lineal", "did you mean linear"),
    BEND + "curve = { linear = [[0, 1], [1]] }": ("curve.linear[1]", "array of 2"),
    BEND + "curve = { linear = [[1, 1], [0, 1]] }": ("curve.linear", "grow"),
    BEND.replace("1\n", "500\n"): ("damping.examples[0].mode", "500"),
    BEND + "[[damping.examples]]\nname = 'bend'\nmode = 2": ("damping.examples[1].name", "taken"),
    BEND + "[[damping.examples]]\nmode = 1": ("damping.examples", "alike"),
    BEND.replace("mass = 0.5\n", ""): ("damping.examples", "base damping does nothing", "'bend'"),
    BEND.replace("mass", "about = 'equilibrium'\nmass"): ("damping.about", "without gravity"),
    DAMPING + "[[damping.examples]]\nforce = [0, 0, 1]": ("examples[0].force", "needs x or y"),
    DAMPING + "[[damping.examples]]\nforce = [0, 0, 1]\nx = 7": ("examples[0]", "no vertex"),
    DAMPING + "[[damping.examples]]\nforce = [0, 0, 0]\nx = 1": ("examples[0]", "moves nothing"),
    DAMPING + "[[damping.examples]]\nforce = [0, 0, 1]\nx = 0": ("examples[0]", "moves nothing"),
    DAMPING + "[[damping.examples]]\nshape = 'other.vtu'": ("examples[0]", "12 vertices", "20"),
    DAMPING + "[[damping.examples]]\nmotion = 'other.motion'\ntime = 0": ("another mesh",),
    DAMPING + "[[damping.examples]]\nmotion = 'a.motion'\ntime = 9": ("examples[0]", "9"),
    "[[targets]]\nstart = 1\nresidual = 0.1": ("targets[0].example", "missing"),
    "[[targets]]\nexample = 1\nstart = 1\nresidual = 0.1": ("targets[0].example", "no examples"),
    BEND + TARGET: ("targets[0]", "one of residual, wish, settle"),
    BEND + TARGET + "residual = 2": ("targets[0].residual", "smaller"),
    BEND + TARGET + "wish = 'softly'": ("targets[0].wish", "half-life"),
    BEND + TARGET.replace("bend", "bent") + "residual = 0.2": (".example", "did you mean bend"),
    BEND + TARGET.replace('"bend"', "2") + "residual = 0.2": (".example", "counted from 1: 'bend'"),
    BEND + 2 * (TARGET + "residual = 0.2\n"): ("targets[1].start", "another target"),
    "[design]\nspace = 'tiny'": ("design.space", "reduced, full"),
    "[design]\ntolerance = 2": ("design.tolerance", "less than 1"),
    BEND + "[initial]\nexample = 'bent'": ("initial.example", "did you mean bend"),
    "[initial]\nexample = 1": ("initial.example", "no examples"),
    BEND + "[initial]\nexample = 1\nmode = 1\namplitude = 1": ("initial", "mode and example"),
    "[initial]\nexcitation = 1": ("initial.excitation", "needs example"),
}  # fmt: skip


@pytest.mark.parametrize("text", list(BAD), ids=lambda text: text[-48:].replace("\n", " "))
def test_bad_scene_names_field_and_cure(refusal, scene, tmp_path, text):
    if "other.vtu" in text:
        write_mesh(sp.TetMesh.box((1, 1, 1), (2, 1, 1)), tmp_path / "other.vtu")
    if ".motion" in text:
        scene("").simulation().run(0.03, record=tmp_path / "a.motion")
        finer = BASE.replace("[4, 1, 1]", "[3, 1, 1]")
        scene("", finer).simulation().run(0.03, record=tmp_path / "other.motion")
    refusal(text, words=BAD[text])


def test_problems_of_damping_come_at_once_with_all_others(refusal):
    text = DAMPING + "[[damping.examples]]\nmode = 900\n[[damping.examples]]\nforce = [1, 0, 0]\n"
    text += "x = 8\nregion = 'none'\n[[targets]]\nexample = 3\nstart = 1\nresidual = 0.2\n"
    words = ("[0].mode", "[1].region", "no vertex", "targets[0].example", "loads[0]")
    refusal(text + "[[loads]]\npoint = [0, 0, 1]\n", words=("5 problems", *words))


def test_damping_of_another_mesh_is_refused(refusal, scene, tmp_path):
    save_damping(scene(BEND).damping, tmp_path / "damping.toml")
    finer = BASE.replace("[4, 1, 1]", "[5, 1, 1]")
    words = ("damping.file", "a body of 20 vertices, and this one has 24")
    refusal('[damping]\nfile = "damping.toml"\n', finer, words)


def test_body_that_is_not_held_has_no_force_examples_and_counts_rigid_modes(refusal, scene):
    free = BASE.replace("[[supports]]\nx = 0\n", "")
    pushed = DAMPING + "[[damping.examples]]\nforce = [0, 0, 1]\nx = 1\n"
    assert "held in place" in refusal(pushed, free)
    assert "count from 7" in refusal(BEND, free)
    assert scene(GRAVITY + BEND.replace("mode = 1", "mode = 7"), free).damping.about is None
    about = BEND.replace("mass", "about = 'equilibrium'\nmass")
    assert "not held firmly" in refusal(GRAVITY + about, free)
