"""The picture of the front page: an example, the wishes, the curve found, and what comes of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib
import numpy as np
from drawing import COLORS, IMAGES, INK, on_white, plain

import supple as sp
from supple.cli import demo
from supple.io.pictures import Camera, render
from supple.io.scene.scene import Scene, load_scene
from supple.workflows.design_parts import reduced_model

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EXAMPLE = 0  # the belly from side to side


def scene_of_the_demo() -> Scene:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.toml"
        path.write_text(demo._SCENE, encoding="utf-8")
        return load_scene(path)


def picture(scene: Scene, damping: sp.ExampleDamping) -> np.ndarray:
    """The creature at excitations −0.8 and 0.8 of the example, side by side."""
    skin, shape = scene.skin, damping.examples[EXAMPLE].shape
    assert skin is not None
    poses = [skin.deform(amount * shape) for amount in (-0.8, 0.8)]
    aside = Camera((0, 0, 0), 1, -80.0, 8.0).axes[0]
    x = np.concatenate([pose + 0.34 * k * aside for k, pose in enumerate(poses)])
    faces = skin.surface.triangles
    both = np.concatenate([faces, faces + len(poses[0])])
    camera = Camera.framing(x, azimuth=-80.0, elevation=8.0, floor=0.0, aspect=1.35)
    colors = np.tile(scene.colors, (2, 1))
    return on_white(render(x, both, camera, size=(810, 600), colors=colors))


def main() -> None:
    scene = scene_of_the_demo()
    damping = scene.damping
    assert isinstance(damping, sp.ExampleDamping)
    model = reduced_model(scene.body, damping, scene.design)
    options = {"integrator": scene.integrator, "dt": scene.dt}
    fit = sp.design_damping(model, damping, scene.targets, **options)
    assert fit.report.met
    results = [result for result in fit.report.results if result.example == EXAMPLE]
    plt.rcParams.update({"font.size": 9.5, "text.color": INK, "axes.labelcolor": INK})
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(11.6, 3.1), width_ratios=(1.15, 1, 1.25), layout="constrained"
    )
    left.imshow(picture(scene, damping))
    left.axis("off")
    left.set_title("an example: the belly, from side to side", fontsize=10)
    chi = np.linspace(0.0, 1.8, 200)
    middle.axhline(1.0, color=INK, linestyle="--", linewidth=1, label="before")
    middle.plot(chi, fit.damping.curves[EXAMPLE](chi), color=COLORS[0], label="designed")
    points = np.array(fit.damping.curves[EXAMPLE].points)
    middle.plot(*points.T, "o", color=COLORS[0])
    middle.set(
        yscale="log", xlabel="excitation |χ|", ylabel="damping γ, times the base",
        title="the curve found",
    )  # fmt: skip
    for result in results:
        before, after = result.before, result.after
        right.plot(before.times, before.excitations, color=INK, linestyle="--", linewidth=1)
        right.plot(after.times, after.excitations, color=COLORS[0])
        label = f"wished: {result.target.start:g} → {result.wanted:g}"
        marker = "o" if result is results[0] else "s"
        right.plot(
            after.period, result.wanted, marker, color=COLORS[1], markersize=10,
            fillstyle="none", markeredgewidth=1.8, linestyle="none", label=label,
        )  # fmt: skip
    right.set(xlabel="time after the release [s]", ylabel="excitation χ", title="one cycle")
    for axes in (middle, right):
        plain(axes)
        axes.title.set_fontsize(10)
        axes.legend(frameon=False, fontsize=8.5)
    figure.savefig(IMAGES / "designed_creature.png", dpi=110)


if __name__ == "__main__":
    main()
