"""The page of a damping: a picture and a curve for each example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.io.pages import assert_needs_no_other_file, read

import supple as sp


@pytest.fixture(scope="module")
def beam() -> sp.Body:
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    return sp.Body(mesh, sp.StVK(young=1e6, poisson=0.3, density=1000), fixed=mesh.where(x=0))


def test_page(beam: sp.Body, tmp_path: Path) -> None:
    shapes = sp.vibration_modes(beam, 3).shapes
    curve = sp.Curve.bezier([(0.0, 0.3), (0.5, 5.0)])
    examples = [
        sp.Example(shapes[0], curve, name="<b>bend</b>").scaled(0.1),
        sp.Example(shapes[1], 2.0, measure=sp.Measure.RATE).scaled(0.1),
    ]
    overall = sp.Curve.linear([(0.0, 1.0), (0.1, 3.0)])
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), examples, overall=overall)
    path = tmp_path / "damping.html"
    sp.write_damping_page(path, damping, beam.mesh)
    read(path)  # well-formed
    assert_needs_no_other_file(path)
    text = path.read_text(encoding="utf-8")
    assert "<b>bend</b>" not in text
    assert "&lt;b&gt;bend&lt;/b&gt;" in text
    assert text.count('<div class="shot">') == 2
    assert text.count("<svg") == 3
    assert "0.3 at 0, 5 at 0.5" in text
    assert "All motion" in text


def test_bad_input(beam: sp.Body, tmp_path: Path) -> None:
    base = sp.Rayleigh(mass=0.1)
    path = tmp_path / "damping.html"
    with pytest.raises(sp.InputError, match="no examples"):
        sp.write_damping_page(path, sp.ExampleDamping(base, []), beam.mesh)
    damping = sp.ExampleDamping(base, [sp.Example(np.ones((5, 3)))])
    with pytest.raises(sp.InputError, match="the mesh that the examples deform"):
        sp.write_damping_page(path, damping, beam.mesh)
    with pytest.raises(sp.InputError, match="ExampleDamping"):
        sp.write_damping_page(path, base, beam.mesh)  # type: ignore[arg-type]
    assert not path.exists()
