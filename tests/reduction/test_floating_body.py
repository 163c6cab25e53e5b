"""Free reduced models as bodies of worlds: they fly, turn, wobble and meet others."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.helpers import stepped

import supple as sp
from supple.bodies.shape import Shape
from supple.reduction.damping.rules import reduced_damping

GRAVITY = (0.0, 0.0, -9.81)
SIZE = 8
RULES = [sp.BackwardEuler(), pytest.param(sp.TRBDF2(), marks=pytest.mark.verify)]


@pytest.fixture(scope="module")
def body():
    mesh = sp.TetMesh.box(size=(0.5, 0.1, 0.05), cells=(8, 2, 1))
    return sp.Body(mesh, sp.StVK(young=1e5, poisson=0.35, density=1000))


@pytest.fixture(scope="module")
def model(body):
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=SIZE))


def bent(model, share=0.02):
    """Coordinates that bend the body by a share of its length."""
    q = np.zeros(model.size)
    q[0], q[2] = 1.0, 0.4
    return q * share * 0.5 / np.abs(model.displacements(q)).max()


TURN = Rotation.from_rotvec((0.4, -1.1, 0.7)).as_matrix()
AT = np.array((0.3, 2.0, 1.0))


def test_every_turned_shape_of_the_model_is_one_of_its_states(body, model):
    flier, live = sp.FloatingBody(model), model.simulation()
    q, rates = bent(model, 0.1), np.linspace(-1, 1, SIZE)
    u = flier.placed(TURN, AT, q)
    v = flier.velocity((1, 2, 3), (0.3, 4, 1), u, rates)
    R, centre = flier.pose(u)
    np.testing.assert_allclose(R, TURN, atol=1e-12)
    np.testing.assert_allclose(centre, AT, atol=1e-12)
    np.testing.assert_allclose(flier.coordinates(u), q, atol=1e-12)
    np.testing.assert_allclose(flier.rates(u, v), rates, atol=1e-11)
    live.q, live.v, live.position, live.rotation = q, rates, AT, TURN
    live.velocity, live.spin = (1, 2, 3), (0.3, 4, 1)
    skin = body.mesh.boundary().vertex_ids
    places = (body.mesh.vertices + live.displacements())[skin]
    np.testing.assert_allclose(flier.positions(u), places, atol=1e-11)
    # mass, momenta and weight are those of the whole, exactly
    assert 0.5 * np.vdot(v, flier.mass_times(v)) == pytest.approx(live.kinetic, rel=1e-12)
    x, p = flier.mesh.vertices + u, flier.mass_times(v)
    np.testing.assert_allclose(p.sum(axis=0), live.linear_momentum, rtol=1e-12)
    np.testing.assert_allclose(np.cross(x, p).sum(axis=0), live.angular_momentum, rtol=1e-10)
    weight = flier.weight(GRAVITY)
    np.testing.assert_allclose(weight.sum(axis=0), body.total_mass * np.array(GRAVITY))
    assert flier.misfit(u) < 1e-14
    assert flier.energy(u) == pytest.approx(model.energy(q), rel=1e-4)


@pytest.mark.parametrize("far", [0.0, 1e-3, 1e-2])
def test_forces_and_matrices_are_derivatives(model, far):
    flier, chance = sp.FloatingBody(model), np.random.default_rng(2)
    u = flier.placed(TURN, AT, bent(model, 0.1))
    u += far * chance.normal(size=u.shape)
    d, h = chance.normal(size=u.shape), 1e-6
    force = flier.force(u)
    slope = (flier.energy(u + h * d) - flier.energy(u - h * d)) / (2 * h)
    across = abs(np.vdot(force, d)) + np.linalg.norm(force) * np.linalg.norm(d) * 1e-3
    assert abs(slope - np.vdot(force, d)) < 1e-5 * across
    change = (flier.force(u + h * d) - flier.force(u - h * d)) / (2 * h)
    K = flier.stiffness(u)
    along = (K @ d.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(along, change, atol=1e-6 * np.abs(change).max())
    values, axes = np.linalg.eigh(K.toarray())
    nearest = (axes * np.maximum(values, 0.0)) @ axes.T
    definite = flier.stiffness(u, definite=True).toarray()
    np.testing.assert_allclose(definite, nearest, atol=1e-10 * values[-1])
    # what is the same however it is turned has no torque
    x = flier.mesh.vertices + u
    size = np.abs(force).sum()
    np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-9 * size)
    np.testing.assert_allclose(np.cross(x, force).sum(axis=0), 0, atol=1e-7 * size)


def flown(model, integrator, dt, *, damping=None, firmness=30.0, duration=0.1):
    """The body and its simulation after a flight with a spin and a wobble."""
    flier = sp.FloatingBody(model, firmness=firmness)
    sim = sp.Simulation(flier, dt=dt, integrator=integrator, damping=damping)
    sim.state.u = flier.placed(np.eye(3), flier.centre, bent(model))
    sim.state.v = flier.velocity((1, 0, 2), (0.3, 4, 1), sim.state.u)
    before = sim.frame()
    for _ in range(round(duration / dt)):
        sim.step()
    return flier, sim, before


def floated(model, integrator, dt, *, damping=None, duration=0.1):
    live = model.simulation(dt=dt, integrator=integrator, damping=damping)
    live.q, live.velocity, live.spin = bent(model), (1, 0, 2), (0.3, 4, 1)
    live.run_steps(round(duration / dt))
    return live


DAMPINGS = {
    "none": None,
    "rayleigh": sp.Rayleigh(mass=0.5, stiffness=2e-3),
    "rate": [sp.StrainRate(shear=20, bulk=5), sp.Rayleigh(mass=0.2)],
}


@pytest.mark.parametrize("damping", DAMPINGS.values(), ids=DAMPINGS)
def test_alone_it_flies_as_the_model_does(model, damping):
    """The same rule in two kinds of coordinates: what is between them is of its second order."""
    swing, off = np.abs(bent(model)).max(), []
    for dt in (1 / 100, 1 / 400):
        flier, sim, before = flown(model, sp.TRBDF2(), dt, damping=damping)
        live = floated(model, sp.TRBDF2(), dt, damping=damping)
        R, centre = flier.pose(sim.state.u)
        apart = np.abs(flier.coordinates(sim.state.u) - live.q).max() / swing
        off.append(apart + np.abs(R - live.rotation).max())
        np.testing.assert_allclose(centre, live.position, atol=1e-6)
        if damping is None:
            kept, now = before.angular_momentum, sim.frame().angular_momentum
            np.testing.assert_allclose(now, kept, atol=1e-5 * np.linalg.norm(kept))
    assert off[0] < 0.02
    assert off[1] < off[0] / 8


def test_damping_is_that_of_the_model(model):
    """The power it takes, and the power of its matrix; nothing of a body that moves as one."""
    flier = sp.FloatingBody(model)
    bend = sp.Example(model.displacements(bent(model, 0.1)), name="bend")
    q, rates = bent(model), np.linspace(-1, 1, SIZE)
    u = flier.placed(TURN, AT, q)
    inner, rigid = flier.velocity((0, 0, 0), (0, 0, 0), u, rates), flier.velocity((1, 2, 3), AT, u)
    shape = Shape(flier, u)
    for damping in (
        sp.StrainRate(shear=20, bulk=5),
        sp.PowerLaw(exponent=1.5, strength=10),
        sp.ExampleDamping(sp.Rayleigh(stiffness=1e-3), [bend]),
    ):
        bound, reduced = flier.damped_by(damping), reduced_damping(damping, model)
        _, force = bound.evaluate(shape, inner + rigid)
        assert np.vdot(force, inner) == pytest.approx(rates @ reduced.force(q, rates), rel=1e-9)
        size = np.abs(force).sum()
        assert abs(np.vdot(force, rigid)) < 1e-9 * size * np.abs(rigid).max()
        values = np.zeros((flier.pattern.n_blocks, 3, 3))
        bound.add_matrix(shape, inner, 1.0, values, definite=False)
        h = 1e-6
        change = [bound.evaluate(shape, (1 + s * h) * inner)[1] for s in (1, -1)]
        slope = (change[0] - change[1]) / (2 * h)
        along = flier.pattern.multiply(values, inner)
        if not isinstance(damping, sp.ExampleDamping):  # whose matrix is not all of it
            np.testing.assert_allclose(along, slope, atol=1e-5 * np.abs(slope).max())


def test_ties_keep_it_to_the_shapes_of_the_model_as_they_are_stiffened(model):
    misfits = []
    for firmness in (10.0, 30.0, 90.0):
        flier, sim, _ = flown(model, sp.BackwardEuler(), 1 / 100, firmness=firmness, duration=0.1)
        misfits.append(flier.misfit(sim.state.u))
    assert misfits[0] < 1e-4 * 0.5
    assert misfits[2] < misfits[1] / 6 < misfits[0] / 36


@pytest.mark.parametrize("integrator", [sp.BackwardEuler(), sp.TRBDF2()], ids=["BE", "TRBDF2"])
def test_damping_of_the_deformation_leaves_turning_alone(model, integrator):
    damping = [sp.Rayleigh(stiffness=5e-2), sp.StrainRate(shear=200)]
    flier, sim, before = flown(model, integrator, 1 / 60, damping=damping, duration=1.0)
    after = sim.frame()
    spin = before.angular_momentum
    np.testing.assert_allclose(after.angular_momentum, spin, atol=1e-5 * np.linalg.norm(spin))
    inertia = np.linalg.norm(flier.rates(sim.state.u, sim.state.v))
    assert inertia < 0.02  # it has come to rest in its frame
    v = sim.state.v - sim.state.v.mean(axis=0)
    assert 0.5 * np.vdot(v, flier.mass_times(v)) > 0.1 * before.kinetic / 10


def crossed(sim):
    from supple.contact.contact_surface import ContactSurface

    surface = ContactSurface(sim.body)
    return surface.crosses_itself(sim.body.points.moved(sim.state.u)[surface.ids])


@pytest.mark.parametrize("integrator", RULES, ids=["BE", "TRBDF2"])
def test_two_thrown_at_each_other_never_cross(model, integrator):
    one = sp.FloatingBody(model, centre=(0, 0, 0))
    turned = Rotation.from_rotvec((0, 0, 1.3)).as_matrix()
    two = sp.FloatingBody(model, rotation=turned, centre=(0.05, 0.02, 0.15))
    sim = sp.Simulation(
        [one, two],
        integrator=integrator,
        dt=1 / 60,
        self_contact=sp.SelfContact(friction=0.3),
    )
    sim.state_of(one).v = one.velocity((0, 0, 3), (1, 0, 0))
    sim.state_of(two).v = two.velocity((0, 0, -3))
    frames, met = [sim.frame()], False
    for _ in range(6):
        sim.step()
        frames.append(sim.frame())
        met |= bool(sim.self_contact_forces.any())
        assert not crossed(sim)
    assert met
    energy = [each.kinetic + each.elastic for each in frames]
    assert np.diff(energy).max() < 5e-3 * energy[0]
    gone = frames[-1].linear_momentum - frames[0].linear_momentum
    assert np.abs(gone).max() < 1e-6 * one.total_mass


@pytest.mark.parametrize("integrator", RULES, ids=["BE", "TRBDF2"])
def test_dropped_on_a_floor_it_gains_nothing_and_lies_there(model, integrator):
    flier = sp.FloatingBody(model, centre=(0, 0, 0.06))
    sim = sp.Simulation(
        flier,
        integrator=integrator,
        dt=1 / 60,
        damping=sp.Rayleigh(mass=2.0, stiffness=1e-2),
        obstacles=sp.Plane(friction=0.4),
        gravity=GRAVITY,
    )
    energies = []
    for _ in range(60):
        frame = stepped(sim, 1).frame()
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
    assert np.diff(energies).max() < 1e-3 * energies[0]
    weight = flier.total_mass * 9.81
    assert sim.contact_forces[:, 2].sum() == pytest.approx(weight, rel=0.05)
    assert flier.positions(sim.state.u)[:, 2].min() > -1e-6


def test_moments_can_be_gone_back_to_and_recorded(model, tmp_path):
    flier = sp.FloatingBody(model, rotation=TURN, centre=(0, 0, 0.2))
    sim = sp.Simulation({"flier": flier}, gravity=GRAVITY, obstacles=sp.Plane())
    sim.state.v = flier.velocity((0, 0, 0), (3, 0, 0))
    stepped(sim, 3)
    kept = sim.snapshot()
    there = stepped(sim, 3).state.u.copy()
    sim.restore(kept)
    assert np.array_equal(stepped(sim, 3).state.u, there)
    motion = sim.run(0.05, record=tmp_path / "flier.motion")
    again = sp.read_motion(tmp_path / "flier.motion").mesh.parts[0]
    assert isinstance(again, sp.FloatingMesh)
    u = motion.displacements
    np.testing.assert_allclose(again.points.moved(u), flier.mesh.points.moved(u))
    sp.export_motion(motion, tmp_path / "flier.glb")
    sp.export_motion(motion, tmp_path / "flier.pvd")


def test_a_force_of_the_model_pushes_it(model):
    """A pull at a vertex of a body that has turned, beside the same on the model alone."""
    load = model.pull(3, (0.1, 0.2, 0.3))
    live = model.simulation(dt=1e-3, integrator=sp.BackwardEuler())
    live.rotation, live.position = TURN, AT
    flier = sp.FloatingBody(model, rotation=TURN, centre=AT)
    sim = sp.Simulation(flier, dt=1e-3, integrator=sp.BackwardEuler())
    for _ in range(20):
        live.step(force=load)
        sim.step(force=flier.push(load))
    skin = model.mesh.boundary().vertex_ids
    places = (model.mesh.vertices + live.displacements())[skin]
    began = (model.floating.arms @ TURN.T + AT)[skin]
    way = np.abs(places - began).max()
    np.testing.assert_allclose(flier.positions(sim.state.u), places, atol=2e-3 * way)


def test_a_pin_holds_a_place_inside_it(model):
    flier = sp.FloatingBody(model, rotation=TURN, centre=AT)
    place = AT + TURN @ (0.2, 0.01, 0.0)
    sim = sp.Simulation(
        flier,
        attachments=sp.Pin(flier, place),
        gravity=GRAVITY,
        dt=1 / 60,
        integrator=sp.BackwardEuler(),
        damping=sp.Rayleigh(mass=4.0, stiffness=1e-2),
    )
    stepped(sim, 90)
    point = flier.point_at(place)
    held = point.rest + np.einsum("kij,kj->i", point.maps, sim.state.u[point.vertices])
    np.testing.assert_allclose(held, place, atol=1e-4)
    assert flier.pose(sim.state.u)[1][2] < place[2] - 0.15  # it hangs


def test_what_does_not_fit_is_refused(body, model):
    fixed = sp.Body(body.mesh, sp.StVK(young=1e5, poisson=0.35), fixed=body.mesh.where(x=0))
    held = sp.reduce(fixed, sp.modal_derivative_basis(fixed, modes=2, size=4))
    with pytest.raises(sp.InputError, match=r"ReducedBody\(model\)"):
        sp.FloatingBody(held)
    with pytest.raises(sp.InputError, match=r"FloatingBody\(model\)"):
        sp.ReducedBody(model)
    with pytest.raises(sp.InputError, match="rotation is not one"):
        sp.FloatingBody(model, rotation=2 * np.eye(3))
    flier = sp.FloatingBody(model)
    with pytest.raises(sp.InputError, match="Newton"):
        sp.Simulation(flier, solver=sp.ADMM())
    skin = flier.mesh.skin
    with pytest.raises(sp.MeshError, match="weights"):
        sp.FloatingMesh.of(skin.vertices, skin.triangles, flier.mesh.vertices, np.ones((2, 2)))
    with pytest.raises(sp.InputError, match=r"FloatingBody\(model\)"):
        model.simulation(damping=sp.Drag(strength=1.0))
