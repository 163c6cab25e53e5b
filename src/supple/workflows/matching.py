"""``supple match`` from Python: material and damping of a real object, from what was measured."""

from __future__ import annotations

import csv
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import InputError, Parameter
from supple.core.files import replacing
from supple.core.types import Floats, Progress
from supple.damping import save_damping
from supple.design import (
    Experiment,
    MaterialFit,
    RecoveryFit,
    RingDown,
    RingDownFit,
    StaticObservation,
    fit_damping,
    fit_stiffness,
)
from supple.dynamics.statics import static_shape
from supple.io.scene.build import Sheet, select
from supple.io.scene.scene import Scene, load_scene
from supple.io.scene.schema import (
    POSITIVE,
    SELECTION,
    VECTOR,
    File,
    Flag,
    Problems,
    Row,
    Table,
    Tables,
    Text,
    Whole,
    together,
)
from supple.materials import Material
from supple.workflows.outputs import folder_of, make_folder

_REST, _SEEN = ("rest_x", "rest_y", "rest_z"), ("x", "y", "z")
_OTHERS = "everything else"  # of a scene: the cells that no table names
_SHAPE = Table(
    {
        "file": File(),
        "name": Text(),
        "scale": POSITIVE,
        "gravity": VECTOR,
        "force": VECTOR,
        "at": Table(SELECTION),
        "noise": POSITIVE,
    },
    required=("file",),
    needs=together("force", "at"),
)
_RECORDING = Table(
    {
        "file": File(),
        "name": Text(),
        "time": Text(),
        "value": Text(),
        "scale": POSITIVE,
        "at": Table(SELECTION),
        "direction": VECTOR,
        "gravity": VECTOR,
    },
    required=("file", "at", "direction"),
)
_MATCH = Table(
    {
        "scene": File(),
        "regions": Row(Text()),
        "poisson": Flag(),
        "noise": POSITIVE,
        "points": Whole(2),
        "shapes": Tables(_SHAPE),
        "recordings": Tables(_RECORDING),
    },
    required=("scene",),
)


@dataclass(frozen=True, eq=False)
class MatchResult:
    """A body that does what was measured, how well it does, and the files it is in.

    What was not measured is None: no shapes, no material; no recordings, no damping.
    """

    body: Body
    material: MaterialFit | None
    damping: RingDownFit | RecoveryFit | None
    files: tuple[Path, ...]

    @property
    def determined(self) -> bool:
        """Whether the shapes told all that was asked of the material."""
        return self.material is None or all(self.material.determined.values())


def match(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> MatchResult:
    """Fits the material of a scene to static shapes, then its damping to recordings.

    Args:
        file: What was measured, a TOML file that names the scene.
        output: The folder for ``material.toml`` and ``damping.toml``; by default the file's name
            and _match, in the current folder.
        overwrite: Replace an earlier match.
        progress: Called as ``progress(done, total, what)``.
    """
    folder = folder_of(file, output, "_match")
    for target in (folder / "material.toml", folder / "damping.toml"):
        if target.exists() and not overwrite:
            raise InputError(
                f"{target} exists; ", Parameter("overwrite", "True"), " replaces it, and ",
                Parameter("output"), " chooses another folder",
            )  # fmt: skip
    plan = _read(Path(file))
    scene = load_scene(plan["scene"], progress=progress)
    if not isinstance(scene, Scene):
        raise InputError(f"{plan['scene']} is a scene of cloth yarn by yarn; this needs a solid")
    shapes, recordings = plan.get("shapes", []), plan.get("recordings", [])
    if not shapes and not recordings:
        raise InputError(f"{file} has no [[shapes]] and no [[recordings]]; give some of either")
    body, files = scene.solid, []
    material = damping = None
    if shapes:
        seen = [_observation(each, scene, body) for each in shapes]
        options = {name: plan[name] for name in ("regions", "poisson", "noise") if name in plan}
        material = fit_stiffness(body, seen, **options, progress=progress)
        body = material.body
        make_folder(folder)
        files.append(_write_material(body, folder / "material.toml"))
    if recordings:
        experiments = [_experiment(each, scene, body) for each in recordings]
        damping = fit_damping(experiments, points=plan.get("points", 6), progress=progress)
        rest = static_shape(body, gravity=scene.gravity) if any(scene.gravity) else None
        make_folder(folder)
        save_damping(damping.damping(rest), folder / "damping.toml")
        files.append(folder / "damping.toml")
    return MatchResult(body, material, damping, tuple(files))


def _read(file: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not TOML: {error}") from error
    problems = Problems(file.parent)
    plan: dict[str, Any] = _MATCH.read(table, "", problems)
    if problems.found:
        lines = "".join(f"\n  {problem}" for problem in problems.found)
        raise InputError(f"{file} has {len(problems.found)} problems:{lines}")
    return plan


def _observation(given: Mapping[str, Any], scene: Scene, body: Body) -> StaticObservation:
    rest, seen = _markers(given["file"], given.get("scale", 1.0))
    forces = None
    if "force" in given:
        chosen = select(given["at"], Sheet(body.mesh))
        if chosen is None:
            raise InputError(f"{given['file']}: at names no vertices for the force")
        forces = body.point_force(chosen, np.array(given["force"]) / len(chosen))
    return StaticObservation(
        points=rest,
        positions=seen,
        gravity=given.get("gravity", scene.gravity),
        forces=forces,
        noise=given.get("noise"),
        name=given.get("name", given["file"].stem),
    )


def _experiment(given: Mapping[str, Any], scene: Scene, body: Body) -> Experiment:
    options = {name: given[name] for name in ("time", "value", "scale") if name in given}
    chosen = select(given["at"], Sheet(body.mesh))
    if chosen is None:
        raise InputError(f"{given['file']}: at names no vertices that were followed")
    return Experiment(
        RingDown.read_csv(given["file"], **options),
        body,
        chosen,
        given["direction"],
        given.get("gravity", scene.gravity),
        name=given.get("name", given["file"].stem),
    )


def _markers(file: Path, scale: float) -> tuple[Floats, Floats]:
    """Where markers are without load, and where they were seen, (k, 3) [m] each."""
    with file.open(newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    wanted = (*_REST, *_SEEN)
    missing = [name for name in wanted if not rows or name not in rows[0]]
    if missing:
        raise InputError(
            f"{file} has no column {missing[0]}; its first line must name {', '.join(wanted)}, and "
            "each line after it is a marker: without load, and as it was seen"
        )
    try:
        numbers = np.array([[float(row[n] or "nan") for n in wanted] for row in rows])
    except (TypeError, ValueError) as error:
        raise InputError(f"{file}: {error}; leave empty what was not seen") from error
    return scale * numbers[:, :3], scale * numbers[:, 3:]


def _write_material(body: Body, file: Path) -> Path:
    """The [material] tables of a scene."""
    given = body.material
    tables = given if isinstance(given, Mapping) else {_OTHERS: given}
    text = []
    for region, material in tables.items():
        head = "[material]" if region == _OTHERS else f'[materials."{region}"]'
        text.append("\n".join([head, *_lines(material)]))
    with replacing(file) as made:
        made.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    return file


def _lines(material: Material) -> list[str]:
    lines = [f'model = "{type(material).__name__}"']
    for field in fields(material):
        value = getattr(material, field.name)
        if np.ndim(value) == 0 and isinstance(value, int | float | np.floating):
            lines.append(f"{field.name} = {float(value)!r}")
    return lines
