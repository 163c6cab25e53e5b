"""A rigged, animated character goes in; the same with flesh that moves comes out."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from supple.character import Character
from supple.character.clip_frames import frame_times
from supple.character.gltf import RiggedFile, read_rigged
from supple.character.live import PoseSimulation
from supple.character.pose_space_file import load_pose_space_model
from supple.character.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.secondary_motion import secondary_motion
from supple.character.soft_character import (
    QUALITIES,
    Quality,
    settling,
    soft_model,
    softness_of_joints,
    swing_of,
)
from supple.character.soft_motion import SoftMotion
from supple.checks import number, whole_number
from supple.errors import InputError
from supple.integrators import TRBDF2
from supple.io.gltf_soft import write_soft_gltf
from supple.io.usd_character import write_usd_character
from supple.io.vertex_cache import CACHES, write_vertex_cache
from supple.types import Bools, Floats, Progress

_GRAVITY = (0.0, 0.0, -9.81)
_CENTIMETRES = 30.0  # [m]: a character that is larger is taken to be in centimetres
_SMALLEST = 1e-5  # of the body: what nobody sees
_EVEN = 30.0  # [1/s] frames where they must be evenly spaced
USD = (".usd", ".usda", ".usdc")
ENRICHED = (".glb", *USD, *CACHES)
"""The kinds of files that are written."""


@dataclass(frozen=True, eq=False)
class Enriched:
    """What came out.

    ``files`` are those written; ``motions`` the flesh in each clip; ``max_error`` [m] how far a
    vertex of a .glb file is from that at most; ``targets`` the number of its morph targets;
    ``settle`` [s] the time in which a swing falls to 5 %; ``notes`` what else to
    know, in sentences; ``seconds`` how long the parts of the work took [s].
    """

    rigged: RiggedFile
    files: tuple[Path, ...]
    motions: tuple[SoftMotion, ...]
    model: PoseSpaceModel | None
    targets: int
    max_error: float
    settle: float
    size: float
    notes: tuple[str, ...]
    seconds: dict[str, float] = field(default_factory=dict)


def enrich(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    clips: Sequence[str] | None = None,
    soft: float | Mapping[str, float] = 1.0,
    swing: float = 4.0,
    settle: float = 0.5,
    quality: str | Quality = "good",
    targets: int | None = None,
    rate: float | None = None,
    length: float | None = None,
    sag: bool = False,
    once: Sequence[str] = (),
    seed: int = 0,
    model: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Enriched:
    """Gives an animated character flesh that follows its motion, swings and settles.

    Args:
        source: A .glb or .gltf file with a skin and clips.
        path: What to write. ``.glb``: the same file with morph targets that its clips move. USD
            (``.usd``, ``.usda``, ``.usdc``) and vertex caches (``.npz``, ``.pc2``, ``.mdd``) hold
            the vertices of every frame, in a file for each clip.
        clips: Names of those to enrich, all unless given.
        soft: How soft flesh is: 1 as by default, 2 twice as soft, 0 rigid. By names of joints, with
            wildcards, ``{"Tail*": 2, "Head": 0}``, where others have 1.
        swing: How often flesh of softness 1 that is pushed swings to and fro [1/s].
        settle: Time in which a swing falls to 5 % [s].
        quality: "draft", "good" or "best".
        targets: Most morph targets to use, instead of what the quality says. Many game engines
            take 8 well.
        rate: Frames a second; those of the clips' own keys unless given.
        length: How long the longest side of the character is [m]; as the file has it unless given,
            but one of more than 30 m is taken to be in centimetres. It matters for gravity.
        sag: Keep what gravity does in the neutral pose.
        once: Clips that do not loop even where they could.
        seed: For what is tried at random.
        model: A file to keep the model of the flesh in, and to take it from where it is there.
        progress: Called as ``progress(done, total, what)``.
    """
    chosen = _quality(quality, targets)
    kind = Path(path).suffix.lower()
    if kind not in ENRICHED:
        raise InputError(f"cannot write {path}: the name must end in {', '.join(ENRICHED)}")
    if Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
        raise InputError(f"{source} would be replaced by its own result; give another name")
    number("swing", swing, above=0, unit="Hz")
    number("settle", settle, above=0, unit="s")
    clock = _Clock()
    rigged, notes = _read(source, length)
    character = rigged.character
    names = _chosen_clips(character, clips)
    _chosen_clips(character, once)
    size = float(np.linalg.norm(np.ptp(character.surface().vertices, axis=0)))
    wishes = soft if isinstance(soft, Mapping) else {"*": number("soft", soft, at_least=0)}
    softness = softness_of_joints(character, wishes)
    clock.note("reading")

    with_skin = _skinned(rigged)
    if softness[np.unique(character.skin.joints)].any():
        rig = SkeletonRig(_only(character, with_skin, names))
        flesh = _model(rig, chosen, softness, swing, seed, model, progress)
        clock.note("model of the flesh")
        damping, reached = settling(flesh, settle)
        if reached > 1.01 * settle:
            notes.append(
                f"flesh that swings {swing_of(flesh):.3g} times a second settles within "
                f"{reached:.2g} s at the soonest, not {settle:g} s; make it stiffer by a higher "
                "swing, or less soft"
            )
        simulation = PoseSimulation(
            flesh,
            damping=damping,
            integrator=TRBDF2(),
            gravity=_GRAVITY,
            substeps=chosen.substeps,
        )
        motions = []
        for name in names:
            moved = secondary_motion(
                simulation,
                rig,
                name,
                rate=_rate(character, name, rate, kind),
                loop=False if name in once else None,
                sag=sag,
                progress=progress,
            )
            motions.append(_spread(moved, with_skin))
        clock.note("motion of the flesh")
    else:
        flesh, reached = None, settle
        motions = [_rigid(character, name, _rate(character, name, rate, kind)) for name in names]
        notes.append("nothing is soft; the clips come back as they were")
    written = _write(Path(source), Path(path), rigged, motions, chosen, size, progress)
    clock.note("writing")
    files, count, error = written
    return Enriched(
        rigged, files, tuple(motions), flesh, count, error, reached, size, tuple(notes),
        clock.seconds,
    )  # fmt: skip


def _quality(given: str | Quality, targets: int | None) -> Quality:
    if isinstance(given, str):
        if given not in QUALITIES:
            raise InputError(f"quality={given!r} must be one of {', '.join(QUALITIES)}")
        given = QUALITIES[given]
    if targets is None:
        return given
    return replace(given, targets=whole_number("targets", targets, at_least=1))


def _read(source: str | os.PathLike[str], length: float | None) -> tuple[RiggedFile, list[str]]:
    rigged = read_rigged(source)
    if not rigged.character.clips:
        raise InputError(
            f"{source} has a skin but no clip that moves its joints; flesh follows motion, so "
            "export the character with an animation"
        )
    if not len(rigged.character.skin.triangles):
        raise InputError(f"{source} has no triangles; lines and points have no flesh")
    x = rigged.character.surface().vertices
    long, size = float(np.ptp(x, axis=0).max()), float(np.linalg.norm(np.ptp(x, axis=0)))
    if not size > 0:
        raise InputError(f"{source}: all vertices are at one place")
    if length is not None:
        return read_rigged(source, scale=number("length", length, above=0, unit="m") / long), []
    if size <= _CENTIMETRES:
        return rigged, []
    note = f"the character is {long:.3g} long, which is taken for centimetres; length= sets it"
    return read_rigged(source, scale=0.01), [note]


def _chosen_clips(character: Character, wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        return list(character.clips)
    return [character.clip(name).name for name in dict.fromkeys(wanted)]


def _rate(character: Character, name: str, rate: float | None, kind: str) -> float | None:
    """Frames a second of a clip; those of a .pc2 file are evenly spaced up to the last."""
    duration = character.clip(name).duration
    if kind != ".pc2" or not duration:
        return rate
    return max(1, round(duration * (_EVEN if rate is None else rate))) / duration


def _skinned(rigged: RiggedFile) -> Bools:
    """Which vertices have a skin, (n,)."""
    return np.concatenate([np.full(part.count, part.skinned) for part in rigged.parts])


def _only(character: Character, kept: Bools, clips: Sequence[str]) -> Character:
    """The character of the vertices that are kept, with some of its clips."""
    skin = character.skin
    number_ = np.cumsum(kept) - 1
    mine = kept[skin.triangles].all(axis=1)
    skin = replace(
        skin,
        vertices=skin.vertices[kept],
        triangles=number_[skin.triangles[mine]],
        bones=skin.bones[kept],
        weights=skin.weights[kept],
        targets=None if skin.targets is None else skin.targets[:, kept],
    )
    return replace(character, skin=skin, clips={name: character.clips[name] for name in clips})


def _spread(motion: SoftMotion, kept: Bools) -> SoftMotion:
    """The motion of the vertices that are kept as one of all."""
    if kept.all():
        return motion
    wide = np.zeros((len(motion.times), len(kept), 3))
    wide[:, kept] = motion.displacements
    return replace(motion, displacements=wide)


def _rigid(character: Character, name: str, rate: float | None) -> SoftMotion:
    times = frame_times(character.clip(name), rate)
    return SoftMotion(name, times, np.zeros((len(times), len(character.skin.vertices), 3)))


def _model(
    rig: SkeletonRig,
    quality: Quality,
    softness: Floats,
    swing: float,
    seed: int,
    file: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> PoseSpaceModel:
    if file is not None and Path(file).exists():
        found = load_pose_space_model(file)
        kept = found.tet_rig.rig
        if not isinstance(kept, SkeletonRig) or kept.neutral.shape != rig.neutral.shape:
            raise InputError(f"{file} is the model of another character; give another name")
        if len(found.skin_cells) != rig.n_vertices:
            raise InputError(f"{file} is the model of another skin; give another name")
        return found
    made = soft_model(rig, quality, softness=softness, swing=swing, seed=seed, progress=progress)
    if file is not None:
        made.save(file)
    return made


def _write(
    source: Path,
    path: Path,
    rigged: RiggedFile,
    motions: Sequence[SoftMotion],
    quality: Quality,
    size: float,
    progress: Progress | None,
) -> tuple[tuple[Path, ...], int, float]:
    """The files written, the number of morph targets and the largest error [m]."""
    if path.suffix.lower() == ".glb":
        made = write_soft_gltf(
            source,
            path,
            rigged,
            motions,
            tolerance=max(
                quality.tolerance * max(motion.largest for motion in motions), _SMALLEST * size
            ),
            targets=quality.targets,
            normals=quality.normals,
            progress=progress,
        )
        return (path,), made.targets, made.max_error
    files = []
    for motion in motions:
        name = path if len(motions) == 1 else path.with_stem(f"{path.stem}_{_plain(motion.clip)}")
        positions = rigged.character.vertices_at(motion.times, motion.clip) + motion.displacements
        if path.suffix.lower() in USD:
            write_usd_character(name, rigged, motion.times, positions, progress=progress)
        else:
            triangles = rigged.character.skin.triangles
            write_vertex_cache(name, motion.times, positions, triangles)
        files.append(name)
    return tuple(files), 0, 0.0


def _plain(name: str) -> str:
    """A name that every file system takes."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)


class _Clock:
    """How long each part took [s]."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, part: str) -> None:
        now = time.perf_counter()
        self.seconds[part] = now - self._last
        self._last = now
