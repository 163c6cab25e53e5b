"""``supple enrich`` from Python: a character goes in, the same with flesh that moves comes out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.runtime.simulation import PoseSimulation
from supple.character.runtime.soft_motion import SoftMotion, secondary_motion
from supple.character.skeleton.character import Character
from supple.character.skeleton.clip_frames import frame_times
from supple.character.tissue.flesh import FREQUENCY, SETTLE
from supple.character.training.cached_parts import cached_motion
from supple.core.checkpoint import Checkpoint
from supple.core.checks import number, whole_number
from supple.core.errors import InputError
from supple.core.types import Progress
from supple.damping import Rayleigh
from supple.integrators import TRBDF2
from supple.io.gltf.character import RiggedFile
from supple.workflows.enrich.files import ENRICHED, frame_rate, write_enriched
from supple.workflows.enrich.model import cached_model, check_character, recorded_in
from supple.workflows.enrich.notes import (
    far_notes,
    hard_note,
    loop_notes,
    noted,
    settling_notes,
    still_notes,
    tolerance_notes,
)
from supple.workflows.enrich.options import QUALITIES, FleshOptions, Quality
from supple.workflows.enrich.page import write_enrich_report
from supple.workflows.enrich.result import Enriched, enriched_facts
from supple.workflows.enrich.soft_character import (
    damping_for_settling_time,
    lowest_angular_frequency,
    soft_model,
)
from supple.workflows.enrich.softness import Softness, softness_of
from supple.workflows.enrich.source import (
    body_sides,
    body_vertices,
    chosen_clips,
    is_still,
    only,
    read_to_enrich,
    spread,
    unmoved,
)
from supple.workflows.outputs import Stopwatch, check_file

_GRAVITY = (0.0, 0.0, -9.81)
_SMALLEST = 1e-4  # of the body: what nobody sees


def enrich(
    source: str | os.PathLike[str] | RiggedFile,
    output: str | os.PathLike[str],
    *,
    clips: Sequence[str] | None = None,
    soft: float | Mapping[str, float] | None = None,
    frequency: float | None = None,
    settle: float = SETTLE,
    quality: str | Quality | None = None,
    tolerance: float | None = None,
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
    report: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    swing: float | None = None,
) -> Enriched:
    """Gives an animated character flesh that follows its motion, swings and settles.

    Args:
        source: A .glb or .gltf file with a skin and clips, or what ``read_rigged`` made of it.
        output: What to write. ``.glb``: the same file with morph targets that its clips move. USD
            (``.usd``, ``.usda``, ``.usdc``) and vertex caches (``.npz``, ``.pc2``, ``.mdd``) hold
            the vertices of every frame, in a file for each clip.
        clips: Those to enrich, by name, by pattern such as ``*Walk*`` or by part of a name; all
            unless given.
        soft: How soft flesh is: 1 as by default, 2 twice as soft, 0 rigid. By parts of the body,
            joints or materials, with wildcards, ``{"left arm": 2, "Tail*": 2, "Skirt": 3}``, where
            others have 1. Hooves, horns, shoes and the like, and soles, are hard unless named.
        frequency: Natural frequency of flesh of softness 1 that is pushed [Hz]; 4 unless given.
        settle: Time in which a swing falls to 5 % [s].
        quality: "draft", "good", as it is unless given, or "best".
        tolerance: How far a vertex of a .glb file may be off, as a share of the body's size;
            unless given 10, 4 or 1 % by quality of the way that flesh moves in a clip.
        targets: Most morph targets to use, as many as the tolerance needs unless given. Many game
            engines take 8 well.
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
        report: A page to write once the result is there, ``*.html``.
        progress: Called as ``progress(done, total, what)``.
        swing: What ``frequency`` was called before.
    """
    file = source.source.file if isinstance(source, RiggedFile) else Path(source)
    _check_files(file, output, report, model)
    number("settle", settle, above=0, unit="s")
    if tolerance is not None:
        number("tolerance", tolerance, above=0)
    if targets is not None:
        whole_number("targets", targets, at_least=1)
    wished = FleshOptions(
        soft, _frequency(frequency, swing), Quality.named(quality), length, skull, contact, regions,
        seed,
    )  # fmt: skip
    flesh, options = cached_model(model, wished)
    chosen = options.quality or QUALITIES["good"]
    clock, kind = Stopwatch(), Path(output).suffix.lower()
    rigged, notes = read_to_enrich(source, options.length)
    character = rigged.character
    played = _played(character, clips, once, rate, kind)
    names = list(played)
    size = float(np.linalg.norm(body_sides(rigged)))
    softness = softness_of(rigged, options.by_name)
    clock.note("reading")

    concerns: list[str] = []
    if softness.any(character.skin):
        body = body_vertices(rigged)
        # A model that is kept may be used for other clips later, and has poses of all.
        posing = names if model is None else list(character.clips)
        rig = SkeletonRig(only(character, body, posing))
        still = [] if sag else [name for name in names if is_still(rig, name)]
        notes += still_notes(still, names)
        if flesh is None:
            of_body = replace(softness, skin=softness.skin[body])
            flesh = _new_flesh(rig, of_body, options, checkpoint, progress, notes)
            if model is not None:
                flesh.save(model)
        else:
            check_character(flesh, rig, model)
        notes += flesh.measured.get("notes", [])
        clock.note("model of the flesh")
        damping, reached = damping_for_settling_time(flesh, settle)
        notes += settling_notes(settle, reached, lowest_angular_frequency(flesh) / (2 * np.pi))
        moving = {name: how for name, how in played.items() if name not in still}
        with noted(concerns):
            soft_motions = {
                motion.clip: spread(motion, body)
                for motion in _motions(
                    flesh, damping, chosen.substeps, rig, moving, sag, checkpoint, progress
                )
            }
        clock.note("motion of the flesh")
    else:
        flesh, reached, soft_motions, still = None, settle, {}, []
        notes.append("nothing is soft; the clips come back as they were")
    motions = [
        soft_motions[name] if name in soft_motions else unmoved(character, name, how["rate"])
        for name, how in played.items()
        if name not in still or kind != ".glb"  # which has the clips that stay still already
    ]
    notes += loop_notes(motions)
    files, written = write_enriched(
        Path(output),
        rigged,
        motions,
        tolerances=[_tolerance(motion, chosen, tolerance, size) for motion in motions],
        targets=chosen.targets if targets is None else targets,
        normals=chosen.normals,
        progress=progress,
    )
    Checkpoint(checkpoint).drop()
    concerns += [*tolerance_notes(written), *far_notes(motions, size)]
    clock.note("writing")
    found = Enriched(
        rigged=rigged,
        files=files,
        motions=tuple(motions),
        model=flesh,
        gltf=written,
        settle=reached,
        size=size,
        notes=tuple(notes),
        concerns=tuple(concerns),
        seconds=clock.seconds,
        report=None if report is None else Path(report),
    )
    if report is not None:
        write_enrich_report(
            report, found, title=f"{file.stem}, with flesh", facts=enriched_facts(found)
        )
    return found


def _check_files(
    file: Path,
    output: str | os.PathLike[str],
    report: str | os.PathLike[str] | None,
    model: str | os.PathLike[str] | None,
) -> None:
    for parameter, path, endings, what in (
        ("output", output, ENRICHED, "an enriched character"),
        ("report", report, (".html", ".htm"), "a page"),
        ("model", model, (".supple",), "a model"),
    ):
        if path is not None:
            check_file(parameter, Path(path), endings, what, read=[file])


def _played(
    character: Character,
    clips: Sequence[str] | None,
    once: Sequence[str],
    rate: float | None,
    kind: str,
) -> dict[str, dict[str, Any]]:
    """The clips to enrich, and how each is played."""
    names = chosen_clips(character, "clips", clips)
    if not names:
        there = ", ".join(character.clips)
        raise InputError.of("clips", clips, f" names none; there is {there}")
    unlooped = chosen_clips(character, "once", once)
    played: dict[str, dict[str, Any]] = {}
    for name in names:
        frames = frame_rate(character, name, rate, kind)
        frame_times(character.clip(name), frames)  # too many are refused before the work
        played[name] = {"rate": frames, "loop": False if name in unlooped else None}
    return played


def _new_flesh(
    rig: SkeletonRig,
    softness: Softness,
    options: FleshOptions,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    notes: list[str],
) -> PoseSpaceModel:
    if softness.hard:
        notes.append(hard_note(softness.hard))
    with noted(notes):
        made = soft_model(
            rig,
            options.quality or QUALITIES["good"],
            softness=softness,
            frequency=options.frequency or FREQUENCY,
            skull=options.skull is not False,
            contact=options.contact is not False,
            regions=options.regions,
            seed=options.seed or 0,
            checkpoint=checkpoint,
            progress=progress,
        )
    return recorded_in(made, options)


def _tolerance(motion: SoftMotion, chosen: Quality, given: float | None, size: float) -> float:
    """How far vertices of a file may be off [m], for a body of some size [m]."""
    if given is not None:
        return given * size
    return max(chosen.tolerance * motion.largest, _SMALLEST * size)


def _motions(
    flesh: PoseSpaceModel,
    damping: Rayleigh,
    substeps: int,
    rig: SkeletonRig,
    clips: Mapping[str, dict[str, Any]],
    sag: bool,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> Iterator[SoftMotion]:
    """Flesh in clips, by how each is played."""
    parts = Checkpoint(checkpoint)
    simulation = PoseSimulation(
        flesh, damping=damping, integrator=TRBDF2(), gravity=_GRAVITY, substeps=substeps
    )
    of_flesh = replace(flesh, measured={})
    moving = parts.sum_of(lambda: (of_flesh, damping, substeps, sag))
    for name, how in clips.items():
        made_of = (moving, rig.character.clip(name), how)
        make = partial(secondary_motion, simulation, rig, name, sag=sag, progress=progress, **how)
        yield cached_motion(parts, name, made_of, make)


def _frequency(given: float | None, swing: float | None) -> float | None:
    if swing is None:
        return given
    warnings.warn("swing= is called frequency= now", DeprecationWarning, stacklevel=3)
    if given is not None:
        raise InputError.of("swing", swing, " is another name of frequency=; give one of them")
    return swing
