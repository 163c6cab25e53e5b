"""Examples that belong to a part of the body."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.derivatives import matrix_of
from tests.damping.examples.scenes import EQUIVARIANT, block, carried, forces, free, moved
from tests.helpers import rotation, soft
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.examples.frames import frame_of_part

MESH = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2)).tetrahedra()
X = MESH.vertices
TAIL, HEAD, MIDDLE = X[:, 0] > 0.75, X[:, 0] < 0.25, (X[:, 0] > 0.35) & (X[:, 0] < 0.65)
CURVE = sp.Curve.linear([(0.0, 0.1), (1.0, 10.0)])
SHIFT = np.array([1.0, 0.2, -3.0])


def wag(part: np.ndarray, axis: int = 2) -> np.ndarray:
    """A part that bends away from where it begins."""
    shape = np.zeros_like(X)
    ends = X[part, 0]
    shape[part, axis] = 0.1 * (ends - ends.min() + 0.05) ** 2
    return shape


def excitations(body: sp.Body, examples: list[sp.Example], u: np.ndarray) -> np.ndarray:
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), examples)
    return damping.excitations(body, u)


def test_a_tail_does_not_notice_how_the_head_turns():
    """All else may bend: what carries the tail is where it is seen from."""
    body = free(MESH)
    tail = sp.Example(wag(TAIL), CURVE, region=TAIL)
    everywhere = sp.Example(wag(TAIL), CURVE)
    R = rotation(3)
    ring = X[:, 0] > 0.65  # the tail, and what carries it
    u = np.where(ring[:, None], 0.7 * wag(TAIL), 0.05 * np.sin(9 * X[:, ::-1]))
    u = moved(MESH, u, R, SHIFT)
    np.testing.assert_allclose(excitations(body, [tail], u), [0.7], rtol=1e-10)
    assert abs(excitations(body, [everywhere], u)[0] - 0.7) > 0.05


def test_rates_of_a_local_example():
    body = free(MESH)
    curve = sp.Curve.linear([(0.0, 0.1), (9.0, 10.0)])
    tail = sp.Example(wag(TAIL), curve, region=TAIL, measure=sp.Measure.RATE)
    damping = sp.ExampleDamping(sp.StrainRate(shear=1.0), [tail])
    plain, _ = forces(body, damping, 0 * X, 3.0 * wag(TAIL))
    spin = np.cross([0.5, 2.0, -1.0], X) + SHIFT
    spinning, scale = forces(body, damping, 0 * X, 3.0 * wag(TAIL) + spin)
    np.testing.assert_allclose(spinning, plain, atol=1e-9 * scale)
    base, _ = forces(body, sp.StrainRate(shear=1.0), 0 * X, 3.0 * wag(TAIL))
    np.testing.assert_allclose(plain, curve(3.0) * base, atol=1e-9 * scale)


def test_parts_that_do_not_touch_have_nothing_to_do_with_each_other():
    body = free(MESH)
    ears = [sp.Example(wag(TAIL), 50.0, region=TAIL), sp.Example(wag(HEAD), 0.01, region=HEAD)]
    for own, u in ((0, wag(TAIL)), (1, wag(HEAD))):
        chi = excitations(body, ears, u)
        np.testing.assert_allclose(chi, np.eye(2)[own], atol=1e-12)
    both = sp.ExampleDamping(sp.MatchedStrainRate(stiffness=0.1), ears)
    np.testing.assert_allclose(both.felt_strengths(body), [50.0, 0.01], rtol=1e-9)
    shape = Shape(body, moved(MESH, 0 * X, rotation(1), SHIFT), order=2)
    v = np.zeros_like(X)
    alone = [sp.ExampleDamping(both.base, [each]).bind(body) for each in ears]
    base = matrix_of(body, both.base.bind(body), shape, v)
    parts = sum(matrix_of(body, bound, shape, v) - base for bound in alone)
    whole = matrix_of(body, both.bind(body), shape, v) - base
    np.testing.assert_allclose(whole, parts, atol=1e-10 * np.abs(whole).max())


@pytest.mark.parametrize("base", EQUIVARIANT.values(), ids=EQUIVARIANT.keys())
def test_a_turned_body_feels_turned_forces(base):
    mesh = block(regions=True)
    rng = np.random.default_rng(4)
    inside = np.isin(np.arange(mesh.n_vertices), np.setdiff1d(*_cells_of(mesh)))
    shape = np.where(inside[:, None], rng.normal(size=mesh.vertices.shape), 0.0)
    whole = sp.Example(rng.normal(size=shape.shape), 0.3)
    damping = sp.ExampleDamping(base, [sp.Example(shape, CURVE, region="right"), whole])
    R = rotation(6)
    for body in (free(mesh), carried(mesh)):
        u, v = (np.where(body.free, s * rng.normal(size=shape.shape), 0.0) for s in (0.03, 1.0))
        here, scale = forces(body, damping, u, v)
        there, _ = forces(body, damping, moved(mesh, u, R, SHIFT), v @ R.T)
        np.testing.assert_allclose(there, here @ R.T, atol=1e-9 * scale)


def _cells_of(mesh: sp.TetMesh) -> tuple[np.ndarray, np.ndarray]:
    return mesh.cells[mesh.region("right")], mesh.cells[mesh.region("left")]


def test_who_carries_a_part():
    held = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=0))
    assert frame_of_part(held, HEAD) is None  # its supports do
    around = frame_of_part(held, TAIL)
    assert not around.is_of_mass
    np.testing.assert_allclose(X[around.vertices, 0], 0.7)
    both = frame_of_part(held, MIDDLE)
    np.testing.assert_allclose(np.unique(X[both.vertices, 0]), [0.3, 0.7])
    alone = frame_of_part(free(MESH), np.ones(len(X), dtype=bool))
    assert alone.is_of_mass


def test_a_local_example_in_motion():
    """A held body whose tail is damped on its own: energy falls, and the tail's alone faster."""
    body = sp.Body(MESH, soft(sp.StVK, young=1e5), fixed=MESH.where(x=0))
    shape = sp.shape_within(body, wag(TAIL, 1), TAIL, blend=0.1)
    base = sp.MatchedStrainRate(stiffness=2e-3)
    left = []
    for gamma in (0.05, 1.0, 20.0):
        damping = sp.ExampleDamping(base, [sp.Example(shape, gamma, region=TAIL)])
        sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=1 / 120)
        sim.state.u = 2.0 * shape
        motion = sim.run(0.2)
        energy = motion.kinetic + motion.elastic
        assert (np.diff(energy) <= 1e-4 * energy[0]).all()
        left.append(energy[-1])
    assert left[0] > left[1] > left[2]


