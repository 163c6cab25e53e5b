"""A steel marble that rolls over a reduced bridge: few coordinates in a world with others.

The bridge has 15 coordinates, the marble is rigid; each feels the other, and gravity. While nothing
touches it the bridge moves exactly as the model does alone. The load on it is known: what the
bridge bears, as the work of a virtual displacement tells, is the marble's weight on average.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp
from supple.builtin import bridge

DT, RADIUS, STEEL, SPEED = 1 / 240, 0.02, 7800.0, 0.8  # [s], [m], [kg/m³], [m/s]
GRAVITY = (0.0, 0.0, -9.81)


def reduced_bridge(resolution: int) -> sp.ReducedModel:
    made = bridge(resolution=resolution)
    body = sp.Body(made.mesh, made.material, fixed=made.places["ground"])
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=15), skin=made.skin)


def at_rest_under(model: sp.ReducedModel, load: np.ndarray) -> np.ndarray:
    """q of the bridge that bears a load, by Newton's method."""
    q = np.zeros(model.size)
    for _ in range(20):
        _, force, stiffness = model.evaluate(q)
        q -= np.linalg.solve(stiffness, force - load)
    return q


def height_of_road(model: sp.ReducedModel, q: np.ndarray, x: float) -> float:
    """Where the top of the road is at x [m]."""
    places = model.skin.vertices + np.tensordot(q, model.skin.vectors, axes=1)
    near = (np.abs(places[:, 0] - x) < 0.02) & (np.abs(places[:, 1]) < 0.01)
    return float(places[near, 2].max())


def world(model: sp.ReducedModel, start: float) -> sp.Simulation:
    """The bridge as it hangs by itself, and the marble a little above it, rolling."""
    q = at_rest_under(model, model.weight(GRAVITY))
    rest, sagged = (height_of_road(model, each, start) for each in (np.zeros_like(q), q))
    centre = np.array([start, 0.0, rest + RADIUS + 0.002])
    marble = sp.RigidBody(sp.Sphere(centre=centre, radius=RADIUS).surface(), density=STEEL)
    body = sp.ReducedBody(model)
    sim = sp.Simulation(
        {"bridge": body, "marble": marble},
        damping={"bridge": sp.Rayleigh.from_ratios((3.0, 30.0), (0.05, 0.05))},
        self_contact=sp.SelfContact(friction=0.3),
        gravity=GRAVITY,
        dt=DT,
    )
    sim.state_of("bridge").u = body.displaced(q)
    sim.state_of("marble").u = marble.placed(np.eye(3), (start, 0.0, centre[2] + sagged - rest))
    sim.state_of("marble").v = marble.velocity((SPEED, 0, 0), spin=(0, SPEED / RADIUS, 0))
    return sim


def alone(model: sp.ReducedModel) -> float:
    """How far the bridge in a world is from the model itself, of how far it swings."""
    damping, push = sp.Rayleigh(mass=1.0), model.weight(GRAVITY)
    live = model.simulation(dt=DT, integrator=sp.BackwardEuler(), damping=damping)
    body = sp.ReducedBody(model)
    sim = sp.Simulation(
        body, dt=DT, integrator=sp.BackwardEuler(), damping=damping, gravity=GRAVITY
    )
    for _ in range(40):
        live.step(force=push)
        sim.step()
    return float(np.abs(live.q - body.coordinates(sim.state.u)).max() / np.abs(live.q).max())


def main() -> None:
    model = reduced_bridge(60 if quick() else 80)
    apart = alone(model)
    print(f"{model.size} coordinates, {len(model.skin.vertices)} vertices that touch")
    print(f"alone, the bridge in a world is {apart:.0e} from the model")
    assert apart < 1e-4
    sim = world(model, -0.3)
    body, marble = sim.bodies
    began, places, pressed, unlike = time.process_time(), [], [], []
    for _ in range(40 if quick() else 160):
        sim.step()
        places.append(marble.pose(sim.state_of(marble).u)[1])
        of_bridge, of_marble = (sim.self_contact_forces[rows] for rows in sim.body.rows)
        force = of_marble.sum(axis=0)
        pressed.append(force[2])
        # what the bridge's coordinates feel is the opposite force, where the marble touches
        spot = np.linalg.norm(body.positions(sim.state_of(body).u) - places[-1], axis=1).argmin()
        felt, sent = of_bridge.ravel()[: model.size], -body.mesh.shapes[:, spot] @ force
        if force[2] > 0:
            unlike.append(np.linalg.norm(felt - sent) / np.linalg.norm(sent))
    seconds = (time.process_time() - began) / len(places)
    places, weight = np.array(places), marble.total_mass * 9.81
    q = body.coordinates(sim.state_of(body).u)
    above = places[-1, 2] - height_of_road(model, q, places[-1, 0]) - RADIUS
    print(f"the marble of {weight:.2f} N has rolled by {places[-1, 0] - places[0, 0]:.3f} m,")
    print(f"and touched in {len(unlike)} of {len(places)} steps, with {max(pressed):.2f} N at most")
    print(f"the bridge feels the opposite force within {np.median(unlike):.1%}, the median")
    print(f"at the end the marble is {1000 * above:.2f} mm above the road")
    print(f"a step takes {1000 * seconds:.0f} ms of the processor")
    assert places[-1, 0] > places[0, 0] + 0.6 * SPEED * len(places) * DT
    assert -1e-3 < above < 0.02
    assert len(unlike) >= 3
    assert np.median(unlike) < 0.02


if __name__ == "__main__":
    main()
