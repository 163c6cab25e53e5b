"""``supple match``"""

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.cli.failures import MISSED

TWIN = """
gravity = [0, 0, -9.81]
[mesh]
box = { size = [0.2, 0.04, 0.04], cells = [6, 1, 1], bricks = true }
[mesh.regions.end]
x = [0.1, inf]
[material]
model = "StVK"
young = 4e5
poisson = 0.3
density = 1000
[materials.end]
model = "StVK"
young = 4e5
poisson = 0.3
density = 1000
[[supports]]
x = 0
[time]
duration = 0.1
fps = 60
"""
SHAPES = 'scene = "twin.toml"\n[[shapes]]\nfile = "hangs.csv"\n'
PULLED = '[[shapes]]\nfile = "pulled.csv"\nforce = [0, 0.1, -0.2]\nat = { x = 0.2 }\n'
RECORDING = '[[recordings]]\nfile = "let_go.csv"\nat = { x = 0.2 }\ndirection = [0, 0, 1]\n'
GRAVITY = (0, 0, -9.81)


@pytest.fixture
def true(tmp_path):
    """The object, and in the folder what was measured of it."""
    mesh = sp.HexMesh.box((0.2, 0.04, 0.04), (6, 1, 1))
    mesh = mesh.with_region("root", mesh.cells_where(x=(None, 0.1)))
    mesh = mesh.with_region("end", mesh.cells_where(x=(0.1, None)))
    each = {r: sp.StVK(young=E, poisson=0.3) for r, E in (("root", 3e5), ("end", 1e5))}
    body = sp.Body(mesh, each, fixed=mesh.where(x=0))
    tip = mesh.where(x=0.2)
    pull = body.point_force(tip, np.array([0, 0.1, -0.2]) / len(tip))
    X = mesh.vertices[::3]
    for name, load in (("hangs", None), ("pulled", pull)):
        u = sp.static_shape(body, load, gravity=GRAVITY)
        table = np.hstack([X, X + u[::3]])
        head = "rest_x,rest_y,rest_z,x,y,z"
        np.savetxt(f"{name}.csv", table, delimiter=",", header=head, comments="")
    (tmp_path / "twin.toml").write_text(TWIN)
    return body


def test_match_finds_material_and_damping(true, tmp_path, tells):
    """What is written goes into the scene, and the scene does what was measured."""
    tip = true.mesh.where(x=0.2)
    sim = sp.Simulation(
        true, damping=sp.Rayleigh(stiffness=0.2), integrator=sp.Bathe(), dt=0.01, gravity=GRAVITY
    )
    push = true.point_force(tip, (0, 0, 0.3 / len(tip)))
    sim.state.u = sp.static_shape(true, push, gravity=GRAVITY)
    ring = sp.RingDown.from_motion(sim.run(1.5), tip, (0, 0, 1))
    np.savetxt("let_go.csv", np.stack([ring.times, ring.displacements], axis=1))
    (tmp_path / "all.toml").write_text(f"points = 2\n{SHAPES}{PULLED}{RECORDING}")
    tells("match all.toml", "young of end = 100000 ±", "creep back", "damping.toml")

    tables = (tmp_path / "all_match" / "material.toml").read_text()
    cut = TWIN.index("[material]"), TWIN.index("[[supports]]")
    damping = '[damping]\nfile = "all_match/damping.toml"\n'
    (tmp_path / "again.toml").write_text(TWIN[: cut[0]] + tables + TWIN[cut[1] :] + damping)
    from supple.io.scene.scene import load_scene

    scene = load_scene("again.toml")
    assert scene.body.material["end"].young == pytest.approx(1e5, rel=1e-3)
    assert scene.body.material["everything else"].young == pytest.approx(3e5, rel=1e-3)
    rest = sp.static_shape(true, gravity=GRAVITY)
    np.testing.assert_allclose(scene.damping.about, rest, atol=1e-4)
    assert scene.damping.base.stiffness == pytest.approx(0.2, rel=0.05)
    assert main(["match", "all.toml", "-q"]) == 1  # what is there stays


def test_what_is_not_determined_is_exit_code_3(true, tmp_path, capsys):
    table = np.genfromtxt("hangs.csv", delimiter=",", skip_header=1)
    near = table[table[:, 0] < 0.05]
    head = "rest_x,rest_y,rest_z,x,y,z"
    np.savetxt("near.csv", near, delimiter=",", header=head, comments="")
    text = 'scene = "twin.toml"\nnoise = 1e-3\n[[shapes]]\nfile = "near.csv"\n'
    (tmp_path / "near.toml").write_text(text)
    assert main(["match", "near.toml"]) == MISSED
    told = capsys.readouterr()
    assert "young of end is not determined by these shapes" in told.err
    assert "not determined" in told.out


def test_what_cannot_be_read_is_told(true, tmp_path, refused):
    def given(text):
        (tmp_path / "bad.toml").write_text(text)
        return "match bad.toml"

    refused(given('scene = "twin.toml"'), "no [[shapes]] and no [[recordings]]")
    refused(given("[[shapes]]\nfil = 3\n"), "shapes[0].fil", "did you mean file?", "scene: is miss")
    refused(given("scene = "), "bad.toml is not TOML")
    (tmp_path / "few.csv").write_text("rest_x,rest_y,rest_z,x,y\n0,0,0,0,0\n")
    refused(given(SHAPES.replace("hangs", "few")), "few.csv has no column z")
    (tmp_path / "odd.csv").write_text("rest_x,rest_y,rest_z,x,y,z\n0,0,0,0,0,high\n")
    refused(given(SHAPES.replace("hangs", "odd")), "odd.csv", "leave empty what was not seen")
