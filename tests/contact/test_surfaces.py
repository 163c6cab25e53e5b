"""Bodies meet obstacles with their edges and faces: nothing passes between vertices."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from tests.contact.blocks import SOLVERS, G

import supple as sp
from supple.contact.facets import Facets, sagging
from supple.contact.impacts import PressedPoints
from supple.contact.obstacles.base import Obstacle
from supple.contact.pairs import ContactPairs
from supple.mesh.group import own_surface

DEEPEST = 0.05  # of a mean edge: how deep a place between vertices may be
FINE = 10  # places along each edge that are looked at


def places(body: object, u: np.ndarray) -> np.ndarray:
    """Places all over the surface of a body at u."""
    surface = own_surface(body.mesh)  # type: ignore[attr-defined]
    assert surface is not None
    x = body.mesh.vertices + u  # type: ignore[attr-defined]
    ids = np.arange(len(x)) if surface.vertex_ids is None else surface.vertex_ids
    shares = [(i, j, FINE - i - j) for i in range(FINE + 1) for j in range(FINE + 1 - i)]
    corners = x[ids[surface.triangles]]
    return np.einsum("sc,tci->tsi", np.array(shares) / FINE, corners).reshape(-1, 3)


def energy(sim: sp.Simulation) -> float:
    """Kinetic, stored and potential energy [J]."""
    body, state = sim.body, sim.state
    momentum = body.mass_times(state.v)
    weight = body.mass_times(np.tile((0.0, 0.0, G), (body.n_vertices, 1)))
    return float(0.5 * np.vdot(state.v, momentum) + body.energy(state.u) + np.vdot(weight, state.u))


def stays_out(sim: sp.Simulation, obstacle: Obstacle, steps: int, gain: float = 5e-3) -> bool:
    """Steps in which no place of the surface goes in and no energy comes; whether any touched."""
    edge = sim.body.mesh.edge_lengths().mean()
    begin = energy(sim)
    at_play = 0.5 * float(np.vdot(sim.state.v, sim.body.mass_times(sim.state.v)))
    at_play += sim.body.total_mass * G * float(np.ptp(sim.body.mesh.vertices, axis=0).max())
    touched = False
    for _ in range(steps):
        sim.step()
        touched |= bool(sim.contact_forces.any())
        surface = places(sim.body, sim.state.u)
        assert obstacle.at(surface, sim.state.time).distance.min() > -DEEPEST * edge
        assert energy(sim) < begin + gain * at_play
    return touched


def brick(
    cells: tuple[int, int, int] = (4, 4, 2), *, above: float = 0.0, young: float = 1e6
) -> sp.Body:
    """A block of cells of 50 mm, that high above the origin, a little off its middle [m]."""
    size = tuple(0.05 * n for n in cells)
    mesh = sp.TetMesh.box(size, cells)  # type: ignore[arg-type]
    shift = np.array([0.007 - size[0] / 2, 0.013 - size[1] / 2, above])
    material = sp.StableNeoHookean(young=young, poisson=0.4, density=400.0)
    return sp.Body(sp.TetMesh(mesh.vertices + shift, mesh.cells), material)


def falling(body: object, obstacle: Obstacle, **options: object) -> sp.Simulation:
    options = {"dt": 1 / 60, "gravity": (0, 0, -G), "damping": sp.StrainRate(shear=200.0)} | options
    return sp.Simulation(body, obstacles=obstacle, **options)  # type: ignore[arg-type]


def spike() -> sp.MeshObstacle:
    """A pyramid of triangles, its tip near the origin."""
    made = trimesh.creation.cone(radius=0.03, height=0.2, sections=4)
    return sp.MeshObstacle(sp.Surface(made.vertices - (0, 0, 0.2), np.array(made.faces)))


THIN: dict[str, Obstacle] = {
    "bar": sp.Box(size=(1, 0.06, 0.06), centre=(0, 0, -0.03), rotation=(0, 0, 0.2), friction=0.5),
    "rod": sp.Capsule(start=(-1, 0, -0.03), end=(1, 0.1, -0.03), radius=0.03, friction=0.5),
    "wire": sp.Capsule(start=(-1, 0, 0), end=(1, 0.1, 0), radius=0.002, friction=0.3),
    "knife": sp.Box(size=(0.002, 0.5, 0.2), centre=(0, 0, -0.1), rotation=(0, 0, 0.3)),
    "cone": sp.Cone(apex=(0, 0, 0), base=(0, 0, -0.3), radius=0.06, friction=0.3),
    "torus": sp.Torus(centre=(0.04, 0, -0.12), radius=0.1, tube=0.015, axis=(1, 0.1, 0)),
    "cylinder": sp.Cylinder(start=(0.2, 0, -0.02), end=(-0.01, 0.02, -0.02), radius=0.02),
    "spike": spike(),
}


SLOW = ("wire", "knife", "torus", "cone", "cylinder")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.verify) if n in SLOW else n for n in THIN]
)
def test_a_block_falls_on_what_is_thinner_than_its_cells(name):
    sim = falling(brick(above=0.01), THIN[name])
    assert stays_out(sim, THIN[name], 6)


@pytest.mark.parametrize("name", ["rod", "bar"])
def test_admm_holds_edges_too(name):
    sim = falling(brick((2, 2, 1), above=0.01), THIN[name], solver=SOLVERS["ADMM"])
    assert stays_out(sim, THIN[name], 6)


def test_vertices_alone_would_let_it_pass():
    """The same rod between two rows of vertices: none of them ever meets it."""
    sim = falling(brick((2, 2, 1), above=0.002), THIN["rod"])
    away = 0.0
    for _ in range(4):
        stays_out(sim, THIN["rod"], 1)
        pressed = sim.contact_forces.any(axis=1)
        vertices = (sim.body.mesh.vertices + sim.state.u)[pressed]
        away = max(away, THIN["rod"].signed_distance(vertices)[0].max(initial=0.0))
    assert away > 1e-3  # what is held is not on the rod itself


@pytest.mark.parametrize("iterations", [None, 1])
def test_cloth_is_caught_by_a_line_thinner_than_its_edges(iterations):
    """Edges of 31 mm and a line 20 mm thick."""
    mesh = sp.SheetMesh.grid(size=(0.5, 0.25), cells=(16, 8))
    mesh = sp.SheetMesh(mesh.vertices - (0.253, 0.118, -0.02), mesh.cells)
    felt = sp.IsotropicCloth(young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2)
    line = sp.Capsule(start=(0, -1, 0), end=(0.02, 1, 0), radius=0.01, friction=0.3)
    sim = falling(
        sp.Cloth(mesh, felt),
        line,
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=iterations),
        damping=[],
        dt=1 / 60 if iterations is None else 1 / 240,
    )
    # a single iteration stretches what it moves out
    assert stays_out(
        sim, line, 8 if iterations is None else 40, gain=5e-3 if not iterations else 1.0
    )
    x = sim.body.mesh.vertices + sim.state.u
    assert x[np.abs(x[:, 0]) < 0.02, 2].min() > 0  # it hangs over the line


def test_a_wire_stops_what_comes_at_50_metres_a_second():
    wire = sp.Capsule(start=(-1, 0, -1.0), end=(1, 0.1, -1.0), radius=0.01)
    sim = falling(brick((2, 2, 1), above=0.0, young=1e7), wire, dt=1 / 60)
    sim.state.v = np.tile((0.0, 0.0, -50.0), (sim.body.n_vertices, 1))
    stays_out(sim, wire, 2)
    assert sim.state.v[:, 2].mean() > -25.0
    assert (sim.body.mesh.vertices + sim.state.u)[:, 2].max() > -1.0  # it was not passed


def test_an_obstacle_that_comes_at_a_body_pushes_faces():
    rails = sp.Rails.path(position=lambda t: (0, 0, 3.0 * t), velocity=lambda t: (0, 0, 3.0))
    rod = sp.Capsule(start=(-1, 0, -0.04), end=(1, 0.1, -0.04), radius=0.02, motion=rails)
    body = brick((2, 2, 1))
    sim = falling(body, rod, gravity=(0, 0, 0))
    for _ in range(3):
        sim.step()
        surface = places(body, sim.state.u)
        depth = -rod.at(surface, sim.state.time).distance.min()
        assert depth < DEEPEST * body.mesh.edge_lengths().mean()
    assert sim.state.v[:, 2].mean() > 1.0


def test_springs_are_caught_by_their_edges():
    x = np.array([(0.03 * k - 0.135, 0.01, 0.02) for k in range(10)])
    links = sp.SpringMesh(x, np.array([(k, k + 1) for k in range(9)]))
    rope = sp.SpringNetwork(links, stiffness=200.0, mass=0.01)
    line = sp.Capsule(start=(0.001, -1, 0), end=(0.001, 1, 0), radius=0.005)
    sim = falling(rope, line, damping=[], integrator=sp.BackwardEuler())
    ends = np.linspace(0, 1, 20)
    for _ in range(8):
        sim.step()
        y = x + sim.state.u
        along = (y[:-1, None] * (1 - ends[:, None]) + y[1:, None] * ends[:, None]).reshape(-1, 3)
        assert line.signed_distance(along)[0].min() > -DEEPEST * 0.03
    assert sim.contact_forces[:, 2].sum() > 0


def test_far_from_obstacles_nothing_changes():
    """A body that never comes near moves as it would without, to the last bit."""
    alone = sp.Simulation(brick((1, 1, 1)), dt=0.01, gravity=(0, 0, -G))
    beside = falling(brick((1, 1, 1)), sp.Sphere(centre=(9, 0, 0), radius=1), dt=0.01, damping=[])
    np.testing.assert_array_equal(alone.run(0.05).positions, beside.run(0.05).positions)


def test_contact_between_vertices_outlives_a_checkpoint(tmp_path):
    """Forces on edges go on from where a recording was left."""
    file, rod = tmp_path / "rod.supple", THIN["rod"]
    whole = falling(brick((2, 2, 1), above=0.002), rod)
    motion = whole.run(4 / 60)
    assert whole.contact_forces.any()
    part = falling(brick((2, 2, 1), above=0.002), rod)
    part.run(2 / 60, record=file)
    again = falling(brick((2, 2, 1), above=0.002), rod)
    again.run(4 / 60, record=file, resume=True)
    np.testing.assert_allclose(again.state.u, motion.displacements[-1], atol=1e-9)


@pytest.mark.parametrize("name", THIN)
def test_the_nearest_places_between_vertices_are_found(name):
    """As near as the nearest of many, over random edges and faces of all sizes."""
    rng, obstacle = np.random.default_rng(4), THIN[name]
    x = rng.uniform(-0.12, 0.12, (60, 3))
    triangles = np.arange(60).reshape(-1, 3)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    facets = Facets(edges, triangles)
    sizes, distance = facets.sizes(x), obstacle.signed_distance(x)[0]
    found = facets.lowest(obstacle, x, 0.0, distance, np.full(facets.count, 1.0), sizes)
    lowest = distance[facets.nodes].min(axis=1)
    lowest[found.facet] = found.distance
    at = np.einsum("ka,kai->ki", found.shares, x[facets.nodes[found.facet]])
    np.testing.assert_allclose(obstacle.signed_distance(at)[0], found.distance, atol=1e-14)
    fine = np.array([(i, j, 40 - i - j) for i in range(41) for j in range(41 - i)]) / 40
    allowed = sagging(obstacle, sizes)
    for k in range(facets.count):
        place = np.einsum("sa,ai->si", fine, x[facets.nodes[k]])
        expected = obstacle.signed_distance(place)[0].min()
        assert lowest[k] - expected < allowed[k] + 1e-3 * sizes[k] or k >= len(edges)
        if k >= len(edges):  # counted with its edges
            sides = k - len(edges) + np.array([0, len(triangles), 2 * len(triangles)])
            inside = min(lowest[k], lowest[sides].min()) - expected
            assert inside < allowed[k] + 0.011 * sizes[k]  # it hardly goes below its edges


def test_an_impact_stops_points_between_vertices_with_the_least_impulse():
    body = brick((2, 2, 1))
    triangles = own_surface(body.mesh)
    assert triangles is not None
    assert triangles.vertex_ids is not None
    nodes = triangles.vertex_ids[triangles.triangles[:4]]
    rng = np.random.default_rng(1)
    shares, normal = rng.dirichlet((1, 1, 1), 4), rng.normal(size=(4, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    numbers = body.n_vertices + np.arange(4)
    pairs = ContactPairs.new(numbers, np.zeros(4, int), np.zeros(4), (nodes, shares, np.zeros(4)))
    pairs.normal = normal
    twice = pairs.with_more(pairs.of(np.array([0])))  # what says the same changes nothing
    v = rng.normal(size=(body.n_vertices, 3))
    free = np.ones(v.shape, dtype=bool)
    pressed = PressedPoints(twice, free)
    after = pressed.projected(v, np.zeros(len(pressed.vertex)), body)
    C = np.zeros((4, v.size))
    for k in range(4):
        for a in range(3):
            C[k, 3 * nodes[k, a] : 3 * nodes[k, a] + 3] += shares[k, a] * normal[k]
    M = body.mass.toarray()
    Minv_CT = np.linalg.solve(M, C.T)
    exact = v.ravel() - Minv_CT @ np.linalg.solve(C @ Minv_CT, C @ v.ravel())
    np.testing.assert_allclose(after.ravel(), exact, atol=1e-7)


def test_cloth_on_a_smooth_ball_is_carried_by_its_vertices():
    """An edge that lies on its ends sags into what is round; to lift it would lift what lies."""
    felt = sp.IsotropicCloth(young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2)
    ball = sp.Sphere(radius=0.3)
    sheet = sp.SheetMesh.grid(size=(0.25, 0.25), cells=(4, 4))
    x = sheet.vertices - sheet.vertices.mean(axis=0)
    x[:, 2] = np.sqrt(ball.radius**2 - x[:, 0] ** 2 - x[:, 1] ** 2)
    facets = Facets.of_body(sp.Cloth(sp.SheetMesh(x, sheet.cells), felt))
    assert facets is not None
    sizes, distance = facets.sizes(x), ball.signed_distance(x)[0]
    reach = np.full(facets.count, 1.0)
    middle = 0.5 * (x[facets.nodes[:, 0]] + x[facets.nodes[:, 1]])
    assert ball.signed_distance(middle)[0].min() < -0.03 * sizes.max()
    assert not len(facets.lowest(ball, x, 0.0, distance, reach, sizes).facet)
