from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
from tests.refusals import refused

from supple.io import export_motion
from supple.mesh import HexMesh, QuadraticTetMesh, TetMesh


@pytest.mark.parametrize(
    ("kind", "cell"),
    [(TetMesh, "tetra"), (QuadraticTetMesh, "tetra10"), (HexMesh, "hexahedron")],
)
def test_frames_are_listed_with_their_times(kind, cell, wobble, tmp_path):
    mesh = kind.box(size=(1.0, 0.2, 0.2), cells=(3, 1, 1))
    mesh = mesh.with_region("tip", [len(mesh.cells) - 1]).with_region("both", [0, 1])
    motion = wobble(mesh, count=4, dt=0.1, start=0.3)
    export_motion(motion, tmp_path / "bar & co.pvd")
    root = ElementTree.parse(tmp_path / "bar & co.pvd").getroot()
    listed = root.findall("Collection/DataSet")
    assert [float(item.get("timestep")) for item in listed] == motion.times.tolist()
    for i, item in enumerate(listed):
        frame = meshio.read(tmp_path / item.get("file"))
        np.testing.assert_array_equal(frame.points, motion.positions[i])
        np.testing.assert_array_equal(frame.point_data["displacement"], motion.displacements[i])
        np.testing.assert_array_equal(frame.cells_dict[cell], mesh.cells)
        region = frame.cell_data_dict["region"][cell]
        assert region[-1] == 1
        np.testing.assert_array_equal(region[:2], 2)
        assert np.count_nonzero(region) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bar & co.pvd", "bar & co_frames"]


def test_exporting_again_leaves_no_old_frames(motion, tmp_path):
    export_motion(motion, tmp_path / "bar.pvd")
    export_motion(motion[:3], tmp_path / "bar.pvd")
    assert len(list((tmp_path / "bar_frames").iterdir())) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bar.pvd", "bar_frames"]


def test_folder_with_other_files_is_left_alone(motion, tmp_path):
    (tmp_path / "bar_frames").mkdir()
    (tmp_path / "bar_frames" / "thesis.tex").write_text("dear")
    refused(r"holds thesis\.tex", export_motion, motion, tmp_path / "bar.pvd")
    assert (tmp_path / "bar_frames" / "thesis.tex").read_text() == "dear"
    assert not (tmp_path / "bar.pvd").exists()


def test_failed_export_leaves_nothing_behind(motion, tmp_path):
    def stop(done, total, what):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_motion(motion, tmp_path / "bar.pvd", progress=stop)
    assert not list(tmp_path.iterdir())
