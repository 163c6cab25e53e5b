"""What springs and cloth both promise: derivatives, cells that add up, momenta, any damping."""

from __future__ import annotations

from dataclasses import replace

import meshio
import numpy as np
import pygltflib
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, cloths, crumpled, shaken_grid
from tests.bodies.cloth.test_cloth_motion import falling
from tests.bodies.test_springs import bent, swinging, tangle
from tests.helpers import EPS, remainder_slopes, simulate

import supple as sp
from supple.integrators import INTEGRATORS
from supple.io import export_motion

BODIES = {"springs": tangle(), **cloths()}
every_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)


def is_network(body: sp.ElasticBody) -> bool:
    return isinstance(body, sp.SpringNetwork)


def deformed(body: sp.ElasticBody) -> np.ndarray:
    return bent(body) if is_network(body) else crumpled(body.mesh)


@every_body
def test_derivatives_taylor_slopes(body):
    u = deformed(body)
    U, f, K = body.energy(u), body.force(u), body.stiffness(u)
    ways = np.random.default_rng(2).normal(size=(4, *u.shape))
    Kd = np.array([(K @ d.ravel()).reshape(d.shape) for d in ways])
    steps = (1e-2 if is_network(body) else 1e-3) * 0.5 ** np.arange(5)

    def energy_left(h: float) -> float:
        series = [
            U + h * np.vdot(f, d) + 0.5 * h * h * np.vdot(d, k)
            for d, k in zip(ways, Kd, strict=True)
        ]
        return float(np.linalg.norm([body.energy(u + h * d) for d in ways] - np.array(series)))

    def force_left(h: float) -> float:
        return float(np.linalg.norm([body.force(u + h * d) for d in ways] - f - h * Kd))

    assert remainder_slopes(energy_left, steps)[-1] == pytest.approx(3, abs=0.1)
    assert remainder_slopes(force_left, steps)[-1] == pytest.approx(2, abs=0.1)


@every_body
def test_every_way_to_the_stiffness_agrees(body):
    u = deformed(body)
    d = np.random.default_rng(3).normal(size=u.shape)
    K = body.stiffness(u).toarray()
    size = np.abs(K).max()
    product = body.evaluate(u, order=0, direction=d).product
    by_matrix = (K @ d.ravel()).reshape(d.shape)
    assert np.abs(product - by_matrix).max() <= 10 * EPS * size * np.abs(d).sum()
    buffer = np.full((body.pattern.n_blocks, 3, 3), np.nan)
    assert body.evaluate(u, order=2, stiffness=buffer).stiffness is buffer
    assert np.array_equal(body.pattern.full(buffer).toarray(), K)
    assert np.abs(K - K.T).max() <= (0 if is_network(body) else 10) * EPS * size


@every_body
def test_cells_one_by_one_add_up(body):
    u = deformed(body)
    alone = [body.evaluate(u, order=2, cell_factors=row) for row in np.eye(body.n_cells)]
    whole, digits = body.evaluate(u, order=2), 1e-13 if is_network(body) else 1e-12
    assert sum(each.energy for each in alone) == pytest.approx(whole.energy, rel=digits)
    for name in ("gradient", "stiffness"):
        total = np.sum([getattr(each, name) for each in alone], axis=0)
        expected = getattr(whole, name)
        assert np.abs(total - expected).max() <= 1e-12 * np.abs(expected).max()


@every_rule
@pytest.mark.parametrize("kind", ["springs", "cloth"])
def test_free_flight_keeps_momentum(rule, kind):
    rng = np.random.default_rng(4)
    if kind == "springs":
        body, steps = tangle(), np.full(20, 5e-3)
        u, v = 0.1 * rng.normal(size=(2, 7, 3))
        exact = 1e-12
    else:
        body, steps = replace(cloths()["curved"], mass_model=sp.LumpedMass()), np.full(10, 1e-4)
        u, v = 0.2 * crumpled(body.mesh), rng.normal(size=body.mesh.vertices.shape)
        exact = 1e-10 * np.abs(body.mass_times(v).sum(axis=0)).max()
    start, end = (simulate(body, rule, some, u=u, v=v).frame() for some in (steps[:0], steps))
    assert np.abs(end.linear_momentum - start.linear_momentum).max() <= exact
    if isinstance(rule, sp.SymplecticEuler):
        assert np.abs(end.angular_momentum - start.angular_momentum).max() <= 1e-12


