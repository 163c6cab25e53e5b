"""Making a model and enriching a character, interrupted anywhere, and resumed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

import numpy as np
import pytest
from tests.character.bent_beam import FIXED, MESH, SKIN, BeamRig, bent
from tests.character.posts import post

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs import BlackBoxRig, SkeletonRig
from supple.character.tissue.volume import character_volume
from supple.character.training.building import pose_space_model
from supple.reduction.cubature.cubature import CubatureWarning
from supple.workflows.enrich.enrich import enrich
from supple.workflows.enrich.options import Quality

pytestmark = pytest.mark.filterwarnings(
    "ignore::supple.reduction.cubature.cubature.CubatureWarning"
)

SMALL = Quality(120, 2, 3, 5, 4, 8, 0.02, False)
OPTIONS = {"size": 6, "modes": 4, "samples": 10, "tolerance": 0.02}
BEAM = {"volume": MESH, "fixed": FIXED, "poses": [[0.8]], **OPTIONS}
STAGES = (
    "volume", "fitting", "bases", "matched bases", "between poses", "elastic cubature",
    "inertial cubature",
)  # fmt: skip


class Told:
    """Progress that remembers what was told."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, done: int, total: int, what: str) -> None:
        if what not in self.seen:
            self.seen.append(what)


def stopping(fits):
    """Progress that stops where what is told fits."""

    def stop(done, total, what):
        if fits(what):
            raise KeyboardInterrupt

    return stop


@pytest.fixture(scope="module")
def rig(tmp_path_factory) -> SkeletonRig:
    """Its volumes are coarse."""
    few = partial(character_volume, vertices=150)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("supple.character.training.preparing.character_volume", few)
        yield SkeletonRig(sp.read_character(post(tmp_path_factory.mktemp("post"))))


def made(rig, **options) -> PoseSpaceModel:
    return pose_space_model(rig, **{"poses": 3} | OPTIONS | options)


def assert_same(one: PoseSpaceModel, two: PoseSpaceModel) -> None:
    for field in fields(PoseSpaceModel):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, field.name)
    pose = one.poses[-1]
    np.testing.assert_array_equal(one.gaps.values, two.gaps.values)
    np.testing.assert_array_equal(one.gaps.weights.features, two.gaps.weights.features)
    np.testing.assert_array_equal(one.tet_rig.vertices(pose), two.tet_rig.vertices(pose))
    for part in ("elastic", "inertial"):
        first, second = ({**model.measured[part], "seconds": 0} for model in (one, two))
        assert first == second
    for name in ("angles", "notes"):
        assert one.measured[name] == two.measured[name]


@pytest.fixture(scope="module")
def whole(rig) -> tuple[PoseSpaceModel, Told]:
    """In one go, and what was told on the way."""
    told = Told()
    return made(rig, progress=told), told


def test_model_interrupted_at_any_stage_is_that_of_one_go(rig, whole, tmp_path):
    model, told = whole
    folder = tmp_path / "parts"
    assert len(told.seen) >= len(STAGES)
    kept = [0]
    for what in told.seen:  # once in every kind of work, going on each time
        with pytest.raises(KeyboardInterrupt):
            made(rig, checkpoint=folder, progress=stopping(what.__eq__))
        kept.append(len(list(folder.iterdir())) if folder.exists() else 0)
    assert kept == sorted(kept)
    assert kept[-1] == len(STAGES) - 1
    again = Told()
    resumed = made(rig, checkpoint=folder, progress=again)
    assert_same(model, resumed)
    assert set(again.seen) < set(told.seen)
    assert set(resumed.measured["seconds"]) == set(STAGES)
    silent = Told()
    assert_same(model, made(rig, checkpoint=folder, progress=silent))
    assert not silent.seen


@pytest.mark.verify
def test_other_wishes_make_again_what_depends_on_them(rig, whole, tmp_path):
    """Each is compared with the same wishes in a fresh folder."""
    folder = tmp_path / "parts"
    made(rig, checkpoint=folder)

    def remade(**options):
        told = Told()
        model = made(rig, checkpoint=folder, progress=told, **options)
        assert_same(made(rig, **options), model)
        return told.seen

    fewer = remade(vertices=5)
    assert len(fewer) < len(whole[1].seen)
    assert "bases of poses" not in fewer
    seen = remade(seed=1)
    assert "bases of poses" not in seen
    assert "fitting tets to poses" not in seen
    seen = remade(material=sp.StVK(young=1e4, poisson=0.3))
    assert "bases of poses" in seen
    assert "fitting tets to poses" not in seen
    assert "tet mesh" not in remade(poses=2)


