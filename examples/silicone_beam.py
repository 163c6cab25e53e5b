"""A measured silicone beam: its stiffness and its damping from three recordings.

``silicone_beam.py FOLDER`` reads silicone_gravity.csv, silicone_load52.csv and silicone_load101.csv
from FOLDER, or from measured/ in the folder that the variable SUPPLE_ASSETS names. The beam of
30 × 30 × 100 mm is clamped at one end, lets go of its straight shape, and swings about its sag:
alone, with 52 g and with 102 g hung from its tip. The hand that lets go brakes the first half of a
swing; everything is compared over the 1.5 s that follow.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import supple as sp
from supple.design.ringdown.fit import RingDownFit, fit_ring_down
from supple.design.ringdown.ringdown import RingDown
from supple.design.ringdown.trial import Experiment

G, DENSITY, YOUNG, POISSON = 9.80709, 1070.0, 263824.0, 0.499  # as published with the data
HUNG = {"gravity": 0.0, "load52": 0.51012, "load101": 1.00062}  # weight at the tip [N]
LENGTH, WIDTH, PLATE = 0.1, 0.03, 5e-4  # [m]; the hung mass is in a thin plate at the tip
SECONDS = 1.5


def beam(cells: tuple[int, int, int]) -> sp.QuadraticTetMesh:
    """The beam along x, with the plate as the last of its layers."""
    box = sp.TetMesh.box(size=(cells[0], WIDTH, WIDTH), cells=cells)
    layers = np.append(np.linspace(0.0, LENGTH - PLATE, cells[0]), LENGTH)
    X = box.vertices.copy()
    X[:, 0] = layers[np.rint(X[:, 0]).astype(int)]
    mesh = sp.TetMesh(X, box.cells)
    mesh = mesh.with_region("plate", mesh.cells_where(x=(LENGTH - PLATE, LENGTH)))
    return mesh.with_region("beam", mesh.cells_where(x=(0.0, LENGTH - PLATE))).quadratic()


def loaded(mesh: sp.QuadraticTetMesh, weight: float) -> sp.Body:
    """The beam with a weight [N] hung from its tip: inertia, and a pull in gravity."""
    hung = weight / G / mesh.volumes[mesh.region("plate")].sum()
    material = {
        "beam": sp.StVK(young=YOUNG, poisson=POISSON, density=DENSITY),
        "plate": sp.StVK(young=YOUNG, poisson=POISSON, density=DENSITY + hung),
    }
    return sp.Body(mesh, material, fixed=mesh.where(x=0))


def experiments(folder: Path, *, cells: tuple[int, int, int]) -> list[Experiment]:
    """The three recordings, each with its beam; the marker is on top of the tip."""
    mesh = beam(cells)
    marker = np.argmin(np.linalg.norm(mesh.vertices - (LENGTH, WIDTH / 2, WIDTH), axis=1))
    return [
        Experiment(
            RingDown.read_csv(folder / f"silicone_{name}.csv", time="time_s", value="m0_up"),
            loaded(mesh, weight),
            vertices=[marker],
            direction=(0, 0, 1),
            gravity=(0, 0, -G),
            name=name,
        )
        for name, weight in HUNG.items()
    ]


def show_measured(given: list[Experiment]) -> None:
    print(f"{'measured':10}{'frequency':>12}{'amplitude':>12}{'ζ at first':>12}{'at last':>10}")
    for each in given:
        ring = each.measured.first(SECONDS)
        print(
            f"{each.name:10}{ring.frequency:9.2f} Hz{1e3 * ring.amplitude:9.1f} mm"
            f"{ring.decay.ratios[0]:12.3f}{ring.decay.ratios[-1]:10.3f}"
        )


def show_fit(given: list[Experiment], fit: RingDownFit) -> None:
    print(f"Young's modulus {fit.young_factor:.3f} × {YOUNG:.0f} Pa, {fit.curve}")
    print(f"over α = {fit.base.mass:.3g} 1/s, β = {1e3 * fit.base.stiffness:.3g} ms\n")
    print(f"{'error of':10}{'frequency':>12}{'envelope':>12}{'Rayleigh':>12}")
    for each, ours, linear in zip(given, fit.designed.matches, fit.rayleigh.matches, strict=True):
        print(
            f"{each.name:10}{100 * ours.frequency:+10.1f} %{100 * ours.envelope:10.1f} %"
            f"{100 * linear.envelope:10.1f} %"
        )


def recordings() -> tuple[Path, bool]:
    """The folder of the recordings, and whether a coarse mesh will do."""
    parser = argparse.ArgumentParser(description="Fit stiffness and damping of a silicone beam.")
    assets = os.environ.get("SUPPLE_ASSETS")
    default = Path(assets) / "measured" if assets else Path()
    parser.add_argument("folder", nargs="?", type=Path, default=default, help="of the recordings")
    parser.add_argument("--quick", action="store_true", help="take a coarse mesh")
    given = parser.parse_args()
    missing = [name for name in HUNG if not (given.folder / f"silicone_{name}.csv").exists()]
    if missing:
        sys.exit(
            f"there is no silicone_{missing[0]}.csv in {given.folder.resolve()}; give the folder "
            "with the three recordings.\nThey are the motion capture of diffPD_sim2real (ETH "
            "Zurich, MIT licence), python/realbeam_experiments/Measurement_data, as tables with "
            "the columns time_s and m0_up [m] for the marker on top of the tip."
        )
    return given.folder, given.quick


def main() -> None:
    folder, coarse = recordings()
    given = experiments(folder, cells=(9, 2, 2) if coarse else (13, 3, 3))
    show_measured(given)
    start = time.perf_counter()
    fit = fit_ring_down(given, seconds=SECONDS)
    elapsed = time.perf_counter() - start
    print(f"\n{given[0].body.mesh.n_cells} cells, {fit.runs} simulations in {elapsed:.0f} s")
    show_fit(given, fit)
    for ours, linear in zip(fit.designed.matches, fit.rayleigh.matches, strict=True):
        # one material and one curve: as near as the experiment repeats itself
        assert abs(ours.frequency) < 0.02
        assert ours.envelope < 0.10
        assert ours.envelope < linear.envelope


if __name__ == "__main__":
    main()