NAMED = tangle().mesh.with_region("some", [0, 2, 3])
NETWORK = sp.SpringNetwork(NAMED, stiffness=80.0, mass=1.0)
SHEET = sp.Cloth(shaken_grid().with_region("some", [0, 2, 3]), ISOTROPIC)
BEND, FOLD = (np.random.default_rng(5).normal(size=(n, 3)) for n in (7, SHEET.n_vertices))
ANY_DAMPING = [
    (NETWORK, sp.Rayleigh(mass={"some": 0.5})),
    (NETWORK, sp.Rayleigh(stiffness={"some": 0.01})),
    (NETWORK, sp.Rayleigh(mass=np.linspace(0.1, 1.0, NAMED.n_cells), stiffness=0.01)),
    (NETWORK, sp.Caughey((0.3,))),
    (NETWORK, sp.Viscous(0.3 * NETWORK.mass.toarray())),
    (NETWORK, sp.ExampleDamping(sp.Rayleigh(mass=0.1, stiffness=1e-3), [sp.Example(BEND, 3.0)])),
    (NETWORK, sp.ExampleDamping(sp.SpringStrainRate(matched=0.01), [sp.Example(BEND, 3.0)])),
    (SHEET, sp.Rayleigh(mass={"some": 0.5})),
    (SHEET, sp.Rayleigh(stiffness={"some": 1e-3})),
    (SHEET, sp.Rayleigh(mass=0.1, stiffness=1e-3)),
    (SHEET, sp.Rayleigh(stiffness=1e-3, at=sp.StiffnessAt.REST)),
    (SHEET, sp.Caughey((0.3,))),
    (SHEET, sp.Drag(strength=0.01)),
    (SHEET, sp.ExampleDamping(sp.Rayleigh(mass=0.1, stiffness=1e-4), [sp.Example(FOLD, 3.0)])),
]


@pytest.mark.parametrize(("body", "damping"), ANY_DAMPING, ids=range(len(ANY_DAMPING)))
def test_every_damping_takes_energy(body, damping):
    """Damping that knows nothing of springs or of cloth works on them."""
    dt = 2e-3 if is_network(body) else 2e-4
    sim = sp.Simulation(body, damping=damping, dt=dt)
    sim.state.v = BEND if is_network(body) else 0.3 * FOLD
    motion = sim.run(10 * dt)
    lost = motion.total_energy[0] - motion.total_energy[-1]
    assert lost > 0
    assert motion.dissipated[-1] == pytest.approx(lost, rel=0.05)


@pytest.mark.parametrize("kind", ["line", "triangle"])
def test_exports_are_lines_or_triangles(kind, tmp_path):
    motion = swinging().run(0.1) if kind == "line" else falling()
    export_motion(motion, tmp_path / "a.pvd")
    last = meshio.read(tmp_path / "a_frames" / "frame_00010.vtu")
    assert last.cells[0].type == kind
    assert np.array_equal(last.cells[0].data, motion.mesh.cells)
    assert np.allclose(last.points, motion.positions[-1])
    report = export_motion(motion, tmp_path / "a.glb", tolerance=1e-5)
    assert report.max_error < 1e-4
    (primitive,) = pygltflib.GLTF2().load(str(tmp_path / "a.glb")).meshes[0].primitives
    assert primitive.mode == (pygltflib.LINES if kind == "line" else pygltflib.TRIANGLES)
    assert len(primitive.targets) == report.targets
    pxr = pytest.importorskip("pxr.Usd")
    usd = tmp_path / "a.usd"
    export_motion(motion, usd)
    stage = pxr.Stage.Open(str(usd))
    prim = stage.GetPrimAtPath("/World/body")
    assert prim.GetTypeName() == ("BasisCurves" if kind == "line" else "Mesh")
    code = pxr.TimeCode(motion.times[-1] * motion.frame_rate)
    points = np.array(prim.GetAttribute("points").Get(code))
    ids = motion.mesh.cells.ravel() if kind == "line" else slice(None)
    assert np.allclose(points, motion.positions[-1][ids], atol=1e-6)
