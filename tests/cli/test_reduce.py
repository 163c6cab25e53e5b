"""``supple reduce``"""

import warnings

import numpy as np
import pytest
from tests.cli.helpers import interrupt

import supple as sp
from supple.cli import main
from supple.mesh import write_mesh


@pytest.fixture
def post():
    """A post that stands along z."""
    mesh = sp.HexMesh.box((0.2, 0.2, 1.0), (2, 2, 10))
    mesh = mesh.with_region("top", mesh.cells_where(z=(0.5, None)))
    write_mesh(mesh, "post.msh")
    return mesh


def held(model):
    return np.flatnonzero(np.abs(model.vectors).max(axis=(0, 2)) == 0)


@pytest.fixture
def reduced(tells):
    """The model that a command makes, of few modes and coordinates, and tells of in these words."""

    def make(words, *told, modes=2, size=2, name="post"):
        tells(f"reduce {words} --modes {modes} --size {size}", *told)
        return sp.load_model(f"{name}.supple")

    return make


def test_defaults_hold_the_lowest_layer_and_swing_at_a_known_pitch(post, reduced):
    words = "99 vertices", "lowest layer along z", "1.5 Hz", "3: 1.5, 1.5", "post.supple"
    model = reduced("post.msh", *words, modes=3, size=4)
    assert model.size == 4
    np.testing.assert_array_equal(held(model), post.where(z=0))
    assert model.frequencies[0] == pytest.approx(1.5, rel=0.01)


def test_flat_body_is_held_by_its_ends(reduced):
    mesh = sp.HexMesh.box((2.0, 0.2, 0.4), (10, 1, 2))
    write_mesh(mesh, "deck.veg")
    model = reduced("deck.veg", "both ends along x", name="deck")
    ends = np.concatenate([mesh.where(x=0), mesh.where(x=2)])
    np.testing.assert_array_equal(held(model), np.sort(ends))


def test_materials_of_the_file_are_taken_and_may_be_overridden(post, reduced, capsys):
    properties = {"all": {"young": 2e5, "poisson": 0.3, "density": 900.0}}
    regions = {"all": np.arange(post.n_cells)}
    write_mesh(sp.HexMesh(post.vertices, post.cells, regions, properties), "stiff.veg")
    for words, young, poisson in (("", 2e5, 0.3), (" --young 4e5 --poisson 0.2", 4e5, 0.2)):
        (group,) = reduced(f"stiff.veg --up z -q{words}", name="stiff").groups
        assert (group.young, group.poisson, group.density) == (young, poisson, 900.0)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "where"),
    [("z=min", {"z": 0}), ("z=max", {"z": 1}), ("z=0.7:", {"z": (0.7, None)}), ("x=0", {"x": 0})],
)
def test_fix(post, reduced, words, where):
    np.testing.assert_array_equal(held(reduced(f"post.msh --fix {words}")), post.where(**where))


def test_fix_by_a_list_of_vertices_also_if_it_lies_beside(post, reduced, tmp_path):
    ids = post.where(z=1.0)
    (tmp_path / "post.bou").write_text(",".join(str(i + 1) for i in ids))
    for more in ("", " --fix post.bou"):
        np.testing.assert_array_equal(held(reduced(f"post.msh{more}")), ids)


def test_built_in_body_brings_material_support_and_skin(reduced):
    words = "spoon --resolution 30 --regions bowl,neck"
    model = reduced(words, "far end", size=3, name="spoon")
    assert set(model.regions) == {"bowl", "neck"}
    assert model.skin is not None
    assert model.groups[0].young == 4e7


def test_surface_is_filled_and_drawn(post, reduced):
    sp.write_surface(post.boundary(), "post.obj")
    model = reduced("post.obj --voxels 10 --up z -o a.supple", "skin", name="a")
    assert model.mesh.volume == pytest.approx(post.volume)
    assert len(model.skin.vertices) == post.boundary().n_vertices


def test_skin_is_given_separately(post, reduced):
    sp.write_surface(post.boundary(), "skin.obj")
    assert reduced("post.msh --skin skin.obj").skin is not None


def test_free_body(post, reduced):
    assert reduced("post.msh --free", "the body is free", modes=3, size=3).floating is not None


def test_other_materials_tell_their_error(post, reduced):
    model = reduced("post.msh --material stableneohookean", "% in training")
    assert model.cubature is not None


