"""A tumbling block in free fall: its centre of mass follows the parabola, whatever it does else."""

import numpy as np

import supple as sp

block = sp.TetMesh.box(size=(0.3, 0.2, 0.1), cells=(3, 2, 1))
body = sp.Body(block, sp.StableNeoHookean(young=1e5, poisson=0.3, density=500))
sim = sp.Simulation(body, gravity=(0, 0, -9.81), dt=1 / 100, solver=sp.Newton(tolerance=1e-10))

share = body.mass_times(np.ones((block.n_vertices, 3)))[:, :1] / body.total_mass


def centre(u):
    return (share * (block.vertices + u)).sum(axis=0)


start = centre(np.zeros_like(block.vertices))
throw = np.array([2.0, 0.0, 3.0])
sim.state.v = throw + np.cross((0.0, 5.0, 2.0), block.vertices - start)
motion = sim.run(0.3)

t = motion.times[-1]
fallen = centre(motion.displacements[-1])
exact = start + throw * t + 0.5 * np.array([0.0, 0.0, -9.81]) * t**2
print(f"centre of mass after {t:g} s: {fallen}, off by {np.abs(fallen - exact).max():.1e} m")
assert np.abs(fallen - exact).max() < 1e-12

momentum = motion.linear_momentum[-1] - body.total_mass * np.array([0.0, 0.0, -9.81]) * t
assert np.allclose(momentum, body.total_mass * throw, atol=1e-9)
