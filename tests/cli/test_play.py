"""``supple play``"""

import re

import numpy as np
import pytest
from tests.cli.helpers import interrupt

import supple as sp
from supple.cli import main
from supple.workflows.playing import default_poke


def make(name="bar.supple", *, size=4, fixed=True, material=sp.StVK):
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    given = material(young=1e5, poisson=0.3)
    body = sp.Body(mesh, given, fixed=mesh.where(x=0) if fixed else None)
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=size))
    model.save(name)
    return model


@pytest.fixture
def model():
    return make()


def test_tells_the_rate_and_writes_the_page_beside_the_model(model, tmp_path, tells):
    told = tells("play bar.supple --seconds 0.5", "drag it with the mouse")
    assert re.search(r"[\d.]+ µs a step, [\d,]+ steps a second, [\d,]+ × real time", told)
    assert "4 coordinates" in (tmp_path / "play.html").read_text(encoding="utf-8")


def test_default_pull_goes_as_far_as_it_says(model):
    poke = default_poke(model)
    ((vertex, force),) = poke.forces
    q = np.linalg.solve(model.stiffness(np.zeros(4)), model.pull(vertex, force))
    u = model.displacements(q)[vertex]
    assert u @ force / np.linalg.norm(force) == pytest.approx(0.25 * model.mesh.diagonal)
    assert vertex in model.mesh.where(x=1.0)


def test_options_shape_the_run(model, tmp_path, tells):
    words = "--pull 19 0 0 -2 --seconds 0.2 --dt 0.002 --size 2 -o two.html --damping 0.1"
    tells(f"play bar.supple {words}", "vertex 19 with (0, 0, -2) N", "steps of 2 ms")
    text = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert "2 coordinates" in text
    assert '"dt":0.002' in text
    assert f'value="{0.1**0.5:.6g}"' in text


@pytest.mark.parametrize("ending", ["glb", "pvd"])
def test_export(model, tmp_path, tells, ending):
    tells(f"play bar.supple --seconds 0.2 --export out.{ending} -q")
    assert (tmp_path / f"out.{ending}").stat().st_size > 100


@pytest.mark.parametrize("kind", ["free", "cubature"])
def test_what_a_page_cannot_run_is_shown_as_recorded(model, tmp_path, kind, tells):
    options = {"fixed": False} if kind == "free" else {"material": sp.StableNeoHookean}
    make("other.supple", **options)
    tells(["play", "other.supple", "--seconds", "0.3"], "it shows this run")
    text = (tmp_path / "play.html").read_text(encoding="utf-8")
    assert '"record":' in text
    assert ('"poses":' in text) == (kind == "free")


def test_free_body_is_pulled_apart_and_stays(model):
    free = make("free.supple", fixed=False)
    load = default_poke(free).load(free)
    assert np.abs(load.force).max() == pytest.approx(0.0, abs=1e-12)


def test_up_is_as_said_or_told_from_the_supports(model, tmp_path):
    """Of a body that stands on its supports along y, that is turned to z."""
    standing = sp.HexMesh.box((0.2, 1.0, 0.2), (1, 4, 1))
    body = sp.Body(standing, sp.StVK(young=1e5, poisson=0.3), fixed=standing.where(y=0))
    sp.reduce(body, sp.modal_derivative_basis(body, modes=2, size=2)).save("post.supple")
    for name, words, height in (("bar", [], 0.1), ("post", [], 0.5), ("post", ["--up", "z"], 0.1)):
        assert main(["play", f"{name}.supple", "--seconds", "0.1", "-q", *words]) == 0
        target = re.search(r'"target":\[([^]]*)\]', (tmp_path / "play.html").read_text())
        assert float(target.group(1).split(",")[2]) == pytest.approx(height)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["lost.supple"], "lost.supple"),
        (["bar.supple", "-o", "page.txt"], ".html"),
        (["bar.supple", "-o", "nowhere/page.html"], "nowhere"),
        (["bar.supple", "--export", "a.obj"], ".glb"),
        (["bar.supple", "--size", "9"], "4 coordinates"),
        (["bar.supple", "--pull", "500", "0", "0", "1"], "vertices 0 to"),
        (["bar.supple", "--pull", "0", "0", "0", "1"], "held"),
        (["bar.supple", "--pull", "9", "0", "0", "0"], "zero"),
        (["bad.supple"], "bad.supple"),
    ],
)
def test_refuses_with_advice(model, tmp_path, refused, arguments, word):
    (tmp_path / "bad.supple").write_bytes(b"nothing of the kind")
    refused(["play", *arguments], word)
    assert not list(tmp_path.glob("*.html"))


def test_interrupted_leaves_no_half_file(model, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", interrupt)
    assert main(["play", "bar.supple", "--seconds", "0.1"]) == 130
    assert [p.name for p in tmp_path.iterdir()] == ["bar.supple"]
