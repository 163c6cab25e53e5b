"""Pages that run a reduced model, and the stepper in them."""

import json
import re
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from tests.io.pages import data_of, decoded, in_browser, in_node, needs_browser, needs_node, read
from tests.refusals import refused

import supple as sp
from supple.io.play import page as pages
from supple.io.play.page import Play, Record, play_page, write_play_page
from supple.reduction.errors.locking import locking_text

STEPPER = files("supple.web").joinpath("play/stepper.js")


@cache
def bar(size=7, fixed=True, material=sp.StVK, regions=("left",)):
    """A reduced bar of two parts; an odd size leaves a row over in the blocks of the stepper."""
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    mesh = mesh.with_region("left", mesh.cells_where(x=(None, 0.5)))
    body = sp.Body(
        mesh,
        material(young=1e5, poisson=0.3, density=1000),
        fixed=mesh.where(x=0) if fixed else None,
    )
    basis = sp.modal_derivative_basis(body, modes=3, size=size)
    return sp.reduce(body, basis, regions=regions)


def start(model, **options):
    defaults = {"title": "A <bar> & more", "poke": np.zeros(model.size), "compliance": 1e-3}
    return Play(**(defaults | options))


def page_data(model, **options):
    return data_of(play_page(model, start(model, **options)), "model")


def with_stepper(code, model, **more):
    """The JSON that ``code`` prints; ``d`` is the model and ``more``, ``s`` a stepper of it."""
    energies = [group.energy.at(*group.lame).tolist() for group in model.groups]
    known = {"size": model.size, "mass": model.mass.ravel().tolist(), "groups": energies, **more}
    whole = f"""
import {{ readFileSync }} from "node:fs";
import {{ Stepper }} from "{STEPPER.as_uri()}";
const d = JSON.parse(readFileSync(0, "utf8")), array = x => Float64Array.from(x);
const s = new Stepper({{size: d.size, mass: array(d.mass), groups: d.groups.map(array)}});
const show = x => console.log(JSON.stringify(x));
{code}"""
    return in_node(whole, json.dumps(known))


def test_page_tells_what_is_known_of_the_error():
    body = bar().body
    shapes = sp.vibration_modes(body, 3).shapes
    good = play_page(bar(9), start(bar(9)))
    assert '<dl id="known" class="near">' in good
    assert "the 6 slowest are" in good
    with pytest.warns(sp.ModelWarning, match="locks"):
        stiff = sp.reduce(body, sp.picked_basis(body, shapes))
    page = play_page(stiff, start(stiff))
    assert '<dl id="known" class="off">' in page
    assert f"{locking_text(stiff.locking)}</dd>" in page
    unknown = sp.reduce(body, sp.picked_basis(body, shapes), compare=False)
    assert 'id="known"' not in play_page(unknown, start(unknown))


# -- the stepper ---------------------------------------------------------------------------------


@needs_node
@pytest.mark.parametrize("size", [1, 6, 7])
def test_stepper_has_the_force_and_stiffness_of_the_model(size):
    model = bar(size)
    q = 0.3 * np.random.default_rng(1).normal(size=size)
    code = "s.energy.evaluate(array(d.q)); show([[...s.energy.R], [...s.energy.K]]);"
    found = with_stepper(code, model, q=q.tolist())
    R, K = model.force(q), model.stiffness(q)
    np.testing.assert_allclose(found[0], R, atol=1e-12 * np.abs(R).max())
    np.testing.assert_allclose(np.reshape(found[1], K.shape), K, atol=1e-12 * np.abs(K).max())


@needs_node
@pytest.mark.parametrize("iterations", [1, 20])
def test_stepper_moves_like_the_compiled_one(iterations):
    model = bar()
    force = model.pull(model.mesh.n_vertices - 1, (1.0, 20.0, -60.0))
    simulation = sp.ReducedSimulation(
        model,
        damping=sp.Rayleigh(mass=0.2, stiffness=0.004, at=sp.StiffnessAt.REST),
        dt=2e-3,
        solver=sp.DenseNewton(iterations=1) if iterations == 1 else sp.DenseNewton(),
    )
    simulation.run_steps(200, force=force)
    tip = np.abs(simulation.displacements()).max()
    assert tip > 0.1  # far beyond what is linear
    found = with_stepper(
        "s.alpha = .2; s.beta = .004; s.iterations = d.iterations; let done = 0;"
        "for (let i = 0; i < 200; i++) done += s.step(2e-3, array(d.force));"
        "show([done, [...s.q], [...s.v]]);",
        model,
        force=force.tolist(),
        iterations=iterations,
    )
    assert found[0] == 200
    np.testing.assert_allclose(found[1], simulation.q, atol=1e-9 * np.abs(simulation.q).max())
    np.testing.assert_allclose(found[2], simulation.v, atol=1e-9 * np.abs(simulation.v).max())