def beam_model(rig=None, **options) -> Told:
    """What making it told."""
    told = Told()
    pose_space_model(rig or BeamRig(), progress=told, **BEAM, **options)
    return told


def test_another_rig_is_noticed(tmp_path):
    def plain(pose):
        return bent(SKIN.vertices, pose)

    def bulging(pose):
        """The same where the model has poses; another on the way."""
        return plain(pose) * (1 + 0.1 * np.sin(np.pi * pose[0] / 0.8))

    beam_model(checkpoint=tmp_path / "parts")
    for function in (plain, bulging):
        rig = BlackBoxRig(function, SKIN.triangles, np.zeros(1))
        assert "bases of poses" in beam_model(rig, checkpoint=tmp_path / "parts").seen
        assert not beam_model(rig, checkpoint=tmp_path / "parts").seen


def stiffer_with(factor: float) -> type[sp.Material]:
    """Materials of one name."""

    def evaluate(F, lam, mu, psi, P, A, order):
        sp.StVK.evaluate(F, factor * lam, factor * mu, psi, P, A, order)

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Mine(sp.StVK):
        name: object = "mine"

    Mine.evaluate = staticmethod(evaluate)
    return Mine


def test_a_material_that_was_edited_is_noticed(tmp_path):
    folder = tmp_path / "parts"
    for factor in (1.0, 2.0):
        flesh = stiffer_with(factor)(young=1e4, poisson=0.3)
        assert "bases of poses" in beam_model(material=flesh, checkpoint=folder).seen
        assert not beam_model(material=flesh, checkpoint=folder).seen


def test_without_a_folder_there_are_no_checksums(tmp_path, monkeypatch):
    odd = stiffer_with(1.0)(young=1e4, poisson=0.3, name=object())
    with pytest.raises(sp.InputError, match=r"of type object, .* leave checkpoint out"):
        beam_model(material=odd, checkpoint=tmp_path / "parts")
    monkeypatch.setattr("supple.character.training.building.fingerprint", None)
    assert "bases of poses" in beam_model(material=odd).seen


def test_warnings_of_the_training_are_said_again(tmp_path):
    said = []
    for _ in range(2):
        with pytest.warns(CubatureWarning) as caught:
            beam_model(vertices=2, checkpoint=tmp_path / "parts")
        said.append([str(each.message) for each in caught])
    assert "2 vertices miss the reduced inertial force" in said[0][-1]
    assert said[0] == said[1]


# -- enrich --------------------------------------------------------------------------------


@pytest.mark.verify
def test_enriching_interrupted_at_any_stage_is_that_of_one_go(tmp_path):
    source = post(tmp_path)
    whole = Told()
    enrich(source, tmp_path / "whole.glb", quality=SMALL, frequency=2.0, progress=whole)
    path, folder = tmp_path / "soft.glb", tmp_path / "parts"

    def go(progress):
        enrich(source, path, quality=SMALL, frequency=2.0, checkpoint=folder, progress=progress)

    for what in whole.seen:
        with pytest.raises(KeyboardInterrupt):
            go(stopping(what.__eq__))
        assert not path.exists()
    last = Told()
    assert len(list(folder.iterdir())) == len(STAGES) + 2  # both clips
    go(last)
    assert not any("round" in what or "pose" in what for what in last.seen)
    assert path.read_bytes() == (tmp_path / "whole.glb").read_bytes()
    assert not folder.exists()


def test_other_clips_and_dampings_go_on_from_the_model(tmp_path):
    source, folder = post(tmp_path), tmp_path / "parts"
    stop = stopping(lambda what: "frames of bend" in what)
    with pytest.raises(KeyboardInterrupt):
        enrich(source, tmp_path / "a.glb", quality=SMALL, checkpoint=folder, progress=stop)
    told = Told()
    options = {"quality": SMALL, "settle": 0.3}
    enrich(source, tmp_path / "b.glb", checkpoint=folder, progress=told, **options)
    assert "bases of poses" not in told.seen
    assert any("frames of shake" in what for what in told.seen)  # which settles otherwise
    enrich(source, tmp_path / "c.glb", **options)
    assert (tmp_path / "b.glb").read_bytes() == (tmp_path / "c.glb").read_bytes()