def test_basis_of_modes_and_of_a_motion(post, reduced):
    assert main(["reduce", "post.msh", "--basis", "modes", "--modes", "3", "-q"]) == 0
    assert sp.load_model("post.supple").size == 3
    body = sp.Body(post, sp.StVK(young=1e5, poisson=0.3), fixed=post.where(z=0))
    sp.Simulation(body, dt=0.01, gravity=(3, 1, 0)).run(0.04).save("post.motion")
    assert reduced("post.msh --basis post.motion").size == 2


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
def test_refuses_with_advice(post, tmp_path, refused, arguments, word):
    refused(["reduce", *arguments], word)
    assert not list(tmp_path.glob("*.supple"))


def test_interrupted_leaves_the_file_as_it_was(post, tmp_path, monkeypatch, refused):
    (tmp_path / "post.supple").write_bytes(b"before")
    monkeypatch.setattr("os.fsync", interrupt)
    refused("reduce post.msh --modes 2 --size 2", "Interrupted", code=130)
    assert (tmp_path / "post.supple").read_bytes() == b"before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["post.msh", "post.supple"]


def test_info_tells_what_is_in_a_model(post, tmp_path, refused, tells):
    main(["reduce", "post.msh", "--modes", "2", "--size", "3", "--regions", "top", "-q"])
    tells(["info", "post.supple"], "a reduced model", "coordinates", "region top", "exact", "young")
    (tmp_path / "bad.supple").write_bytes(b"\0" * 64)
    refused(["info", "bad.supple"], "bad.supple is damaged")


@pytest.mark.parametrize(("basis", "noted"), [("modal-derivatives", True), ("modes", False)])
def test_vibrations_that_the_model_lost_are_told(post, basis, noted, capsys, info):
    capsys.readouterr()
    assert main(f"reduce post.msh --modes 10 --size 5 --basis {basis}".split()) == 0
    told = capsys.readouterr()
    model = sp.load_model("post.supple")
    assert f"5: {model.frequencies[0]:.3g}, " in told.out
    assert ("or take a larger --size" in told.err) == noted
    words = "the 5 slowest are 0, 0, " if noted else "the 5 slowest are those of the body"
    found, text = info("post.supple")
    assert words in told.out
    assert words in text
    assert ("vibration 3 of the body is at" in text) == noted
    np.testing.assert_array_equal(found["frequency errors"], model.frequency_errors)


def test_locking_is_told_with_the_way_out(post, capsys, info):
    capsys.readouterr()
    assert main(["reduce", "post.msh", "--modes", "5", "--basis", "modes"]) == 0
    told = capsys.readouterr()
    found, text = info("post.supple")
    assert found["locking"] == sp.load_model("post.supple").locking > 0.05
    assert "the basis locks: " in told.err
    assert "a larger --size; motion_error tells" in told.err
    assert "a larger size; motion_error tells" in text
    words = found["against the body"]["Large swings"]
    assert words in told.out
    assert words in text


def test_a_sketch_draws_the_ends_to_all_sides(post, reduced, refused):
    model = reduced("post.msh --basis sketch", "10 vectors: sketch", modes=6, size=10)
    slow = sp.load_model("post.supple").frequency_errors[:2]
    assert np.abs(slow).max() < 1e-6
    live = model.simulation(damping=sp.Rayleigh(mass=1.0), dt=1 / 100)
    live.run_steps(100, force=model.pull(int(post.vertices.sum(axis=1).argmax()), (2.0, 0, 0)))
    assert np.abs(live.displacements()).max() > 1e-3
    refused("reduce post.msh --basis sketch --free", "a sketch needs a body that is held")


def test_the_axis_that_points_up_goes_into_the_model(post, reduced):
    for words, up in (("", "z"), (" --up y", "y")):
        assert reduced(f"post.msh --free{words}", modes=3, size=4).up == up


def test_what_was_warned_of_is_told_of_work_that_fails(refused, monkeypatch):
    def fails(*_, **__):
        warnings.warn("the mesh was mended", UserWarning, stacklevel=2)
        raise sp.InputError("there is nothing to reduce")

    monkeypatch.setattr("supple.cli.reduce.reduce", fails)
    refused("reduce beam", "note: the mesh was mended", "supple: there is nothing to reduce")
