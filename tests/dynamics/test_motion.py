import numpy as np
import pytest
from tests.refusals import refused

from supple.core.errors import InputError
from supple.dynamics.motion import Motion
from supple.mesh import TetMesh


@pytest.fixture
def mesh():
    return TetMesh.box(size=(1.0, 0.5, 0.5), cells=(2, 1, 1))


def swinging(mesh, count=8, start=0.0, dt=0.1, **changes):
    times = start + dt * np.arange(count)
    n = len(mesh.vertices)
    arrays = {
        "times": times,
        "displacements": np.sin(times)[:, None, None] * np.arange(3.0 * n).reshape(n, 3),
        "kinetic": np.cos(times) ** 2,
        "elastic": np.sin(times) ** 2,
        "gravitational": -0.1 * times,
        "dissipated": 0.2 * (times - start),
        "linear_momentum": np.outer(times, [1.0, 2.0, 3.0]),
        "angular_momentum": np.outer(times, [0.0, -1.0, 4.0]),
    }
    return Motion(mesh=mesh, **(arrays | changes))


def same(first, second):
    names = [name for name in vars(first) if name != "mesh" and name in Motion.__annotations__]
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def test_motion_measures_itself(mesh):
    motion = swinging(mesh)
    assert len(motion) == 8
    assert repr(motion) == f"Motion(8 frames, 0…0.7 s, {mesh!r})"
    assert motion.duration == pytest.approx(0.7)
    assert motion.frame_rate == pytest.approx(10.0)
    np.testing.assert_allclose(motion.total_energy, 1 - 0.1 * motion.times)
    np.testing.assert_array_equal(motion.positions, mesh.vertices + motion.displacements)
    np.testing.assert_array_equal(motion.vertex(3), motion.positions[:, 3])
    np.testing.assert_array_equal(motion.vertex(-1), motion.positions[:, -1])


def test_frames_put_together_again_are_the_motion(mesh):
    motion = swinging(mesh)
    assert same(Motion.from_frames(mesh, motion), motion)
    assert motion.frame(-1).time == motion.times[-1]
    np.testing.assert_array_equal(motion.frame(2).displacements, motion.displacements[2])


def test_at_is_linear_between_frames_and_exact_on_them(mesh):
    motion = swinging(mesh)
    for i, time in enumerate(motion.times):
        np.testing.assert_array_equal(motion.at(time), motion.displacements[i])
    quarter = 0.75 * motion.times[2] + 0.25 * motion.times[3]
    expected = 0.75 * motion.displacements[2] + 0.25 * motion.displacements[3]
    np.testing.assert_allclose(motion.at(quarter), expected, rtol=1e-12)
    for outside in (-0.01, 0.71, np.nan):
        refused("outside the motion", motion.at, outside)


def test_slices_joined_are_the_motion(mesh):
    motion = swinging(mesh)
    assert same(motion[:3].joined(motion[3:]), motion)
    assert same(motion[:4].joined(motion[3:]), motion)
    assert len(motion[1:7:2]) == 3


def test_joined_counts_dissipation_on_from_a_fresh_start(mesh):
    first = swinging(mesh)
    second = swinging(mesh, start=float(first.times[-1]))
    joined = first.joined(second)
    assert len(joined) == 15
    np.testing.assert_allclose(joined.dissipated, 0.2 * joined.times, atol=1e-15)


def test_joined_refuses_overlap_and_another_mesh(mesh):
    motion = swinging(mesh)
    refused("before the first one ends", motion.joined, motion)
    other = TetMesh.box(size=(2.0, 0.5, 0.5), cells=(2, 1, 1))
    refused("same mesh", motion.joined, swinging(other, start=5.0))


def test_one_frame_is_a_motion_without_a_rate(mesh):
    single = swinging(mesh)[2:3]
    assert single.duration == 0.0
    np.testing.assert_array_equal(single.at(single.times[0]), single.displacements[0])
    with pytest.raises(InputError, match="frame rate"):
        _ = single.frame_rate


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": np.zeros(0)}, "at least one frame"),
        ({"times": np.zeros(8)}, "times must increase"),
        ({"kinetic": np.zeros(7)}, r"kinetic has shape \(7,\)"),
        ({"displacements": np.zeros((8, 2, 3))}, r"displacements has shape \(8, 2, 3\)"),
        ({"elastic": np.array([0, 1, np.nan, 3, 4, 5, 6, 7])}, "elastic holds NaN.*frame 2"),
    ],
)
def test_bad_motion_is_refused(mesh, changes, message):
    refused(message, swinging, mesh, **changes)


@pytest.mark.parametrize("index", [8, -9])
def test_missing_frames_and_vertices_are_named(mesh, index):
    refused(f"no frame {index}", swinging(mesh).frame, index)
    refused("no vertex 99", swinging(mesh).vertex, 99)
    with pytest.raises(InputError, match="no frame"):
        swinging(mesh)[9:]
    with pytest.raises(TypeError, match=r"motion\.frame\(1\)"):
        swinging(mesh)[1]


def test_saved_motion_loads_exactly(mesh, tmp_path):
    motion = swinging(mesh)
    motion.save(tmp_path / "run.motion")
    loaded = Motion.load(tmp_path / "run.motion")
    assert same(loaded, motion)
    assert type(loaded.mesh) is TetMesh
    np.testing.assert_array_equal(loaded.mesh.cells, mesh.cells)
    assert [p.name for p in tmp_path.iterdir()] == ["run.motion"]