@needs_node
def test_stiffness_of_a_region_is_the_edit_of_the_model():
    model = bar()
    factors = [1.5 * (3.0 if "left" in group.regions else 1.0) for group in model.groups]
    edited = model.edited(young=1.5e5).edited("left", young=4.5e5)
    q = np.linspace(-0.2, 0.3, model.size)
    code = "s.stiffen(d.factors); s.energy.evaluate(array(d.q)); show([...s.energy.R]);"
    found = with_stepper(code, model, q=q.tolist(), factors=factors)
    np.testing.assert_allclose(found, edited.force(q), rtol=1e-11)


@needs_node
def test_spring_settles_where_it_balances_the_body():
    model = bar()
    vertex = model.mesh.n_vertices - 1
    phi, rest = model.vectors[:, vertex].T, model.mesh.vertices[vertex]
    target = rest + np.array([0.0, 0.05, -0.2])
    found = with_stepper(
        "const g = {phi: array(d.phi), rest: d.rest, target: d.target, k: 300, c: 5};"
        "s.alpha = 5; s.beta = .02; const none = new Float64Array(d.size);"
        "for (let i = 0; i < 1500; i++) s.step(5e-3, none, g); show([...s.q]);",
        model,
        phi=phi.ravel().tolist(),
        rest=rest.tolist(),
        target=target.tolist(),
    )
    q = np.array(found)
    pull = 300 * (target - rest - phi @ q)
    np.testing.assert_allclose(model.force(q), pull @ phi, atol=1e-6 * np.abs(pull @ phi).max())
    assert np.linalg.norm(phi @ q) > 0.05


@needs_node
def test_step_that_cannot_be_solved_leaves_the_state():
    found = with_stepper(
        "s.set(array(d.q), array(d.q)); const f = new Float64Array(d.size).fill(NaN);"
        "show([s.step(1e-3, f), [...s.q], [...s.v]]);",
        bar(),
        q=[0.01] * 7,
    )
    assert found == [False, [0.01] * 7, [0.01] * 7]


# -- the page ------------------------------------------------------------------------------------


def test_page_is_whole_html_that_needs_no_other_file(tmp_path):
    path = tmp_path / "play.html"
    write_play_page(path, bar(), start(bar()))
    page = read(path)
    assert "A <bar> & more" in page.text
    assert not re.findall(r"https?://|\bsrc=|\bhref=", path.read_text(encoding="utf-8"))
    ids = {given["id"] for _, given in page.seen if "id" in given}
    assert {"stage", "poke", "release", "reset", "pause", "stats", "keep"} <= ids
    sliders = [given for tag, given in page.seen if given.get("type") == "range"]
    assert [given["data-name"] for given in sliders] == [
        "stiffness", "region", "damping", "gravity", "time",
    ]  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["play.html"]


@needs_browser
def test_page_lives_in_a_browser(tmp_path):
    model = bar()
    write_play_page(tmp_path / "play.html", model, start(model, poke=np.full(model.size, 0.01)))
    drag = """const drag = (left) => setTimeout(() => {  // again while nothing is shown
    const stage = document.getElementById("stage"), panel = document.getElementById("panel");
    const x = (innerWidth - panel.clientWidth - 24) / 2, y = innerHeight / 2;
    const send = (kind, dx) => stage.dispatchEvent(new PointerEvent(
      kind, {clientX: x + dx, clientY: y, pointerId: 1, button: 0, pointerType: "mouse"}));
    send("pointerdown", 0); send("pointermove", 40);
    const title = [stage.dataset.mode, document.getElementById("release").disabled,
      document.getElementById("pull").className.baseVal].join(" ");
    send("pointerup", 40);
    const lives = document.getElementById("stats").textContent.includes("frames a second");
    if (left && !(lives && title === "pull false on")) drag(left - 1);
    else document.title = title; }, 500);
    drag(6);"""
    shown = in_browser(tmp_path / "play.html", drag, seconds=5)
    assert "data-why" not in shown
    assert "<title>pull false on</title>" in shown
    assert re.search(r'id="release"[^>]* disabled', shown)  # the pointer let go
    stats = re.search(r'id="stats">([^<]*)<', shown).group(1)
    assert re.fullmatch(
        r"7 coordinates · [\d.]+ µs a step · \d+ steps a frame · \d+ frames a second", stats
    )


