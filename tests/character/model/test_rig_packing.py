"""Rigs in files: every ready one comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.arms import BAR, arm
from tests.character.rigs.test_deformers import RIGS, at_random
from tests.refusals import refused

import supple as sp
from supple.character.model.rig_packing import describe_rig, is_serializable, rig_of
from supple.character.rigs import BlackBoxRig, PoseRig


def skeleton(blend: sp.Blend) -> sp.SkeletonRig:
    return sp.SkeletonRig(arm(), blend)


def corrected(rig: PoseRig) -> sp.PoseSpaceDeformation:
    rng = np.random.default_rng(0)
    pose = rig.perturbed(rig.neutral, rng, 20.0)
    return sp.PoseSpaceDeformation(rig, pose[None], rng.standard_normal((1, rig.n_vertices, 3)))


HELD: dict[str, PoseRig] = RIGS | {
    "linear blend": skeleton(sp.Blend.LINEAR),
    "dual quaternions": skeleton(sp.Blend.DUAL_QUATERNION),
    "corrected bend": corrected(RIGS["bend"]),
    "corrected skeleton": corrected(skeleton(sp.Blend.LINEAR)),
}


@pytest.mark.parametrize("name", list(HELD))
def test_a_rig_comes_back(name: str) -> None:
    rig = HELD[name]
    assert is_serializable(rig)
    back = rig_of(*describe_rig(rig))
    assert type(back) is type(rig)
    pose = rig.neutral + 0.1 * at_random(rig)
    exactly = {"rtol": 0, "atol": 1e-13}
    np.testing.assert_allclose(back.vertices(pose), rig.vertices(pose), **exactly)
    np.testing.assert_allclose(back.features(pose), rig.features(pose), **exactly)
    np.testing.assert_array_equal(back.triangles, rig.triangles)
    gradients = rig.gradients(pose)
    if gradients is None:
        assert back.gradients(pose) is None
    else:
        np.testing.assert_allclose(back.gradients(pose), gradients, **exactly)


def black_box() -> BlackBoxRig:
    return BlackBoxRig(lambda p: BAR.vertices + p, BAR.triangles, np.zeros(3))


@pytest.mark.parametrize("rig", [black_box(), corrected(black_box())], ids=["itself", "within"])
def test_black_boxes_have_to_be_given_again(rig: PoseRig) -> None:
    assert not is_serializable(rig)
    refused(f"{type(rig).__name__}, which the file does not hold", rig_of, *describe_rig(rig))


def test_files_of_earlier_versions_have_no_pairs_of_joints() -> None:
    rig = skeleton(sp.Blend.LINEAR)
    header, arrays = describe_rig(rig)
    del header["held"]
    kept = {name: array for name, array in arrays.items() if not name.startswith("pairs")}
    back = rig_of(header, kept)
    np.testing.assert_array_equal(back.features(rig.neutral), rig.features(rig.neutral))


@pytest.mark.parametrize(
    ("name", "part", "change", "message"),
    [
        ("linear blend", "pairs joints", lambda a: a + 9, "joints that its rig does not have"),
        ("linear blend", "pairs slide", lambda a: a[:0], "do not fit together"),
        ("wire", "drag points", lambda a: a + 9, "control points do not fit"),
        ("lattice", "drag shares", lambda a: a[1:], "control points do not fit"),
    ],
)
def test_parts_that_do_not_fit_are_refused(name, part, change, message) -> None:
    header, arrays = describe_rig(HELD[name])
    refused(message, rig_of, header, arrays | {part: change(arrays[part])})
