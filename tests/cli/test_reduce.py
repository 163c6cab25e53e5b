"""``supple reduce``"""

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.mesh import write_mesh


def test_help(capsys):
    assert main(["reduce", "--help"]) == 0
    text = capsys.readouterr().out
    assert "example:" in text
    assert "Exit codes" in text


@pytest.fixture
def post(tmp_path, monkeypatch):
    """A post that stands along z."""
    monkeypatch.chdir(tmp_path)
    mesh = sp.HexMesh.box((0.2, 0.2, 1.0), (2, 2, 10))
    mesh = mesh.with_region("top", mesh.cells_where(z=(0.5, None)))
    write_mesh(mesh, "post.msh")
    return mesh


def held(model):
    return np.flatnonzero(np.abs(model.vectors).max(axis=(0, 2)) == 0)


def test_defaults_hold_the_lowest_layer_and_swing_at_a_known_pitch(post, capsys):
    assert main(["reduce", "post.msh", "--modes", "3", "--size", "4"]) == 0
    told = capsys.readouterr().out
    model = sp.load_model("post.supple")
    assert model.size == 4
    np.testing.assert_array_equal(held(model), post.where(z=0))
    assert model.frequencies[0] == pytest.approx(1.5, rel=0.01)
    for words in ("99 vertices", "lowest layer along z", "1.5 Hz", "3: 1.5, 1.5", "post.supple"):
        assert words in told


def test_flat_body_is_held_by_its_ends(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mesh = sp.HexMesh.box((2.0, 0.2, 0.4), (10, 1, 2))
    write_mesh(mesh, "deck.veg")
    assert main(["reduce", "deck.veg", "--modes", "2", "--size", "2"]) == 0
    ends = np.concatenate([mesh.where(x=0), mesh.where(x=2)])
    np.testing.assert_array_equal(held(sp.load_model("deck.supple")), np.sort(ends))
    assert "both ends along x" in capsys.readouterr().out


def test_materials_of_the_file_are_taken_and_may_be_overridden(post, capsys):
    mesh = sp.HexMesh(
        post.vertices,
        post.cells,
        {"all": np.arange(post.n_cells)},
        {"all": {"young": 2e5, "poisson": 0.3, "density": 900.0}},
    )
    write_mesh(mesh, "stiff.veg")
    base = ["reduce", "stiff.veg", "--up", "z", "--modes", "2", "--size", "2", "-q"]
    assert main(base) == 0
    (group,) = sp.load_model("stiff.supple").groups
    assert (group.young, group.poisson, group.density) == (2e5, 0.3, 900.0)
    assert main([*base, "--young", "4e5", "--poisson", "0.2"]) == 0
    (group,) = sp.load_model("stiff.supple").groups
    assert (group.young, group.poisson, group.density) == (4e5, 0.2, 900.0)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["z=min"], {"z": 0}),
        (["z=max"], {"z": 1}),
        (["z=0.7:"], {"z": (0.7, None)}),
        (["x=0"], {"x": 0}),
    ],
)
def test_fix(post, words, where):
    fixes = [part for word in words for part in ("--fix", word)]
    assert main(["reduce", "post.msh", "--modes", "2", "--size", "2", "-q", *fixes]) == 0
    np.testing.assert_array_equal(held(sp.load_model("post.supple")), post.where(**where))


def test_fix_by_a_list_of_vertices_also_if_it_lies_beside(post, tmp_path):
    ids = post.where(z=1.0)
    (tmp_path / "post.bou").write_text(",".join(str(i + 1) for i in ids))
    base = ["reduce", "post.msh", "--modes", "2", "--size", "2", "-q"]
    for more in ([], ["--fix", "post.bou"]):
        assert main([*base, *more]) == 0
        np.testing.assert_array_equal(held(sp.load_model("post.supple")), ids)


