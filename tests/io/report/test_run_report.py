"""Reports and the pictures in them."""

import json
import re
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from tests.io.pages import (
    assert_needs_no_other_file,
    data_of,
    decoded,
    in_browser,
    needs_browser,
    read,
)
from tests.refusals import refused

import supple as sp
from supple.contact import Box, Plane, Rails
from supple.io.pictures import Camera, png, render
from supple.io.report.look import Look, Track
from supple.io.report.plots import Curve, Plot, ticks
from supple.io.report.run_report import Run, floor_under, write_report

FLOOR = Plane(offset=-0.3)
MILL = Box(
    centre=(0.5, 0.0, -0.1),
    size=(0.4, 0.2, 0.1),
    motion=Rails.turning(centre=(0.5, 0.0, 0.0), rate=(0.0, 3.0, 4.0)),
)
_TO_Y_UP = np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)])  # (x, y, z) to (x, z, −y)


@pytest.fixture
def report(motion, tmp_path, monkeypatch):
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))

    def make(runs=None, **options):
        path = tmp_path / "report.html"
        write_report(path, runs or [Run("run", motion)], title="A <wobble> & more", **options)
        return path

    return make


def test_report_is_whole_html_with_plots_pictures_and_player(report):
    path = report(facts=[("Mesh", "10 <cells>")], source='title = "x"')
    assert_needs_no_other_file(path)
    page = read(path)
    assert page.count("svg") >= 2
    assert page.count("canvas") == 1
    assert page.count("img") >= 6
    assert "A <wobble> & more" in page.text
    assert "10 <cells>" in page.text
    assert 'title = "x"' in page.text


def test_report_survives_any_name(report, motion):
    name = "</script><script>alert(1)</script>"
    text = report([Run(name, motion), Run("b", motion)], facts=[(name, name)]).read_text()
    assert "<script>alert" not in text


def test_report_compares_runs(report, motion, bar, wobble):
    other = wobble(bar, count=20)
    runs = [Run("first", motion, [("Mass", "1")]), Run("second", other, [("Mass", "2")])]
    page = read(report(runs))
    assert "Side by side" in page.text
    assert "Energies · second" in page.text


def test_report_shows_momenta_of_free_bodies_and_step_times(report, motion):
    steps = np.stack([motion.times[1:], np.full(len(motion) - 1, 0.02)], axis=1)
    page = read(report([Run("run", motion, steps=steps)], free=True))
    assert "Angular momentum" in page.text
    assert "Computing time" in page.text
    assert "Linear momentum" not in read(report()).text


def test_report_of_a_single_frame(report, motion):
    assert read(report([Run("one", motion[:1])])).count("svg") >= 1


def test_report_refuses_what_it_cannot_draw(report, motion, tmp_path):
    refused("colors have shape", report, colors=np.ones((3, 3)))
    refused("at least one run", write_report, tmp_path / "none.html", [], title="none")
    assert not list(tmp_path.iterdir())


@needs_browser
def test_player_plays_and_goes_to_the_moment_that_is_chosen(report, motion):
    choose = """setTimeout(() => {
    const clock = document.querySelector("#player output");
    const button = document.querySelector("#player button"), asks = button.textContent;
    const slider = document.querySelector("#player input");
    slider.value = 1000; slider.dispatchEvent(new Event("input"));
    document.title = [asks, clock.textContent, button.textContent].join(", "); }, 700);"""
    shown = in_browser(report(), choose, seconds=2)
    assert re.search(r'<section id="player" class="live"', shown)
    assert f"<title>Pause, {motion.times[-1]:.2f} s, Play</title>" in shown
    ends = re.findall(r'class="cursor" x1="([\d.]+)" x2="([\d.]+)"', shown)
    assert ends
    assert set(ends) == {("468", "468")}


def test_y_up_is_turned_upright(bar, motion, tmp_path):
    def target(name, **options):
        write_report(tmp_path / name, [Run("bar", motion)], title="Bar", **options)
        return data_of(tmp_path / name, "motion")["target"]

    turned = replace(
        motion,
        mesh=sp.TetMesh(bar.vertices @ _TO_Y_UP, bar.cells),
        displacements=motion.displacements @ _TO_Y_UP,
    )
    upright = target("z.html")
    motion = turned
    assert target("y.html", up="y") == pytest.approx(upright)
    material = sp.StVK(young=1e5, poisson=0.3)
    mesh = turned.mesh
    assert floor_under(sp.Body(mesh, material, fixed=mesh.where(y=0)), up="y") == 0.0
    refused("up='x'", target, "x.html", up="x")


