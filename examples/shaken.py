"""Soft matter shaken by its foot, and its swing after that (dissipative optimization, Fig. 11).

Power-law damping with p = 2 keeps a violent motion small and hardly touches a gentle one. Linear
damping, p = 1, strong enough to do the first, takes the swing afterwards too.
"""

import numpy as np

import supple as sp

SHAKES, REACH = 3.0, 0.05  # [Hz], [m]: near the slowest vibration
SHAKING, DURATION, DT = 1.0, 3.0, 0.01  # [s]
DAMPINGS: dict[str, sp.Damping | None] = {
    "none": None,
    "p = 2": sp.PowerLaw(exponent=2, strength=2000.0),
    "p = 1": sp.PowerLaw(exponent=1, strength=4000.0),
}


def foot(time: float) -> tuple[float, float, float]:
    """Where the foot is [m]: a burst that starts and ends gently."""
    if time >= SHAKING:
        return 0.0, 0.0, 0.0
    burst = np.sin(np.pi * time / SHAKING) ** 2
    return float(REACH * burst * np.sin(2 * np.pi * SHAKES * time)), 0.0, 0.0


mesh = sp.HexMesh.box(size=(0.1, 0.1, 0.4), cells=(1, 1, 6))
top = mesh.where(z=0.4)
body = sp.Body(
    mesh,
    sp.StableNeoHookean(young=6e5, poisson=0.4, density=1000),
    supports=[sp.Support(mesh.where(z=0), foot)],
)


def shaken(damping: sp.Damping | None) -> tuple[np.ndarray, np.ndarray]:
    """Times [s], and how far the top is from above the foot [m]."""
    motion = sp.Simulation(body, damping=damping, dt=DT).run(DURATION)
    bent = motion.displacements[:, top, 0].mean(axis=1) - [foot(t)[0] for t in motion.times]
    return motion.times, bent


def main() -> None:
    print(f"{'farthest, of a body 0.4 m tall':34}{'shaken':>10}{'last half second':>20}")
    peaks, rest = {}, {}
    for name, damping in DAMPINGS.items():
        times, bent = shaken(damping)
        peaks[name] = np.abs(bent[times <= SHAKING]).max()
        rest[name] = np.abs(bent[times > DURATION - 0.5]).max()
        print(f"{name:34}{1000 * peaks[name]:7.0f} mm{1000 * rest[name]:17.1f} mm")

    assert abs(peaks["p = 1"] / peaks["p = 2"] - 1) < 0.03  # as strong while it is shaken
    assert peaks["p = 2"] < 0.6 * peaks["none"]
    assert rest["none"] > 0.9 * peaks["none"]
    assert rest["p = 2"] > 8 * rest["p = 1"]  # and far livelier after it


if __name__ == "__main__":
    main()
