"""Scene files: materials with fibres, and those whose stress is drawn."""

import numpy as np
import pytest

import supple as sp

BASE = """
[mesh]
box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }
[time]
duration = 0.1
fps = 60
"""
FIBRES = """
[material]
model = "OrthotropicStVK"
young = [3e5, 1e5, 5e4]
poisson = 0.3
"""


def test_fibres_are_directions_or_a_file_with_those_of_every_cell(scene, tmp_path):
    plain = scene(FIBRES + "axes = [[1, 2, 0], [0, 0, 3]]\n")
    n = plain.body.mesh.n_cells
    rows = np.tile([1.0, 2, 0, 0, 0, 3], (n, 1))
    np.savetxt(tmp_path / "axes.txt", rows)
    (tmp_path / "axes.csv").write_text("\n".join("1, 2, 0, 0, 0, 3" for _ in rows))
    np.save(tmp_path / "axes.npy", rows.reshape(n, 2, 3))
    u = 0.05 * np.random.default_rng(0).normal(size=plain.body.mesh.vertices.shape)
    for name in ("axes.txt", "axes.csv", "axes.npy"):
        field = scene(FIBRES + f'axes = "{name}"\n').body
        assert np.shape(field.material.axes) == (n, 3, 3)
        assert field.energy(u) == pytest.approx(plain.body.energy(u), rel=1e-12)
    alone = scene(FIBRES + "axes = [1, 2, 0]\n").body.material
    np.testing.assert_allclose(alone.axes[0], np.array([1, 2, 0]) / np.sqrt(5))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FIBRES.replace("5e4", "-1"), r"material\.young.*above 0"),
        (FIBRES.replace(", 5e4", ""), r"material\.young.*or three of them"),
        (FIBRES + 'axes = "none.txt"', r"material\.axes: there is no file"),
        (FIBRES + 'axes = "words.txt"', r"material\.axes.*cannot be read as axes.*a line for each"),
        (FIBRES + 'axes = "pairs.txt"', r"material\.axes.*shape \(2, 2\).*3, 6 or 9"),
        (FIBRES + 'axes = "few.txt"', r"axes has 4 values for"),
        (FIBRES + "axes = 3", r"material\.axes: got 3.*a direction"),
        (FIBRES.replace("0.3", "[2.0, 0.3, 0.3]"), r"material\.poisson.*ν12 = 2.*√\(E1/E2\)"),
    ],
)
def test_fibres_that_cannot_be_are_refused(scene, tmp_path, text, words):
    (tmp_path / "words.txt").write_text("along the arm\n")
    (tmp_path / "pairs.txt").write_text("1 2\n3 4\n")
    (tmp_path / "few.txt").write_text("1 0 0\n" * 4)
    with pytest.raises(sp.InputError, match=words):
        scene(text)


def test_curves_of_a_material_are_knots(scene):
    knots = "[[0.4, -6e4], [1, 0], [1.5, 2e4], [2, 9e4]]"
    made = scene(f'[material]\nmodel = "SplineMaterial"\nstretch = {knots}\ndensity = 900\n')
    assert made.body.material.stretch == ((0.4, -6e4), (1.0, 0.0), (1.5, 2e4), (2.0, 9e4))
    assert made.body.material.young > 0
    with pytest.raises(sp.InputError, match=r"material\.stretch: .* is 500 Pa"):
        scene(f'[material]\nmodel = "SplineMaterial"\nstretch = {knots.replace("1, 0", "1, 500")}')
