"""Clay: damping that stops motion for good, in any shape (dissipative optimization, Fig. 11).

A soft block is thrown on the floor. Under dry damping, p = 0, its own stress cannot move it any
more once that is below the strength of the damping: it stays flat, as clay does. Linear damping,
p = 1, lets every swing die out and brings back the shape that the weight alone would make.
"""

import numpy as np

import supple as sp

SPEED = 4.0  # [m/s]
DT, DURATION = 0.01, 1.0  # [s]
CLAY = sp.PowerLaw(exponent=0, strength=1e4)
DAMPINGS: dict[str, sp.Damping | None] = {
    "none": None,
    "p = 0": CLAY,
    "p = 1": sp.PowerLaw(exponent=1, strength=100.0),
}

mesh = sp.TetMesh.box((0.2, 0.2, 0.2), (3, 3, 3), (0, 0, 0.01))
top = mesh.where(z=0.21)
body = sp.Body(mesh, sp.StableNeoHookean(young=1e4, poisson=0.4, density=1000))


def thrown(damping: sp.Damping | None) -> sp.Motion:
    """Down on a floor at z = 0."""
    sim = sp.Simulation(
        body,
        damping=damping,
        obstacles=[sp.Plane(friction=0.5, vertex_restitution=0)],
        gravity=(0, 0, -9.81),
        # ADMM takes the corner of p = 0 as it is
        solver=sp.ADMM() if damping is CLAY else sp.Newton(),
        dt=DT,
    )
    sim.state.v = np.tile([0, 0, -SPEED], (body.n_vertices, 1))
    return sim.run(DURATION)


def height(motion: sp.Motion) -> np.ndarray:
    """Of the top face above the floor [m], (T,)."""
    return np.asarray((mesh.vertices[top] + motion.displacements[:, top])[:, :, 2].mean(axis=1))


def sagging() -> float:
    """Height of the block at rest under its weight [m], its foot stuck to the floor."""
    stuck = sp.Support(mesh.where(z=0.01), lambda _: (0, 0, -0.01))
    u = sp.static_shape(sp.Body(mesh, body.material, supports=[stuck]), gravity=(0, 0, -9.81))
    return float((mesh.vertices + u)[top, 2].mean())


def main() -> None:
    weight = sagging()
    print(f"height of a block 0.2 m tall; {weight:.3f} m under its weight")
    moments = np.array([0.1, 0.2, 0.3, 0.5, 1.0])
    print(f"{'':10}" + "".join(f"{f'{t:g} s':>9}" for t in moments) + "   kinetic energy at 0.5 s")
    heights, energies = {}, {}
    for name, damping in DAMPINGS.items():
        motion = thrown(damping)
        at = np.rint(moments / DT).astype(int)
        heights[name], energies[name] = height(motion)[at], motion.kinetic[at]
        cells = "".join(f"{h:9.3f}" for h in heights[name])
        print(f"{name:10}{cells}   {energies[name][3]:.1e} J")

    clay, linear = heights["p = 0"], heights["p = 1"]
    assert clay[-1] < 0.85 * weight  # at rest in a deformed state,
    assert abs(clay[2:] - clay[2]).max() < 0.002 * weight  # from early on,
    assert energies["p = 0"][3] < 1e-6 * energies["p = 1"][3]  # while the other still swings
    assert abs(linear[-1] / weight - 1) < 0.01  # back into shape
    assert linear.max() > 1.5 * weight
    assert heights["none"].max() > 2 * weight


if __name__ == "__main__":
    main()
