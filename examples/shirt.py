"""A shirt on a man who walks, under the dampings of the strain rate paper (§6, Fig. 4).

``shirt.py FOLDER`` reads characters/khronos_CesiumMan.glb and cloth/newton_unisex_shirt.usd from
FOLDER, or from the folder that the variable SUPPLE_ASSETS names. The man stands in the shirt drawn
towards his bones, fills out, and walks two rounds of his clip, arms held off the body.

Of the paper's dampings λ_d is 1.5 μ_d; cloth with ν = 3/7 has the same ratio of its moduli, so that
medium damping is the one matched to Rayleigh damping with β = μ_d/μ. The paper does not tell its
stiffness. Steps are backward Euler's with one Newton iteration, as there. While he fills out there
is no friction, which would stretch the shirt.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import supple as sp

MAN, SHIRT = "characters/khronos_CesiumMan.glb", "cloth/newton_unisex_shirt.usd"
SCALE, PLACE = 0.95, (0.004, -0.04, -0.27)  # of the shirt on the man, and where [m]
ARMS = "Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_R"
LOWERED, SPREAD = 0.3, 0.65  # [rad]: into the sleeves, and off the body while he walks
DRESSING = sp.Dressing(slim=0.15, growing=0.25, settling=0.15, easing=0.3)
SPEED = 1.0  # of the clip, whose round lasts 2 s
MARGIN = 5.5e-3  # [m]: triangles on a round arm lie closer to it than their corners
DT = 2e-3  # [s]
JERSEY = sp.IsotropicCloth(
    young=4e6, poisson=3 / 7, thickness=5e-4, areal_density=0.19, bending_stiffness=1e-5
)
MU = 700.0  # [N/m], of this cloth
DAMPINGS: dict[str, sp.Damping] = {
    "medium": sp.ClothStrainRate(bulk=30.0, shear=20.0),
    "low": sp.ClothStrainRate(bulk=1.5, shear=1.0),
    "Rayleigh": sp.Rayleigh(stiffness=20.0 / MU),
}
_SAMPLES = np.array([(1, 1, 0), (0, 1, 1), (1, 0, 1), (2 / 3, 2 / 3, 2 / 3)]) / 2  # of triangles


@dataclass
class Walk:
    """A shirt, the man in it, and what came of it."""

    cloth: sp.Cloth
    man: sp.AnimatedMesh
    motion: sp.Motion
    seconds: float
    """For a step."""
    clearance: float
    """Least distance of a vertex from the skin after any step [m]; below 0 it would be inside."""

    @property
    def walking(self) -> np.ndarray:
        """Which frames show him in full motion, (T,)."""
        return self.motion.times > self.motion.times[0] + DRESSING.easing

    def off_skin(self) -> np.ndarray:
        """Distances [m] of middles of triangles and edges from the skin in all frames, (k,)."""
        return np.concatenate(
            [
                _off_skin(self.man, _SAMPLES @ x[self.cloth.mesh.cells], t)
                for x, t in zip(self.motion.positions, self.motion.times, strict=True)
            ]
        )

    def stretch(self) -> np.ndarray:
        """Of the edges of all triangles in the last frame, (t, 3); 1 is none."""
        mesh, x = self.cloth.mesh, self.motion.positions[-1]
        return replace(mesh, vertices=x).edge_lengths() / mesh.edge_lengths()


def _off_skin(man: sp.AnimatedMesh, places: np.ndarray, now: float) -> np.ndarray:
    return man.at(places.reshape(-1, 3), now).distance + man.margin


def around(folder: Path, dressing: sp.Dressing) -> tuple[sp.Cloth, sp.AnimatedMesh]:
    """The shirt around the man, who is about to fill out and walk."""
    flat = sp.read_surface(folder / SHIRT).scaled(0.01 * SCALE)  # from cm, y up
    x, y, z = flat.vertices.T
    shirt = sp.SheetMesh(np.stack([x, -z, y], axis=1) + PLACE, flat.triangles)
    man = sp.read_character(folder / MAN)
    lowered = {arm: (0, side * LOWERED, 0) for arm, side in zip(ARMS, (1, -1), strict=True)}
    spread = {arm: (0, -side * SPREAD, 0) for arm, side in zip(ARMS, (1, -1), strict=True)}
    pose = man.rig.turned(lowered)
    walking = man.animated_mesh(
        repeat=2,
        speed=SPEED,
        rate=120,
        turned=spread,
        dressing=replace(dressing, start=pose),
        friction=0.3,
        margin=MARGIN,
    )
    return sp.Cloth(shirt, JERSEY), walking


def simulation(
    cloth: sp.Cloth, man: sp.AnimatedMesh, damping: sp.Damping, dt: float
) -> sp.Simulation:
    """The shirt about to be put on."""
    return sp.Simulation(
        cloth,
        damping=damping,
        obstacles=replace(man, friction=0.0),
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=1),
        gravity=(0, 0, -9.81),
        dt=dt,
    )


def walk(
    folder: Path,
    damping: sp.Damping,
    *,
    duration: float | None = None,
    dressing: sp.Dressing = DRESSING,
    dt: float = DT,
) -> Walk:
    """Dress him and let him walk, for all of his clip unless told how long [s]."""
    cloth, man = around(folder, dressing)
    sim = simulation(cloth, man, damping, dt)
    length = float(np.asarray(man.times)[-1]) if duration is None else duration
    nearest, looking = np.inf, 0.0

    def look(done: int, total: int, what: str) -> None:
        nonlocal nearest, looking
        start = time.perf_counter()
        x = cloth.mesh.vertices + sim.state.u
        nearest = min(nearest, float(_off_skin(man, x, sim.state.time).min()))
        looking += time.perf_counter() - start

    start = time.perf_counter()
    ready = dressing.growing + dressing.settling
    sim.run(ready, every=1000, progress=look)
    sim.obstacles = man
    motion = sim.run(length - ready, every=8, progress=look)
    spent = time.perf_counter() - start - looking
    return Walk(cloth, man, motion, spent / round(length / dt), nearest)


def save(name: str, found: Walk, folder: Path) -> None:
    """Write the motion, and shirt and man under medium damping for other programs."""
    found.motion.save(folder / f"shirt_{name}.motion")
    if name == "medium":
        shown = found.motion[:: 1 if len(found.motion) < 50 else 2]
        sp.export_motion(shown, folder / "shirt.glb", obstacles=found.man)
        sp.export_motion(shown, folder / "shirt.usdc", obstacles=found.man)


def wishes() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="A shirt on a man who walks.")
    assets = Path(os.environ.get("SUPPLE_ASSETS", ""))
    parser.add_argument("folder", nargs="?", type=Path, default=assets, help="of man and shirt")
    parser.add_argument("--quick", action="store_true", help="dress him, and a first step")
    parser.add_argument("--save", type=Path, help="folder for motions, .glb and .usdc")
    given = parser.parse_args()
    missing = [name for name in (MAN, SHIRT) if not (given.folder / name).exists()]
    if missing:
        sys.exit(
            f"there is no {missing[0]} in {given.folder.resolve()}; give the folder with both.\n"
            "The man is Cesium Man of the Khronos glTF sample assets (© Cesium, CC-BY 4.0), the "
            "shirt unisex_shirt.usd of Newton (Apache-2.0)."
        )
    return given


def main() -> None:
    given = wishes()
    brief = replace(DRESSING, growing=0.15, settling=0.0, easing=0.2)
    options = {"duration": 0.3, "dressing": brief, "dt": 3e-3} if given.quick else {}
    found = {}
    print(
        f"{'damping':10}{'kinetic [mJ]':>13}{'elastic':>9}{'vertices off skin [mm]':>24}"
        f"{'triangles':>11}{'inside':>10}{'s a step':>10}"
    )
    for name, damping in DAMPINGS.items():
        if given.quick and name != "medium":
            continue
        each = found[name] = walk(given.folder, damping, **options)
        if given.save is not None:
            save(name, each, given.save)
        frames = each.walking if each.walking.any() else slice(None)
        off = each.off_skin()
        inside = float((off < 0).mean())
        print(
            f"{name:10}{1e3 * each.motion.kinetic[frames].mean():13.3f}"
            f"{1e3 * each.motion.elastic[frames].mean():9.1f}"
            f"{1e3 * each.clearance:24.3f}{1e3 * off.min():11.3f}{inside:10.1e}{each.seconds:10.3f}"
        )
        # vertices keep the margin; a triangle may lie across a crease of his armpits
        assert each.clearance > 0.5 * MARGIN
        assert inside < 1e-4
        assert np.percentile(each.stretch(), 99) < 1.1
    if not given.quick:
        energy = {name: each.motion.kinetic[each.walking].mean() for name, each in found.items()}
        assert energy["medium"] < energy["low"]


if __name__ == "__main__":
    main()
