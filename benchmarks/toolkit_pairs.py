"""What contact of a surface with itself takes, beside the IPC Toolkit at the same places.

Both get the same positions, reach and step, and the same number of threads; no linear system is
solved. The toolkit is called by its own Python API.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import supple as sp
from supple.contact.contact_surface import ContactSurface
from supple.contact.self_contact_forces import SelfContactForces
from supple.contact.self_friction import LaggedFriction
from supple.core.threads import thread_count

Row = list[str | float]


def compared(sim: sp.Simulation, repeats: int = 3) -> list[Row]:
    """Rows of what is computed, and seconds on the clock and of processors, of both."""
    ours, theirs = _ours(sim), _theirs(sim)
    rows: list[Row] = []
    for what, mine in ours.items():
        rows.append([what, *_best(mine, repeats), *_best(theirs[what], repeats)])
    return rows


def _best(task: Callable[[], Any], repeats: int) -> tuple[float, float]:
    clock, processors = [], []
    for _ in range(repeats):
        began = time.perf_counter(), time.process_time()
        task()
        clock.append(time.perf_counter() - began[0])
        processors.append(time.process_time() - began[1])
    return min(clock), min(processors)


def _ours(sim: sp.Simulation) -> dict[str, Callable[[], Any]]:
    options = sim.self_contact
    assert options is not None
    forces = SelfContactForces(sim.body, options)
    surface = forces._surface
    u, v = sim.state.u.copy(), sim.state.v.copy()
    x = np.ascontiguousarray(surface.carried.moved(u))
    on_surface = np.ascontiguousarray(surface.carried.of(v))
    near = forces._near(u)
    given = surface, near.pairs, near.reach, near.weights, x
    lagged = LaggedFriction.of(*given, options.friction, options.sticking_speed)

    def anew() -> SelfContactForces:
        forces._found = None
        forces._looked_at.clear()
        return forces

    def hessian() -> Any:
        forces._near(u).__dict__.pop("couplings", None)
        return forces.matrix(u, v, 0.0, definite=True)

    def gradient() -> Any:
        forces._near(u).energy_and_force = None
        return forces.force(u)

    def friction_hessian() -> Any:
        lagged.__dict__.pop("_couplings", None)
        return lagged.blocks(on_surface, 1.0, majorized=True)

    forces._near(u)
    return {
        "pairs": lambda: anew()._near(u),
        "gradient of the barrier": gradient,
        "projected Hessian": hessian,
        "friction, lagged": lambda: LaggedFriction.of(
            *given, options.friction, options.sticking_speed
        ),
        "gradient of friction": lambda: lagged.forces(on_surface),
        "Hessian of friction": friction_hessian,
        "step without collisions": lambda: anew().collision_free_step(u, sim.dt * v),
        "step, pairs known": lambda: forces.collision_free_step(u, sim.dt * v),
    }


def _theirs(sim: sp.Simulation) -> dict[str, Callable[[], Any]]:
    import ipctk

    ipctk.set_num_threads(thread_count())
    options = sim.self_contact
    assert options is not None
    surface = ContactSurface(sim.body)
    edges, triangles = surface.edges.astype(np.int32), surface.triangles.astype(np.int32)
    mesh = ipctk.CollisionMesh(surface.X, edges, triangles)
    x = np.asfortranarray(surface.carried.moved(sim.state.u))
    v = np.asfortranarray(surface.carried.of(sim.state.v))
    reach = float(SelfContactForces(sim.body, options).distance)
    pairs, rubbing = ipctk.NormalCollisions(), ipctk.TangentialCollisions()
    pairs.build(mesh, x, reach)
    barrier, friction = ipctk.BarrierPotential(reach, 1e3), ipctk.FrictionPotential(1e-3)
    rubbing.build(mesh, x, pairs, barrier, options.friction)

    def step() -> float:
        after = np.asfortranarray(x + sim.dt * v)
        return float(ipctk.compute_collision_free_stepsize(mesh, x, after))

    return {
        "pairs": lambda: ipctk.NormalCollisions().build(mesh, x, reach),
        "gradient of the barrier": lambda: barrier.gradient(pairs, mesh, x),
        "projected Hessian": lambda: barrier.hessian(pairs, mesh, x, ipctk.CLAMP),
        "friction, lagged": lambda: ipctk.TangentialCollisions().build(
            mesh, x, pairs, barrier, options.friction
        ),
        "gradient of friction": lambda: friction.gradient(rubbing, mesh, v),
        "Hessian of friction": lambda: friction.hessian(rubbing, mesh, v, ipctk.CLAMP),
        "step without collisions": step,
        "step, pairs known": step,
    }
