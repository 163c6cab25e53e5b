"""Flesh for animated characters: what comes out, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.character.posts import built_post, post, with_floor
from tests.cli.helpers import raising
from tests.io.pages import Checker
from tests.refusals import refused

from supple.character.model.file import load_pose_space_model
from supple.character.rigs import SkeletonRig
from supple.character.runtime.simulation import PoseSimulation
from supple.character.runtime.soft_motion import secondary_motion
from supple.core.errors import ContactNotKept, InputError
from supple.integrators import TRBDF2
from supple.io.gltf.character import read_rigged
from supple.io.gltf.played import PlayedGltf
from supple.io.gltf.rigged_creature import write_rigged_creature
from supple.workflows.enrich.enrich import enrich
from supple.workflows.enrich.options import Quality
from supple.workflows.enrich.page import write_enrich_report
from supple.workflows.enrich.soft_character import (
    damping_for_settling_time,
    flesh_frequency,
    soft_model,
)
from supple.workflows.enrich.softness import Softness, softness_of

SMALL = Quality(120, 2, 3, 5, 4, 8, 0.02, False)
pytestmark = pytest.mark.filterwarnings(
    "ignore::supple.reduction.cubature.cubature.CubatureWarning"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("enrich")


@pytest.fixture(scope="module")
def source(folder):
    return post(folder)


@pytest.fixture(scope="module")
def made(source, folder):
    """Both clips of the post, and the model in a file."""
    model = folder / "post.supple"
    return enrich(source, folder / "soft.glb", quality=SMALL, frequency=2.0, model=model)


def test_file_plays_what_the_flesh_does(made, source, folder):
    before, after = PlayedGltf(source), PlayedGltf(folder / "soft.glb")
    assert made.files == (folder / "soft.glb",)
    assert [motion.clip for motion in made.motions] == ["shake", "bend"]
    turned = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up to y up
    for motion in made.motions:
        assert motion.largest > 1e-3
        wanted = before.positions(motion.clip, motion.times) + motion.displacements @ turned.T
        off = np.linalg.norm(after.positions(motion.clip, motion.times) - wanted, axis=2).max()
        assert off <= 1.01 * made.max_error + 1e-6
    assert made.max_error <= 0.021 * max(motion.largest for motion in made.motions)
    assert 1 < made.targets <= SMALL.targets


def test_loop_closes_and_the_other_starts_from_rest(made):
    shake, bend = made.motions
    assert shake.loops
    assert shake.rounds >= 2
    assert shake.agrees
    assert shake.gap <= 2e-4 * made.size
    rates = np.diff(shake.displacements, axis=0) / np.diff(shake.times)[:, None, None]
    # no jerk from the last frame to the first: accelerations go on there as they do elsewhere
    changes = np.diff(rates, axis=0, append=rates[:1])
    jerks = np.abs(changes - np.roll(changes, 1, axis=0)).max(axis=(1, 2))
    assert max(jerks[0], jerks[-1]) <= jerks[1:-1].max()
    assert not bend.loops
    assert np.abs(bend.displacements[0]).max() < 1e-3 * made.size


@pytest.mark.parametrize("said", [{"quality": SMALL}, {}])
def test_model_is_taken_from_its_file_and_what_is_not_said_too(made, source, folder, said):
    model = folder / "post.supple"
    again = enrich(source, folder / "again.glb", clips=["shake"], model=model, **said)
    np.testing.assert_allclose(
        again.motions[0].displacements, made.motions[0].displacements, atol=1e-9
    )
    assert again.model.measured == made.model.measured
    assert again.targets <= SMALL.targets


def test_a_model_of_another_character_is_refused(made, folder):
    write_rigged_creature(folder / "creature.glb", resolution=16)
    with pytest.raises(InputError, match="another skeleton"):
        enrich(folder / "creature.glb", folder / "x.glb", model=folder / "post.supple")


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ({"soft": 2.0}, "soft="),
        ({"soft": {"upper": 1.0}}, "soft="),
        ({"frequency": 4.0}, "frequency="),
        ({"quality": "draft"}, "quality="),
        ({"length": 2.0}, "length="),
        ({"skull": False}, "skull="),
        ({"contact": False}, "contact="),
        ({"regions": 2}, "regions="),
        ({"seed": 1, "frequency": 3.0}, "frequency= and seed="),
    ],
)
def test_a_model_of_other_flesh_is_refused(made, source, folder, wish, named):
    with pytest.raises(InputError, match=f"^{named} changes? the flesh, which .*post.supple has"):
        enrich(source, folder / "other.glb", model=folder / "post.supple", **wish)


def test_wishes_that_the_model_was_made_with_are_taken(made, source, folder):
    said = {"soft": 1, "frequency": 2.0, "skull": True, "contact": True, "seed": 0}
    other = replace(SMALL, targets=3, substeps=2)  # nothing of this is about the flesh
    model = folder / "post.supple"
    again = enrich(source, folder / "x.glb", model=model, quality=other, clips=["bend"], **said)
    assert again.targets <= 3


def test_models_of_earlier_versions_say_swing(made, source, folder, tmp_path):
    model = load_pose_space_model(folder / "post.supple")
    measured, asked = dict(model.measured), dict(model.measured["asked"])
    for said in (measured, asked):
        said["swing"] = said.pop("frequency")
    old = replace(model, measured={**measured, "asked": asked})
    assert flesh_frequency(old) == flesh_frequency(model)
    old.save(tmp_path / "old.supple")
    with pytest.warns(DeprecationWarning, match="swing= is called frequency= now"):
        enrich(source, tmp_path / "x.npz", model=tmp_path / "old.supple", swing=2.0, clips=["bend"])
    with pytest.raises(InputError, match=r"^frequency= changes the flesh"):
        enrich(source, tmp_path / "x.npz", model=tmp_path / "old.supple", frequency=3.0)


def test_tolerance_asks_for_targets_and_weights_are_within_0_and_1(made, source, folder, tmp_path):
    options = {"model": folder / "post.supple", "quality": replace(SMALL, targets=None)}
    counts = []
    for share in (1e-2, 1e-3, 1e-5):
        close = enrich(source, tmp_path / "x.glb", tolerance=share, **options)
        assert close.gltf.met
        assert close.gltf.rms_error <= close.max_error <= share * close.size
        counts.append(close.targets)
        played = PlayedGltf(tmp_path / "x.glb")
        character = played.rigged.character
        for clip in ("shake", "bend"):
            dense = np.linspace(-0.1, 0.8, 200)
            weights = character.clip(clip).poses(character.rig, dense).weights
            assert weights.min(initial=0.0) >= 0.0
            assert weights.max(initial=1.0) <= 1.0
    assert counts == sorted(set(counts))
    few = enrich(source, tmp_path / "x.glb", tolerance=1e-5, targets=2, **options)
    assert few.targets == 2
    assert not few.gltf.met
    assert "the file has 2 morph targets" in few.concerns[0]


def test_a_file_that_was_read_is_not_read_again(made, source, folder, tmp_path):
    rigged = read_rigged(source)
    again = enrich(rigged, tmp_path / "x.glb", model=folder / "post.supple", clips=["b*"])
    assert again.rigged is rigged
    assert [motion.clip for motion in again.motions] == ["bend"]


@pytest.mark.parametrize("edit", ["wider", "weights", "longer joint"])
def test_a_model_of_an_edited_character_is_refused(made, folder, tmp_path, edit):
    edited = built_post(
        wide=1.2 if edit == "wider" else 1.0,
        blend=0.4 if edit == "weights" else 0.2,
        middle=0.55 if edit == "longer joint" else 0.5,
    ).write(tmp_path / "post.glb")
    words = "another skeleton" if edit == "longer joint" else "another shape or other weights"
    refused(words, enrich, edited, tmp_path / "x.glb", model=folder / "post.supple")


def test_clips_that_leave_the_skin_alone_get_no_flesh(source, folder, made, tmp_path):
    more = built_post()
    more.clip("rest")
    more.track(2, "rotation", [0.0, 1.0], [(0, 0, 0, 1), (0, 0, 0, 1)])
    file = more.write(tmp_path / "more.glb")
    model = folder / "post.supple"
    found = enrich(file, tmp_path / "x.glb", model=model)
    assert [motion.clip for motion in found.motions] == ["shake", "bend"]
    assert "rest leaves the skin as it is at rest, and had no need of flesh" in found.notes
    before, after = PlayedGltf(file), PlayedGltf(tmp_path / "x.glb")
    np.testing.assert_array_equal(after.positions("rest", [0, 1]), before.positions("rest", [0, 1]))
    with pytest.raises(InputError, match="rest: no clip moves the skin"):
        enrich(file, tmp_path / "y.glb", model=model, clips=["rest"])
    caches = enrich(file, tmp_path / "x.npz", model=model, clips=["bend", "rest"])
    assert [each.name for each in caches.files] == ["x_bend.npz", "x_rest.npz"]
    sagging = enrich(file, tmp_path / "y.glb", model=model, clips=["rest"], sag=True)
    assert sagging.motions[0].largest > 1e-4


def test_no_softness_gives_the_clips_back(source, folder):
    rigid = enrich(source, folder / "rigid.glb", soft=0.0, quality=SMALL)
    assert rigid.targets == 0
    assert "nothing is soft" in rigid.notes[0]
    before, after = PlayedGltf(source), PlayedGltf(folder / "rigid.glb")
    for name in ("shake", "bend"):
        t = rigid.motions[0].times
        np.testing.assert_array_equal(after.positions(name, t), before.positions(name, t))


def test_joint_without_softness_stays(source, folder):
    half = enrich(
        source, folder / "half.glb", soft={"lower": 0}, clips=["shake"], quality=SMALL, settle=0.3
    )
    x = half.rigged.character.surface().vertices
    far = np.linalg.norm(half.motions[0].displacements, axis=2).max(axis=0)
    assert far[x[:, 2] < 0.3].max() < 1e-9
    assert far[x[:, 2] > 0.9].max() > 1e-3


def test_soft_flesh_moves_more(made, source, folder):
    stiff = enrich(source, folder / "stiff.glb", frequency=40.0, clips=["shake"], quality=SMALL)
    assert stiff.motions[0].largest < 0.5 * made.motions[0].largest


def test_settle_is_when_a_twentieth_is_left(folder, made):
    model = load_pose_space_model(folder / "post.supple")
    damping, reached = damping_for_settling_time(model, 0.8)
    assert reached == pytest.approx(0.8)
    simulation = PoseSimulation(model, damping=damping, integrator=TRBDF2(), dt=1 / 400)
    rig = model.tet_rig.rig
    push = 1e-3 * model.at(rig.neutral).shapes().transpose(2, 0, 1)[:, :, 0] @ model.masses
    for _ in range(800):  # an even push along x, held, and then let go
        simulation.step(rig.neutral, force=push)
    start = np.linalg.norm(simulation.surface_displacements(), axis=1).max()
    far = []
    for _ in range(400):
        simulation.step(rig.neutral)
        far.append(np.linalg.norm(simulation.surface_displacements(), axis=1).max())
    assert max(far[320:]) < 0.05 * start
    assert max(far[60:240]) > 0.1 * start  # it does swing on the way


@pytest.mark.parametrize("slower", [1.0, 0.5, 0.1])
def test_the_slowest_vibration_settles_as_told(folder, made, slower):
    """x″ + (α + β ω²) x′ + ω² x = 0 falls to a twentieth by then, or its slow part does."""
    model = load_pose_space_model(folder / "post.supple")
    swing = 2 * np.pi * flesh_frequency(model)
    squares = np.array(model.squares)
    squares[0] = np.maximum(squares[0], (slower * swing) ** 2)
    squares[0, 0] = (slower * swing) ** 2
    model = replace(model, squares=squares)
    for settle in (2.0, 0.5, 1e-3):
        damping, reached = damping_for_settling_time(model, settle)
        assert reached >= 0.999 * settle
        for omega in (slower * swing, swing):
            roots = np.roots([1.0, damping.mass + damping.stiffness * omega**2, omega**2])
            assert np.exp(roots.real.max() * reached) <= 0.0501
    if slower >= 0.5:  # no part is so soft that it holds up the rest
        assert damping_for_settling_time(model, 2.0)[1] == pytest.approx(2.0)
        assert damping_for_settling_time(model, 1e-3)[1] == pytest.approx(
            np.log(20) / (slower * swing)
        )


def test_other_kinds_of_files(source, folder, made):
    pytest.importorskip("pxr")
    model = folder / "post.supple"
    usd = enrich(source, folder / "post.usda", model=model, quality=SMALL)
    assert [file.name for file in usd.files] == ["post_shake.usda", "post_bend.usda"]
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(usd.files[0]))
    mesh = UsdGeom.Mesh.Get(stage, "/World/holder")
    character, motion = usd.rigged.character, usd.motions[0]
    wanted = character.vertices_at(motion.times, "shake") + motion.displacements
    codes = mesh.GetPointsAttr().GetTimeSamples()
    assert len(codes) == len(motion.times)
    for code, x in zip(codes, wanted, strict=True):
        np.testing.assert_allclose(mesh.GetPointsAttr().Get(code), x, atol=1e-6)

    cache = enrich(source, folder / "post.npz", model=model, clips=["shake"], quality=SMALL)
    held = np.load(cache.files[0])
    np.testing.assert_allclose(held["positions"], wanted, atol=1e-6)
    np.testing.assert_array_equal(held["triangles"], character.skin.triangles)
    even = enrich(source, folder / "post.pc2", model=model, clips=["bend"], quality=SMALL)
    assert np.ptp(np.diff(even.motions[0].times)) < 1e-9


def test_page(made, folder, monkeypatch):
    monkeypatch.setattr("supple.workflows.enrich.page._STILL_SIZE", (58, 58))
    write_enrich_report(folder / "post.html", made, title="A <post>", facts=[("joints", "2")])
    text = (folder / "post.html").read_text()
    checker = Checker()
    checker.feed(text)
    assert "A &lt;post&gt;" in text
    for words in ("as it came", "with flesh", "in a loop", "once, from rest", "shake", "bend"):
        assert words in text


def test_loop_that_does_not_repeat_itself_is_told(made, source, folder, monkeypatch):
    impatient = partial(secondary_motion, most_rounds=2, tolerance=1e-9)
    monkeypatch.setattr("supple.workflows.enrich.enrich.secondary_motion", impatient)
    monkeypatch.setattr("supple.workflows.enrich.page._STILL_SIZE", (58, 58))
    model = folder / "post.supple"
    lost = enrich(source, folder / "lost.glb", clips=["shake"], model=model, quality=SMALL)
    assert not lost.motions[0].agrees
    assert any("the flesh of shake does not repeat itself" in note for note in lost.notes)
    write_enrich_report(folder / "lost.html", lost, title="lost")
    assert "which does not repeat itself" in (folder / "lost.html").read_text()
    assert not any("repeat" in note for note in made.notes)


def test_flesh_of_a_scene_is_that_of_the_character_alone(made, tmp_path):
    file = with_floor(built_post(strays=2)).write(tmp_path / "scene.glb")
    scene = enrich(file, tmp_path / "y.glb", quality=SMALL, frequency=2.0, clips=["shake"])
    alone, moved = made.motions[0].displacements, scene.motions[0].displacements
    n = alone.shape[1]
    assert scene.motions[0].largest == pytest.approx(made.motions[0].largest, rel=0.2)
    assert not moved[:, n:].any()  # neither strays nor the floor


def test_flesh_that_moves_too_far_is_told(source, tmp_path):
    wild = enrich(source, tmp_path / "x.glb", quality=SMALL, frequency=0.25, clips=["bend"])
    assert wild.motions[0].largest > 0.15 * wild.size
    assert "% of the body in bend, which is much" in wild.concerns[-1]
    for option in ("frequency=", "soft=", "length="):
        assert option in wild.concerns[-1]
    calm = enrich(source, tmp_path / "x.glb", quality=SMALL, frequency=20.0, clips=["bend"])
    assert not calm.concerns


def test_a_model_that_is_kept_has_poses_of_all_clips(source, tmp_path):
    options = {"quality": SMALL, "clips": ["shake"]}
    alone = enrich(source, tmp_path / "x.glb", **options)
    kept = enrich(source, tmp_path / "x.glb", model=tmp_path / "m.supple", **options)
    assert [motion.clip for motion in kept.motions] == ["shake"]
    turns = [np.ptp(made.model.weights.features, axis=0).max() for made in (alone, kept)]
    assert turns[0] < 0.1 < turns[1]  # "bend" turns, "shake" does not


def test_softness_by_name(source):
    rigged = read_rigged(source)
    soft = softness_of(rigged, {"*": 2, "upp*": 0.5}).joints
    assert dict(zip(rigged.character.rig.names, soft, strict=True)) == {
        "scene": 2, "holder": 2, "lower": 2, "upper": 0.5,
    }  # fmt: skip
    refused("no joint or part is called 'uper'; there is upper", softness_of, rigged, {"uper": 1})
    refused("softness of upper", softness_of, rigged, {"upper": -1})


@pytest.fixture
def evenly_soft(source):
    """The rig of the post, and softness 1 everywhere."""
    rig = SkeletonRig(read_rigged(source).character)
    return rig, Softness(np.ones(rig.character.rig.n_joints), np.full(rig.n_vertices, np.nan))


def test_softer_joint_has_softer_flesh(evenly_soft):
    rig, softness = evenly_soft
    joints = np.where(np.array(rig.character.rig.names) == "upper", 4.0, 1.0)
    model = soft_model(rig, SMALL, softness=replace(softness, joints=joints))
    height = model.tet_rig.mesh.centroids[model.cells, 2]
    mu = model.lame[0, :, 1]
    assert mu[height.argmax()] < 0.5 * mu[height.argmin()]


def test_a_contact_that_no_basis_keeps_is_left_out(evenly_soft, monkeypatch):
    refuse = raising(ContactNotKept("the rows of the contact depend on each other"))
    monkeypatch.setattr("supple.character.training.basis.self_contact", refuse)
    rig, soft = evenly_soft
    model = soft_model(rig, SMALL, softness=soft)
    assert "without contact: pose 1: the rows" in model.measured["notes"][-1]
    without_skull = soft_model(rig, SMALL, softness=soft, skull=False, contact=False)
    upper = model.tet_rig.mesh.vertices[:, 2] > 0.6
    assert model.fixed[upper].sum() > without_skull.fixed[upper].sum()


def test_what_fails_for_another_reason_is_not_tried_without_contact(evenly_soft, monkeypatch):
    tried = []

    def refuse(*_: object, **options: object) -> None:
        tried.append(options["contact"])
        raise InputError("the clip is upside down")

    monkeypatch.setattr("supple.character.training.building.pose_bases", refuse)
    rig, soft = evenly_soft
    refused("upside down", soft_model, rig, SMALL, softness=soft)
    assert tried == [True]


def test_khronos_validator_finds_no_error(made, folder, khronos_errors):
    write_rigged_creature(folder / "creature.glb", resolution=16)
    for file in (folder / "soft.glb", folder / "creature.glb"):
        assert not khronos_errors(file)
