"""``supple reduce`` from Python: a small model of a big body."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import whole_number
from supple.core.errors import InputError, Parameter
from supple.core.types import Ints, Progress
from supple.reduction import (
    Basis,
    Modes,
    ReducedModel,
    Sketch,
    modal_derivative_basis,
    motion_basis,
    picked_basis,
    sketch_basis,
    vibration_modes,
)
from supple.reduction import reduce as reduce_body
from supple.reduction.errors.frequencies import COMPARED, SLOW
from supple.workflows.outputs import Stopwatch, check_file
from supple.workflows.solids import (
    Filling,
    held_vertices,
    load_solid,
    make_body,
    material_named,
    up_axis,
)

_SIZE = 30
_STROKES, _REACH = 4, 0.15  # forces of a stroke of the sketch, and its length, of the body's size
BASES = ("modal-derivatives", "modes", "sketch")
"""Kinds of bases; the fourth is the file of a recorded motion."""


@dataclass(frozen=True, eq=False)
class ReduceResult:
    """A reduced model, and what it was made of."""

    model: ReducedModel
    file: Path
    body: Body
    basis: Basis
    modes: Modes | None
    """Those that the basis was made of; None where it was made of a motion."""
    held: Ints
    """Vertices, (k,)."""
    held_text: str
    """Where those are, in words."""
    stiffness_text: str
    """Where the stiffness comes from, in words."""
    seconds: tuple[tuple[str, float], ...]
    """How long each part of the work took [s]."""

    @property
    def too_stiff(self) -> float:
        """By which share one of the slowest vibrations is too fast in the model, at most."""
        errors = self.model.frequency_errors
        return 0.0 if errors is None else float(errors[:SLOW].max())


def reduce(
    mesh: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    modes: int = 20,
    size: int | None = None,
    basis: str = "modal-derivatives",
    fix: Sequence[str] = (),
    free: bool = False,
    material: str = "StVK",
    young: float | None = None,
    poisson: float | None = None,
    density: float | None = None,
    regions: Sequence[str] = (),
    filling: Filling | None = None,
    up: str | None = None,
    progress: Progress | None = None,
) -> ReduceResult:
    """Makes a reduced model of a body, and writes it.

    What is not said is taken from the file, or chosen; the result tells.

    Args:
        mesh: A mesh, a surface to fill, or the name of a built-in body.
        output: The model, ``*.supple``; by default named like the mesh, in the current folder.
        modes: Vibration modes to start from.
        size: Coordinates of the model; 30, or as many as there are.
        basis: "modal-derivatives", "modes", "sketch" (the ends of the body are drawn to all
            sides), or a recorded motion, ``*.motion``.
        fix: Vertices to hold: "x=min", "z=max", "x=0.5", "x=0:0.5", a place of a built-in body, or
            a list of vertices (.bou).
        free: Hold nothing.
        material: The name of its model.
        young: Young's modulus [Pa].
        poisson: Poisson ratio.
        density: [kg/m³].
        regions: Those whose material can be changed later.
        filling: How the mesh is made, its scale and its skin.
        up: The axis that points up, "y" or "z".
        progress: Called as ``progress(done, total, what)``.
    """
    how = filling or Filling()
    target = Path(output or f"{Path(mesh).stem}.supple")
    check_file("output", target, (".supple",), "a reduced model", read=(mesh, how.skin))
    whole_number("modes", modes, at_least=1)
    clock = Stopwatch()
    solid = load_solid(mesh, how)
    for name in regions:
        solid.mesh.region(name)
    axis = up_axis(mesh, up)
    held, held_text = held_vertices(solid, fix=fix, free=free, up=axis)
    constants = {"young": young, "poisson": poisson, "density": density}
    said = {name: value for name, value in constants.items() if value is not None}
    body, stiffness_text = make_body(solid, held, material_named(material), said, str(mesh))
    clock.note("reading")
    vectors, found = _basis(body, basis, modes, size, progress)
    clock.note("basis")
    enough = found is not None and len(found.shapes) - found.rigid >= COMPARED
    model = reduce_body(
        body,
        vectors,
        regions=list(regions),
        skin=solid.skin,
        compare=found if enough else None,
        progress=progress,
    )
    model = replace(model, up="y" if axis == 1 else "z")
    clock.note("reduction")
    model.save(target)
    clock.note("writing")
    seconds = tuple(clock.seconds.items())
    return ReduceResult(
        model, target, body, vectors, found, held, held_text, stiffness_text, seconds
    )


def _basis(
    body: Body, kind: str, count: int, size: int | None, progress: Progress | None
) -> tuple[Basis, Modes | None]:
    """The basis that is asked for, and the modes that it is made of."""
    if kind.endswith(".motion"):
        return motion_basis(body, kind, size or _SIZE), None
    if kind not in BASES:
        wanted = f": give {', '.join(BASES)} or a recorded motion (*.motion)"
        raise InputError.of("basis", kind, wanted)
    modes = vibration_modes(body, min(count + body.free_rigid_motions, int(body.free.sum()) - 1))
    if kind == "sketch":
        sketch = _drawn_to_all_sides(body, modes)
        return sketch_basis(body, sketch, size or _SIZE, progress=progress), modes
    if kind == "modes":
        shapes = modes.shapes[modes.rigid :]
        size = size or len(shapes)
        if size > len(shapes):
            raise InputError(
                Parameter("size", str(size)), f": there are {len(shapes)} modes; give ",
                Parameter("modes", str(size)), ", or a smaller size",
            )  # fmt: skip
        return picked_basis(body, shapes[:size]), modes
    count = len(modes.shapes) - modes.rigid
    size = size or min(_SIZE, count + count * (count + 1) // 2)  # they and their derivatives
    return modal_derivative_basis(body, modes=modes, size=size, progress=progress), modes


def _drawn_to_all_sides(body: Body, modes: Modes) -> Sketch:
    """A sketch in which the vertices that stick out furthest are drawn along all axes."""
    sketch = Sketch(body, modes=modes)
    X = body.mesh.vertices
    reach = _REACH * float(np.ptp(X, axis=0).max())
    tips = np.unique(np.concatenate([X.argmax(axis=0), X.argmin(axis=0)]))
    for tip in tips[body.free[tips].all(axis=1)]:
        for way in reach * np.concatenate([np.eye(3), -np.eye(3)]):
            shares = np.arange(1, _STROKES + 1) / _STROKES
            sketch.drag(int(tip), X[tip] + np.outer(shares, way))
    return sketch
