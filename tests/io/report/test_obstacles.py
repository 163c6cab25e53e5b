"""Obstacles in the pictures and in the player of a report."""

import numpy as np
import pytest
from tests.io.pages import data_of, decoded, read

from supple.contact import Box, Plane, Rails
from supple.io.pictures import Camera, render
from supple.io.report.run_report import Run, write_report

FLOOR = Plane(offset=-0.3)
MILL = Box(
    centre=(0.5, 0.0, -0.1),
    size=(0.4, 0.2, 0.1),
    motion=Rails.turning(centre=(0.5, 0.0, 0.0), rate=(0.0, 3.0, 4.0)),
)


@pytest.fixture
def data(motion, tmp_path, monkeypatch):
    """What the player is given for a report with these obstacles."""
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))

    def load(obstacles, up="z"):
        path = tmp_path / "report.html"
        run = Run("wobble", motion)
        write_report(path, [run], title="a", floor=-0.3, up=up, obstacles=obstacles)
        read(path)
        return data_of(path, "motion")

    return load


@pytest.mark.parametrize("up", ["z", "y"])
def test_player_has_obstacles_where_they_are(data, motion, up):
    floor, mill = data([FLOOR, MILL], up)["obstacles"]
    assert "poses" not in floor
    x = decoded(floor["vertices"], "<f4", -1, 3)
    turned = np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1) if up == "y" else x
    np.testing.assert_allclose(turned[:, 2], -0.3, atol=1e-6)
    poses, rest = decoded(mill["poses"], "<f4", -1, 3, 4), decoded(mill["vertices"], "<f4", -1, 3)
    assert len(poses) == len(motion)
    for i in (0, 7, 30):
        placed = rest @ poses[i, :, :3].T + poses[i, :, 3]
        wanted = MILL.surface(motion.times[i]).vertices
        if up == "y":
            wanted = np.stack([wanted[:, 0], -wanted[:, 2], wanted[:, 1]], axis=1)
        apart = np.linalg.norm(placed[:, None] - wanted[None], axis=2).min(axis=1)
        assert apart.max() < 1e-5
    normals = decoded(mill["normals"], "<f4", -1, 3)
    np.testing.assert_allclose(np.abs(normals).max(axis=1), 1.0, atol=1e-6)  # flat sides


def test_reports_without_obstacles_have_none(data):
    assert data([])["obstacles"] == []


def test_shadow_falls_on_the_floor_alone():
    """A square above a floor, beside a shelf halfway up that gets no shadow."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    two = np.array([[0, 1, 2], [0, 2, 3]])
    above = 0.3 * square + (0.35, 0.35, 0.4)
    shelf = square * (1.0, 0.2, 1.0) + (0.0, 0.4, 0.05)
    shapes = np.concatenate([above, square, shelf])
    triangles = np.concatenate([two, two + 4, two + 8])
    camera = Camera((0.5, 0.5, 0.2), 1.6, azimuth=-90.0, elevation=30.0, floor=0.0)
    size = (80, 80)
    shaded = render(shapes, triangles, camera, size=size, casting=2)
    lit = render(shapes, triangles, Camera((0.5, 0.5, 0.2), 1.6, -90.0, 30.0), size=size)
    darker = lit[..., :3].astype(int).sum(axis=2) - shaded[..., :3].astype(int).sum(axis=2)
    opaque = (lit[..., 3] == 255) & (shaded[..., 3] == 255)
    only_shelf = render(shelf, two, camera, size=size, casting=0)[..., 3] == 255
    only_body = render(above, two, camera, size=size, casting=0)[..., 3] == 255
    assert darker[opaque & ~only_shelf & ~only_body].max() > 60
    assert np.abs(darker[opaque & only_body]).max() <= 3
    inner = only_shelf & np.roll(only_shelf, 1, 0) & np.roll(only_shelf, -1, 0)
    assert np.abs(darker[opaque & inner & ~only_body]).max() <= 3
