"""Skinned characters as rigs: a pose is how every joint lies in its parent."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character import skinning
from supple.character.rigs.base import CarriedPoints, PoseRig, one_pose
from supple.character.rigs.pairing import JointPairs, coupled_joints
from supple.character.skeleton.character import Character
from supple.character.skeleton.rig import RigPose
from supple.core.checks import instance, numbers, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_HUMAN = 2.0  # [m], the body on which the root moves by millimetres where joints turn by degrees


class Blend(Enum):
    """How the moves of several bones become that of a vertex."""

    LINEAR = "linear"
    """Their weighted mean, as matrices; what glTF viewers do. Twisted joints lose volume."""
    DUAL_QUATERNION = "dual quaternion"
    """The mean of their turns and shifts; keeps volume. Stretches are blended first."""


@dataclass(frozen=True, eq=False)
class SkeletonRig(PoseRig):
    """The rig of a character.

    A pose (10 j + t,) has for each joint, in the order of the character's rig, how it lies in its
    parent: translation (3) [m], rotation (4), a quaternion x, y, z, w of any length, scale (3); and
    then the weights of the t morph targets. The neutral pose is the one at rest. ``pose_of`` and
    ``rig_pose`` lead from a RigPose to such numbers and back. ``joint_pairs`` are those that share
    flesh, if they are known.
    """

    character: Character
    blend: Blend = Blend.LINEAR
    joint_pairs: InitVar[JointPairs | None] = None

    def __post_init__(self, joint_pairs: JointPairs | None) -> None:
        instance("character", self.character, Character, 'read_character("cow.glb")')
        instance("blend", self.blend, Blend, "Blend.DUAL_QUATERNION")
        rest = self.pose_of(self.character.rig.rest)
        self._set(triangles=self.character.skin.triangles, neutral=rest)
        if joint_pairs is not None:
            self._set(pairs=joint_pairs)

    # -- poses -------------------------------------------------------------------------

    def pose_of(self, pose: RigPose) -> Floats:
        """The numbers (…, d) of a pose of the joints, at one time or at several."""
        instance("pose", pose, RigPose, "character.rig.turned({name: (0, 0, 0.5)})")
        parts = [pose.translations, pose.rotations, pose.scales]
        joints = np.concatenate(parts, axis=-1)
        count = self.character.rig.n_joints
        if joints.shape[-2] != count:
            raise InputError(f"the pose has {joints.shape[-2]} joints; this rig has {count}")
        weights = pose.weights if pose.weights.shape[-1] else np.zeros(self._n_targets)
        if weights.shape[-1] != self._n_targets:
            raise InputError(
                f"the pose has {weights.shape[-1]} morph weights; this rig has {self._n_targets}"
            )
        times = joints.shape[:-2]
        weights = np.broadcast_to(weights, (*times, self._n_targets))
        return np.concatenate([joints.reshape(*times, -1), weights], axis=-1)

    def rig_pose(self, pose: ArrayLike) -> RigPose:
        """How the joints lie in a pose (…, d)."""
        p = numbers("pose", pose)
        count = self.character.rig.n_joints
        if not p.ndim or p.shape[-1] != len(self.neutral):
            raise InputError(f"the pose has shape {p.shape}; give (…, {len(self.neutral)})")
        joints = p[..., : count * skinning.JOINT].reshape(*p.shape[:-1], count, skinning.JOINT)
        quaternions = joints[..., 3:7]
        lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
        if not (lengths > 0).all():
            raise self._no_rotation(int(np.argwhere(lengths[..., 0] <= 0)[0, -1]))
        weights = p[..., count * skinning.JOINT :]
        return RigPose(joints[..., :3], quaternions / lengths, joints[..., 7:], weights)

    def poses_of_clip(self, clip: str | None, times: ArrayLike) -> Floats:
        """Poses (T, d) of a clip at ``times`` (T,) [s] since its first key, played in a loop."""
        return self.pose_of(self.character.clip(clip).looped(self.character.rig, times))

    # -- surface -----------------------------------------------------------------------

    def vertices(self, pose: Floats, which: Ints | None = None) -> Floats:
        if self.blend is not Blend.LINEAR:
            return self._moved(pose, *self._moves(pose, which))
        skin, chosen = self.character.skin, self._chosen(which)
        X = skin.shaped(self._morph_weights(pose), None if which is None else chosen)
        x = np.empty((len(chosen), 3))
        moves = self.bone_moves(self.placed(pose)[1])
        skinning.skin_linear(moves, skin.bones, skin.weights, chosen, X, x)
        return x

    def posed(self, pose: Floats, which: Ints | None = None) -> tuple[Floats, Floats]:
        A, t, chosen = self._moves(pose, which)
        return self._moved(pose, A, t, chosen), self._from_rest(A, chosen)

    def carried(self, near: Ints, shares: Floats, offsets: Floats) -> CarriedPoints:
        if self.blend is Blend.LINEAR and not self._n_targets:
            return SkinnedPoints(self, near, shares, offsets)
        return super().carried(near, shares, offsets)

    def _moved(self, pose: Floats, A: Floats, t: Floats, chosen: Ints) -> Floats:
        x = np.empty((len(chosen), 3))
        X = self.character.skin.shaped(self._morph_weights(pose), chosen)
        skinning.move_vertices(A, t, X, x)
        return x

    def _from_rest(self, A: Floats, chosen: Ints) -> Floats:
        gradients = np.empty_like(A)
        skinning.times_back(A, self.back, chosen, gradients)
        return gradients

    def matrices(self, pose: Floats, which: Ints | None = None) -> Floats:
        """The blended matrix (k, 3, 3) that turns and stretches what is around each vertex."""
        return self._moves(pose, which)[0]

    def frames(self, pose: Floats, which: Ints | None = None) -> Floats:
        A, _, chosen = self._moves(pose, which)
        turns = np.empty_like(A)
        skinning.nearest_rotations(A, self.back, chosen, turns)
        return turns

    def gradients(self, pose: Floats, which: Ints | None = None) -> Floats:
        A, _, chosen = self._moves(pose, which)
        return self._from_rest(A, chosen)

    def before_skin(self, pose: Floats, which: Ints | None, displacements: ArrayLike) -> Floats:
        """The displacements (k, 3) before skinning that give these ones (k, 3) [m] after it.

        A blend of bones that are turned far against each other can squeeze the surroundings of a
        vertex flat. What goes on across such a flat cannot be seen, and is left out.
        """
        A, _, chosen = self._moves(pose, which)
        after = numbers("displacements", displacements, ((len(chosen), 3),))
        before = np.empty_like(after)
        skinning.undo(A, after, before)
        return before

    # -- what tells poses apart --------------------------------------------------------

    def features(self, pose: Floats) -> Floats:
        """How joints that share flesh are turned to each other from the neutral pose.

        Small distances between features are angles [rad]. Moving or turning the character as a
        whole changes none. Where clips slide joints apart, that counts as well, and so do morph
        weights, by how far they move vertices: by a tenth of the body's size as much as by 1 rad.
        """
        return self.compared(pose, *self.placed(pose))

    def compared(self, pose: Floats, turns: Floats, world: Floats) -> Floats:
        """The features (f,) of a pose whose joints are placed."""
        pairs = self.pairs
        found = np.empty((len(pairs.joints), 12))
        skinning.compare_joints(
            turns, world, self._rest_turns, pairs.joints, pairs.places, pairs.length, found
        )
        if not self._n_targets:
            return found.take(self._told)
        morphs = self._morph_scales * (self._morph_weights(pose) - self.character.rig.rest.weights)
        return np.concatenate([found.take(self._told), morphs])

    def perturbed(self, pose: Floats, rng: np.random.Generator, size: float = 1.0) -> Floats:
        """Joints with skin turned by up to ``size`` degrees, the whole moved by ``size`` mm.

        The millimetres are for a body of 2 m, and grow with it.
        """
        from scipy.spatial.transform import Rotation  # slow to import

        p = np.array(pose, dtype=float)
        rig = self.character.rig
        joints = p[: rig.n_joints * skinning.JOINT].reshape(-1, skinning.JOINT)
        moving = np.unique(self.character.skin.joints)
        axes = rng.standard_normal((len(moving), 3))
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        angles = np.deg2rad(size) * rng.uniform(-1.0, 1.0, (len(moving), 1))
        own = Rotation.from_quat(joints[moving, 3:7])
        joints[moving, 3:7] = (own * Rotation.from_rotvec(angles * axes)).as_quat()
        joints[rig.parents < 0, :3] += 1e-3 * size * self._size / _HUMAN * rng.uniform(-1.0, 1.0, 3)
        return p

    def between(self, one: Floats, two: Floats, share: float) -> Floats:
        """A pose (d,) on the way from one to another; joints turn the short way round."""
        end = np.array(two, dtype=float)
        count = self.character.rig.n_joints * skinning.JOINT
        turns = end[:count].reshape(-1, skinning.JOINT)[:, 3:7]
        start = np.asarray(one)[:count].reshape(-1, skinning.JOINT)[:, 3:7]
        turns[np.einsum("ji,ji->j", start, turns) < 0] *= -1.0  # the same turn, nearer
        return super().between(one, end, share)

    @cached_property
    def pairs(self) -> JointPairs:
        """Joints that share flesh."""
        return coupled_joints(self.character)

    # -- arrays ------------------------------------------------------------------------

    def placed(self, pose: Floats) -> tuple[Floats, Floats]:
        """Turns (j, 4) and matrices (j, 3, 4) of the joints in the world."""
        p, parents = one_pose(pose, len(self.neutral)), self.character.rig.parents
        turns, world = np.empty((len(parents), 4)), np.empty((len(parents), 3, 4))
        lost = skinning.place_joints(np.ascontiguousarray(p), parents, turns, world)
        if lost >= 0:
            raise self._no_rotation(lost)
        return turns, world

    def _moves(self, pose: Floats, which: Ints | None) -> tuple[Floats, Floats, Ints]:
        """A (k, 3, 3), t (k, 3) and vertices (k,): each vertex goes from X to A X + t."""
        skin, chosen = self.character.skin, self._chosen(which)
        moves = self.bone_moves(self.placed(pose)[1])
        A, t = np.empty((len(chosen), 3, 3)), np.empty((len(chosen), 3))
        if self.blend is Blend.LINEAR:
            skinning.blend_linear(moves, skin.bones, skin.weights, chosen, A, t)
        else:
            duals, stretches = np.empty((len(moves), 8)), np.empty((len(moves), 3, 3))
            skinning.split_moves(moves, duals, stretches)
            skinning.blend_dual_quaternions(
                duals, stretches, skin.bones, skin.weights, chosen, A, t
            )
        return A, t, chosen

    def _chosen(self, which: Ints | None) -> Ints:
        count = len(self.character.skin.vertices)
        return np.arange(count) if which is None else vertex_indices("which", which, count)

    def bone_moves(self, world: Floats) -> Floats:
        """From where the skin was modelled to where it is, (bones, 3, 4)."""
        skin = self.character.skin
        moves = np.empty((len(skin.joints), 3, 4))
        skinning.move_bones(world, skin.joints, skin.inverse_binds, moves)
        return moves

    def _morph_weights(self, pose: Floats) -> Floats:
        return np.asarray(pose, dtype=float)[skinning.JOINT * self.character.rig.n_joints :]

    @property
    def _n_targets(self) -> int:
        return self.character.skin.n_targets

    @cached_property
    def _morph_scales(self) -> Floats:
        """How far each morph target moves vertices at most, as features count it, (t,)."""
        A = self.matrices(self.neutral)
        moved = np.einsum("nij,tnj->tni", A, np.asarray(self.character.skin.targets))
        farthest: Floats = np.linalg.norm(moved, axis=2).max(axis=1)
        return farthest / self.pairs.length

    def _no_rotation(self, joint: int) -> InputError:
        name = self.character.rig.names[joint]
        return InputError(
            f"the pose has no rotation for the joint {name!r}; give a quaternion x, y, z, w that "
            "is not 0"
        )

    @cached_property
    def _size(self) -> float:
        return float(np.ptp(self.vertices(self.neutral), axis=0).max())

    @cached_property
    def back(self) -> Floats:
        """Undoes the blended matrices of the neutral pose, (n, 3, 3)."""
        return np.asarray(np.linalg.pinv(self.matrices(self.neutral)), dtype=float)

    @cached_property
    def _told(self) -> Ints:
        """Which of the numbers that are compared are features."""
        kept = np.ones((len(self.pairs.joints), 12), dtype=bool)
        kept[~self.pairs.slide, 9:] = False
        return np.flatnonzero(kept)

    @cached_property
    def _rest_turns(self) -> Floats:
        return self.placed(self.neutral)[0]


class SkinnedPoints(CarriedPoints):
    """Each is a blend of bones itself, and needs no vertex.

    With the moves M of bones b and B that undoes those at rest, G_k = Σ_b w_kb M_b B_k, and
    x = Σ_k s_k (x_k + G_k d_k) = Σ_b M_b Σ_k s_k w_kb (X_k + B_k d_k).
    """

    def __init__(self, rig: SkeletonRig, near: Ints, shares: Floats, offsets: Floats) -> None:
        self._skeleton = rig
        skin, count = rig.character.skin, len(near)
        weights = shares[:, :, None] * skin.weights[near]  # (n, k, bones)
        point = np.broadcast_to(np.arange(count)[:, None, None], weights.shape)
        width = len(skin.joints)
        used = weights > 0
        slots, slot = np.unique((point * width + skin.bones[near])[used], return_inverse=True)
        back = rig.back[near]  # (n, k, 3, 3)
        places = skin.vertices[near] + np.einsum("nkij,nkj->nki", back, offsets)
        parts = np.concatenate([back, places[..., None]], axis=3).reshape(-1, 12)
        parts = np.concatenate([parts, np.ones((len(parts), 1))], axis=1)
        pair = np.broadcast_to(np.arange(near.size).reshape(*near.shape, 1), weights.shape)
        self._spans = np.zeros((len(slots), parts.shape[1]))
        np.add.at(self._spans, slot.ravel(), weights[used][:, None] * parts[pair[used]])
        self._bones = slots % width
        self._starts = np.searchsorted(slots // width, np.arange(count + 1))

    def __call__(self, pose: Floats) -> tuple[Floats, Floats, Floats]:
        turns, world = self._skeleton.placed(pose)
        count = len(self._starts) - 1
        x, gradients = np.empty((count, 3)), np.empty((count, 3, 3))
        moves = self._skeleton.bone_moves(world)
        skinning.carry_points(moves, self._starts, self._bones, self._spans, x, gradients)
        return x, gradients, self._skeleton.compared(pose, turns, world)
