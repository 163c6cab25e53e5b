"""Bases from sketched forces: the linear model that answers, thinning, true shapes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import soft
from tests.refusals import refused

import supple as sp
from supple.reduction import sketch as module
from supple.reduction.sketch import Sketch, SketchShapes, sketch_basis, sketch_shapes
from supple.reduction.statics import SettledShapes

pytestmark = pytest.mark.processors

MESH = sp.HexMesh.box((1, 0.2, 0.2), (5, 1, 1))
TIP = int(np.argmax(MESH.vertices.sum(axis=1)))


def bar(material: type[sp.Material] = sp.StVK) -> sp.Body:
    return sp.Body(MESH, soft(material), fixed=MESH.where(x=0))


def mass_norm(body: sp.Body, u: np.ndarray) -> float:
    return float(np.sqrt(np.vdot(u, body.mass_times(u))))


def missing(body: sp.Body, vectors: np.ndarray, u: np.ndarray) -> float:
    """Mass norm of what the vectors do not span."""
    parts = np.tensordot(vectors, body.mass_times(u), 2)
    return mass_norm(body, u - np.tensordot(parts, vectors, 1))


def test_pull_shows_the_linear_shape():
    body = bar()
    sketch = Sketch(body, modes=6)
    u = sketch.pull(TIP, (0, 0, 2.0))
    np.testing.assert_array_equal(sketch.forces[0], body.point_force([TIP], (0, 0, 2.0)))
    np.testing.assert_array_equal(u, sketch.modes.static_shape(sketch.forces[0]))
    weight = body.weight((0, 0, -9.81))
    sketch.load(weight)
    np.testing.assert_array_equal(sketch.forces[1], weight)
    assert len(sketch) == 2
    assert Sketch(body, modes=sketch.modes).forces.shape == (0, MESH.n_vertices, 3)


def test_drag_follows_the_path():
    sketch = Sketch(bar(), modes=30)
    path = MESH.vertices[TIP] + np.array([[0, 0, 0], [0, 0.1, 0.2], [0.05, 0, 0.3]])
    shapes = sketch.drag(TIP, path, stiffest=1e6)
    np.testing.assert_allclose(MESH.vertices[TIP] + shapes[:, TIP], path, atol=1e-12)
    assert len(sketch) == 3
    assert not sketch.forces[:, np.arange(MESH.n_vertices) != TIP].any()


def test_drag_does_not_crush():
    """Along the bar the tip is many times stiffer than across: by default it does not follow."""
    sketch = Sketch(bar(), modes=30)
    across, along = MESH.vertices[TIP] + np.array([[0, 0, 0.3], [-0.1, 0, 0.3]])
    straight = sketch.drag(TIP, [across], stiffest=20.0)
    both = sketch.drag(TIP, [along], stiffest=20.0)
    exact = sketch.drag(TIP, [along], stiffest=1e6)
    sizes = np.linalg.norm(sketch.forces.reshape(3, -1), axis=1)
    assert sizes[1] < 2 * sizes[0]
    assert sizes[2] > 4 * sizes[0]
    np.testing.assert_allclose(straight[0, TIP, 2], 0.3, rtol=0.1)
    np.testing.assert_allclose(both[0, TIP, 2], 0.3, rtol=0.2)
    np.testing.assert_allclose(exact[0, TIP], [-0.1, 0, 0.3], atol=1e-12)


def test_sketch_basis_spans_the_true_shapes():
    """A tip dragged to both sides: four vectors hold every shape to a few percent."""
    body = bar()
    sketch = Sketch(body)
    for side in (1, -1):
        sketch.drag(TIP, MESH.vertices[TIP] + np.outer(np.linspace(0, 0.5, 81), [0, 0, side]))
    calls = []
    found = sketch_shapes(body, sketch, progress=lambda *call: calls.append(call))
    assert (found.drawn, found.failed) == (162, 0)
    assert 50 <= found.selected <= 85
    assert 10 <= len(found.shapes) <= found.selected
    assert calls[-1] == (found.selected, found.selected, "static shapes")
    basis = sketch_basis(body, found, 4)
    np.testing.assert_array_equal(basis.vectors, sketch_basis(body, sketch, 4).vectors)
    momenta = np.stack([body.mass_times(v) for v in basis.vectors])
    assert np.abs(np.tensordot(basis.vectors, momenta, ([1, 2], [1, 2])) - np.eye(4)).max() <= 1e-12
    furthest = max(mass_norm(body, u) for u in found.shapes)
    assert max(missing(body, basis.vectors, u) for u in found.shapes) <= 0.02 * furthest


def test_shapes_are_at_rest_and_apart():
    body = bar()
    loads = np.stack([body.point_force([TIP], (0, 0, f)) for f in np.linspace(0.1, 6, 30)])
    found = sketch_shapes(body, loads, force_distance=0.5, shape_distance=0.2, tolerance=0)
    for u in found.shapes:
        assert np.abs(np.delete(np.where(body.free, body.force(u), 0.0), TIP, axis=0)).max() < 1e-5
    for i, u in enumerate(found.shapes):
        assert mass_norm(body, u) >= 0.2
        for v in found.shapes[:i]:
            assert mass_norm(body, u - v) >= 0.2


def test_quick_shapes_are_those_of_the_full_statics():
    body = bar()
    sketch = Sketch(body, modes=10)
    for way in ((0, 0, 0.4), (0, -0.3, 0.2)):
        sketch.drag(TIP, MESH.vertices[TIP] + np.outer(np.linspace(0, 1, 6)[1:], way))
    options = {"force_distance": 0.0, "shape_distance": 0.0}
    quick = sketch_shapes(body, sketch, **options)
    exact = sketch_shapes(body, sketch.felt, **options, tolerance=0)
    assert (quick.failed, quick.selected) == (0, 10)
    assert np.abs(exact.shapes).max() > 0.3
    for u, v in zip(quick.shapes, exact.shapes, strict=True):
        assert mass_norm(body, u - v) < 0.02 * mass_norm(body, v)


def test_forces_are_felt_as_by_the_linear_model():
    """Spread over the body, with the same linear shape; rest of a point force is a dent."""
    body = bar()
    sketch = Sketch(body, modes=6)
    seen = sketch.pull(TIP, (0, 0, 2.0))
    rest = np.zeros_like(MESH.vertices)
    u = np.zeros(body.free.size)
    inner = np.flatnonzero(body.free.ravel())
    K = body.stiffness(rest).toarray()[np.ix_(inner, inner)]
    u[inner] = np.linalg.solve(K, sketch.felt[0].ravel()[inner])
    np.testing.assert_allclose(u.reshape(-1, 3), seen, atol=1e-9)


def test_a_sketch_knows_the_slowest_vibrations_and_can_be_stepped():
    body = bar()
    sketch = Sketch(body, modes=10)
    for way in ((0, 0, 0.5), (0, 0.5, 0), (0, 0, -0.5)):
        sketch.drag(TIP, MESH.vertices[TIP] + np.outer(np.linspace(0, 1, 9)[1:], way))
    model = sp.reduce(body, sketch_basis(body, sketch, 10), compare=sketch.modes)
    assert np.abs(model.frequency_errors[:2]).max() < 1e-9
    live = model.simulation(damping=sp.Rayleigh(mass=1.0), dt=1 / 60, integrator=sp.TRBDF2())
    live.run_steps(120, force=model.project(sketch.felt[7]))
    u = live.displacements()
    assert 0.2 < np.abs(u).max() < 0.8


def test_forces_thinned_one_after_another():
    """Each is compared with the last one taken, so going back over the same forces counts."""
    body = bar()
    strengths = [0.0, 0.4, 1.0, 1.3, 2.1, 1.0, 1.05, 0.0]
    loads = np.stack([body.point_force([TIP], (0, 0, f)) for f in strengths])
    found = sketch_shapes(body, loads, force_distance=1.0, shape_distance=0.0)
    assert (found.drawn, found.selected) == (8, 4)  # 1.0, 2.1, 1.0, 0.0
    shapes = sketch_shapes(body, loads, force_distance=1.0, shape_distance=1e-3).shapes
    assert len(shapes) == 2  # the second 1.0 and the rest shape are there already


def test_forces_without_a_shape_skipped(monkeypatch):
    """A solver that gives up on one force, from either start; the others still make a basis."""
    body = bar()
    loads = np.stack([body.point_force([TIP], (0, 0, f)) for f in (1.0, 1.5, 2.0)])
    starts = []

    def fragile(body, load, *, start):
        if load[TIP, 2] == 1.5:
            starts.append(start)
            raise sp.StepFailed("no shape", time=0.0, residual=1.0, advice="")
        return sp.static_shape(body, load, start=start)

    monkeypatch.setattr(module, "static_shape", fragile)
    with pytest.warns(RuntimeWarning, match="1 of 3 sketched forces"):
        found = sketch_shapes(body, loads, force_distance=0.1, tolerance=0)
    assert (found.selected, found.failed, len(found.shapes)) == (3, 1, 2)
    assert [start is None for start in starts] == [False, True]
    refused("none of the 1 forces has a shape", sketch_shapes, body, loads[1:2], tolerance=0)


def test_bad_sketches_named():
    body = bar()
    load = body.point_force([TIP], (0, 0, 1.0))
    for bad in (load, np.zeros((0, *load.shape)), Sketch(body)):
        refused(r"forces has shape .* give loads \(k, 24, 3\)", sketch_basis, body, bad, 1)
    refused("all forces are zero", sketch_basis, body, 0 * load[None], 1)
    refused("force_distance=-1", sketch_basis, body, load[None], 1, force_distance=-1)
    with pytest.raises(sp.InputError, match="force_distance=2 N is more than any force"):
        sketch_basis(body, load[None], 1, force_distance=2)
    with pytest.raises(sp.InputError, match="shape_distance=100 √kg m is more than any shape"):
        sketch_basis(body, load[None], 1, shape_distance=100)
    refused("size=2: there are only 1", sketch_basis, body, load[None], 2)
    refused("a sketch needs a body that is held", Sketch, sp.Body(MESH, soft(sp.StVK)))
    sketch = Sketch(body, modes=4)
    refused("vertex names vertex 99", sketch.pull, 99, (0, 0, 1))
    refused(r"path has shape \(3,\)", sketch.drag, TIP, (0, 0, 1))
    refused("vertex 0 is held", sketch.drag, 0, [(0, 0, 1)])
    refused(r"stiffest=0\.5", sketch.drag, TIP, [(0, 0, 1)], stiffest=0.5)
    assert len(sketch) == 0
    assert isinstance(sketch_shapes(body, load[None]), SketchShapes)


def test_shapes_too_rough_in_the_subspace_settle_in_the_body():
    """With a tolerance that no subspace meets, each goes on from there, to a thousandth."""
    body = bar()
    sketch = Sketch(body, modes=10)
    sketch.drag(TIP, MESH.vertices[TIP] + np.outer((0.5, 1.0), (0, 0.2, 0.4)))
    options = {"force_distance": 0.0, "shape_distance": 0.0}
    settled = sketch_shapes(body, sketch, **options, tolerance=1e-13)
    exact = sketch_shapes(body, sketch.felt, **options, tolerance=0)
    assert (settled.failed, len(settled.shapes)) == (0, 2)
    for u, v in zip(settled.shapes, exact.shapes, strict=True):
        assert mass_norm(body, u - v) < 1e-3 * mass_norm(body, v)


def test_shapes_alike_settle_once_and_small_ones_roughly(monkeypatch):
    """What counts as one shape is solved for once, and none better than what parts two shapes."""
    body = bar()
    sketch = Sketch(body, modes=10)
    for share in (1.0, 1.0 + 1e-4, 0.05):
        sketch.drag(TIP, MESH.vertices[TIP] + share * np.array([[0, 0.2, 0.4]]))
    asked = []

    class Counted(SettledShapes):
        def under(self, load, start, scale, tolerance):
            asked.append(tolerance)
            return super().under(load, start, scale, tolerance)

    monkeypatch.setattr(module, "SettledShapes", Counted)
    options = {"force_distance": 0.0, "tolerance": 1e-13}
    largest = mass_norm(body, sketch_shapes(body, sketch, **options, shape_distance=0.0).shapes[0])
    assert len(asked) == 3
    asked.clear()
    found = sketch_shapes(body, sketch, **options, shape_distance=5e-4 * largest)
    assert (found.selected, len(found.shapes)) == (3, 2)
    assert asked == [pytest.approx(5e-4, rel=0.05)]
