import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from tests.refusals import refused

from supple.core.errors import InputError
from supple.dynamics.motion import Frame, Motion
from supple.dynamics.recording import Recorder, is_finished, read_metadata, read_motion
from supple.mesh import HexMesh, QuadraticTetMesh, TetMesh


@pytest.fixture
def mesh():
    return TetMesh.box(size=(1.0, 1.0, 1.0), cells=(1, 1, 1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.motion"


@pytest.fixture
def aside(tmp_path):
    return tmp_path / "run.motion.checkpoint"


def frame(i, vertices=8):
    return Frame(
        time=0.1 * i,
        displacements=np.full((vertices, 3), float(i)) + np.arange(3.0 * vertices).reshape(-1, 3),
        kinetic=1.0 + i,
        elastic=2.0,
        gravitational=-3.0,
        dissipated=0.5 * i,
        linear_momentum=np.array([i, 0.0, 1.0]),
        angular_momentum=np.array([0.0, i, 2.0]),
    )


def state(i):
    return {"u": np.full((8, 3), i / 3), "step": np.int64(i), "seed": np.arange(4, dtype=np.uint64)}


def record(path, mesh, frames, *, finish=False, **options):
    with Recorder(path, mesh, **options) as recorder:
        for i in frames:
            recorder.append(frame(i), state(i))
        if finish:
            recorder.finish()


def assert_counts(path, count):
    motion = read_motion(path)
    assert len(motion) == count
    for i in range(count):
        got, wanted = motion.frame(i), frame(i)
        assert all(np.array_equal(getattr(got, n), getattr(wanted, n)) for n in vars(wanted))


def sizes(path, mesh):
    """Where frames start, and how many bytes a frame has."""
    record(path, mesh, range(0))
    start = path.stat().st_size
    record(path, mesh, range(1), overwrite=True)
    return start, path.stat().st_size - start


def test_recorded_frames_read_back_before_and_after_finishing(mesh, tmp_path, path, aside):
    with Recorder(path, mesh, metadata={"scene": "a → b"}) as recorder:
        for i in range(5):
            recorder.append(frame(i), state(i))
            assert recorder.frames == i + 1
            assert_counts(path, i + 1)
        assert aside.exists()
        recorder.finish()
    assert_counts(path, 5)
    assert read_metadata(path) == {"scene": "a → b"}
    assert sorted(tmp_path.iterdir()) == [path, aside]  # to be extended


@pytest.mark.parametrize("kind", [TetMesh, QuadraticTetMesh, HexMesh])
def test_mesh_with_regions_and_properties_returns(kind, path):
    mesh = kind.box(size=(1.0, 1.0, 1.0), cells=(2, 1, 1)).with_region("left side", [1])
    mesh = kind(mesh.vertices, mesh.cells, mesh.regions, {"left side": {"young": 0.1 + 0.2}})
    with Recorder(path, mesh) as recorder:
        recorder.append(frame(0, len(mesh.vertices)))
        recorder.finish()
    loaded = read_motion(path).mesh
    assert type(loaded) is kind
    np.testing.assert_array_equal(loaded.vertices, mesh.vertices)
    np.testing.assert_array_equal(loaded.cells, mesh.cells)
    np.testing.assert_array_equal(loaded.regions["left side"], mesh.regions["left side"])
    assert loaded.properties["left side"]["young"] == 0.1 + 0.2


def test_resume_goes_on_from_the_last_state(mesh, path):
    record(path, mesh, range(3))
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.frames == 3
        restored = recorder.checkpoint()
        assert restored.keys() == state(2).keys()
        for name, value in state(2).items():
            assert restored[name].dtype == value.dtype
            assert restored[name].shape == value.shape
            assert np.array_equal(restored[name], value)
            assert restored[name].flags.writeable
        recorder.append(frame(3), state(3))
    assert_counts(path, 4)


def test_resumed_file_is_the_uninterrupted_one_byte_for_byte(mesh, tmp_path):
    record(tmp_path / "whole.motion", mesh, range(6), finish=True)
    record(tmp_path / "parts.motion", mesh, range(3))
    record(tmp_path / "parts.motion", mesh, range(3, 6), resume=True, finish=True)
    assert (tmp_path / "whole.motion").read_bytes() == (tmp_path / "parts.motion").read_bytes()


def test_saving_writes_the_same_file_as_recording(mesh, tmp_path):
    record(tmp_path / "recorded.motion", mesh, range(4), finish=True)
    Motion.load(tmp_path / "recorded.motion").save(tmp_path / "saved.motion")
    assert (tmp_path / "recorded.motion").read_bytes() == (tmp_path / "saved.motion").read_bytes()


def test_file_cut_anywhere_reads_up_to_its_last_whole_frame(mesh, tmp_path, path):
    start, length = sizes(tmp_path / "probe.motion", mesh)
    record(path, mesh, range(3))
    data = path.read_bytes()
    cut = tmp_path / "cut.motion"
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        whole = (size - start) // length
        if size < start:
            refused(r"cut short|is empty|not a Supple", read_motion, cut)
        elif whole == 0:
            refused("no whole frame", read_motion, cut)
        else:
            assert len(read_motion(cut)) == whole


def test_every_flipped_byte_is_noticed(mesh, tmp_path, path):
    record(path, mesh, range(2), finish=True)
    data = path.read_bytes()
    flipped = tmp_path / "flipped.motion"
    for at in range(len(data) - 16):  # a torn end mark only means that the run is not finished
        flipped.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(InputError):
            read_motion(flipped)


def test_damage_names_the_frame_and_salvage_keeps_what_precedes_it(mesh, tmp_path, path):
    start, length = sizes(tmp_path / "probe.motion", mesh)
    record(path, mesh, range(5), finish=True)
    data = bytearray(path.read_bytes())
    data[start + 2 * length + 40] ^= 1
    path.write_bytes(data)
    refused("frame 2 is damaged", read_motion, path)
    assert len(read_motion(path, salvage=True)) == 2
    refused("frame 2 is damaged", Recorder, path, mesh, resume=True)


def test_torn_frame_is_cut_off_on_resume(mesh, path):
    record(path, mesh, range(3))
    with open(path, "ab") as file:
        file.write(b"FRAM\x01\x02")
    assert_counts(path, 3)
    record(path, mesh, range(3, 5), resume=True)
    assert_counts(path, 5)


def test_frame_newer_than_the_checkpoint_is_not_doubled(mesh, tmp_path, path, aside):
    record(path, mesh, range(3))
    old = aside.read_bytes()
    record(path, mesh, range(3, 4), resume=True)
    aside.write_bytes(old)
    (tmp_path / "run.motion.checkpoint.tmp").write_bytes(b"half")
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.frames == 3
        assert recorder.checkpoint()["step"] == 2
        recorder.append(frame(3), state(3))
        recorder.finish()
    assert_counts(path, 4)
    assert sorted(tmp_path.iterdir()) == [path, aside]


def assert_starts_over(path, mesh):
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.frames == 0
        assert recorder.checkpoint() is None


def test_killed_before_the_first_checkpoint_starts_over(mesh, path, aside):
    record(path, mesh, range(1))
    aside.unlink()
    assert_starts_over(path, mesh)


def test_missing_or_foreign_checkpoint_never_drops_frames(mesh, tmp_path, path, aside):
    record(path, mesh, range(4))
    record(tmp_path / "other.motion", mesh, range(2), metadata={"scene": "other"})
    other = (tmp_path / "other.motion.checkpoint").read_bytes()
    aside.unlink()
    for content, words in (
        (None, "is missing"),
        (other, "was not made with"),
        (b"garbage", "not a Supple checkpoint"),
    ):
        if content is not None:
            aside.write_bytes(content)
        refused(words, Recorder, path, mesh, resume=True)
    assert_counts(path, 4)


def test_existing_file_is_kept_unless_told(mesh, path):
    record(path, mesh, range(3))
    refused(r"run\.motion exists; resume=True", Recorder, path, mesh)
    assert_counts(path, 3)
    record(path, mesh, range(2), overwrite=True)
    assert_counts(path, 2)
    refused("give one", Recorder, path, mesh, resume=True, overwrite=True)


def test_finished_file_is_not_changed_by_resuming(mesh, path):
    record(path, mesh, range(3), finish=True)
    before = path.read_bytes()
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.finished
        assert recorder.frames == 3
        refused("is finished", recorder.append, frame(3))
        recorder.finish()
    assert path.read_bytes() == before


@pytest.mark.parametrize("garbage", [False, True])
def test_finished_file_needs_no_checkpoint_unless_it_is_extended(mesh, path, aside, garbage):
    record(path, mesh, range(3), finish=True)
    aside.unlink()
    if garbage:
        aside.write_bytes(b"garbage")
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.finished
        assert not recorder.goes_on(2, every=1, dt=0.1)
        refused(r"finished at 0\.2 s.*overwrite=True", recorder.goes_on, 3, every=1, dt=0.1)
    assert is_finished(path)
    assert_counts(path, 3)


def test_killed_while_finishing_finishes_on_resume(mesh, path, aside):
    record(path, mesh, range(3))
    saved = aside.read_bytes()
    record(path, mesh, range(0), resume=True, finish=True)
    finished = path.read_bytes()
    assert aside.read_bytes() == saved
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.finished
        assert recorder.checkpoint()["step"] == 2
    for torn in range(1, 17):  # the end mark was being written
        path.write_bytes(finished[:-torn])
        aside.write_bytes(saved)
        with Recorder(path, mesh, resume=True) as recorder:
            assert recorder.checkpoint()["step"] == 2
            recorder.finish()
        assert path.read_bytes() == finished


def test_killed_while_overwriting_starts_over(mesh, path, aside):
    record(path, mesh, range(3))
    saved = aside.read_bytes()
    record(path, mesh, range(0), overwrite=True)
    aside.write_bytes(saved)  # the new file is there, the old checkpoint not yet removed
    assert_starts_over(path, mesh)


def test_closed_recorder_says_how_to_go_on(mesh, path):
    record(path, mesh, range(1))
    recorder = Recorder(path, mesh, resume=True)
    recorder.close()
    refused("resume=True opens it again", recorder.append, frame(1), state(1))
    refused("resume=True opens it again", recorder.finish)
    assert_counts(path, 1)


def test_resume_needs_the_same_mesh_and_scene(mesh, path):
    record(path, mesh, range(2), metadata={"scene": "soft"})
    other = TetMesh.box(size=(2.0, 1.0, 1.0), cells=(1, 1, 1))
    refused("another mesh", Recorder, path, other, resume=True)
    refused("another scene", Recorder, path, mesh, resume=True, metadata={"scene": "stiff"})
    with Recorder(path, mesh, resume=True) as recorder:
        assert recorder.metadata == {"scene": "soft"}


def test_resume_without_a_file_starts_one(mesh, path):
    record(path, mesh, range(2), resume=True)
    assert_counts(path, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="file locks")
def test_file_has_one_writer(mesh, path):
    with Recorder(path, mesh) as recorder:
        recorder.append(frame(0), state(0))
        for options in ({"resume": True}, {"overwrite": True}):
            refused("being written elsewhere", Recorder, path, mesh, **options)
        recorder.append(frame(1), state(1))
    assert_counts(path, 2)


def test_refused_frames_leave_the_file_as_it_was(mesh, path):
    with Recorder(path, mesh) as recorder:
        recorder.append(frame(1), state(1))
        bad = frame(2)
        bad.displacements[0, 0] = np.nan
        refused("is not after", recorder.append, frame(1), state(1))
        refused("NaN", recorder.append, bad, state(2))
        refused(r"shape \(7, 3\)", recorder.append, frame(2, vertices=7), state(2))
        refused("only numbers", recorder.append, frame(2), {"u": np.array([object()])})
        recorder.append(frame(2), state(2))
    np.testing.assert_array_equal(read_motion(path).times, [frame(1).time, frame(2).time])


def test_interrupted_write_is_overwritten_by_the_next(mesh, monkeypatch, path):
    with Recorder(path, mesh) as recorder:
        recorder.append(frame(0), state(0))

        def half(file, data):
            file.write(data[: len(data) // 2])
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("supple.core.files.write", half)
            with pytest.raises(KeyboardInterrupt):
                recorder.append(frame(1), state(1))
        assert_counts(path, 1)
        recorder.append(frame(1), state(1))
        recorder.finish()
    assert_counts(path, 2)


def test_newer_version_is_refused(mesh, path):
    record(path, mesh, range(2), finish=True)
    data = bytearray(path.read_bytes())
    data[8:12] = (3).to_bytes(4, "little")
    path.write_bytes(data)
    refused(r"newer version \(3\), this one reads up to 1", read_motion, path)


class Trap:
    def __reduce__(self):
        return (os._exit, (3,))


def test_pickles_and_other_files_are_refused_and_not_executed(mesh, tmp_path, path):
    for content in (pickle.dumps(Trap()), b"\x89PNG\r\n\x1a\n" + bytes(99), b"", b"{}"):
        path.write_bytes(content)
        refused("not a Supple motion file", read_motion, path)
        refused("not a Supple motion file", Recorder, path, mesh, resume=True)
        assert path.read_bytes() == content
    refused("no file", read_motion, tmp_path / "absent.motion")
    refused("no folder", Recorder, tmp_path / "absent" / "run.motion", mesh)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_runs_lose_at_most_the_frame_in_hand(tmp_path, path, aside):
    # A stand-in for a simulation: a state that doubles back on itself in floating point, so that
    # a frame lost, doubled or computed from a stale state would show.
    script = textwrap.dedent(
        """
        import sys
        import numpy as np
        from supple.mesh import TetMesh
        from supple.dynamics.motion import Frame
        from supple.dynamics.recording import Recorder

        mesh = TetMesh.box(size=(1.0, 1.0, 1.0), cells=(1, 1, 1))
        with Recorder(sys.argv[1], mesh, resume=True) as recorder:
            saved = recorder.checkpoint()
            i, u = 0, np.linspace(0.1, 0.9, 24)
            if saved is not None:
                i, u = int(saved["i"]), saved["u"]
            assert i == recorder.frames
            while i < int(sys.argv[2]):
                i, u = i + 1, 3.9 * u * (1 - u)
                zero = np.zeros(3)
                frame = Frame(float(i), u.reshape(8, 3), 0.0, 0.0, 0.0, 0.0, zero, zero)
                recorder.append(frame, {"i": np.int64(i), "u": u})
                print(i, flush=True)
            recorder.finish()
        """
    )
    total = 100_000

    def start(frames):
        command = [sys.executable, "-c", script, str(path), str(frames)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    reached = 0
    for round_ in range(3):
        run = start(total)
        run.stdout.readline()
        time.sleep(0.05 + 0.037 * round_)
        os.kill(run.pid, signal.SIGKILL)
        told = [int(line) for line in run.stdout.read().split()]
        run.wait()
        reached = max([reached, *told])
        assert len(read_motion(path)) in (reached, reached + 1)

    end = len(read_motion(path)) + 5
    with start(end) as run:
        run.stdout.read()
    assert run.returncode == 0
    motion = read_motion(path)
    np.testing.assert_array_equal(motion.times, np.arange(1, end + 1))
    u = np.linspace(0.1, 0.9, 24)
    for i in range(end):
        u = 3.9 * u * (1 - u)
        np.testing.assert_array_equal(motion.displacements[i].ravel(), u)
    assert sorted(tmp_path.iterdir()) == [path, aside]
