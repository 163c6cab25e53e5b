"""The model of a character's flesh: whether one in a file is what is wished, and of whom."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from supple.character.model.file import load_pose_space_model
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.core.errors import InputError, Message, Parameter
from supple.core.types import Floats
from supple.workflows.enrich.options import DEFAULTS, FleshOptions

_OPTIONS_KEY = "asked"  # where a model keeps what was wished of its flesh
_SAME = 1e-5  # of the body's size: how far skins of one character may be apart
_TRIED = 20.0  # [°], by which joints are turned to tell one skeleton from another
_ANOTHER = Message("give another name as ", Parameter("model", ""))


def recorded_in(model: PoseSpaceModel, options: FleshOptions) -> PoseSpaceModel:
    """The model with what was wished of it."""
    return replace(model, measured={**model.measured, _OPTIONS_KEY: asdict(options)})


def cached_model(
    file: str | os.PathLike[str] | None, options: FleshOptions
) -> tuple[PoseSpaceModel | None, FleshOptions]:
    """The model in a file, if it is there, and all that flesh is made by.

    What is not said is as in the file; what is said must be so there.
    """
    if file is None or not Path(file).exists():
        return None, options.over(DEFAULTS)
    found = load_pose_space_model(file)
    made_by = FleshOptions.recorded(found.measured.get(_OPTIONS_KEY, {}))
    others = options.differences(made_by)
    if others:
        named: list[str | Parameter] = [Parameter(others[0], "")]
        for name in others[1:]:
            named += [" and ", Parameter(name, "")]
        verb = "changes" if len(others) == 1 else "change"
        raise InputError(
            *named,
            f" {verb} the flesh, which {file} has made already; leave that out to take it as "
            "it is, or ",
            _ANOTHER,
        )
    return found, options.over(made_by.over(DEFAULTS))


def check_character(
    model: PoseSpaceModel, rig: SkeletonRig, file: str | os.PathLike[str] | None
) -> None:
    """Stops where a model was made for other joints, or for a skin of another shape."""
    kept = model.tet_rig.rig
    what = ""
    if not isinstance(kept, SkeletonRig) or not _alike(_bones(kept), _bones(rig)):
        what = "another skeleton"
    elif not _alike(_shapes(kept, rig), _shapes(rig, rig)):
        what = "another shape or other weights of its skin"
    if what:
        raise InputError(
            f"{file} is the model of another character, or of this one before it was edited: "
            f"it has {what}; ",
            _ANOTHER,
        )


def _bones(rig: SkeletonRig) -> list[Floats]:
    """Parents of joints, and where they are at rest."""
    character = rig.character
    return [character.rig.parents.astype(float), rig.placed(rig.neutral)[1]]


def _shapes(rig: SkeletonRig, posed: SkeletonRig) -> list[Floats]:
    """Triangles, and vertices at rest and in two poses of a rig with the same joints."""
    if rig.neutral.shape != posed.neutral.shape:
        return []
    rng = np.random.default_rng(0)
    tried = [posed.neutral, *(posed.perturbed(posed.neutral, rng, _TRIED) for _ in range(2))]
    return [rig.triangles.astype(float), *map(rig.vertices, tried)]


def _alike(some: list[Floats], others: list[Floats]) -> bool:
    if [each.shape for each in some] != [each.shape for each in others]:
        return False
    return all(
        np.abs(one - two).max(initial=0.0)
        <= _SAME * max(1e-12, float(np.abs(two).max(initial=0.0)))
        for one, two in zip(some, others, strict=True)
    )
