"""``supple reduce``: a small model of a big body."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import supple as sp
from supple.cli.bodies import held_vertices, load_solid, make_body, up_axis
from supple.cli.progress import Reporter, say
from supple.core.types import Floats, Progress

_SIZE = 30
_SLOW = 3  # vibrations that a model should have right


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        sp.set_thread_count(given.threads)
    target = Path(given.output or f"{Path(given.mesh).stem}.supple")
    _check_target(target, given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        rows = _reduce(target, given)
    for note in caught:
        print(f"note: {note.message}", file=sys.stderr)
    say(f"{target}: a reduced model", quiet=given.quiet)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"  {name:<{width}}  {value}", quiet=given.quiet)
    say(f"Look: supple play {target}", quiet=given.quiet)
    return 0


def _check_target(target: Path, given: argparse.Namespace) -> None:
    """Stops before the work where its result could not be written."""
    if target.suffix.lower() != ".supple":
        raise sp.InputError(f"--output {target}: the name of a reduced model ends in .supple")
    for name in (given.mesh, given.skin):
        if name is not None and target.exists() and Path(name).exists() and target.samefile(name):
            raise sp.InputError(f"{target} would be replaced by its own model; give another name")
    if not target.parent.is_dir():
        raise sp.InputError(f"cannot write {target}: there is no folder {target.parent}")
    if target.is_dir():
        raise sp.InputError(f"cannot write {target}: it is a folder; give a file name")


def _reduce(target: Path, given: argparse.Namespace) -> list[tuple[str, str]]:
    """Makes and writes the model; what to tell of it."""
    clock = _Clock()
    solid = load_solid(given)
    regions = [name.strip() for name in (given.regions or "").split(",") if name.strip()]
    for name in regions:
        solid.mesh.region(name)
    held, where = held_vertices(solid, given)
    body, source = make_body(solid, held, given)
    clock.note("reading")
    with Reporter("basis", quiet=given.quiet) as reporter:
        basis, modes = _basis(body, given, reporter)
    clock.note("basis")
    with Reporter("reducing", quiet=given.quiet) as reporter:
        model = sp.reduce(body, basis, regions=regions, skin=solid.skin, progress=reporter)
        model = replace(model, up="y" if up_axis(given) == 1 else "z")
    clock.note("reduction")
    model.save(target)
    clock.note("writing")
    cells = {4: "tets", 8: "bricks", 10: "quadratic tets"}[body.mesh.cell_nodes]
    rows = [
        ("mesh", f"{body.mesh.n_vertices:,} vertices, {body.mesh.n_cells:,} {cells}"),
        ("material", f"{_material(body)} ({source})"),
        ("held", f"{len(held):,} vertices: {where}" if len(held) else where),
    ]
    if modes is not None:
        rows.append(("modes", _frequencies(modes.frequencies[modes.rigid :])))
    rows.append(("basis", f"{basis.size} vectors: {given.basis}"))
    rows.append(("model", _frequencies(model.frequencies)))
    if modes is not None and (warning := _too_stiff(model, modes)):
        rows.append(("note", warning))
    rows.append(("energy", _energy(model)))
    if regions:
        rows.append(("regions", f"{', '.join(regions)}; their material can be edited"))
    if model.skin is not None:
        rows.append(("skin", f"{len(model.skin.vertices):,} vertices"))
    rows.append(("time", clock.told()))
    rows.append(("file", f"{target.stat().st_size / 1e6:,.1f} MB"))
    return rows


class _Clock:
    """How long each part of the work takes."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._parts: list[tuple[str, float]] = []

    def note(self, part: str) -> None:
        now = time.perf_counter()
        self._parts.append((part, now - self._last))
        self._last = now

    def told(self) -> str:
        parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self._parts)
        return f"{sum(seconds for _, seconds in self._parts):.2f} s: {parts}"


def _basis(
    body: sp.Body, given: argparse.Namespace, progress: Progress
) -> tuple[sp.Basis, sp.Modes | None]:
    """The basis that is asked for, and the modes that it is made of."""
    if given.basis.endswith(".motion"):
        return sp.motion_basis(body, given.basis, given.size or _SIZE), None
    rigid = body.free_rigid_motions
    modes = sp.vibration_modes(body, min(given.modes + rigid, int(body.free.sum()) - 1))
    if given.basis == "modes":
        shapes = modes.shapes[modes.rigid :]
        size = given.size or len(shapes)
        if size > len(shapes):
            raise sp.InputError(
                f"--size {size}: there are {len(shapes)} modes; give --modes {size}, or a smaller "
                "size"
            )
        return sp.picked_basis(body, shapes[:size]), modes
    size = given.size or min(_SIZE, _independent(len(modes.shapes) - modes.rigid))
    return sp.modal_derivative_basis(body, modes=modes, size=size, progress=progress), modes


def _independent(modes: int) -> int:
    """How many vectors so many modes and their derivatives give for sure."""
    return modes + modes * (modes + 1) // 2


def _material(body: sp.Body) -> str:
    material = body.material
    assert isinstance(material, sp.Material)  # make_body gives one for the whole body
    return (
        f"{type(material).__name__}, Young's modulus {_spread(material.young)} Pa, Poisson ratio "
        f"{_spread(material.poisson)}, density {_spread(material.density)} kg/m³"
    )


def _spread(values: object) -> str:
    array = np.asarray(values, dtype=float)
    low, high = float(array.min()), float(array.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _frequencies(hertz: Floats) -> str:
    shown = [f"{f:.3g}" for f in hertz]
    if len(shown) > 8:
        shown = [*shown[:6], "…", shown[-1]]
    return f"{len(hertz)}: {', '.join(shown)} Hz"


def _too_stiff(model: sp.ReducedModel, modes: sp.Modes) -> str:
    """What to try where slow vibrations of the model are too fast; empty where they are not."""
    slow = modes.frequencies[modes.rigid :][:_SLOW]
    off = float((model.frequencies[: len(slow)] / slow[: model.size] - 1).max())
    if off < 0.05:
        return ""
    return (
        f"of the {len(slow)} slowest vibrations one is {100 * off:.0f} % too fast in the model; "
        "more coordinates (--size), or fewer modes to share them (--modes), bring it nearer"
    )


def _energy(model: sp.ReducedModel) -> str:
    if model.quartic is not None:
        return f"exact, a polynomial with {len(model.quartic.coefficients):,} coefficients"
    assert model.cubature is not None
    cubature = model.cubature
    return (
        f"cubature with {cubature.size:,} of {model.mesh.n_cells:,} cells; error of the force "
        f"{100 * cubature.training_error:.2g} % in training, {100 * cubature.test_error:.2g} % in "
        "test poses"
    )
