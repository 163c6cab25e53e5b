"""Files of reduced models: nothing is lost, nothing foreign is taken."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reduction.conftest import two_part_beam
from tests.refusals import refused

import supple as sp
from supple.core import files
from supple.reduction.model_file import is_model_file


@pytest.fixture
def path(model: sp.ReducedModel, tmp_path: Path) -> Path:
    target = tmp_path / "beam.supple"
    model.save(target)
    return target


def stepped(model: sp.ReducedModel, tip: int) -> np.ndarray:
    live = model.simulation(damping=sp.Rayleigh(mass=0.1, stiffness=1e-3), integrator=sp.TRBDF2())
    live.run_steps(200, force=model.pull(tip, (0.0, 1.0, -3.0)))
    live.edit("far", young=3e5, density=900.0)
    live.run_steps(200)
    return np.concatenate([live.q, live.v])


def test_a_loaded_model_steps_bit_for_bit(model, path, tip):
    assert np.array_equal(stepped(model, tip), stepped(sp.load_model(path), tip))


def test_everything_comes_back(model, path):
    loaded = sp.load_model(path)
    assert type(loaded.mesh) is type(model.mesh)
    assert np.array_equal(loaded.mesh.vertices, model.mesh.vertices)
    assert np.array_equal(loaded.vectors, model.vectors)
    assert loaded.regions == model.regions == ("far",)
    assert [g.young for g in loaded.groups] == [g.young for g in model.groups]
    assert is_model_file(path)


def test_the_axis_that_points_up_is_kept(model, tmp_path):
    for up in ("y", "z", None):
        replace(model, up=up).save(tmp_path / "up.supple")  # type: ignore[arg-type]
        assert sp.load_model(tmp_path / "up.supple", size=5).up == up


def test_an_edited_model_keeps_its_edits(model, tmp_path):
    edited = model.edited("far", young=9e5, density=100.0)
    edited.save(tmp_path / "edited.supple")
    loaded = sp.load_model(tmp_path / "edited.supple")
    q = np.linspace(-1, 1, model.size)
    assert np.array_equal(loaded.force(q), edited.force(q))
    assert np.array_equal(loaded.edited("far", young=1e5).force(q), model.force(q))


def test_trailing_vectors_are_dropped_at_load(model, path):
    loaded = sp.load_model(path, size=7)
    q = np.linspace(-1, 1, 7)
    assert loaded.size == 7
    assert np.array_equal(loaded.force(q), model.truncated(7).force(q))
    refused("12 coordinates", sp.load_model, path, size=13)


def test_skins_cubatures_and_varying_materials(tmp_path):
    mesh = two_part_beam().mesh
    young = np.linspace(1e5, 2e5, mesh.n_cells)
    surface = sp.Surface(np.array([[0.9, 0.1, 0.1], [0.8, 0.1, 0.1], [0.9, 0.2, 0.1]]), [[0, 1, 2]])
    for kind in (sp.StVK, sp.NeoHookean):
        body = sp.Body(mesh, kind(young=young, poisson=0.4), fixed=mesh.where(x=0))
        basis = sp.modal_derivative_basis(body, modes=3, size=5)
        model = sp.reduce(body, basis, skin=sp.Embedding(mesh, surface))
        model.save(tmp_path / "model.supple")
        loaded = sp.load_model(tmp_path / "model.supple")
        q = np.linspace(-0.1, 0.1, 5)
        assert np.array_equal(loaded.force(q), model.force(q))
        assert loaded.skin is not None
        assert model.skin is not None
        assert np.array_equal(loaded.skin.vectors, model.skin.vectors)
        assert np.array_equal(loaded.skin.triangles, model.skin.triangles)


def test_every_damaged_byte_is_noticed(path, tmp_path):
    whole = path.read_bytes()
    broken = tmp_path / "broken.supple"
    rng = np.random.default_rng(0)
    for place in np.concatenate([np.arange(64), rng.integers(64, len(whole), 200)]):
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        broken.write_bytes(bytes(data))
        refused(r"broken\.supple", sp.load_model, broken)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.9, 0.999999])
def test_a_file_cut_short_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(r"beam\.supple", sp.load_model, path)


def test_foreign_files_are_refused(tmp_path, model):
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, ("raise SystemExit('executed')",)

    foreign = tmp_path / "foreign.supple"
    for data in (pickle.dumps(Bomb()), b"", b"not a model", b"\x00" * 1000):
        foreign.write_bytes(data)
        refused("not a Supple reduced model", sp.load_model, foreign)
    refused("there is no file", sp.load_model, tmp_path / "missing.supple")
    refused("there is no file", sp.load_model, tmp_path)


def test_a_newer_version_is_refused(path):
    data = bytearray(path.read_bytes())
    data[8:12] = (999).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    refused("newer version", sp.load_model, path)


def test_sound_blocks_that_make_no_model_are_refused(path):
    """Checksums vouch for the bytes, not for what they say."""
    from supple.reduction import model_file

    with open(path, "rb", buffering=0) as file:
        block = files.unpack(file, path, model_file._MODEL)
    header, arrays, groups = block.header, block.arrays, block.header["groups"]
    spoiled = {
        "no vectors": (header, {k: a for k, a in arrays.items() if k != "vectors"}),
        "wrong vectors": (header, {**arrays, "vectors": arrays["vectors"][:, :-1]}),
        "NaN": (header, {**arrays, "group 0 mass": arrays["group 0 mass"] * np.nan}),
        "no energy": (header, {k: a for k, a in arrays.items() if k != "group 0 energy"}),
        "no mass": (header, {k: a for k, a in arrays.items() if k != "group 1 mass"}),
        "cells": (header, {**arrays, "group 0 cells": arrays["group 0 cells"] + 10**6}),
        "no groups": ({**header, "groups": []}, arrays),
        "groups of text": ({**header, "groups": ["near"]}, arrays),
        "no young": ({**header, "groups": [{**g, "young": None} for g in groups]}, arrays),
        "sideways": ({**header, "up": "sideways"}, arrays),
        "another mesh": ({**header, "mesh": "Path"}, arrays),
        "bad young": ({**header, "groups": [{**g, "young": -1} for g in groups]}, arrays),
        "no mass left": (header, {**arrays, "group 0 mass": -arrays["group 0 mass"]}),
        "cells twice": (header, {**arrays, "group 0 cells": arrays["group 1 cells"]}),
        "broken cells": (header, {**arrays, "group 0 cells": arrays["group 0 cells"] + 0.5}),
    }
    for what, (new_header, new_arrays) in spoiled.items():
        bad = path.with_name(f"{what}.supple")
        bad.write_bytes(files.pack(model_file._MODEL, new_header, new_arrays))
        refused(f"{what}.supple", sp.load_model, bad)


def test_a_failed_save_leaves_the_old_file(model, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(Path, "write_bytes", lambda *_: (_ for _ in ()).throw(OSError("full")))
    refused("full", model.save, path, error=OSError)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["beam.supple"]