def test_floor_is_under_bodies_that_stand(bar):
    material = sp.StVK(young=1e5, poisson=0.3)
    assert floor_under(sp.Body(bar, material, fixed=bar.where(z=0))) == 0.0
    assert floor_under(sp.Body(bar, material, fixed=bar.where(x=0))) is None
    assert floor_under(sp.Body(bar, material)) is None


# -- obstacles ---------------------------------------------------------------------------


@pytest.mark.parametrize("up", ["z", "y"])
def test_player_has_obstacles_where_they_are(report, motion, up):
    path = report(floor=-0.3, up=up, obstacles=[FLOOR, MILL])
    floor, mill = data_of(path, "motion")["obstacles"]
    read(path)
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


def test_reports_without_obstacles_have_none(report):
    assert data_of(report(), "motion")["obstacles"] == []


# -- plots -------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-5, 2e-5), (1e7, 1.1e7), (-0.4, 123)])
def test_ticks_are_round_and_inside(low, high):
    made = ticks(low, high, 5)
    assert 2 <= len(made) <= 8
    assert low <= made[0] <= made[-1] <= high
    assert np.allclose(np.diff(made), made[1] - made[0])


@pytest.mark.parametrize("values", [np.zeros(5), np.full(5, 3.0), 1e-12 * np.arange(5.0)])
def test_plot_of_flat_or_tiny_values_is_finite(values):
    svg = Plot("title", "J", np.arange(5.0), [Curve("a", values)]).html()
    assert "nan" not in svg
    assert "inf" not in svg


def test_long_curves_keep_their_extremes():
    values = np.zeros(100_000)
    values[54_321] = 7.0
    svg = Plot("spike", "J", np.arange(100_000.0), [Curve("a", values)]).html()
    assert len(svg) < 40_000
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", svg.split('class="line')[1])]
    assert min(heights) < 40 < max(heights)


# -- pictures ----------------------------------------------------------------------------


def test_picture_shows_the_nearer_surface():
    square = np.array([[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]], dtype=float)
    positions = np.concatenate([square, square + np.array([0.5, 0, 0])])
    triangles = np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)])
    colors = np.repeat([[1.0, 0, 0], [0, 1.0, 0]], 4, axis=0)
    for order in (triangles, triangles[::-1]):
        camera = Camera((0, 0, 0), 3.0, azimuth=0, elevation=0)
        image = render(positions, order, camera, size=(30, 30), colors=colors)
        red, green, _, opaque = image[15, 15].astype(int)
        assert green > 2 * red
        assert opaque == 255
        assert image[0, 0, 3] == 0
        covered = (image[..., 3] > 127).mean()
        assert covered == pytest.approx(4 / 9, abs=0.01)


def test_camera_frames_the_whole_body(bar):
    surface = bar.boundary()
    camera = Camera.framing(surface.vertices, aspect=2.0)
    image = render(surface.vertices, surface.triangles, camera, size=(120, 60))
    edge = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    assert (edge[:, 3] == 0).all()
    assert (image[..., 3] > 0).mean() > 0.1


def test_png_holds_the_image():
    image = np.arange(5 * 4 * 4, dtype=np.uint8).reshape(5, 4, 4)
    data = png(image)
    assert struct.unpack(">II", data[16:24]) == (4, 5)
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    rows = np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(5, 17)
    assert np.array_equal(rows[:, 1:].reshape(5, 4, 4), image)


def test_bodies_too_large_for_a_page_have_no_player(motion):
    huge = Track("huge", np.arange(2.0), np.zeros((2, 100_000, 3)))
    camera = Camera((0, 0, 0), 1.0)
    look = Look([huge], np.zeros((1, 3), int), np.zeros((100_000, 3)), camera, (1, 1))
    assert look.scripts() == look.player_data() == ""
    small = Track("small", motion.times, motion.positions)
    colors = np.ones(motion.mesh.vertices.shape)
    triangles = motion.mesh.boundary().triangles
    data = Look([small], triangles, colors, camera, (1, 1)).player_data()
    assert len(data) < 200_000
    (track,) = json.loads(data)["tracks"]
    count = len(track["scales"])
    shapes = decoded(track["shapes"], "<i2", count, -1) * np.array(track["scales"])[:, None]
    weights = decoded(track["weights"], "<f4", -1, count)
    shown = (decoded(track["base"], "<f4") + weights @ shapes).reshape(motion.positions.shape)
    off = np.linalg.norm(shown - motion.positions, axis=2).max()
    assert off < 2e-3 * motion.mesh.diagonal


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
