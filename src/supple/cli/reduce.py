"""``supple reduce``: a small model of a big body."""

from __future__ import annotations

import argparse

from supple.cli.failures import in_options, noting
from supple.cli.progress import Reporter, rows_text, say
from supple.cli.values import asked
from supple.core.errors import spelled
from supple.core.types import Floats
from supple.materials import Material
from supple.reduction import ReducedModel
from supple.reduction.errors.told import known_of
from supple.workflows.reducing import ReduceResult, reduce
from supple.workflows.solids import Filling
from supple.workflows.words import CELLS, spread


def command(given: argparse.Namespace) -> int:
    with noting(given), Reporter("reducing", quiet=given.quiet) as reporter:
        result = reduce(
            given.mesh,
            given.output,
            **asked(given, "modes size basis free material young poisson density up"),
            fix=given.fix or (),
            regions=given.regions or (),
            filling=Filling(**asked(given, "edge voxels resolution scale skin")),
            progress=reporter,
        )
    say(f"{result.file}: a reduced model", quiet=given.quiet)
    say(rows_text(_rows(result, given)), quiet=given.quiet)
    say(f"Look: supple play {result.file}", quiet=given.quiet)
    return 0


def _rows(result: ReduceResult, given: argparse.Namespace) -> list[tuple[str, str]]:
    """What to tell of a model."""
    body, model, modes = result.body, result.model, result.modes
    cells = CELLS[body.mesh.cell_nodes]
    source = spelled(result.stiffness_text, in_options(given))
    held = f"{len(result.held):,} vertices: " if len(result.held) else ""
    rows = [
        ("mesh", f"{body.mesh.n_vertices:,} vertices, {body.mesh.n_cells:,} {cells}"),
        ("material", f"{_material(body.material)} ({source})"),
        ("held", f"{held}{result.held_text}"),
    ]
    if modes is not None:
        rows.append(("modes", _frequencies(modes.frequencies[modes.rigid :])))
    rows.append(("basis", f"{result.basis.size} vectors: {given.basis}"))
    rows.append(("model", _frequencies(model.frequencies)))
    rows += [(name.lower(), text) for name, text in known_of(model)]
    rows.append(("energy", _energy(model)))
    if given.regions:
        rows.append(("regions", f"{', '.join(given.regions)}; their material can be edited"))
    if model.skin is not None:
        rows.append(("skin", f"{len(model.skin.vertices):,} vertices"))
    parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in result.seconds)
    rows.append(("time", f"{sum(seconds for _, seconds in result.seconds):.2f} s: {parts}"))
    rows.append(("file", f"{result.file.stat().st_size / 1e6:,.1f} MB"))
    return rows


def _material(material: object) -> str:
    assert isinstance(material, Material)  # make_body gives one for the whole body
    return (
        f"{type(material).__name__}, Young's modulus {spread(material.young)} Pa, Poisson ratio "
        f"{spread(material.poisson)}, density {spread(material.density)} kg/m³"
    )


def _frequencies(hertz: Floats) -> str:
    shown = [f"{f:.3g}" for f in hertz]
    if len(shown) > 8:
        shown = [*shown[:6], "…", shown[-1]]
    return f"{len(hertz)}: {', '.join(shown)} Hz"


def _energy(model: ReducedModel) -> str:
    if model.quartic is not None:
        return f"exact, a polynomial with {len(model.quartic.coefficients):,} coefficients"
    assert model.cubature is not None
    cubature = model.cubature
    of = f"of {model.mesh.n_cells:,} cells" if cubature.points is None else "points"
    return (
        f"cubature with {cubature.size:,} {of}; error of the force "
        f"{100 * cubature.training_error:.2g} % in training, {100 * cubature.test_error:.2g} % in "
        "test poses"
    )
