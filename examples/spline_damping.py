"""Damping as a curve: strong when strained, weak near rest (dissipative optimization, Fig. 12).

A bar is pulled and let go. The curve multiplies the damping of each cell, by how far it is
stretched: large swings die as in a bar damped many times as much, small ones ring on as if that
were not there. No constant does both.
"""

import numpy as np

import supple as sp

PULL = 0.15  # how far the end is pulled out [m], in the shape of the slowest vibration
WEAK, STRONG = 1.0, 20.0
CURVE = sp.Curve.monotone([(0.94, STRONG), (0.97, WEAK), (1.03, WEAK), (1.06, STRONG)])
EARLY = 3  # number of the half swing up to which a constant is to take as much
DT, DURATION = 0.01, 5.0  # [s]

bar = sp.HexMesh.box(size=(1.0, 0.5, 0.5), cells=(6, 1, 1))
end = bar.where(x=1)
body = sp.Body(bar, sp.StableNeoHookean(young=1e5, poisson=0.0), fixed=bar.where(x=0))
base = sp.StrainRate(shear=32.0)


def let_go(
    curve: sp.Curve | float, pull: float = PULL, duration: float = DURATION
) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and how far the end is out, over the pull."""
    sim = sp.Simulation(body, damping=sp.SplineDamping(base, curve), dt=DT)
    sim.state.u = pull * np.sin(np.pi / 2 * bar.vertices[:, :1]) * [1, 0, 0]
    motion = sim.run(duration)
    return motion.times, motion.displacements[:, end, 0].mean(axis=1) / pull


def tops(out: np.ndarray) -> np.ndarray:
    """The size of each half swing, on both sides."""
    size = np.abs(out)
    inner = size[1:-1]
    return inner[(size[:-2] < inner) & (inner >= size[2:])]


def loss(sizes: np.ndarray) -> float:
    """What a half swing loses, as a share, in the mean."""
    return float(1 - (sizes[-1] / sizes[0]) ** (1 / (len(sizes) - 1)))


def compared() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The curve, both of its ends as constants, and one that takes as much from the start."""
    runs = {
        "weak": let_go(WEAK),
        "strong": let_go(STRONG),
        "curve": let_go(CURVE),
    }
    drawn, weak = (np.log(tops(runs[name][1])[EARLY]) for name in ("curve", "weak"))
    return runs | {"as strong at first": let_go(WEAK * drawn / weak)}


def main() -> None:
    found = {name: tops(out) for name, (_, out) in compared().items()}
    print(f"{'half swing':20}{'1':>8}{EARLY + 1:8}{'20':>8}{'loss':>8} of each from 16 to 20")
    for name, sizes in found.items():
        late = loss(sizes[15:20])
        print(f"{name:20}{sizes[0]:8.3f}{sizes[EARLY]:8.3f}{sizes[19]:8.3f}{late:8.2%}")

    curve, weak, rival = (found[name] for name in ("curve", "weak", "as strong at first"))
    assert loss(curve[:3]) > 5 * loss(weak[:3])  # strong when strained,
    assert loss(curve[15:20]) < 2 * loss(weak[15:20])  # weak near rest,
    assert abs(rival[EARLY] / curve[EARLY] - 1) < 0.1
    assert rival[19] < 0.3 * curve[19]  # which no constant is
    # Where the curve is level it is a constant: in swings that stay within 3 %.
    small = [let_go(damping, 0.015, 1.0)[1] for damping in (CURVE, WEAK)]
    assert np.abs(small[0] - small[1]).max() < 1e-5


if __name__ == "__main__":
    main()
