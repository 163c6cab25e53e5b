"""A ball pressed on a soft bridge by hand, and what the hand feels (subspace StVK, Fig. 1).

The hand holds the ball by a spring 30 times as stiff as the bridge is where it is touched, as a
device that gives force back does. The bridge has 15 coordinates and 14,118 vertices that may touch
the ball, and takes a step every millisecond.
"""

import time
from typing import NamedTuple

import numpy as np
from shared.measuring import quick

import supple as sp
from supple.builtin import bridge

DT, RADIUS, MASS = 1e-3, 0.04, 2.0  # [s], [m], [kg] of the ball
STIFFER = 30.0  # than the bridge, the spring of the hand
FRICTION = 0.2
GRIP = 0.7  # damping ratio of the ball at the spring


class Felt(NamedTuple):
    """What a ride left."""

    forces: np.ndarray  # (steps, 3) of the bridge on the ball [N]
    pulls: np.ndarray  # (steps, 3) of the hand [N]
    deepest: float  # of a vertex inside the ball [m]
    seconds: np.ndarray  # (steps,) of the processor


def softness(model: sp.ReducedModel, vertex: int) -> float:
    """How far a vertex of the skin goes down under a force [m/N]."""
    push = model.pull(vertex, (0, 0, 1), at="skin")
    return float(push @ np.linalg.solve(model.rest_stiffness, push))


def hand(t: float, start: np.ndarray) -> np.ndarray:
    """Down by 3 mm within a second, then to and fro along the road."""
    down = 0.003 * np.sin(0.5 * np.pi * min(t, 1.0)) ** 2
    along = 0.08 * np.sin(2 * np.pi * 0.5 * max(t - 1.0, 0.0))
    return start + np.array([along, 0.0, -down])


def ball(place: np.ndarray, speed: np.ndarray, when: float) -> sp.Sphere:
    """The ball, on its way at a speed to where it is at a time."""
    way = sp.Rails.path(position=lambda t: place + (t - when) * speed, velocity=lambda t: speed)
    return sp.Sphere(radius=RADIUS, friction=FRICTION, motion=way)


def ride(model: sp.ReducedModel, seconds: float) -> Felt:
    """The ball on its spring, moved step by step by the forces of the hand and of the bridge."""
    x = model.skin.vertices
    middle = int(np.argmax(x[:, 2] - 100 * np.abs(x[:, 0]) - 100 * np.abs(x[:, 1])))
    stiffness = STIFFER / softness(model, middle)
    drag = 2 * GRIP * np.sqrt(stiffness * MASS)
    place, speed = x[middle] + [0, 0, RADIUS + 0.001], np.zeros(3)
    start = place.copy()
    live = model.simulation(
        dt=DT,
        integrator=sp.BackwardEuler(),  # Newmark's rule lets contacts chatter
        damping=sp.Rayleigh.from_ratios((3.0, 30.0), (0.02, 0.04)),
        obstacles=[ball(place, speed, 0.0)],
    )
    live.step()
    forces, pulls, spent, deepest = [], [], [], 0.0
    for step in range(round(seconds / DT)):
        begin = time.thread_time()
        felt, towards = live.obstacle_forces[0], hand(step * DT, start)
        # the hand's spring at the end of the step, so that it may be as stiff as it likes
        speed = MASS * speed + DT * (stiffness * (towards - place) + felt)
        speed /= MASS + DT * drag + DT**2 * stiffness
        place = place + DT * speed
        pull = stiffness * (towards - place) - drag * speed
        live.obstacles = [ball(place, speed, live.time + DT)]
        live.step()
        spent.append(time.thread_time() - begin)
        forces.append(felt)
        pulls.append(pull)
        if step % 100 == 0:
            away = np.linalg.norm(live.skin_vertices() - place, axis=1)
            deepest = max(deepest, RADIUS - away.min())
    return Felt(np.array(forces), np.array(pulls), deepest, np.array(spent))


def main() -> None:
    made = bridge(resolution=64 if quick() else 128)
    body = sp.Body(made.mesh, made.material, fixed=made.places["ground"])
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=15), skin=made.skin)
    felt = ride(model, 1.5 if quick() else 6.0)
    held = slice(900, 1000)  # nearly at rest, at the bottom
    mean, pull = felt.forces[held].mean(axis=0), felt.pulls[held].mean(axis=0)
    print(f"{len(model.skin.vertices)} vertices, {model.size} coordinates")
    print(f"the ball feels {mean[2]:.3f} N at the bottom, the hand gives {-pull[2]:.3f} N")
    print(f"most force {np.linalg.norm(felt.forces, axis=1).max():.1f} N")
    print(f"deepest vertex {1e9 * max(felt.deepest, 0):.2f} nm")
    print(f"a step takes {1e6 * np.median(felt.seconds):.0f} µs of the processor, the median")
    assert mean[2] > 0.5
    assert abs(mean[2] + pull[2]) < 0.05 * mean[2]
    assert felt.forces[held, 2].std() < 0.2 * mean[2]  # the ball is held, and does not chatter
    assert felt.deepest < 1e-7
    most = np.linalg.norm(felt.forces, axis=1)
    assert most[1500:].max(initial=0.0) < 3 * most[:1500].max(), "forces do not build up"


if __name__ == "__main__":
    main()