def test_built_in_body_brings_material_support_and_skin(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--resolution", "30", "--modes", "2", "--size", "3", "--regions", "bowl,neck"]
    assert main(["reduce", "spoon", *words]) == 0
    model = sp.load_model("spoon.supple")
    assert set(model.regions) == {"bowl", "neck"}
    assert model.skin is not None
    assert model.groups[0].young == 4e7
    assert "far end" in capsys.readouterr().out


def test_surface_is_filled_and_drawn(post, capsys):
    sp.write_surface(post.boundary(), "post.obj")
    words = ["--voxels", "10", "--up", "z", "--modes", "2", "--size", "2", "-o", "a.supple"]
    assert main(["reduce", "post.obj", *words]) == 0
    model = sp.load_model("a.supple")
    assert model.mesh.volume == pytest.approx(post.volume)
    assert len(model.skin.vertices) == post.boundary().n_vertices
    assert "skin" in capsys.readouterr().out


def test_skin_is_given_separately(post):
    sp.write_surface(post.boundary(), "skin.obj")
    words = ["--modes", "2", "--size", "2", "--skin", "skin.obj", "-q"]
    assert main(["reduce", "post.msh", *words]) == 0
    assert sp.load_model("post.supple").skin is not None


def test_free_body(post, capsys):
    words = ["--free", "--modes", "3", "--size", "3"]
    assert main(["reduce", "post.msh", *words]) == 0
    assert sp.load_model("post.supple").floating is not None
    assert "the body is free" in capsys.readouterr().out


def test_other_materials_tell_their_error(post, capsys):
    words = ["--material", "stableneohookean", "--modes", "2", "--size", "2"]
    assert main(["reduce", "post.msh", *words]) == 0
    assert sp.load_model("post.supple").cubature is not None
    assert "% in training" in capsys.readouterr().out


def test_basis_of_modes_and_of_a_motion(post):
    assert main(["reduce", "post.msh", "--basis", "modes", "--modes", "3", "-q"]) == 0
    model = sp.load_model("post.supple")
    assert model.size == 3
    body = sp.Body(post, sp.StVK(young=1e5, poisson=0.3), fixed=post.where(z=0))
    motion = sp.Simulation(body, dt=0.01, gravity=(3, 1, 0)).run(0.04)
    motion.save("post.motion")
    assert main(["reduce", "post.msh", "--basis", "post.motion", "--size", "2", "-q"]) == 0
    assert sp.load_model("post.supple").size == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["lost.msh"], "built-in"),
        (["post.msh", "-o", "post.msh"], ".supple"),
        (["post.msh", "-o", "nowhere/a.supple"], "nowhere"),
        (["post.msh", "--fix", "roof"], "x=min"),
        (["post.msh", "--fix", "z=min", "--free"], "--free"),
        (["post.msh", "--regions", "top,botom"], "botom"),
        (["post.msh", "--voxels", "3"], "mesh already"),
        (["post.msh", "--resolution", "3"], "built-in"),
        (["spoon", "--edge", "0.1"], "--resolution"),
        (["post.msh", "--basis", "modes", "--modes", "2", "--size", "5"], "--modes 5"),
        (["post.msh", "--basis", "lost.motion"], "lost.motion"),
        (["post.msh", "--skin", "lost.obj"], "lost.obj"),
        (["post.msh", "--material", "wood"], "StableNeoHookean"),
    ],
)
def test_refuses_with_advice(post, tmp_path, capsys, arguments, word):
    assert main(["reduce", *arguments]) == 1
    message = capsys.readouterr().err
    assert word in message
    assert "Traceback" not in message
    assert not list(tmp_path.glob("*.supple"))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.msh", "--modes", "0"],
        ["a.msh", "--poisson", "0.5"],
        ["a.msh", "--basis", "fourier"],
        ["a.obj", "--edge", "0.1", "--voxels", "3"],
    ],
)
def test_wrong_usage_is_2(arguments, capsys):
    assert main(["reduce", *arguments]) == 2
    assert "usage: supple" in capsys.readouterr().err


def test_interrupted_leaves_the_file_as_it_was(post, tmp_path, monkeypatch, capsys):
    (tmp_path / "post.supple").write_bytes(b"before")

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stop)
    assert main(["reduce", "post.msh", "--modes", "2", "--size", "2"]) == 130
    assert "Interrupted" in capsys.readouterr().err
    assert (tmp_path / "post.supple").read_bytes() == b"before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["post.msh", "post.supple"]


def test_info_tells_what_is_in_a_model(post, tmp_path, capsys):
    main(["reduce", "post.msh", "--modes", "2", "--size", "3", "--regions", "top", "-q"])
    assert main(["info", "post.supple"]) == 0
    told = capsys.readouterr().out
    for words in ("a reduced model", "coordinates", "region top", "exact", "young"):
        assert words in told
    (tmp_path / "bad.supple").write_bytes(b"\0" * 64)
    assert main(["info", "bad.supple"]) == 1
    assert "bad.supple is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(("basis", "noted"), [("modal-derivatives", True), ("modes", False)])
def test_vibrations_that_the_model_lost_are_told(post, capsys, basis, noted):
    arguments = ["post.msh", "--modes", "10", "--size", "5", "--basis", basis]
    assert main(["reduce", *arguments]) == 0
    told = capsys.readouterr().out
    model = sp.load_model("post.supple")
    assert f"5: {model.frequencies[0]:.3g}, " in told
    assert ("too fast in the model" in told) == noted


def test_the_axis_that_points_up_goes_into_the_model(post):
    for words, up in (([], "z"), (["--up", "y"], "y")):
        arguments = ["post.msh", "--modes", "3", "--size", "4", "--free", *words]
        assert main(["reduce", *arguments]) == 0
        assert sp.load_model("post.supple").up == up
