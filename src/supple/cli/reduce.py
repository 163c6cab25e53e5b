"""``supple reduce``: a small model of a big body."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from supple.cli.failures import in_options
from supple.cli.progress import Reporter, rows_text, say
from supple.core.errors import spelled
from supple.core.threads import set_thread_count
from supple.core.types import Floats
from supple.materials import Material
from supple.reduction import ReducedModel
from supple.workflows.reducing import ReduceResult, reduce
from supple.workflows.solids import Filling
from supple.workflows.words import spread


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        set_thread_count(given.threads)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with Reporter("reducing", quiet=given.quiet) as reporter:
            result = reduce(
                given.mesh,
                given.output,
                modes=given.modes,
                size=given.size,
                basis=given.basis,
                fix=given.fix or (),
                free=given.free,
                material=given.material,
                young=given.young,
                poisson=given.poisson,
                density=given.density,
                regions=given.regions or (),
                filling=Filling(
                    edge=given.edge,
                    voxels=given.voxels,
                    resolution=given.resolution,
                    scale=given.scale,
                    skin=given.skin,
                ),
                up=given.up,
                progress=reporter,
            )
    for note in caught:
        print(f"note: {note.message}", file=sys.stderr)
    say(f"{result.file}: a reduced model", quiet=given.quiet)
    for line in rows_text(_rows(result, given)):
        say(line, quiet=given.quiet)
    say(f"Look: supple play {result.file}", quiet=given.quiet)
    return 0


def _rows(result: ReduceResult, given: argparse.Namespace) -> list[tuple[str, str]]:
    """What to tell of a model."""
    body, model, modes = result.body, result.model, result.modes
    cells = {4: "tets", 8: "bricks", 10: "quadratic tets"}[body.mesh.cell_nodes]
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
    if result.too_stiff >= 0.05:
        rows.append(
            (
                "note",
                f"of the slowest vibrations one is {100 * result.too_stiff:.0f} % too fast in the "
                "model; more coordinates (--size), or fewer modes to share them (--modes), bring "
                "it nearer",
            )
        )
    rows.append(("energy", _energy(model)))
    if given.regions:
        rows.append(("regions", f"{', '.join(given.regions)}; their material can be edited"))
    if model.skin is not None:
        rows.append(("skin", f"{len(model.skin.vertices):,} vertices"))
    rows.append(("time", _times(result.seconds)))
    rows.append(("file", f"{result.file.stat().st_size / 1e6:,.1f} MB"))
    return rows


def _times(parts: Sequence[tuple[str, float]]) -> str:
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts)
    return f"{sum(seconds for _, seconds in parts):.2f} s: {told}"


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
    return (
        f"cubature with {cubature.size:,} of {model.mesh.n_cells:,} cells; error of the force "
        f"{100 * cubature.training_error:.2g} % in training, {100 * cubature.test_error:.2g} % in "
        "test poses"
    )
