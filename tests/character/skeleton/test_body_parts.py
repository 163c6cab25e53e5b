"""Parts of the body by the names of joints"""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.bodies import rig_of
from tests.refusals import refused

from supple.character import Character, Skin
from supple.character.skeleton.body_parts import body_parts, joints_called

# Name, the number of the parent, and where the joint is; y is up.
HUMAN = (
    ("Armature", -1, (0, 0, 0)),
    ("mixamorig:Hips", 0, (0, 1.0, 0)),
    ("mixamorig:Spine", 1, (0, 1.2, 0)),
    ("mixamorig:Neck", 2, (0, 1.5, 0)),
    ("mixamorig:Head", 3, (0, 1.6, 0)),
    ("mixamorig:LeftShoulder", 2, (0.1, 1.4, 0)),
    ("mixamorig:LeftForeArm", 5, (0.4, 1.4, 0)),
    ("mixamorig:LeftHand", 6, (0.7, 1.4, 0)),
    ("mixamorig:LeftHandThumb1", 7, (0.75, 1.4, 0.1)),
    ("mixamorig:LeftHandIndex1", 7, (0.8, 1.4, 0)),
    ("clavicle_r", 2, (-0.1, 1.4, 0)),
    ("upperarm_r", 10, (-0.2, 1.4, 0)),
    ("hip.L", 1, (0.1, 0.9, 0)),
    ("shin.L", 12, (0.1, 0.5, 0)),
    ("foot.L", 13, (0.1, 0.1, 0)),
    ("HindLeg_R", 1, (-0.1, 0.9, 0)),
    ("FFB", 15, (-0.1, 0.1, 0)),
    ("Antenna", 4, (0, 1.8, 0)),
    ("Antenna_end", 17, (0, 2.0, 0)),
    ("Cape01", 2, (0, 1.3, -0.2)),
)
LEFT_HAND = {"LeftHand", "LeftHandThumb1", "LeftHandIndex1"}


@pytest.fixture(scope="module")
def human() -> Character:
    """Joints with three vertices each, but for the first and the end of the antenna."""
    names, parents, places = zip(*HUMAN, strict=True)
    x = np.array(places, dtype=float)
    carry = [k for k, name in enumerate(names) if name not in ("Armature", "Antenna_end")]
    binds = np.tile(np.eye(4), (len(carry), 1, 1))
    binds[:, :3, 3] = -x[carry]
    skin = Skin(
        vertices=(x[carry][:, None] + 0.02 * np.eye(3)).reshape(-1, 3),
        triangles=np.arange(3 * len(carry)).reshape(-1, 3),
        bones=np.repeat(np.arange(len(carry)), 3)[:, None],
        weights=np.ones((3 * len(carry), 1)),
        joints=np.array(carry),
        inverse_binds=binds,
    )
    return Character(rig_of(names, list(parents), places), skin)


def called(character: Character, joints) -> set[str]:
    return {character.rig.names[joint].removeprefix("mixamorig:") for joint in joints}


@pytest.mark.parametrize(
    ("part", "joints"),
    [
        ("body", {"Hips", "Spine"}),
        ("head", {"Neck", "Head", "Antenna"}),
        ("neck", {"Neck"}),
        # Its shoulder tells nothing, and fingers hang on its hand.
        ("left arm", {"LeftShoulder", "LeftForeArm", *LEFT_HAND}),
        ("left hand", LEFT_HAND),
        ("right arm", {"clavicle_r", "upperarm_r"}),
        ("left leg", {"hip.L", "shin.L", "foot.L"}),
        ("left foot", {"foot.L"}),
        ("right back leg", {"HindLeg_R", "FFB"}),
        ("Cape01", {"Cape01"}),
    ],
)
def test_names_of_joints_tell_the_part(human, part, joints):
    assert called(human, body_parts(human)[part]) == joints


def test_every_joint_with_skin_is_in_a_part(human):
    there = {joint for joints in body_parts(human).values() for joint in joints}
    assert there == set(human.skin.joints.tolist())


@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("foot.L", {"foot.L"}),
        ("*Hand*", LEFT_HAND),
        ("Left Arm", {"LeftShoulder", "LeftForeArm", *LEFT_HAND}),
        ("right_arm", {"clavicle_r", "upperarm_r"}),
        ("legs", {"hip.L", "shin.L", "foot.L", "HindLeg_R", "FFB"}),
        ("feet", {"foot.L"}),
        ("right *", {"clavicle_r", "upperarm_r", "HindLeg_R", "FFB"}),
        ("ANTENNA", {"Antenna"}),
        ("CLAV*", {"clavicle_r"}),
    ],
)
def test_what_a_name_stands_for(human, name, joints):
    assert called(human, joints_called(human, name)) == joints


def test_unknown_names(human):
    refused("or part is called 'left amr'; there is left arm", joints_called, human, "left amr")
    refused(r"parts are .*body, head, left arm.*; joints are .* …", joints_called, human, "wheel")
    refused("no joint or part is called ''", joints_called, human, "")
