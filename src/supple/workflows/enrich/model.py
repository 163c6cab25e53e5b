"""The model of a character's flesh: what was wished of it, and whether one in a file fits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.character.model.file import load_pose_space_model
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.core.checks import number, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.workflows.enrich.soft_character import QUALITIES, Quality

_OPTIONS_KEY = "asked"  # where a model keeps what was wished of its flesh
_SAME = 1e-5  # of the body's size: how far skins of one character may be apart
_TRIED = 20.0  # [°], by which joints are turned to tell one skeleton from another
_OF_FLESH = ("vertices", "poses", "modes", "size")  # of a quality: the rest is about files


@dataclass(frozen=True)
class FleshOptions:
    """What flesh is made by, as ``enrich`` takes it; None where nothing was said."""

    soft: float | Mapping[str, float] | None = None
    swing: float | None = None
    quality: Quality | None = None
    length: float | None = None
    skull: bool | None = None
    contact: bool | None = None
    regions: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        soft = self.soft
        if soft is not None:
            named = soft if isinstance(soft, Mapping) else {"*": number("soft", soft, at_least=0)}
            self._set(
                "soft", {n: number(f"softness of {n}", s, at_least=0) for n, s in named.items()}
            )
        if self.swing is not None:
            self._set("swing", number("swing", self.swing, above=0, unit="Hz"))
        if self.regions is not None:
            self._set("regions", whole_number("regions", self.regions, at_least=1))
        if self.seed is not None:
            self._set("seed", whole_number("seed", self.seed, at_least=0))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def over(self, others: FleshOptions) -> FleshOptions:
        """These, and what others say where these say nothing."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(others, **{name: wish for name, wish in said.items() if wish is not None})

    @property
    def by_name(self) -> dict[str, float]:
        """How soft, by what is named."""
        return dict(self.soft) if isinstance(self.soft, Mapping) else {"*": 1.0}

    def differences(self, others: FleshOptions) -> list[str]:
        """What these say that others do not."""
        mine, theirs = self._compared(), others._compared()
        return [name for name, wish in mine.items() if wish is not None and wish != theirs[name]]

    def _compared(self) -> dict[str, Any]:
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.soft is not None:
            found["soft"] = list(self.by_name.items())  # the last that fits counts
        if self.quality is not None:
            found["quality"] = [getattr(self.quality, name) for name in _OF_FLESH]
        return found

    def recorded_in(self, model: PoseSpaceModel) -> PoseSpaceModel:
        """The model with these wishes in it."""
        return replace(model, measured={**model.measured, _OPTIONS_KEY: asdict(self)})


DEFAULTS = FleshOptions(
    soft=1.0, swing=4.0, quality=QUALITIES["good"], skull=True, contact=True, regions=None, seed=0
)
"""What is taken where nothing is said."""


def cached_model(
    file: str | os.PathLike[str] | None, flesh_options: FleshOptions
) -> tuple[PoseSpaceModel | None, FleshOptions]:
    """The model in a file, if it is there, and all that flesh is made by.

    What is not said is as in the file; what is said must be so there.
    """
    if file is None or not Path(file).exists():
        return None, flesh_options.over(DEFAULTS)
    found = load_pose_space_model(file)
    asked = dict(found.measured.get(_OPTIONS_KEY, {}))
    if isinstance(asked.get("quality"), dict):
        asked["quality"] = Quality(**asked["quality"])
    known = {each.name for each in fields(FleshOptions)}
    made_by = FleshOptions(**{name: wish for name, wish in asked.items() if name in known})
    others = flesh_options.differences(made_by)
    if others:
        options = " and ".join(f"{name}=" for name in others)
        verb = "changes" if len(others) == 1 else "change"
        raise InputError(
            f"{options} {verb} the flesh, which {file} has made already; leave that out to take it "
            "as it is, or give another name as model="
        )
    return found, flesh_options.over(made_by.over(DEFAULTS))


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
            f"{file} is the model of another character, or of this one before it was edited: it "
            f"has {what}; give another name as model="
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
