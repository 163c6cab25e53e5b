"""Bones that the joints of a rig do not tell of: skulls, hands, backs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from supple.character.skeleton.body_parts import kind_of
from supple.character.skeleton.bones import Bones, bones_of, chains_of
from supple.character.skeleton.character import Character
from supple.character.tissue.volume import Volume
from supple.contact.obstacles.triangle_tree import TriangleTree
from supple.core.checks import vertex_indices
from supple.core.types import Floats, Ints
from supple.mesh import TetMesh

_BONELESS = {"tail", "ear", "hair", "belly", "breast", "trunk", "fin"}
_ON_HEADS = {"head", "ear", "hair", "horn", "trunk"}
_LAYER = 0.35  # of the thickness: how deep flesh is on a skull
_MAIN = 0.5  # of what is thickest of an end: thinner places, such as ears, have no skull
_REACH = 0.8  # of the way on from the middle of an end to its skin: how far its bone goes
_LEVEL = 0.7  # of its length: what rises by less is level
_RAISED = (1 / 3, 2 / 3)  # of the way from a level bone of the body up to the skin: its back
_PLACES = 200  # at which a way out is looked for


def held_by_skeleton(
    volume: Volume, character: Character, *, fixed: ArrayLike | None = None
) -> Volume:
    """The volume of a character at rest, held by its bones and by those that it would have.

    Joints tell little of a head: a bone that ends in its middle lets it wobble as a whole. So the
    inner part of what the last joint of a chain carries is bone too, and that bone goes on to the
    far end: heads have a skull, hands and feet are stiff. Places that are thin against the rest,
    such as ears on a head, stay soft, and so do joints named after a tail, an ear, hair or the
    like. Where joints of the body lie level, the back above them is held, and the belly swings.
    ``fixed`` are further vertices, indices (k,) or a mask (n,).
    """
    bones = bones_of(character)
    mesh, tree = volume.mesh, TriangleTree.of(volume.mesh.boundary())
    core = np.zeros(mesh.n_vertices, dtype=bool)
    segments = [*bones.segments, *_backs(character, bones, tree)]
    if ends := end_joints(character, bones):
        depth, thick = _thickness(mesh, tree)
        carried = _carried_by(character, mesh.vertices)
        for joint in ends:
            mine = carried == joint
            main = _MAIN * thick[mine].max(initial=0.0)
            core |= mine & (depth >= _LAYER * thick) & (thick >= main) & (depth > 0)
            segments.append(_to_the_end(character, joint, tree))
    if fixed is not None:
        core[vertex_indices("fixed", fixed, mesh.n_vertices)] = True
    return volume.held(np.array(segments), fixed=core)


def end_joints(character: Character, bones: Bones) -> list[int]:
    """Joints with a bone that carry an end of the body: a head, a hand, a foot.

    They hang on another, and on them nothing but two or more single joints, such as fingers, or
    what names tell to be on a head. Tails, ears and the like are none.
    """
    parents, names = character.rig.parents, character.rig.names
    below: dict[int, set[int]] = {int(joint): set() for joint in np.unique(bones.joints)}
    for joint in below:
        above = int(parents[joint])
        while above >= 0:
            if above in below:
                below[above].add(joint)
            above = int(parents[above])
    found = []
    for joint, hanging in below.items():
        if not any(joint in others for others in below.values()):
            continue
        single = len(hanging) != 1 and not any(below[each] for each in hanging)
        of_head = all(kind_of(names[each]) in _ON_HEADS for each in [joint, *hanging])
        if (single or of_head) and kind_of(names[joint]) not in _BONELESS:
            found.append(joint)
    return found


def _backs(character: Character, bones: Bones, tree: TriangleTree) -> list[Floats]:
    """Bones of a body that lies level, raised towards the skin above, (2, 3) each.

    The body are the joints that limbs hang on.
    """
    inner, _ = chains_of(character.rig.parents, bones)
    of_body = np.isin(bones.joints, [joint for chain in inner for joint in chain])
    segments = bones.segments[of_body]
    if not len(segments):
        return []
    ends = segments.reshape(-1, 3)
    along = np.linalg.svd(ends - ends.mean(axis=0))[2][0]
    if abs(along[2]) > _LEVEL:
        return []
    up, found = np.array([0.0, 0.0, 1.0]), []
    for segment in segments:
        if abs(segment[1, 2] - segment[0, 2]) < _LEVEL * np.linalg.norm(segment[1] - segment[0]):
            ways = np.array([_way_out(tree, end, up) for end in segment])
            found += [segment + share * ways[:, None] * up for share in _RAISED]
    return found


def _to_the_end(character: Character, joint: int, tree: TriangleTree) -> Floats:
    """From a joint through the middle of the skin that it carries towards the far end, (2, 3)."""
    skin, rig = character.skin, character.rig
    world = rig.world(rig.rest)
    share = np.where(skin.joints[skin.bones] == joint, skin.weights, 0.0).sum(axis=1)
    start, middle = world[joint, :3, 3], share @ skin.placed(world) / share.sum()
    way = middle - start
    length = float(np.linalg.norm(way))
    if length > 0:
        middle = middle + _REACH * _way_out(tree, middle, way / length) * way / length
    return np.stack([start, middle])


def _way_out(tree: TriangleTree, start: Floats, direction: Floats) -> float:
    """How far it is from a place (3,) inside to where a direction (3,) leaves the surface [m]."""
    size = float(np.linalg.norm(np.ptp(tree.corners.reshape(-1, 3), axis=0)))
    ways = np.linspace(0.0, size, _PLACES)
    inside = tree.distances(start + ways[:, None] * direction, np.inf)[0] < 0
    return float(ways[np.argmin(inside)])


def _thickness(mesh: TetMesh, tree: TriangleTree) -> tuple[Floats, Floats]:
    """How deep each vertex is, and the radius of the largest ball inside that it is in [m], (n,).

    Balls around the vertices of the mesh are tried.
    """
    depth = np.clip(-tree.distances(mesh.vertices, np.inf)[0], 0.0, None)
    depth[np.unique(mesh.boundary_facets())] = 0.0
    thick = depth.copy()
    order = np.argsort(depth)
    balls = cKDTree(mesh.vertices).query_ball_point(mesh.vertices[order], depth[order])
    for vertex, ball in zip(order, balls, strict=True):  # the largest come last
        thick[ball] = depth[vertex]
    return depth, thick


def _carried_by(character: Character, places: Floats) -> Ints:
    """The joint that the skin nearest to each of ``places`` (n, 3) follows most, (n,)."""
    skin = character.skin
    strongest = np.take_along_axis(skin.bones, skin.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
    _, near = cKDTree(character.surface().vertices).query(places)
    return np.asarray(skin.joints[strongest][near])
