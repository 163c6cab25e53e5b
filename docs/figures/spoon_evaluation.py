"""A struck spoon, unreduced and in several bases (subspace StVK, §7 and Fig. 12): plot and table.

Takes some minutes, most of them for the unreduced motion and the static shapes of the sketch.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.timing import table  # noqa: E402
from tests.reduction import spoon_evaluation as ev  # noqa: E402

import supple as sp  # noqa: E402
from supple.io.pictures import Camera, render  # noqa: E402
from supple.reduction.sketch import sketch_shapes  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

MODES, SIZE = 6, 12  # the paper's spoon
PEAK, DT, DURATION = 0.4, 2e-3, 2.0  # [N], [s], [s]
REACH, POINTS = 0.15, 40  # [m] and points of a stroke of the sketch
LINEAR = "linear model"
STYLES = {
    "unreduced": (INK, "-", 3.2),
    "mass-PCA of the unreduced motion": (COLORS[4], (0, (4, 2)), 1.5),
    "modal derivatives": (COLORS[0], "-", 1.6),
    "sketch, all round": (COLORS[1], "-", 1.4),
    LINEAR: (COLORS[5], ":", 1.2),
}


@dataclass(frozen=True)
class Row:
    """A motion of the tip: which basis, how many vectors, its height [m], and all shapes."""

    name: str
    size: str
    height: np.ndarray
    basis: sp.Basis | None = None
    q: np.ndarray | None = None


class Bar:
    """Progress of one phase on the terminal."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None

    def __call__(self, done: int, total: int, what: str) -> None:
        if self._bar is None:
            self._bar = tqdm(total=total, desc=what)
        self._bar.update(done - self._bar.n)


def in_basis(case: ev.Struck, name: str, basis: sp.Basis) -> Row:
    q = ev.reduced_motion(case, basis)
    return Row(name, f"{basis.size}", q @ basis.vectors[:, case.tip, 2], basis, q)


def motions(case: ev.Struck, u: np.ndarray) -> list[Row]:
    body = case.body

    def sketched(strokes: sp.Sketch, size: int) -> sp.Basis:
        return sp.sketch_basis(body, strokes, size, progress=Bar())

    up_and_down = ev.strokes_up_and_down(case, reach=REACH, points=POINTS)
    shapes = ev.strokes_all_round(case, reach=REACH, points=POINTS)
    found = sketch_shapes(body, shapes, progress=Bar())
    print(f"sketch: {found.drawn} forces, {found.selected} taken, {len(found.shapes)} shapes kept")
    return [
        in_basis(case, "mass-PCA of the unreduced motion", sp.motion_basis(body, u, SIZE)),
        *(
            in_basis(
                case,
                "modal derivatives" + (f" of {modes} modes" if modes != MODES else ""),
                sp.modal_derivative_basis(body, modes=modes, size=size),
            )
            for modes, size in ((MODES, SIZE), (8, SIZE), (MODES, 15), (20, 30))
        ),
        in_basis(case, "sketch, all round", sp.sketch_basis(body, found, SIZE)),
        in_basis(case, "sketch, all round", sp.sketch_basis(body, found, 15)),
        in_basis(case, "sketch, up and down only", sketched(up_and_down, SIZE)),
        in_basis(case, "vibration modes alone", sp.picked_basis(body, case.modes.shapes)),
        Row(LINEAR, "–", ev.linear_tip(case)),
    ]


def write_table(case: ev.Struck, exact: np.ndarray, rows: list[Row]) -> None:
    swing = ev.swing(case.times, exact)
    frequency = swing.frequency(len(swing.crossings))
    up, down = swing.extremes[:2]
    lines = [["unreduced", f"{case.body.free.sum():,}", f"{frequency:.3f} Hz", f"{up:.3f} m",
              f"−{down:.3f} m"]]  # fmt: skip
    for row in rows:
        errors = ev.errors(case.times, exact, row.height)
        shares = (errors.frequency, errors.first, errors.second)
        lines.append([row.name, row.size, *(f"{round(100 * s, 1) + 0.0:+.1f} %" for s in shares)])
    headers = ["basis", "coordinates", "frequency", "first maximum", "first minimum"]
    text = table(headers, lines).replace(" -", " −")
    text = "\n".join([line if k != 1 else line.replace("−", "-") for k, line in
                      enumerate(text.split("\n"))])  # fmt: skip
    (ROOT / "docs/tables/spoon_evaluation.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def draw(case: ev.Struck, u: np.ndarray, exact: np.ndarray, rows: list[Row]) -> None:
    figure = plt.figure(figsize=(9.2, 5.4), layout="constrained")
    grid = figure.add_gridspec(2, 5, height_ratios=(1, 1.6))
    axes = figure.add_subplot(grid[1, :])
    shown = {"unreduced": exact}
    for row in rows:
        shown.setdefault(row.name, row.height)
    for name, (color, style, width) in STYLES.items():
        axes.plot(
            case.times, 100 * shown[name], color=color, linestyle=style, linewidth=width, label=name
        )
    axes.set_xlabel("time [s]", fontsize=9, color=INK)
    axes.set_ylabel("height of the tip [cm]", fontsize=9, color=INK)
    axes.set_xlim(0, DURATION)
    axes.axvspan(0, ev.PUSHED, color="#f3ece8", zorder=0)
    axes.text(0.008, -13.8, "pushed", fontsize=8, color=INK)
    plain(axes)
    axes.legend(frameon=False, fontsize=8, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    moments = pose_times(case, exact)
    axes.plot(case.times[moments], 100 * exact[moments], "o", color=INK, markersize=6, zorder=5)
    by_derivatives = next(row for row in rows if row.name == "modal derivatives")
    skin, colors = case.made.skin, case.made.colors
    assert skin is not None
    assert by_derivatives.basis is not None
    orange = np.tile([0.86, 0.44, 0.28], (len(colors), 1))
    full = [skin.deform(u[k]) for k in moments]
    vectors = by_derivatives.basis.vectors
    small = [skin.deform(np.tensordot(by_derivatives.q[k], vectors, 1)) for k in moments]
    camera = Camera.framing(np.array([*full, *small]), azimuth=-75, elevation=14, aspect=1.06)
    for panel, (k, a, b) in enumerate(zip(moments, full, small, strict=True)):
        place = figure.add_subplot(grid[0, panel])
        triangles = skin.surface.triangles
        for x, paint, opacity in ((b, orange, 0.55), (a, colors, 1.0)):
            image = render(x, triangles, camera, size=(371, 350), colors=paint)
            place.imshow(image, alpha=opacity * (image[..., 3] / 255.0))
        place.set_axis_off()
        place.set_title(f"{case.times[k]:.2f} s", fontsize=9, color=INK)
    figure.savefig(IMAGES / "spoon_evaluation.png", dpi=110)


def pose_times(case: ev.Struck, height: np.ndarray) -> list[int]:
    """Frames at rest and at the first extremes, up and down, of two cycles."""
    swing = ev.swing(case.times, height)
    ends = np.searchsorted(case.times, swing.crossings)
    frames = [0]
    for first, last in zip([0, *ends[:3]], ends[:4], strict=True):
        frames.append(int(first + np.abs(height[first:last]).argmax()))
    return frames


def main() -> None:
    case = ev.struck_spoon(resolution=100, peak=PEAK, dt=DT, duration=DURATION)
    u = ev.full_motion(case, progress=Bar())
    exact = u[:, case.tip, 2]
    rows = motions(case, u)
    write_table(case, exact, rows)
    draw(case, u, exact, rows)


if __name__ == "__main__":
    main()
