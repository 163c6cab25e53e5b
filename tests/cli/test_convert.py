"""``supple convert``"""

from importlib.util import find_spec

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.mesh import write_mesh

needs_wild = pytest.mark.skipif(not find_spec("pytetwild"), reason="needs the extra meshing")


@pytest.mark.parametrize("ending", ["msh", "vtk", "vtu", "mesh", "veg"])
def test_convert_mesh_round_trip(block, ending):
    write_mesh(block, "first.msh")
    assert main(["convert", "first.msh", f"there.{ending}"]) == 0
    assert main(["convert", f"there.{ending}", "back.msh"]) == 0
    back = sp.read_mesh("back.msh")
    assert np.allclose(back.vertices, block.vertices)
    assert np.array_equal(back.cells, block.cells)
    assert [len(cells) for cells in back.regions.values()] == [len(block.regions["left"])]


@pytest.mark.parametrize("ending", ["obj", "ply", "stl", "glb"])
def test_convert_surface_round_trip_and_boundary(block, ending):
    write_mesh(block, "block.msh")
    assert main(["convert", "block.msh", f"skin.{ending}", "--scale", "2"]) == 0
    assert main(["convert", f"skin.{ending}", "back.obj"]) == 0
    back = sp.read_surface("back.obj")
    assert back.is_closed
    assert back.volume == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(
    ("words", "near"),
    [("bricks.vtu --voxels 8", 1e-6), pytest.param("tets.msh --edge 0.3", 0.02, marks=needs_wild)],
)
def test_convert_fills_a_surface(block, words, near):
    sp.write_surface(block.boundary(), "block.obj")
    assert main(["convert", "block.obj", *words.split()]) == 0
    assert sp.read_mesh(words.split()[0]).volume == pytest.approx(0.125, rel=near)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["lost.obj", "a.ply"], "lost.obj"),
        (["block.obj", "block.obj"], "itself"),
        (["block.obj", "block.msh"], "--edge"),
        (["block.obj", "b.ply", "--voxels", "3"], "make a mesh"),
        (["block.obj", "b.xyz"], "b.xyz"),
        (["block.msh", "b.vtu", "--voxels", "3"], "mesh already"),
        (["block.msh", "b.pvd"], "only motions"),
        (["block.msh", "b.vtu", "--skin", "block.obj"], "--skin"),
        (["block.msh", "b.vtu", "--up", "y"], "--up"),
        (["block.obj", "b.vtu", "--voxels", "3", "--epsilon", "0.1"], "--epsilon"),
    ],
)
def test_convert_refuses_with_advice(block, refused, arguments, word):
    sp.write_surface(block.boundary(), "block.obj")
    write_mesh(block, "block.msh")
    refused(["convert", *arguments], word)


def test_motion_is_written_for_others_at_another_rate_and_as_close_as_asked(
    scene, capsys, refused, tells
):
    assert main(["run", "bar.toml", "-q", "--no-report", "--formats", ""]) == 0
    motion = "bar/motion.motion"
    assert main(["convert", motion, "a.pvd"]) == 0
    assert (scene / "a.pvd").stat().st_size > 100
    assert main(["convert", motion, "a.usda", "--fps", "30"]) == 0
    assert "endTimeCode = 3" in (scene / "a.usda").read_text()
    tells(["convert", motion, "a.glb", "--tolerance", "1e-5"], "mm at most")
    assert main(["convert", motion, "a.glb", "--tolerance", "1e-5", "--targets", "1"]) == 3
    shown = capsys.readouterr()
    assert "more than the" in shown.out
    assert "give more --targets, or a larger --tolerance" in shown.err
    refused(["convert", motion, "a.usda", "--targets", "1"], "--targets is for .glb")
