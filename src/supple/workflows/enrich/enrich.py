"""A rigged, animated character goes in; the same with flesh that moves comes out."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.runtime.secondary_motion import secondary_motion
from supple.character.runtime.simulation import PoseSimulation
from supple.character.runtime.soft_motion import SoftMotion
from supple.character.skeleton.clip_frames import frame_times
from supple.character.training.cached_parts import cached_motion
from supple.core.checkpoint import Checkpoint
from supple.core.checks import number, whole_number
from supple.core.errors import InputError
from supple.core.types import Progress
from supple.integrators import TRBDF2
from supple.io.gltf.character import RiggedFile
from supple.workflows.enrich.body_size import body_sides, body_vertices
from supple.workflows.enrich.files import ENRICHED, frame_rate, write_enriched
from supple.workflows.enrich.model import FleshOptions, cached_model, check_character
from supple.workflows.enrich.notes import far_notes, loop_notes, still_notes
from supple.workflows.enrich.soft_character import (
    QUALITIES,
    Quality,
    damping_for_settling_time,
    lowest_angular_frequency,
    soft_model,
)
from supple.workflows.enrich.softness import softness_of
from supple.workflows.enrich.source import (
    chosen_clips,
    is_still,
    only,
    read_to_enrich,
    spread,
    unmoved,
)

_GRAVITY = (0.0, 0.0, -9.81)


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
    soft: float | Mapping[str, float] | None = None,
    swing: float | None = None,
    settle: float = 0.5,
    quality: str | Quality | None = None,
    targets: int | None = None,
    rate: float | None = None,
    length: float | None = None,
    sag: bool = False,
    skull: bool | None = None,
    contact: bool | None = None,
    regions: int | None = None,
    once: Sequence[str] = (),
    seed: int | None = None,
    model: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Enriched:
    """Gives an animated character flesh that follows its motion, swings and settles.

    Args:
        source: A .glb or .gltf file with a skin and clips.
        path: What to write. ``.glb``: the same file with morph targets that its clips move. USD
            (``.usd``, ``.usda``, ``.usdc``) and vertex caches (``.npz``, ``.pc2``, ``.mdd``) hold
            the vertices of every frame, in a file for each clip.
        clips: Names of those to enrich, all unless given.
        soft: How soft flesh is: 1 as by default, 2 twice as soft, 0 rigid. By parts of the body,
            joints or materials, with wildcards, ``{"left arm": 2, "Tail*": 2, "Skirt": 3}``, where
            others have 1. Hooves, horns, shoes and the like, and soles, are hard unless named.
        swing: How often flesh of softness 1 that is pushed swings to and fro [1/s]; 4 unless given.
        settle: Time in which a swing falls to 5 % [s].
        quality: "draft", "good", as it is unless given, or "best".
        targets: Most morph targets to use, instead of what the quality says. Many game engines
            take 8 well.
        rate: Frames a second; those of the clips' own keys unless given.
        length: How long the longest side of the skin at rest is [m]; as the file has it unless
            given, but one of more than 30 m is taken to be in centimetres, and one of less than
            5 cm to be larger by that power of ten with which it has 0.5 m to 5 m. It matters for
            gravity.
        sag: Keep what gravity does in the neutral pose.
        skull: Heads, hands, feet and level backs are held by more than the bones that joints tell
            of, unless it is False; heads then wobble as a whole.
        contact: Parts that touch in a pose do not go deeper into each other, unless it is False.
        regions: So many limbs have shapes of their own. They share the coordinates, so that it
            takes a better quality to be worth it.
        once: Clips that do not loop even where they could.
        seed: For what is tried at random, 0 unless given. The tets come out otherwise in every
            run, whatever it is; ``model`` keeps them.
        model: A file to keep the model of the flesh in, and to take it from where it is there.
            Options of the flesh that are not given are then as in the file, and those that are
            given must be.
        checkpoint: A folder in which finished parts are kept until all is written: however the
            work ends before that, the same call goes on from there.
        progress: Called as ``progress(done, total, what)``.
    """
    kind = Path(path).suffix.lower()
    if kind not in ENRICHED:
        raise InputError(f"cannot write {path}: the name must end in {', '.join(ENRICHED)}")
    if Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
        raise InputError(f"{source} would be replaced by its own result; give another name")
    number("settle", settle, above=0, unit="s")
    flesh_options = FleshOptions(
        soft, swing, _quality(quality), length, skull, contact, regions, seed
    )
    flesh, flesh_options = cached_model(model, flesh_options)
    chosen = _with_targets(flesh_options.quality or QUALITIES["good"], targets)
    clock, parts = _Clock(), Checkpoint(checkpoint)
    rigged, notes = read_to_enrich(source, flesh_options.length)
    character = rigged.character
    names = chosen_clips(character, clips)
    if not names:
        raise InputError(f"clips={clips!r} names none; there is {', '.join(character.clips)}")
    chosen_clips(character, once)
    rates = {name: frame_rate(character, name, rate, kind) for name in names}
    for name in names:
        frame_times(character.clip(name), rates[name])  # too many are refused before the work
    size = float(np.linalg.norm(body_sides(rigged)))
    softness = softness_of(rigged, flesh_options.by_name)
    clock.note("reading")

    if softness.any(character.skin):
        body = body_vertices(rigged)
        # A model that is kept may be used for other clips later, and has poses of all.
        posing = names if model is None else list(character.clips)
        rig = SkeletonRig(only(character, body, posing))
        still = [] if sag else [name for name in names if is_still(rig, name)]
        notes += still_notes(still, names)
        if flesh is None:
            if softness.hard:
                notes.append(f"taken for hard, unless soft= names them: {', '.join(softness.hard)}")
            made = soft_model(
                rig,
                chosen,
                softness=replace(softness, skin=softness.skin[body]),
                swing=flesh_options.swing or 4.0,
                skull=flesh_options.skull is not False,
                contact=flesh_options.contact is not False,
                regions=flesh_options.regions,
                seed=flesh_options.seed or 0,
                checkpoint=checkpoint,
                progress=progress,
            )
            flesh = flesh_options.recorded_in(made)
            if model is not None:
                flesh.save(model)
        else:
            check_character(flesh, rig, model)
        notes += flesh.measured.get("notes", [])
        clock.note("model of the flesh")
        damping, reached = damping_for_settling_time(flesh, settle)
        if reached > 1.01 * settle:
            slowest = lowest_angular_frequency(flesh) / (2 * np.pi)
            notes.append(
                f"flesh that swings {slowest:.3g} times a second, as the slowest does, settles "
                f"within {reached:.2g} s, not {settle:g} s; make it stiffer by a higher swing= or "
                "less soft by soft="
            )
        simulation = PoseSimulation(
            flesh,
            damping=damping,
            integrator=TRBDF2(),
            gravity=_GRAVITY,
            substeps=chosen.substeps,
        )
        motions = []
        of_flesh = replace(flesh, measured={})
        moving = parts.sum_of(lambda: (of_flesh, damping, chosen.substeps, sag))
        for name in names:
            if name in still:
                if kind != ".glb":  # which has the clip already
                    motions.append(unmoved(character, name, rates[name]))
                continue
            options: dict[str, Any] = {
                "rate": rates[name],
                "loop": False if name in once else None,
            }
            moved = cached_motion(
                parts,
                name,
                (moving, rig.character.clip(name), options),
                partial(
                    secondary_motion, simulation, rig, name, sag=sag, progress=progress, **options
                ),
            )
            motions.append(spread(moved, body))
        clock.note("motion of the flesh")
    else:
        flesh, reached = None, settle
        motions = [unmoved(character, name, rates[name]) for name in names]
        notes.append("nothing is soft; the clips come back as they were")
    notes += [*loop_notes(motions), *far_notes(motions, size)]
    written = write_enriched(Path(source), Path(path), rigged, motions, chosen, size, progress)
    parts.drop()
    clock.note("writing")
    files, count, error = written
    return Enriched(
        rigged, files, tuple(motions), flesh, count, error, reached, size, tuple(notes),
        clock.seconds,
    )  # fmt: skip


def _quality(given: str | Quality | None) -> Quality | None:
    if not isinstance(given, str):
        return given
    if given not in QUALITIES:
        raise InputError(f"quality={given!r} must be one of {', '.join(QUALITIES)}")
    return QUALITIES[given]


def _with_targets(given: Quality, targets: int | None) -> Quality:
    if targets is None:
        return given
    return replace(given, targets=whole_number("targets", targets, at_least=1))


class _Clock:
    """How long each part took [s]."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, part: str) -> None:
        now = time.perf_counter()
        self.seconds[part] = now - self._last
        self._last = now