def test_basis_in_the_page_is_that_of_the_boundary():
    model = bar()
    data, surface = page_data(model), model.mesh.boundary()
    vectors = decoded(data["vectors"], "<i2", model.size, -1, 3)
    vectors = vectors * np.array(data["scales"])[:, None, None]
    wanted = model.vectors[:, surface.vertex_ids]
    assert np.abs(vectors - wanted).max() <= 2e-5 * np.abs(wanted).max()
    rest = decoded(data["rest"], "<f4", -1, 3)
    np.testing.assert_allclose(rest, surface.vertices, atol=1e-7)
    np.testing.assert_array_equal(decoded(data["down"], "<f8"), model.weight((0, 0, -1)))


def test_y_up_is_turned_upright():
    model = bar()
    data = page_data(model, up="y")
    rest = decoded(data["rest"], "<f4", -1, 3)
    x, y, z = model.mesh.boundary().vertices.T
    np.testing.assert_allclose(rest, np.stack([x, -z, y], axis=1), atol=1e-7)
    np.testing.assert_array_equal(decoded(data["down"], "<f8"), model.weight((0, -1, 0)))


def test_names_of_regions_cannot_break_the_page():
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (2, 1, 1))
    name = "</script><b>'\""
    mesh = mesh.with_region(name, mesh.cells_where(x=(None, 0.5)))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=mesh.where(x=0))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=2, size=3), regions=[name])
    text = play_page(model, start(model))
    assert text.count("</script>") == 2
    assert data_of(text, "model")["regions"] == [name]
    assert read(text).count("b") == 0


def test_too_large_a_page_is_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_BYTES", 1e4)
    refused(r"--size.*skin", write_play_page, tmp_path / "a.html", bar(), start(bar()))
    assert not list(tmp_path.iterdir())


def test_too_large_a_skin_gives_way_to_the_boundary(tmp_path, monkeypatch):
    model = bar()
    fine = sp.TetMesh.box((1.0, 0.2, 0.2), (20, 8, 8)).boundary()
    skinned = model.with_skin(sp.Embedding(model.mesh, fine))
    assert write_play_page(tmp_path / "a.html", skinned, start(model))
    whole = (tmp_path / "a.html").stat().st_size
    monkeypatch.setattr(pages, "MOST_BYTES", 0.9 * whole)
    assert not write_play_page(tmp_path / "a.html", skinned, start(model))
    assert data_of(tmp_path / "a.html", "model")["rest"] == page_data(model)["rest"]


def test_model_that_a_page_cannot_run_needs_a_record(tmp_path):
    model = bar(material=sp.StableNeoHookean, regions=())
    refused("record", write_play_page, tmp_path / "a.html", model, start(model))
    record = Record(1 / 60, np.zeros((5, model.size)))
    text = play_page(model, start(model, record=record))
    assert "recorded run" in text
    assert "groups" not in data_of(text, "model")


def test_record_of_a_free_body_keeps_its_frame():
    model = bar(fixed=False)
    rotations = np.tile(np.eye(3), (4, 1, 1))
    positions = np.arange(12.0).reshape(4, 3)
    record = Record(1 / 60, np.zeros((4, model.size)), rotations, positions)
    data = page_data(model, record=record)
    poses = decoded(data["record"]["poses"], "<f4", 4, 12)
    np.testing.assert_array_equal(poses[:, :9], np.tile(np.eye(3).ravel(), (4, 1)))
    np.testing.assert_array_equal(poses[:, 9:], positions)
    rest = decoded(data["rest"], "<f4", -1, 3)
    assert np.abs(rest.mean(axis=0)).max() < 0.05  # seen from the centre of mass
