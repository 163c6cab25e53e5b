import meshio
import numpy as np
import pytest
import trimesh
from tests.refusals import refused

from supple.io import export_motion, write_surface
from supple.mesh import Embedding, Surface, TetMesh


def test_what_is_not_known_is_told_what_is(motion, bar, tmp_path):
    refused(r"\.glb, \.usd, \.usda, \.usdc, \.pvd", export_motion, motion, tmp_path / "bar.fbx")
    refused(r"\.obj, \.ply, \.stl, \.glb", write_surface, bar.boundary(), tmp_path / "bar.png")
    path, words = tmp_path / "a.glb", r"\.glb has no option volume; it has skin, tolerance"
    refused(words, export_motion, motion, path, volume=True)
    refused(r"skin is a Surface.*Embedding", export_motion, motion, path, skin=bar.boundary())
    refused(r"motion is a TetMesh.*Simulation\.run", export_motion, bar, path)


@pytest.mark.parametrize("ending", ["glb", "usda", "pvd"])
def test_missing_folder_is_named(motion, tmp_path, ending):
    refused("no folder", export_motion, motion, tmp_path / "absent" / f"bar.{ending}")


@pytest.mark.parametrize("ending", ["obj", "ply", "stl", "glb", "OBJ"])
def test_surface_returns_as_it_was(bar, tmp_path, ending):
    surface = bar.boundary()
    path = tmp_path / f"bar.{ending}"
    write_surface(surface, path)
    found = trimesh.load(path, force="mesh", process=False)
    wanted = surface.vertices[surface.triangles]
    np.testing.assert_allclose(found.vertices[found.faces], wanted, atol=1e-7)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def triangle_in(mesh):
    corners = np.array([(0.1, 0.1, 0.1), (0.9, 0.1, 0.1), (0.5, 0.15, 0.1)])
    return Embedding(mesh, Surface(corners, np.array([(0, 1, 2)])))


@pytest.mark.parametrize("ending", ["glb", "usda", "pvd"])
def test_skin_of_another_mesh_is_refused(motion, tmp_path, ending):
    skin = triangle_in(TetMesh.box(size=(1.0, 0.2, 0.2), cells=(2, 1, 1)))
    path = tmp_path / f"bar.{ending}"
    refused("embed it in the mesh that moves", export_motion, motion, path, skin=skin)
    assert not list(tmp_path.iterdir())


def test_skin_goes_to_every_format(motion, tmp_path):
    skin = triangle_in(motion.mesh)
    wanted = skin.deform(motion.displacements)
    export_motion(motion, tmp_path / "skin.pvd", skin=skin)
    frame = meshio.read(tmp_path / "skin_frames" / "frame_00005.vtu")
    np.testing.assert_array_equal(frame.points, wanted[5])
    np.testing.assert_allclose(
        frame.points - frame.point_data["displacement"], skin.surface.vertices
    )
    pytest.importorskip("pxr")
    export_motion(motion, tmp_path / "skin.usda", skin=skin)
    assert 'def Mesh "body"' in (tmp_path / "skin.usda").read_text()


@pytest.mark.parametrize("ending", ["pvd", "usdc"])
def test_export_keeps_no_copy_of_all_frames(motion, tmp_path, ending):
    if ending == "usdc":
        pytest.importorskip("pxr")
    fresh = motion[:5]
    export_motion(fresh, tmp_path / f"bar.{ending}")
    assert "positions" not in vars(fresh)
