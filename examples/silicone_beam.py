"""A measured silicone beam: static stiffness, then dynamic stiffness and damping, from recordings.

``silicone_beam.py FOLDER`` reads silicone_gravity.csv, silicone_load52.csv and silicone_load101.csv
from FOLDER, or from measured/ in the folder that the variable SUPPLE_ASSETS names. The beam of
30 × 30 × 100 mm is clamped at one end, lets go of its straight shape, and swings about its sag:
alone, with 52 g and with 102 g hung from its tip. First Young's modulus is fitted to how far three
markers have sunk in the end; then, to the swings, the modulus in motion and the damping. The hand
that lets go brakes the first half of a swing; swings are compared over the 1.5 s that follow.
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
MARKERS = np.array([[0.1, 0.015, 0.036], [0.1, -0.006, 0.024], [0.1, 0.036, 0.006]])
"""Where three markers stand on the tip, 6 mm off its surface [m]."""


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


def sagged(folder: Path, body: sp.Body) -> list[sp.StaticObservation]:
    """How far the markers are below where they were held, once all is still: heights alone."""
    edge = body.mesh.where(x=LENGTH, z=WIDTH)
    found = []
    for name, weight in HUNG.items():
        seen = np.full_like(MARKERS, np.nan)
        for k in range(len(MARKERS)):
            path = folder / f"silicone_{name}.csv"
            record = RingDown.read_csv(path, time="time_s", value=f"m{k}_up")
            t, x = record.times, record.displacements
            seen[k, 2] = MARKERS[k, 2] + x[t > t[-1] - 1.0].mean() - x[t < 0.2].mean()
        pull = body.point_force(edge, (0, 0, -weight / len(edge)))
        found.append(
            sp.StaticObservation(
                positions=seen, points=MARKERS, gravity=(0, 0, -G), forces=pull, name=name
            )
        )
    return found


def fit_static(folder: Path, mesh: sp.QuadraticTetMesh) -> sp.MaterialFit:
    """One modulus for all three shapes; each alone is told as well."""
    material = sp.StVK(young=YOUNG, poisson=POISSON, density=DENSITY)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    given = sagged(folder, body)
    print(f"{'static':10}{'sunk by':>12}{'modulus':>12}")
    for each in given:
        alone = sp.fit_stiffness(body, [each])
        down = 1e3 * np.nanmean(MARKERS - each.positions)
        print(f"{each.name:10}{down:9.2f} mm{1e-3 * alone.values['young']:8.1f} kPa")
    fit = sp.fit_stiffness(body, given)
    young, error = (1e-3 * each["young"] for each in (fit.values, fit.errors))
    misses = ", ".join(f"{1e3 * miss:.2f}" for miss in fit.misses)
    print(f"all three: {young:.1f} ± {error:.1f} kPa, shapes off by {misses} mm")
    print(f"published: {1e-3 * YOUNG:.1f} kPa\n")
    return fit


def show_sinusoids(given: list[Experiment], fit: RingDownFit) -> None:
    """Damped sinusoids over 1.75 s: those of the recordings, and those of the simulations."""
    print(f"{'sinusoid':10}{'measured':>12}{'ζ':>7}{'simulated':>14}{'ζ':>7}")
    for each, ring in zip(given, fit.designed.simulated, strict=True):
        theirs = each.measured.fit(stop=each.measured.start + 1.75)
        ours = ring.fit(stop=min(ring.start + 1.75, ring.times[-1]))
        print(
            f"{each.name:10}{theirs.frequency:9.2f} Hz{theirs.ratio:7.3f}"
            f"{ours.frequency:11.2f} Hz{ours.ratio:7.3f}"
        )


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
    static = fit_static(folder, beam((9, 2, 2) if coarse else (13, 3, 3)))
    show_measured(given)
    start = time.perf_counter()
    fit = fit_ring_down(given, seconds=SECONDS)
    elapsed = time.perf_counter() - start
    print(f"\n{given[0].body.mesh.n_cells} cells, {fit.runs} simulations in {elapsed:.0f} s")
    show_fit(given, fit)
    dynamic = fit.young_factor * YOUNG
    print(f"\nin motion the modulus is {dynamic / static.values['young']:.2f} × the static one\n")
    show_sinusoids(given, fit)
    assert static.determined["young"]
    assert 1.0 < dynamic / static.values["young"] < 1.3  # silicone is stiffer when it is quick
    assert max(static.misses) < 0.1 * 7e-3  # of the least sag
    for ours, linear in zip(fit.designed.matches, fit.rayleigh.matches, strict=True):
        # one material and one curve: as near as the experiment repeats itself
        assert abs(ours.frequency) < 0.02
        assert ours.envelope < 0.10
        assert ours.envelope < linear.envelope


if __name__ == "__main__":
    main()
