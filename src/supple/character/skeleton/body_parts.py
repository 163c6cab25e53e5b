"""Parts of a character's body by plain names: head, left arm, tail."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from supple.character.skeleton.bones import bones_of, chains_of
from supple.character.skeleton.character import Character
from supple.core.errors import InputError

_WORDS = {
    "head": "head skull face jaw eye nose muzzle snout mouth tongue",
    "neck": "neck",
    "arm": "arm elbow biceps",
    "hand": "hand finger thumb index pinky wrist palm",
    "leg": "leg thigh calf shin knee",
    "foot": "foot feet toe ankle heel hoof hooves paw shoe",
    "body": "body torso spine hip hips pelvis chest waist abdomen",
    "belly": "belly stomach udder",
    "breast": "breast",
    "hair": "hair mane ponytail beard",
    **{part: part for part in ("tail", "ear", "horn", "wing", "fin", "trunk")},
}
_KINDS = {word: part for part, words in _WORDS.items() for word in words.split()}
_JOINED = ("arm", "leg")  # that are written as one word with others: forearm, upleg
_PART_OF = {"neck": "head", "hand": "arm", "foot": "leg"}  # these belong to another as well
_SIDES = {"left": ("left", "l"), "right": ("right", "r")}
_ENDS = {"front": ("front", "fore"), "back": ("back", "hind", "rear")}
_SHOWN = 12  # joints in a message


def body_parts(character: Character) -> dict[str, tuple[int, ...]]:
    """Joints that carry skin, by the part of the body that they belong to.

    Names of joints tell: ``b_LeftForeArm_010`` is of the "left arm", ``FrontLowerLeg.R`` of the
    "right front leg". A joint whose name tells nothing goes with those of its chain, or with the
    joint that it hangs on. Feet are of legs too, hands of arms, and a neck of the head. A limb that
    no name tells of is called like its first joint.
    """
    rig = character.rig
    own = [_part(name) for name in rig.names]
    inner, outer = chains_of(rig.parents, bones_of(character))
    limbs: dict[int, str] = {}
    for chain in [*inner, *outer]:
        known = Counter(_whole(own[joint]) for joint in chain if own[joint])
        name = "body" if chain in inner else rig.names[chain[0]]
        limbs |= dict.fromkeys(chain, known.most_common(1)[0][0] if known else name)
    found: dict[str, list[int]] = {}
    part_of: list[str] = []
    skin = character.skin
    carry = set(np.unique(skin.joints[skin.bones[skin.weights > 0]]).tolist())
    for joint, above in enumerate(rig.parents):
        name = own[joint] or limbs.get(joint) or (part_of[above] if above >= 0 else "body")
        part_of.append(name)
        if joint in carry:
            for each in dict.fromkeys((_whole(name), name)):
                found.setdefault(each, []).append(joint)
    return {name: tuple(joints) for name, joints in sorted(found.items())}


def joints_called(character: Character, name: str) -> list[int]:
    """The joints that a name or a pattern stands for.

    Joints of this name come first, ``Tail*``; then parts of the body, ``left arm`` or ``* leg``, of
    which some words are enough, so that ``legs`` are all of them; then joints whose names differ
    in capitals.
    """
    names, lower = character.rig.names, [each.lower() for each in character.rig.names]
    if fits := _fitting(names, name):
        return fits
    parts = body_parts(character)
    plain = name.strip().lower().replace("_", " ").replace("-", " ")
    fitting = [each for each in parts if fnmatchcase(each.lower(), plain)]
    if not fitting:
        words = {_kind(word) or word for word in plain.split()}
        fitting = [each for each in parts if words and words <= set(each.lower().split())]
    if not fitting and (fits := _fitting(lower, name.lower())):
        return fits
    if not fitting:
        near = difflib.get_close_matches(name, [*names, *parts], n=5)
        if near:
            raise InputError(f"no joint or part is called {name!r}; there is {', '.join(near)}")
        joints = sorted({joint for group in parts.values() for joint in group})
        more = " …" if len(joints) > _SHOWN else ""
        raise InputError(
            f"no joint or part is called {name!r}; parts are {', '.join(parts)}; joints are "
            f"{', '.join(names[k] for k in joints[:_SHOWN])}{more}"
        )
    return sorted({joint for each in fitting for joint in parts[each]})


def kind_of(name: str) -> str:
    """What part a joint is by its name, without its side, such as "leg", or nothing."""
    return _part(name).split(" ")[-1]


def words_of(name: str) -> list[str]:
    """The words in a name such as ``b_LeftForeArm_010``, without capitals."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _fitting(names: Sequence[str], pattern: str) -> list[int]:
    return [k for k, name in enumerate(names) if name == pattern or fnmatchcase(name, pattern)]


def _part(name: str) -> str:
    """The part that the name of a joint tells of, or nothing."""
    words = words_of(name)
    kinds = [kind for kind in map(_kind, words) if kind]
    if not kinds:
        return ""
    kind = next((each for each in kinds if each in _PART_OF), kinds[0])
    sides = [side for side, known in _SIDES.items() if set(known) & set(words)]
    if kind == "body" and sides:  # a left hip is of the leg
        return ""
    ends = [end for end, known in _ENDS.items() if any(word.startswith(known) for word in words)]
    return " ".join([*sides[:1], *(ends[:1] if _whole(kind) == "leg" else ()), kind])


def _kind(word: str) -> str:
    """The kind of part that a word, or several of it, stands for, or nothing."""
    joined = next((part for part in _JOINED if word.removesuffix("s").endswith(part)), "")
    return _KINDS.get(word) or _KINDS.get(word.removesuffix("s")) or joined


def _whole(part: str) -> str:
    """The larger part that a part with its side belongs to: that of a left hand, a left arm."""
    *side, kind = part.split(" ")
    return " ".join([*side, _PART_OF.get(kind, kind)])
