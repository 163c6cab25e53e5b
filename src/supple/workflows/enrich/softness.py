"""How soft the flesh of a character is, by joint, part of the body and material."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from supple.character.skeleton.body_parts import body_parts, joints_called, words_of
from supple.character.skeleton.skin import Skin
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats
from supple.io.gltf.character import RiggedFile
from supple.workflows.enrich.source import body_vertices

_WORDS = """horn antler hoof hooves claw talon nail tooth teeth tusk beak eye eyeball shoe boot
    helmet armor armour metal steel iron glass lens buckle button sword weapon shield"""
_HARD = set(_WORDS.split())
_SOLES = "soles"
_LIMBS = {"leg", "foot", "arm", "hand"}  # that may stand on the ground
_STANDING = 0.05  # of the height: what of a limb is so low is a sole
_ALL = "*"


@dataclass(frozen=True, eq=False)
class Softness:
    """1 is as by default, 2 twice as soft, 0 rigid.

    ``joints`` (j,) is that of the flesh of each; ``skin`` (n,) that of vertices of the skin, NaN
    where it is that of its joints. ``hard`` are the names of what is rigid without having been
    asked for.
    """

    joints: Floats
    skin: Floats
    hard: tuple[str, ...] = ()

    def any(self, skin: Skin) -> bool:
        """Whether some of the skin is soft."""
        of_joints = (self.joints[skin.joints[skin.bones]] * skin.weights).sum(axis=1)
        return bool(np.where(np.isnan(self.skin), of_joints, self.skin).any())


def softness_of(rigged: RiggedFile, softness_factors: Mapping[str, float]) -> Softness:
    """How soft a character is.

    ``softness_factors`` by joint or part of the body, as ``joints_called`` takes them, by material,
    by mesh, or ``soles``; the last that fits counts, and 1 where none does. Horns, hooves, shoes
    and the like, by the names of joints, meshes and materials, and the soles of the feet are rigid
    unless they are named.
    """
    character = rigged.character
    joints = np.array([0.0 if is_hard(name) else 1.0 for name in character.rig.names])
    hard_joints = joints == 0
    skin = np.full(len(character.skin.vertices), np.nan)
    things = skin_by_name(rigged)
    hard = hard_names(rigged)
    for name in hard:
        skin[things[name]] = 0.0
    unasked = skin.copy()
    for name, value in softness_factors.items():
        soft = number(f"softness of {name}", value, at_least=0)
        if name == _ALL:
            joints[~hard_joints], skin[:] = soft, unasked
            continue
        named = [each for each in things if fnmatchcase(each.lower(), name.lower())]
        try:
            joints[joints_called(character, name)] = soft
        except InputError as error:
            if not named:
                there = f"; other names are {', '.join(things)}" if things else ""
                raise InputError(f"{error}{there}") from error
        for each in named:
            skin[things[each]] = soft
    told = [name for name in hard if not skin[things[name]].any()]
    return Softness(joints, skin, tuple(told))


def skin_by_name(rigged: RiggedFile) -> dict[str, Bools]:
    """Vertices of the skin (n,) by material and by mesh, where there are several, and the soles."""
    n = len(rigged.character.skin.vertices)
    found: dict[str, Bools] = {}
    for part in rigged.parts:
        for name in dict.fromkeys((part.material, part.name)):
            if name:
                mine = found.setdefault(name, np.zeros(n, dtype=bool))
                mine[part.first : part.first + part.count] = True
    found = {name: mine for name, mine in found.items() if not mine.all()}
    soles = _soles(rigged)
    return {**found, _SOLES: soles} if soles.any() else found


def hard_names(rigged: RiggedFile) -> list[str]:
    """What of ``skin_by_name`` is rigid unless told otherwise."""
    return [name for name in skin_by_name(rigged) if name == _SOLES or is_hard(name)]


def is_hard(name: str) -> bool:
    """Whether a name has a word in it for what is hard."""
    return any(word in _HARD or word.removesuffix("s") in _HARD for word in words_of(name))


def _soles(rigged: RiggedFile) -> Bools:
    """Which vertices are of a limb and near the ground in the pose at rest, where z is up."""
    character, body = rigged.character, body_vertices(rigged)
    limbs = [
        joint
        for part, joints in body_parts(character).items()
        if part.split(" ")[-1] in _LIMBS
        for joint in joints
    ]
    skin = character.skin
    strongest = np.take_along_axis(skin.bones, skin.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
    height = character.surface().vertices[:, 2]
    ground, top = height.min(where=body, initial=np.inf), height.max(where=body, initial=-np.inf)
    low: Bools = body & (height - ground < _STANDING * (top - ground))
    return low & np.isin(skin.joints[strongest], limbs)
