"""``supple run`` and the rest for cloth: sheets, and woven yarn by yarn."""

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.workflows.running import Clock
from supple.yarns import YarnMotion

WOVEN = """
title = "Patch"
gravity = [0, 0, -9.81]
supports = [{ x = 0 }]
damping = { stretch = 0.01 }
solver = { linear = "Cholesky" }
time = { duration = 0.02, dt = 1e-3, every = 4 }
output = { formats = ["glb", "pvd"] }
[woven]
warps = 5
wefts = 5
spacing = 1e-3
warp = { radius = 2e-4, linear_density = 5e-5, stretch = 0.2, bending = 1e-9 }
"""
SHEET = """
title = "Sheet"
gravity = [0, 0, -9.81]
mesh.grid = { size = [1.0, 0.5], cells = [4, 2] }
material = { model = "IsotropicCloth", young = 1e5, thickness = 1e-3, areal_density = 0.2 }
supports = [{ x = 0 }]
damping = { model = "cloth_strain_rate", matched = 0.01 }
solver = { linear = "Cholesky" }
time = { duration = 0.1, fps = 60 }
"""
FALLING = 'obstacles = [{ shape = "plane", offset = -6e-4 }]' + WOVEN
SCENES = {"woven": WOVEN, "falling": FALLING, "sheet": SHEET}


@pytest.fixture
def folder(tmp_path):
    for name, text in SCENES.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def test_yarns_leave_what_solids_leave(folder, tells):
    tells(["run", "woven.toml"], "Patch: YarnMesh(25 crossings, 10 yarns), 0.02 s")
    made = {path.name for path in (folder / "woven").iterdir()}
    exported = {"motion.glb", "motion.pvd", "motion_frames", "report.html"}
    assert made == {"motion.motion", "motion.motion.checkpoint", *exported}
    motion = sp.read_motion(folder / "woven" / "motion.motion")
    assert isinstance(motion, YarnMotion)
    assert len(motion) == 6
    page = (folder / "woven" / "report.html").read_text(encoding="utf-8")
    assert "5 warps, 5 wefts, 25 crossings" in page
    assert 'id="motion"' in page
    assert "data:image/png" in page


def test_sheets_leave_what_solids_leave(folder, tells):
    tells(["run", "sheet.toml"], "Sheet: SheetMesh(15 vertices, 16 triangles)")
    page = (folder / "sheet" / "report.html").read_text(encoding="utf-8")
    assert "IsotropicCloth: thickness 0.001 m, areal density 0.2 kg/m²" in page
    assert "ClothStrainRate: matched 0.01 s" in page


@pytest.mark.parametrize("name", SCENES)
def test_a_run_goes_on_where_it_was_interrupted(folder, name, monkeypatch, capsys):
    assert main(["run", f"{name}.toml", "-o", "whole", "-q"]) == 0
    call = Clock.__call__

    def stop(self, done, total, what):
        call(self, done, total, what)
        if done > total // 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Clock, "__call__", stop)
        assert main(["run", f"{name}.toml", "-o", "parts", "-q"]) == 130
    assert "--resume" in capsys.readouterr().err
    assert (folder / "parts" / "motion.motion.checkpoint").exists()
    assert main(["run", f"{name}.toml", "-o", "parts", "--resume", "-q"]) == 0
    whole, parts = (folder / each / "motion.motion" for each in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_info_knows_cloth(folder, info, tells):
    facts = info("woven.toml")[0]["facts"]
    assert facts["Cloth"] == "5 warps, 5 wefts, 25 crossings"
    assert facts["Held"] == "5 crossings"
    assert facts["Damping"] == "YarnDamping: stretch 0.01 s"
    assert info("sheet.toml")[0]["facts"]["Mesh"] == "15 vertices, 16 triangles"
    assert main(["run", "woven.toml", "-q"]) == 0
    tells(["info", "woven/motion.motion"], "a motion of YarnMesh(25 crossings, 10 yarns)")


@pytest.mark.parametrize("ending", ["glb", "usda", "pvd"])
def test_convert_writes_yarns(folder, ending):
    if ending == "usda":
        pytest.importorskip("pxr")
    assert main(["run", "woven.toml", "-q"]) == 0
    assert main(["convert", "woven/motion.motion", f"out.{ending}", "-q"]) == 0
    assert (folder / f"out.{ending}").stat().st_size > 100


def test_options_change_the_damping_of_cloth(folder, refused):
    def motion(*words):
        assert main(["run", "woven.toml", "-q", "--overwrite", *words]) == 0
        return sp.read_motion(folder / "woven" / "motion.motion")

    damped = motion("--damping", "YarnDamping:stretch=0.1,bending=0.1")
    assert damped.dissipated[-1] > motion().dissipated[-1] > 0
    assert not motion("--damping", "none").dissipated.any()
    assert motion("--floor", "-0.0005").positions[..., 2].min() > -5e-4
    refused("run woven.toml -q --damping rayleigh:mass=1", "one of YarnDamping, YarnRayleigh")
    words = ["--floor", "-0.05", "--damping", "cloth-strain-rate:matched=0.1"]
    assert main(["run", "sheet.toml", "-q", *words]) == 0
    still = sp.read_motion(folder / "sheet" / "motion.motion")
    assert still.positions[..., 2].min() > -0.0501
    assert np.ptp(still.positions[..., 2]) > 0.01


@pytest.mark.parametrize("name", SCENES)
def test_dampings_are_designed_for_solids(folder, name, refused):
    refused(["design", f"{name}.toml"], "dampings are designed for solids")
    assert not (folder / f"{name}_design").exists()
