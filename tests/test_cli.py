"""The command line, as people use it."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.io.export import MOTION_FORMATS
from supple.mesh import WRITTEN_MESHES, WRITTEN_SURFACES, write_mesh

SCENE = """
title = "Bar"
gravity = [0, 0, -9.81]
[mesh]
box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }
[material]
model = "StVK"
young = 1e5
poisson = 0.3
[[supports]]
x = 0
[time]
duration = 0.1
fps = 60
"""


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr("supple.io.report._STILL_SIZE", (58, 69))


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path


@pytest.fixture
def block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = sp.TetMesh.box((1.0, 0.5, 0.25), (2, 2, 1))
    return mesh.with_region("left", mesh.cells_where(x=(None, 0.5)))


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "supple.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


# -- help and usage ----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "run", "demo", "info", "convert"])
def test_help_says_what_it_does_shows_an_example_and_what_it_writes(command, capsys):
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert "supple demo" in text or ("example:" in text and "writes" in text)
    assert "Exit codes" in text


def test_convert_help_lists_every_ending_that_is_written(capsys):
    main(["convert", "--help"])
    shown = capsys.readouterr().out
    for kind, endings in (
        ("meshes", WRITTEN_MESHES),
        ("surfaces", WRITTEN_SURFACES),
        ("motions", MOTION_FORMATS),
    ):
        (line,) = [x.split() for x in shown.splitlines() if x.startswith(f"  {kind} ")]
        assert line[1:] == list(endings)


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"supple \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["run"],
        ["run", "a.toml", "--duration", "-1"],
        ["run", "a.toml", "--threads", "0"],
        ["convert", "a.obj", "b.msh", "--edge", "0.1", "--voxels", "3"],
    ],
)
def test_wrong_usage_is_2(arguments, capsys):
    assert main(arguments) == 2
    assert "usage: supple" in capsys.readouterr().err


def test_help_does_not_import_what_it_does_not_need():
    code = (
        "import sys; before = set(sys.modules); import supple.cli.options as o; o.parser();"
        "print([m for m in ('supple.io.scene', 'tqdm', 'pxr') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tqdm" not in done.stdout
    assert "pxr" not in done.stdout


# -- run ---------------------------------------------------------------------------------


def test_run_writes_motion_export_and_report(scene, capsys):
    assert main(["run", "bar.toml"]) == 0
    motion = sp.read_motion(scene / "bar" / "motion.motion")
    assert len(motion) == 7
    assert motion.times[-1] == pytest.approx(0.1)
    assert (scene / "bar" / "motion.glb").stat().st_size > 1000
    assert "<svg" in (scene / "bar" / "report.html").read_text()
    assert "report.html" in capsys.readouterr().out


def test_run_quiet_says_nothing_and_obeys_its_options(scene, capsys):
    arguments = ["run", "bar.toml", "--quiet", "--duration", "0.05", "--threads", "1"]
    try:
        assert main([*arguments, "--output", "a/b"]) == 0
    finally:
        sp.set_thread_count(0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert len(sp.read_motion("a/b/motion.motion")) == 4


def test_run_protects_an_earlier_run(scene, capsys):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    assert main(["run", "bar.toml", "--quiet"]) == 1
    assert "--overwrite" in capsys.readouterr().err
    assert main(["run", "bar.toml", "--overwrite", "--duration", "0.05"]) == 0
    assert len(sp.read_motion("bar/motion.motion")) == 4
    assert main(["run", "bar.toml", "--overwrite", "--resume"]) == 1
    assert "give one" in capsys.readouterr().err


def test_resume_of_a_finished_run_says_so(scene, capsys):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    assert main(["run", "bar.toml", "--resume", "--duration", "5"]) == 0
    assert "finished at 0.1 s" in capsys.readouterr().out


def test_resume_refuses_another_scene_and_shows_the_change(scene, capsys):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    (scene / "bar.toml").write_text("# only a comment\n" + SCENE)
    assert main(["run", "bar.toml", "--resume", "--quiet"]) == 0
    (scene / "bar.toml").write_text(SCENE.replace("young = 1e5", "young = 2e5"))
    assert main(["run", "bar.toml", "--resume"]) == 1
    message = capsys.readouterr().err
    assert "- young = 1e5" in message.replace("  -", "- ")
    assert "2e5" in message
    assert "--overwrite" in message


def _until(condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_run_resumes_to_the_same_motion(scene, how):
    # A factor that is kept from step to step would differ after a restart, within tolerance.
    long = SCENE.replace("fps = 60", "fps = 600") + '[solver]\nlinear = "Cholesky"\n'
    (scene / "bar.toml").write_text(long.replace("duration = 0.1", "duration = 0.5"))
    file = scene / "bar" / "motion.motion"
    process = subprocess.Popen(
        [sys.executable, "-m", "supple.cli", "run", "bar.toml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _until(lambda: file.exists() and file.stat().st_size > 20_000, process)
    os.kill(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    if how == signal.SIGINT:
        assert "frames, up to t" in errors
        assert "supple run bar.toml --output bar --resume" in errors
    kept = len(sp.read_motion(file))
    assert 1 <= kept < 301
    assert main(["run", "bar.toml", "--resume", "--quiet"]) == 0
    assert main(["run", "bar.toml", "--output", "whole", "--quiet"]) == 0
    resumed, whole = sp.read_motion(file), sp.read_motion("whole/motion.motion")
    assert len(resumed) == 301
    assert np.array_equal(resumed.times, whole.times)
    assert np.allclose(resumed.displacements, whole.displacements, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[mesh]", "[mesh", ["not TOML"]),
        ("young", "yuong", ["material.yuong", "did you mean young"]),
        ("poisson = 0.3", "poisson = '3'", ["material.poisson", '"3"']),
        ("box = {", "file = 'lost.msh' #", ["mesh.file", "lost.msh"]),
    ],
)
def test_bad_scene_is_1_without_a_traceback(scene, capsys, old, new, words):
    (scene / "bar.toml").write_text(SCENE.replace(old, new))
    assert main(["run", "bar.toml"]) == 1
    message = capsys.readouterr().err
    assert "Traceback" not in message
    for word in ["bar.toml", *words]:
        assert word in message


def test_failed_step_is_1_and_tells_what_was_kept(scene, capsys):
    wild = SCENE.replace('"StVK"', '"NeoHookean"').replace("fps = 60", "fps = 5")
    wild += "[solver]\nmax_iterations = 1\n[[loads]]\nx = 1\npoint = [0, 0, 1e7]\n"
    (scene / "bar.toml").write_text(wild.replace("duration = 0.1", "duration = 2"))
    assert main(["run", "bar.toml"]) == 1
    message = capsys.readouterr().err
    assert "failed" in message
    assert "Traceback" not in message
    assert "kept in" in message
    assert "[time] substeps = 4" in message
    assert main(["run", "bar.toml", "--overwrite", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_missing_scene_is_1_and_module_runs(tmp_path):
    done = run("run", "nothing.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "no scene file nothing.toml" in done.stderr
    assert not (tmp_path / "nothing").exists()


# -- what a new user met -----------------------------------------------------------------


def _stop_after(monkeypatch, frames, error):
    from supple.cli.simulate import Clock

    inner = Clock.__call__

    def call(self, done, total, what):
        if done > frames:
            raise error
        inner(self, done, total, what)

    monkeypatch.setattr(Clock, "__call__", call)


@pytest.mark.skipif(find_spec("pytetwild") is None, reason="needs the extra meshing")
@pytest.mark.parametrize("more", ["", "quadratic = true\nregions = { half = { x = [0, 0.5] } }\n"])
def test_resume_takes_the_recorded_filling_of_a_surface(scene, monkeypatch, capsys, more):
    sp.write_surface(sp.TetMesh.box((1.0, 0.2, 0.2), (3, 1, 1)).boundary(), "bar.obj")
    box = "box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }\n"
    text = SCENE.replace(box, f"surface = 'bar.obj'\nedge = 0.2\n{more}")
    (scene / "bar.toml").write_text(text.replace("x = 0\n", "x = 0\ntolerance = 0.03\n"))
    with monkeypatch.context() as patch:
        _stop_after(patch, 2, KeyboardInterrupt())
        assert main(["run", "bar.toml"]) == 130
    before = sp.read_motion("bar/motion.motion").mesh

    def never(*_, **__):
        raise AssertionError("meshed again")

    monkeypatch.setattr(sp.TetMesh, "from_surface", never)
    assert main(["run", "bar.toml", "--resume"]) == 0, capsys.readouterr().err
    motion = sp.read_motion("bar/motion.motion")
    assert len(motion) == 7
    np.testing.assert_array_equal(motion.mesh.vertices, before.vertices)
    assert set(motion.mesh.regions) == set(before.regions)


def test_resume_with_nothing_to_resume_starts(scene, capsys):
    assert main(["run", "bar.toml", "--resume"]) == 0
    assert "nothing to resume; starting" in capsys.readouterr().out


def test_y_up_scene_stands_upright(scene):
    def turned(name):
        data = (scene / name).read_bytes()
        length = int.from_bytes(data[12:16], "little")
        return "rotation" in json.loads(data[20 : 20 + length])["nodes"][0]

    text = SCENE.replace("[0, 0, -9.81]", "[0, -9.81, 0]")
    (scene / "bar.toml").write_text(text)
    assert main(["run", "bar.toml", "-q"]) == 0
    assert not turned("bar/motion.glb")
    assert main(["convert", "bar/motion.motion", "a.glb", "-q"]) == 0
    assert not turned("a.glb")
    assert main(["convert", "bar/motion.motion", "b.glb", "--up", "z", "-q"]) == 0
    assert turned("b.glb")


def test_unfinished_motion_says_so(scene, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        _stop_after(patch, 2, KeyboardInterrupt())
        main(["run", "bar.toml"])
    capsys.readouterr()
    assert main(["info", "bar/motion.motion"]) == 0
    assert re.search(r"unfinished: it has \d frames", capsys.readouterr().out)
    assert main(["convert", "bar/motion.motion", "a.glb"]) == 0
    assert re.search(r"unfinished: it has \d frames", capsys.readouterr().err)


def test_full_disk_tells_what_is_kept_and_how_to_go_on(scene, monkeypatch, capsys):
    _stop_after(monkeypatch, 2, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert main(["run", "bar.toml"]) == 1
    message = capsys.readouterr().err
    for words in ("no space is left", "disk of bar", "frames", "kept", "--resume"):
        assert words in message


@pytest.mark.parametrize("command", [["run", "bar.toml"], ["demo"]])
def test_output_that_is_a_file_is_named(scene, capsys, command):
    (scene / "taken").write_text("")
    assert main([*command, "-o", "taken"]) == 1
    assert "taken is a file" in capsys.readouterr().err


def test_forbidden_folder_is_named_not_the_temporary_file(scene, monkeypatch, capsys):
    def forbidden(*_, **__):
        name = str(scene / "closed" / ".a-12ab.glb")
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    main(["run", "bar.toml", "-q"])
    monkeypatch.setattr("supple.cli.convert.export_motion", forbidden)
    assert main(["convert", "bar/motion.motion", "closed/a.glb"]) == 1
    message = capsys.readouterr().err
    assert "may not be written in closed;" in message
    assert "12ab" not in message


def test_too_little_memory_is_one_line(scene, monkeypatch, capsys):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("supple.cli.run.load_scene", greedy)
    assert main(["run", "bar.toml"]) == 1
    message = capsys.readouterr().err
    assert message.startswith("supple: not enough memory (Unable to allocate 9 TiB)")
    assert message.count("\n") == 1


@pytest.mark.parametrize("command", [["info"], ["convert", "-q"]])
def test_damaged_motion_says_so(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.motion").write_bytes(b"\0" * 100)
    extra = ["a.glb"] if command[0] == "convert" else []
    assert main([*command, "a.motion", *extra]) == 1
    assert "a.motion is damaged" in capsys.readouterr().err


def test_info_lists_what_it_takes(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("1")
    assert main(["info", str(tmp_path / "a.csv")]) == 1
    message = capsys.readouterr().err
    assert "read_mesh" not in message
    for ending in (".csv", ".msh", ".obj", ".motion", ".toml"):
        assert ending in message


# -- info --------------------------------------------------------------------------------


def info(path, capsys):
    assert main(["info", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["info", str(path)]) == 0
    return found, capsys.readouterr().out


def test_info_on_a_mesh(block, capsys):
    properties = {"left": {"young": 5e4, "poisson": 0.4, "density": 800.0}}
    mesh = sp.TetMesh(block.vertices, block.cells, block.regions, properties)
    write_mesh(mesh, "block.veg")
    found, text = info("block.veg", capsys)
    assert found["kind"] == "tets"
    assert found["vertices"] == block.n_vertices
    assert found["volume"] == pytest.approx(0.125)
    assert found["regions"]["left"]["young"] == 5e4
    assert found["boundary"]["closed"] is True
    assert 0 < found["quality"]["worst"] <= found["quality"]["mean"] <= 1
    assert "5e+04 Pa" in text
    assert "region left" in text


@pytest.mark.parametrize("kind", ["bricks", "quadratic tets"])
def test_info_on_other_cells(block, capsys, kind):
    bricks = sp.HexMesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    write_mesh(bricks if kind == "bricks" else block.quadratic(), "mesh.vtu")
    found, _ = info("mesh.vtu", capsys)
    assert found["kind"] == kind
    if kind == "bricks":
        assert found["quality"]["worst"] == pytest.approx(1.0)
        assert found["edges"] == [0.5, 0.5]


def test_info_on_a_surface(block, capsys):
    sp.write_surface(block.boundary(), "block.obj")
    found, text = info("block.obj", capsys)
    assert found["closed"] is True
    assert found["volume"] == pytest.approx(0.125)
    assert "closed" in text


def test_info_on_a_motion_and_a_scene(scene, capsys):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    found, text = info("bar/motion.motion", capsys)
    assert found["frames"] == 7
    assert found["energies"]["kinetic"]["first"] == 0
    assert "J at last" in text
    found, text = info("bar.toml", capsys)
    assert found["title"] == "Bar"
    assert "StVK" in text


@pytest.mark.parametrize("name", ["lost.msh", "strange.xyz", "empty.msh"])
def test_info_on_what_it_cannot_read_is_1(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strange.xyz").write_text("?")
    (tmp_path / "empty.msh").write_text("")
    assert main(["info", name]) == 1
    assert name in capsys.readouterr().err


# -- convert -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["msh", "vtk", "vtu", "mesh", "veg"])
def test_convert_mesh_round_trip(block, capsys, ending):
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


def test_convert_fills_a_surface_with_bricks(block):
    sp.write_surface(block.boundary(), "block.obj")
    assert main(["convert", "block.obj", "bricks.vtu", "--voxels", "8"]) == 0
    assert sp.read_mesh("bricks.vtu").volume == pytest.approx(0.125)


@pytest.mark.skipif(not find_spec("pytetwild"), reason="needs the extra meshing")
def test_convert_fills_a_surface_with_tets(block):
    sp.write_surface(block.boundary(), "block.obj")
    assert main(["convert", "block.obj", "tets.msh", "--edge", "0.3"]) == 0
    assert sp.read_mesh("tets.msh").volume == pytest.approx(0.125, rel=0.02)


@pytest.mark.parametrize("ending", ["glb", "pvd", "usda"])
def test_convert_motion(scene, ending):
    if ending == "usda":
        pytest.importorskip("pxr")
    assert main(["run", "bar.toml", "--quiet", "--duration", "0.05"]) == 0
    assert main(["convert", "bar/motion.motion", f"out.{ending}"]) == 0
    assert (scene / f"out.{ending}").stat().st_size > 100


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
def test_convert_refuses_with_advice(block, capsys, arguments, word):
    sp.write_surface(block.boundary(), "block.obj")
    write_mesh(block, "block.msh")
    assert main(["convert", *arguments]) == 1
    message = capsys.readouterr().err
    assert word in message
    assert "Traceback" not in message


# -- demo --------------------------------------------------------------------------------


def test_demo_writes_a_scene_to_play_with(tmp_path, monkeypatch, capsys):
    from supple.cli import demo

    monkeypatch.chdir(tmp_path)
    small = SCENE.replace("duration = 0.1", "duration = 0.05")
    monkeypatch.setattr(demo, "_SCENE", small + "[damping]\nmass = 0.1\n")
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "report.html" in out
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {
        "scene.toml", "light.motion", "light.glb", "strong.motion", "strong.glb", "report.html",
    }  # fmt: skip
    assert "Side by side" in (tmp_path / "demo" / "report.html").read_text()
    assert main(["demo", "--quiet"]) == 0
    (tmp_path / "demo" / "scene.toml").write_text(SCENE)
    assert main(["demo"]) == 1
    assert "was changed" in capsys.readouterr().err


def test_demo_ships_a_scene_that_is_right(tmp_path):
    from supple.cli.demo import _SCENE
    from supple.io import load_scene

    (tmp_path / "scene.toml").write_text(_SCENE)
    scene = load_scene(tmp_path / "scene.toml")
    assert set(scene.body.material) == {"belly", "ears", "everything else"}
    assert scene.skin is not None
    assert scene.damping == sp.Rayleigh(mass=0.1, stiffness=0.003)
