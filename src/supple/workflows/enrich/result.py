"""What comes out when a character is enriched, and what to tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.soft_motion import SoftMotion
from supple.io.gltf.character import RiggedFile
from supple.io.gltf.motion import GltfReport
from supple.workflows.enrich.soft_character import flesh_frequency

_MANY = 8  # morph targets: more than these are too many for some engines
_UNSEEN = 1e-6  # [m]


@dataclass(frozen=True, eq=False, kw_only=True)
class Enriched:
    """What came out.

    ``files`` are those written; ``motions`` the flesh in each clip; ``gltf`` how close a .glb file
    is to that, None for other files, which hold every frame; ``settle`` [s] the time in which a
    swing falls to 5 %; ``size`` [m] of the body from corner to corner; ``notes`` what else to know,
    in sentences, and ``concerns`` what makes the result worth a look before it is used: flesh that
    leaves its body, frames that it could not follow, a tolerance that was not met; ``seconds`` how
    long the parts of the work took [s]; ``report`` the page, if one was asked for.
    """

    rigged: RiggedFile
    files: tuple[Path, ...]
    motions: tuple[SoftMotion, ...]
    model: PoseSpaceModel | None
    gltf: GltfReport | None
    settle: float
    size: float
    notes: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    report: Path | None = None

    @property
    def targets(self) -> int:
        """Number of morph targets of a .glb file."""
        return 0 if self.gltf is None else self.gltf.targets

    @property
    def max_error(self) -> float:
        """How far a vertex of the file is from the soft motion at most [m]."""
        return 0.0 if self.gltf is None else self.gltf.max_error

    @property
    def farthest(self) -> SoftMotion:
        """The clip in which flesh moves farthest."""
        return max(self.motions, key=lambda motion: motion.largest)


def enriched_facts(made: Enriched) -> list[tuple[str, str]]:
    """The character, its flesh, how far it moves, and how close the file is."""
    character, model = made.rigged.character, made.model
    loops = sum(motion.loops for motion in made.motions)
    rounds = max(motion.rounds for motion in made.motions)
    loop = f"; repeated for up to {rounds} rounds{_until(made)}" if loops else ""
    about = f"{character.rig.n_joints - 1} joints, {len(character.skin.vertices):,} vertices"
    size = f"{made.size:.3g} m from corner to corner"
    rows = [
        ("character", f"{made.rigged.source.file}: {about}, {size}"),
        ("clips", f"{len(made.motions)}, of which {loops} loop{loop}"),
    ]
    if model is not None:
        poses = f"{model.n_coordinates} coordinates, {model.n_poses} poses{_apart(model)}"
        tets = f"{model.tet_rig.mesh.n_cells:,} tets"
        rows += [
            ("flesh", f"{tets}, {poses}, {len(model.cells)} cubature cells"),
            ("cubature", errors_text(cubature_errors(model))),
            ("frequency", f"{flesh_frequency(model):.3g} Hz when it is pushed"),
            ("settles", f"to a twentieth within {made.settle:.2g} s"),
        ]
    far = made.farthest
    share = f"{100 * far.largest / made.size:.2g} % of the body"
    rows.append(("moves", f"by {length(far.largest)} at most, {share}, in {far.clip}"))
    if made.gltf is not None and made.gltf.targets:
        count, error = made.gltf.targets, made.gltf.max_error
        noun = "morph target" if count == 1 else "morph targets"
        rms, asked = length(made.gltf.rms_error), length(made.gltf.tolerance)
        share = f"{100 * error / made.size:.2g} % of the body"
        rows += [
            ("targets", f"{count} {noun}" + ("" if count <= _MANY else "; some engines take 8")),
            ("error", f"{length(error)} at most, {share}; {rms} RMS; {asked} were asked for"),
        ]
    parts = ", ".join(f"{name} {taken:.1f} s" for name, taken in made.seconds.items())
    rows.append(("time", f"{sum(made.seconds.values()):.1f} s: {parts}"))
    return rows


def cubature_errors(model: PoseSpaceModel) -> dict[str, dict[str, float]]:
    """Largest relative errors of reduced forces, by kind of force and where they were looked at."""
    found: dict[str, dict[str, float]] = {}
    for force in ("elastic", "inertial"):
        measured = model.measured.get(force, {})
        places = {
            place: float(np.max(measured[place]))
            for place in ("training", "between")
            if np.size(measured.get(place, ()))
        }
        found |= {force: places} if places else {}
    return found


def errors_text(errors: dict[str, dict[str, float]]) -> str:
    """The same in words; a model with one pose has none between poses."""
    where = {"training": "in training", "between": "between poses"}
    told = [
        f"{force} forces off by up to "
        + ", ".join(f"{100 * error:.2g} % {where[place]}" for place, error in places.items())
        for force, places in errors.items()
    ]
    return "; ".join(told) or "errors not measured"


def length(metres: float) -> str:
    """A length to read, in metres or millimetres."""
    if metres < _UNSEEN:
        return "0 mm" if not metres else "less than 0.001 mm"
    return f"{1e3 * metres:.3g} mm" if metres < 0.1 else f"{metres:.3g} m"


def _apart(model: PoseSpaceModel) -> str:
    """How different flesh is from pose to pose."""
    angles = model.measured.get("angles", [])[1:]
    return f" up to {max(angles):.0f}° apart" if angles else ""


def _until(made: Enriched) -> str:
    lost = [motion.clip for motion in made.motions if not motion.agrees]
    return f", in which {', '.join(lost)} did not" if lost else " until they did"
