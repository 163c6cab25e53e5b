"""``supple run``: what it writes, how it stops and goes on."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.helpers import SCENE, raising

import supple as sp
from supple.cli import main


def test_run_writes_motion_export_and_report(scene, tells):
    out = tells("run bar.toml", "report.html")
    motion = sp.read_motion(scene / "bar" / "motion.motion")
    assert len(motion) == 7
    assert motion.times[-1] == pytest.approx(0.1)
    assert (scene / "bar" / "motion.glb").stat().st_size > 1000
    page = (scene / "bar" / "report.html").read_text()
    assert "<svg" in page
    (line,) = [x for x in out.splitlines() if "motion.glb" in x]
    assert re.search(r"motion\.glb: \d+ morph targets; vertices are off by \S+ mm at most", line)
    assert line.partition(": ")[2] in page


def test_run_quiet_says_nothing_and_obeys_its_options(scene, capsys):
    arguments = ["run", "bar.toml", "--quiet", "--duration", "0.05", "--threads", "1"]
    try:
        assert main([*arguments, "--output", "a/b"]) == 0
    finally:
        sp.set_thread_count(0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert len(sp.read_motion("a/b/motion.motion")) == 4


def test_run_protects_an_earlier_run(scene, refused):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    refused(["run", "bar.toml", "--quiet"], "--overwrite")
    assert main(["run", "bar.toml", "--overwrite", "--duration", "0.05"]) == 0
    assert len(sp.read_motion("bar/motion.motion")) == 4
    refused(["run", "bar.toml", "--overwrite", "--resume"], "give one")


def test_finished_run_is_extended(scene, refused, tells):
    main(["run", "bar.toml", "-q", "-o", "whole", "--duration", "0.2"])
    assert main(["run", "bar.toml", "--quiet"]) == 0
    tells(["run", "bar.toml", "--resume", "--duration", "0.2"], "6 steps")
    whole, extended = (sp.read_motion(f"{name}/motion.motion") for name in ("whole", "bar"))
    assert len(extended) == 13
    np.testing.assert_allclose(extended.displacements, whole.displacements, atol=1e-9)
    os.remove("bar/motion.motion.checkpoint")
    refused("run bar.toml --resume --duration 0.3", "finished at 0.2 s", "--overwrite")


def test_finished_run_is_exported_anew_without_simulating(scene, monkeypatch, refused, tells):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    before = (scene / "bar" / "motion.motion").read_bytes()
    (scene / "bar.toml").write_text(SCENE + "[output]\nreport = false\n")  # moves as before
    monkeypatch.setattr(sp.Simulation, "step", raising(AssertionError("simulated again")))
    words = ["run", "bar.toml", "--resume", "--formats", "usda,pvd", "--fps", "30"]
    tells(words, "finished before, at 0.1 s; 7 frames")
    text = (scene / "bar" / "motion.usda").read_text()
    assert "timeCodesPerSecond = 30" in text
    assert "endTimeCode = 3" in text
    assert (scene / "bar" / "motion.pvd").exists()
    assert (scene / "bar" / "motion.motion").read_bytes() == before
    refused("run bar.toml --resume --formats fbx", "--formats 'fbx': a motion becomes one of glb")


def test_reports_only_where_wanted(scene):
    assert main(["run", "bar.toml", "--quiet", "--no-report", "--formats", ""]) == 0
    made = sorted(path.name for path in (scene / "bar").iterdir())
    assert made == ["motion.motion", "motion.motion.checkpoint"]


def test_several_scenes_and_folders_end_in_a_summary(scene, capsys, refused):
    (scene / "more").mkdir()
    (scene / "more" / "a.toml").write_text(SCENE.replace("young", "yuong"))
    (scene / "more" / "b.toml").write_text(SCENE)
    sp.save_damping(sp.Rayleigh(mass=1.0), scene / "more" / "damping.toml")
    words = ["--no-report", "--formats", "", "--duration", "0.02"]
    assert main(["run", "more", "bar.toml", "-o", "out", *words]) == 1
    shown = capsys.readouterr()
    assert "did you mean young" in shown.err
    assert "2 of 3 files done" in shown.out
    assert re.search(r"more/a\.toml +failed", shown.out)
    assert re.search(r"bar\.toml +done", shown.out)
    assert "damping.toml" not in shown.out
    for name in ("b", "bar"):
        assert (scene / "out" / name / "motion.motion").exists()
    refused("run more/b.toml more/../more/b.toml -q", "several scenes are called b")
    assert main(["run", "more/b.toml", "bar.toml", "-q", *words]) == 0
    assert len(sp.read_motion("b/motion.motion")) == 2


def test_resume_refuses_another_scene_and_shows_the_change(scene, refused):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    (scene / "bar.toml").write_text("# only a comment\n" + SCENE)
    assert main(["run", "bar.toml", "--resume", "--quiet"]) == 0
    (scene / "bar.toml").write_text(SCENE.replace("young = 1e5", "young = 2e5"))
    message = refused("run bar.toml --resume", "2e5", "--overwrite")
    assert "- young = 1e5" in message.replace("  -", "- ")


def _until(condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def _heed_interrupts():
    """Jobs in the background are started to ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
        preexec_fn=_heed_interrupts,
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
def test_bad_scene_is_1_without_a_traceback(scene, refused, old, new, words):
    (scene / "bar.toml").write_text(SCENE.replace(old, new))
    refused(["run", "bar.toml"], "bar.toml", *words)


def test_failed_step_is_1_and_tells_what_was_kept(scene, capsys, refused):
    wild = SCENE.replace('"StVK"', '"NeoHookean"').replace("fps = 60", "fps = 5")
    wild += "[solver]\nmax_iterations = 1\n[[loads]]\nx = 1\npoint = [0, 0, 1e7]\n"
    (scene / "bar.toml").write_text(wild.replace("duration = 0.1", "duration = 2"))
    refused(["run", "bar.toml"], "failed", "kept in", "[time] substeps = 4")
    assert main(["run", "bar.toml", "--overwrite", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_missing_scene_is_1_and_module_runs(tmp_path):
    command = [sys.executable, "-m", "supple.cli", "run", "nothing.toml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "no scene file nothing.toml" in done.stderr
    assert not (tmp_path / "nothing").exists()