def test_bad_input():
    body, shape = free(MESH), wag(TAIL)
    base = sp.Rayleigh(mass=1.0)
    refused("region", sp.Example, shape, region="")
    refused("region", sp.Example, shape, region=[0.5])
    refused("region", sp.Example, shape, region=[-1])
    refused("outside of it", sp.ExampleDamping(base, [sp.Example(shape, region=HEAD)]).bind, body)
    unknown = sp.ExampleDamping(base, [sp.Example(shape, region="ear")])
    refused("ear", unknown.bind, body)
    held = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=0))
    model = sp.reduce(held, sp.picked_basis(held, [shape]), compare=False)
    bent = sp.Example(shape, region=TAIL).with_bend([shape], 1.0)
    refused("bends and is local", model.simulation, damping=sp.ExampleDamping(base, [bent]))


@pytest.mark.parametrize("name", ["kept.toml", "kept.json"])
def test_files_keep_them(tmp_path, name):
    bases = [sp.Rayleigh(mass=0.1), sp.StrainRate(shear=2.0)]
    examples = [
        sp.Example(wag(TAIL), CURVE, name="tail", region=TAIL),
        sp.Example(wag(HEAD), 3.0, region="head", measure=sp.Measure.RATE),
        sp.Example(wag(MIDDLE)),
    ]
    damping = sp.ExampleDamping(bases, examples, definite=False)
    sp.save_damping(damping, tmp_path / name)
    back = sp.load_damping(tmp_path / name)
    assert back.bases == tuple(bases)
    assert back.definite is False
    np.testing.assert_array_equal(back.examples[0].region, np.flatnonzero(TAIL))
    assert back.examples[1].region == "head"
    assert back.examples[2].region is None
    for mine, theirs in zip(examples, back.examples, strict=True):
        np.testing.assert_array_equal(mine.shape, theirs.shape)
        assert (mine.curve, mine.measure, mine.name) == (theirs.curve, theirs.measure, theirs.name)
    one = sp.ExampleDamping(bases[:1], examples)
    sp.save_damping(one, tmp_path / name)
    assert sp.load_damping(tmp_path / name).bases == tuple(bases[:1])
    bent = examples[0].scaled(0.3).with_curve(2.0)
    np.testing.assert_array_equal(bent.region, np.flatnonzero(TAIL))
