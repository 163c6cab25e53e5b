"""Models of other packages: each registered once, and known everywhere."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from tests.reduction.conftest import complete_basis
from tests.refusals import refused

import supple as sp
from supple.cli import main
from supple.contact import OBSTACLES
from supple.core.registry import Registry, load_plugin
from supple.damping import DAMPINGS
from supple.integrators import INTEGRATORS
from supple.io.export import EXPORTERS
from supple.io.scene.scene import load_scene
from supple.materials import MATERIALS

REGISTRIES = (DAMPINGS, MATERIALS, INTEGRATORS, OBSTACLES, EXPORTERS)
SCENE = """
gravity = [0, 0, 9.81]
mesh.box = { size = [0.4, 0.1, 0.1], cells = [3, 1, 1] }
material = { model = "ToyLinear", young = 1e5, poisson = 0.3 }
damping = { model = "toy_drag", strength = 0.05 }
integrator = { name = "ToyEuler", longer = 0.1 }
obstacles = [{ shape = "toy_ceiling", corner = [0, 0, 0.11] }]
time = { duration = 0.1, fps = 60 }
output = { formats = ["toy"], report = false }
"""


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """The plug-in in a module of its own, which is known to nobody before and after."""
    path = tmp_path / "supple_toys.py"
    path.write_text((Path(__file__).parent / "plugin_toys.py").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    before = [set(registry) for registry in REGISTRIES]
    yield path
    sys.modules.pop("supple_toys", None)
    for registry, known in zip(REGISTRIES, before, strict=True):
        for thing in set(registry) - known:
            registry.unregister(thing)


def test_each_toy_works_in_python(toys):
    load_plugin("supple_toys.py")
    from supple_toys import ToyCeiling, ToyDrag, ToyEuler, ToyLinear

    assert ToyDrag in DAMPINGS
    mesh = sp.TetMesh.box((0.4, 0.1, 0.1), (3, 1, 1))
    body = sp.Body(mesh, ToyLinear(young=1e5, poisson=0.3))
    sim = sp.Simulation(
        body,
        damping=ToyDrag(strength=0.05),
        integrator=ToyEuler(longer=0.1),
        obstacles=[ToyCeiling(corner=(0, 0, 0.11))],
        gravity=(0, 0, 9.81),
        dt=1 / 60,
    )
    motion = sim.run(0.1)
    assert motion.positions[..., 2].max() < 0.11 + 1e-4
    assert motion.dissipated[-1] > 0
    sp.export_motion(motion, "out.toy")
    assert json.loads(Path("out.toy").read_text()) == motion.times.tolist()


def test_damping_and_integrator_work_in_reduced_space(toys):
    load_plugin("supple_toys.py")
    from supple_toys import ToyDrag, ToyEuler

    mesh = sp.TetMesh.box((0.4, 0.1, 0.1), (2, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=mesh.where(x=0))
    basis = complete_basis(body)
    options = {"damping": ToyDrag(strength=0.05), "integrator": ToyEuler(longer=0.1), "dt": 1e-2}
    live = sp.reduce(body, basis).simulation(**options, gravity=(0, 0, -9.81))
    full = sp.Simulation(body, **options, gravity=(0, 0, -9.81), solver=sp.Newton(tolerance=1e-10))
    for _ in range(5):
        live.step()
        full.step()
    moved = np.abs(full.state.u).max()
    np.testing.assert_allclose(live.displacements(), full.state.u, atol=1e-6 * moved)
    undamped = sp.Simulation(body, **options | {"damping": None}, gravity=(0, 0, -9.81))
    undamped.run(0.05)
    assert np.abs(undamped.state.u - full.state.u).max() > 1e-3 * moved


def test_scenes_and_damping_files_know_them(toys, tmp_path):
    load_plugin("supple_toys.py")
    Path("scene.toml").write_text(SCENE)
    scene = load_scene("scene.toml")
    names = [type(each).__name__ for each in (scene.damping, scene.integrator, *scene.obstacles)]
    assert names == ["ToyDrag", "ToyEuler", "ToyCeiling"]
    assert type(scene.body.material).__name__ == "ToyLinear"
    assert scene.formats == ("toy",)
    sp.save_damping(scene.damping, "drag.toml")
    assert sp.load_damping("drag.toml") == scene.damping
    Path("scene.toml").write_text(SCENE.replace("strength = 0.05", "strength = -1"))
    refused(r"damping.strength: got -1.*kg/s.*at least 0", load_scene, "scene.toml")


@pytest.mark.parametrize("how", ["option", "variable"])
def test_the_command_line_takes_them(toys, monkeypatch, capsys, how):
    Path("scene.toml").write_text(SCENE)
    assert main(["run", "scene.toml", "-q"]) == 1  # nobody has told of the plug-in
    assert "material.model" in capsys.readouterr().err
    if how == "variable":
        monkeypatch.setenv("SUPPLE_PLUGINS", "supple_toys.py")
    plugin = [] if how == "variable" else ["--plugin", "supple_toys.py"]
    more = ["--damping", "toy-drag:strength=0.5"]
    assert main(["run", "scene.toml", "-q", *plugin, *more]) == 0
    assert len(json.loads(Path("scene/motion.toy").read_text())) == 7


def test_a_broken_plugin_is_named(toys, capsys):
    Path("broken.py").write_text("import nothing_of_that_name\n")
    assert main(["info", "scene.toml", "--plugin", "broken.py"]) == 1
    assert "plug-in broken.py cannot be loaded" in capsys.readouterr().err
    refused("plug-in nowhere_at_all cannot be loaded", load_plugin, "nowhere_at_all")


# -- entry points and names ------------------------------------------------------------------


class Thing:
    pass


def points(monkeypatch, **values):
    made = [EntryPoint(name, value, "tests.things") for name, value in values.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: made)
    return Registry("thing", "tests.things", base=Thing)


def test_entry_points_are_loaded_when_first_needed(monkeypatch, toys):
    Path("things_of_mine.py").write_text(
        "from tests.core.test_plugins import Thing\nclass Jelly(Thing): pass\n"
    )
    monkeypatch.syspath_prepend(".")
    registry = points(monkeypatch, jelly="things_of_mine:Jelly")
    assert "things_of_mine" not in sys.modules
    assert registry.names == ("jelly",)
    assert registry.find("JELLY").__name__ == "Jelly"


def test_a_broken_entry_point_leaves_the_others(monkeypatch):
    registry = points(monkeypatch, jelly="no_such_module:Jelly")
    registry.register(Thing)
    with pytest.warns(UserWarning, match="'jelly'.*cannot be loaded"):
        assert registry.names == ("Thing",)
    assert registry.find("thing") is Thing
    refused(r"'jelly'.*no_such_module.*cannot be loaded", registry.find, "jelly")


def test_names_are_found_in_any_spelling_and_taken_once(monkeypatch):
    registry = points(monkeypatch)

    @registry.register(name="soft_jelly", formerly=["pudding"])
    class Jelly(Thing):
        pass

    assert registry.find("SoftJelly") is registry.find("soft-jelly") is Jelly
    with pytest.warns(FutureWarning, match="pudding.*soft_jelly"):
        assert registry.find("pudding") is Jelly
    refused("registered already", registry.register, Thing, name="SOFT JELLY")
    refused("is no thing", registry.register, str)
    refused(r"no thing 'soft_jely': one of soft_jelly; did you", registry.find, "soft_jely")
    registry.unregister(Jelly)
    assert not len(registry)
