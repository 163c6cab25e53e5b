"""A skinned character as flesh on bones: how soft, how it settles."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.bones import bones_of
from supple.character.skeleton.character import Character
from supple.character.skeleton.whole_skeleton import held_by_skeleton
from supple.character.tissue.flesh import FREQUENCY, flesh
from supple.character.tissue.painting import painted
from supple.character.tissue.volume import Volume, character_volume
from supple.character.training.building import pose_space_model
from supple.character.training.cached_parts import cached_volume
from supple.character.training.pose_choice import candidates_of, choose_poses
from supple.core.checkpoint import Checkpoint
from supple.core.checks import number
from supple.core.errors import ContactNotKept
from supple.core.types import Bools, Floats, Progress
from supple.damping import Rayleigh
from supple.workflows.enrich.options import Quality
from supple.workflows.enrich.softness import Softness

_LEFT = 0.05  # of an amplitude: what counts as settled
_MASS_SHARE = 0.8  # of the decay of a swing; the rest is by stiffness, and damps what is faster
_FREQUENCY_KEY, _ONCE_CALLED = "frequency", "swing"  # of what a model keeps
_SLOWEST = 0.5  # of the frequency: what the slowest vibration has at least
_LEAST_MODES = 3  # of a region
_RIGID = 0.5  # of a vertex: follows joints without softness so far that it is rigid


def soft_model(
    rig: SkeletonRig,
    quality: Quality,
    *,
    softness: Softness,
    frequency: float = FREQUENCY,
    skull: bool = True,
    contact: bool = True,
    regions: int | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PoseSpaceModel:
    """The pose-space model of a character that is soft by joint and by skin.

    Where that is 1, flesh that is pushed along the softest of three axes has this natural
    ``frequency`` [Hz]. Bones that are thin and straight let flesh twist about them far more
    easily than that; it is kept so stiff that no vibration is slower than half of it, where flesh
    has softness 1. With ``skull``, heads, hands and backs are held by more than the bones that
    joints tell of. ``contact`` keeps parts that touch in a pose from going deeper; where no basis
    does so, it is left out, of which a note tells. ``regions`` are so many limbs with shapes of
    their own. Poses are chosen from the clips. ``checkpoint`` is the folder of
    ``pose_space_model``.
    """
    character = rig.character
    volume = cached_volume(
        Checkpoint(checkpoint),
        rig,
        {"vertices": quality.vertices},
        lambda: character_volume(rig, vertices=quality.vertices, progress=progress),
    )
    fixed = np.flatnonzero(_rigid(character, softness, volume.mesh.vertices))
    if skull:
        volume = held_by_skeleton(volume, character, fixed=fixed)
    else:
        volume = volume.held(bones_of(character), fixed=fixed)
    logs = _stiffness_logs(character, softness)
    stiffness = np.exp(painted(volume.skin, logs)) if np.nan_to_num(logs).any() else None
    make = partial(
        pose_space_model,
        rig,
        poses=choose_poses(rig, candidates_of(character), quality.poses),
        modes=quality.modes if regions is None else max(_LEAST_MODES, quality.modes // 2),
        size=quality.size,
        regions=regions,
        driven=True,
        material=flesh(),
        stiffness=stiffness,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    try:
        model = make(volume=volume, contact=contact)
    except ContactNotKept as error:
        model = make(volume=replace(volume, notes=(*volume.notes, f"without contact: {error}")))
    pushed, slowest = _pushed_square(volume), float(model.squares[0, 0])
    wanted = (2 * np.pi * frequency) ** 2
    softest = float(np.exp(-np.nanmin(logs)))
    stiffer = max(wanted / pushed, _SLOWEST**2 * wanted / softest / slowest)
    reached = float(np.sqrt(stiffer * pushed) / (2 * np.pi))
    stiff = model.stiffened(stiffer)
    return replace(stiff, measured={**model.measured, _FREQUENCY_KEY: reached})


def damping_for_settling_time(model: PoseSpaceModel, settle: float) -> tuple[Rayleigh, float]:
    """Damping with which a swing of the flesh falls to 5 % within ``settle`` [s].

    The slowest vibration of the neutral pose does, and faster ones settle sooner. It cannot be
    sooner than without any swing; the time that is reached [s] comes with the damping.
    """
    omega = 2 * np.pi * flesh_frequency(model)
    slowest = min(lowest_angular_frequency(model), omega)
    # x ~ exp(−ζ ω t), with ζ = ½ (α/ω + β ω): α/2 + β ω²/2 is the rate of decay. Parts that were
    # made so soft that they swing far slower than the rest creep back, and do not hold it up.
    soonest = max(slowest, _SLOWEST * omega)
    wanted = -np.log(_LEFT) / number("settle", settle, above=0, unit="s")
    decay = min(wanted, soonest)
    beta = 2 * (1 - _MASS_SHARE) * decay / omega**2
    alpha = 2 * decay - beta * slowest**2
    creeping = decay - np.sqrt(max(decay**2 - slowest**2, 0.0))  # the slower root of such a part
    return Rayleigh(mass=alpha, stiffness=beta), -float(np.log(_LEFT) / creeping)


def lowest_angular_frequency(model: PoseSpaceModel) -> float:
    """Angular frequency of the slowest vibration of the neutral pose [1/s]."""
    return float(np.sqrt(model.squares[0, 0]))


def flesh_frequency(model: PoseSpaceModel) -> float:
    """Natural frequency of flesh that is pushed [Hz]."""
    kept = model.measured.get(_FREQUENCY_KEY, model.measured.get(_ONCE_CALLED))
    return lowest_angular_frequency(model) / (2 * np.pi) if kept is None else float(kept)


def _pushed_square(volume: Volume) -> float:
    """ω² [1/s²] of flesh that is pushed along an axis, that of the softest axis.

    It is that of the shape u with K u = M g: ω² = uᵀ K u / uᵀ M u.
    """
    body = Body(volume.mesh, flesh(), fixed=volume.fixed, mass_model=LumpedMass())
    free = body.free.ravel()
    K = body.stiffness(np.zeros_like(volume.mesh.vertices)).tocsc()[free][:, free]
    masses = body.mass.diagonal()[free]
    push = masses[:, None] * np.tile(np.eye(3), (volume.mesh.n_vertices, 1))[free]
    u = splu(K).solve(push)
    squares = (u * push).sum(axis=0) / (masses @ u**2)
    return float(squares.min())


def _rigid(character: Character, softness: Softness, places: Floats) -> Bools:
    """Which of ``places`` (n, 3) are nearest to skin without softness."""
    skin = character.skin
    share = (skin.weights * (softness.joints == 0)[skin.joints[skin.bones]]).sum(axis=1)
    _, near = cKDTree(character.surface().vertices).query(places)
    of_joints = np.isnan(softness.skin)
    rigid: Bools = np.where(of_joints, share > _RIGID, softness.skin == 0)[near]
    return rigid


def _stiffness_logs(character: Character, softness: Softness) -> Floats:
    """Logarithms of the factors of stiffness on the skin, (n,), NaN where it is rigid anyway."""
    skin = character.skin
    of_joints = -np.log(np.where(softness.joints > 0, softness.joints, 1.0))
    blended = (skin.weights * of_joints[skin.joints[skin.bones]]).sum(axis=1)
    own = -np.log(np.where(softness.skin > 0, softness.skin, np.nan))
    logs: Floats = np.where(np.isnan(softness.skin), blended, own)
    return logs
