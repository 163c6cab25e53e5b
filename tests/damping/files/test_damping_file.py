"""Damping files: the same damping back, edits by hand, and files that are damaged."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refused

import supple as sp
from supple.damping import DAMPINGS as ALL
from supple.damping.base import BoundDamping
from supple.damping.caughey import Caughey
from supple.damping.files.damping_file import load_damping, save_damping
from supple.damping.viscous import Viscous

RNG = np.random.default_rng(0)
SHAPES = RNG.normal(size=(3, 5, 3))
BEND = sp.Example(SHAPES[0], sp.Curve.bezier([(0, 0.3), (0.5, 5.0)]), name="bend")
TWIST = sp.Example(SHAPES[1], 0.1, measure=sp.Measure.RATE, name='twist "ü" \\ \n \x7f 😀')
DAMPINGS = {
    "rayleigh": sp.Rayleigh(mass=0.1, stiffness=1 / 3, at=sp.StiffnessAt.REST),
    "by region": sp.Rayleigh(mass={"ear": 0.1, "a = [b]": 2}, stiffness={"": 1e-300}),
    "by cell": sp.Rayleigh(stiffness=[0.1, 0.2, 0.3]),
    "caughey": Caughey((0.1, 1e-3, -1e-12)),
    "viscous": Viscous(sparse.coo_array(([2.0, 2.0, 0.7], ([1, 2, 13], [1, 2, 13])), (15, 15))),
    "dense": Viscous(SHAPES.reshape(3, 15).T @ SHAPES.reshape(3, 15)),
    "strain rate": sp.StrainRate(shear={"ear": 5.0}, bulk=[1.0, 2.0], fibre=3, direction=(1, 2, 3)),
    "fibres": sp.StrainRate(fibre=1.0, direction=SHAPES[0]),
    "power law": sp.PowerLaw(exponent=0, strength=[40.0, 0.1], width=0.3),
    "power of": sp.PowerLaw(exponent=2.5, of=sp.StrainRate(shear=[1.0, 2.0]), scale=1 / 3),
    "conserving": sp.MomentumConserving(sp.Rayleigh(stiffness=[0.1, 0.2]), sp.Conserving.BODY),
    "matched": sp.MatchedStrainRate(stiffness=[0.1, 0.2]),
    "principal": sp.PrincipalStrain(stiffness={"ear": 0.1}, axis_width=0.05),
    "spline": sp.SplineDamping(sp.StrainRate(shear=1 / 3), sp.Curve.linear([(0.5, 2), (1, 0.1)])),
    "spline over rates": sp.SplineDamping(
        sp.PrincipalStrain(stiffness=0.1),
        sp.Curve.bezier([(0, 1), (2, 3)]),
        over=sp.SplineOver.RATE,
    ),
    "springs": sp.SpringStrainRate(viscosity=[0.1, 0.2], matched=0.3),
    "cloth": sp.ClothStrainRate(shear=0.5, warp=[0.1, 0.2], bending={"ear": 1e-3}),
    "cloth drag": sp.ClothDrag(normal=1.1, wind=(1, 2, 1 / 3)),
    "drag": sp.Drag(strength=0.1, wind=(1, 2, 1 / 3), exponent=2),
    "no examples": sp.ExampleDamping(sp.Rayleigh(mass=1), []),
    "examples": sp.ExampleDamping(sp.Rayleigh(mass=0.1, stiffness=1e-3), [BEND, TWIST]),
    "all": sp.ExampleDamping(
        Caughey((0.1, 1e-3)),
        [BEND, TWIST],
        symmetric=True,
        overall=sp.Curve.monotone([(0.1, 1), (0.2, 2), (0.4, 0.5)]),
        about=SHAPES[2],
    ),
}
SEVERAL = (
    DAMPINGS["by cell"],
    DAMPINGS["power of"],
    DAMPINGS["all"],
    sp.MomentumConserving([DAMPINGS["by cell"], DAMPINGS["examples"], DAMPINGS["viscous"]]),
)
OFTEN = ["by region", "by cell", "caughey", "viscous", "all"]
OFTEN += ["strain rate", "power of", "conserving", "drag"]
every_damping = pytest.mark.parametrize("damping", DAMPINGS.values(), ids=DAMPINGS.keys())
every_format = pytest.mark.parametrize("suffix", [".toml", ".json"])


def assert_same(one: sp.Damping, two: sp.Damping) -> None:
    """Bit by bit."""
    assert type(one) is type(two)
    if isinstance(one, Viscous):
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(one.matrix, name), getattr(two.matrix, name))
        assert one.matrix.shape == two.matrix.shape
    elif isinstance(one, sp.ExampleDamping):
        assert_same(one.base, two.base)
        assert (one.symmetric, one.overall) == (two.symmetric, two.overall)
        assert (one.about is None) == (two.about is None)
        assert one.about is None or one.about.tobytes() == two.about.tobytes()
        assert len(one.examples) == len(two.examples)
        for a, b in zip(one.examples, two.examples, strict=True):
            assert (a.curve, a.measure, a.name) == (b.curve, b.measure, b.name)
            assert a.shape.tobytes() == b.shape.tobytes()
            assert a.shape.shape == b.shape.shape
    elif isinstance(one, sp.MomentumConserving):
        assert one.by is two.by
        assert isinstance(one.damping, sp.Damping) == isinstance(two.damping, sp.Damping)
        for a, b in zip(one.models, two.models, strict=True):
            assert_same(a, b)
    else:
        assert one == two


# -- round trips -----------------------------------------------------------------------------


@every_damping
@every_format
def test_same_damping_back(damping, suffix, tmp_path):
    path = tmp_path / f"damping{suffix}"
    save_damping(damping, path)
    again = load_damping(path)
    assert_same(again, damping)
    first = path.read_bytes()
    save_damping(again, path)
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@every_format
def test_several_dampings_back(suffix, tmp_path):
    """One within another and side by side, with arrays of the same name."""
    path = tmp_path / f"damping{suffix}"
    for saved_ones in (SEVERAL, SEVERAL[:1]):
        save_damping(list(saved_ones), path)
        again = load_damping(path)
        assert isinstance(again, tuple)
        for one, two in zip(again, saved_ones, strict=True):
            assert_same(one, two)


def test_every_damping_is_tried():
    assert {type(damping) for damping in DAMPINGS.values()} == set(ALL)


@pytest.mark.parametrize("name", ["examples", "conserving", "viscous"])
def test_files_of_the_first_version_still_load(name, tmp_path):
    """They have "kind" where it is "model" now."""
    path = tmp_path / "old.toml"
    text = saved(DAMPINGS[name], path).replace("version = 2", "version = 1")
    path.write_text(text.replace("model = ", "kind = "), encoding="utf-8")
    with pytest.warns(FutureWarning, match="called 'model' now"):
        again = load_damping(path)
    assert_same(again, DAMPINGS[name])


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=4).filter(
        lambda rows: np.any(rows)
    ),
    name=st.text(max_size=8),
    mass=st.floats(0, 1e300),
    regions=st.dictionaries(st.text(max_size=4), st.floats(0, 1e300), max_size=3),
    suffix=st.sampled_from([".toml", ".json"]),
)
def test_any_numbers_and_names_survive(tmp_path_factory, shape, name, mass, regions, suffix):
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=mass, stiffness=regions), [sp.Example(shape, mass, name=name)]
    )
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    save_damping(damping, path)
    assert_same(load_damping(path), damping)


def test_saved_damping_damps_the_same(tmp_path):
    """What comes back is bound to a body like what was saved."""
    mesh = sp.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e4, poisson=0.3, density=1000), fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 2).shapes
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=0.1, stiffness=1e-3),
        [sp.Example(modes[0], 3.0), sp.Example(modes[1], 0.1)],
    )
    save_damping(damping, tmp_path / "a.toml")
    motions = [
        sp.Simulation(body, damping=each, dt=0.01, gravity=(0, 0, -9.81)).run(0.05).displacements
        for each in (damping, load_damping(tmp_path / "a.toml"))
    ]
    np.testing.assert_array_equal(*motions)


# -- edits by hand ---------------------------------------------------------------------------


def saved(damping: sp.Damping | tuple, path: Path) -> str:
    save_damping(damping, path)
    return path.read_text(encoding="utf-8")


def test_numbers_stand_above_the_shapes(tmp_path):
    text = saved(DAMPINGS["all"], tmp_path / "a.toml")
    top, _, bottom = text.partition("[shapes.")
    assert "curve = " in top
    assert "coefficients = [0.1, 0.001]" in top
    assert "data = " not in top
    assert "curve = " not in bottom
    assert max(map(len, text.splitlines())) <= 100


def test_curves_can_be_edited_and_examples_left_out(tmp_path):
    path = tmp_path / "a.toml"
    text = saved(DAMPINGS["examples"], path)
    old = "curve = {bezier = [[0.0, 0.3], [0.5, 5.0]]}"
    assert old in text
    path.write_text(text.replace(old, "curve = {linear = [[0, 1], [2, 3]]}"), encoding="utf-8")
    edited = load_damping(path)
    assert edited.curves[0] == sp.Curve.linear([(0, 1), (2, 3)])
    assert_same(edited, DAMPINGS["examples"].with_curves([edited.curves[0], 0.1]))
    head, first, second = text.partition("[shapes.")[0].split("[[example]]")
    shapes = text[text.index("[shapes.") :]
    path.write_text(f"{head}[[example]]{second}[[example]]{first}{shapes}", encoding="utf-8")
    assert [each.name for each in load_damping(path).examples] == [TWIST.name, "bend"]
    path.write_text(f"{head}[[example]]{second}{shapes}", encoding="utf-8")
    assert [each.name for each in load_damping(path).examples] == [TWIST.name]


def test_short_file_by_hand(tmp_path):
    """Whoever needs no shapes can write the file without Supple."""
    path = tmp_path / "a.toml"
    path.write_text('format = "supple damping"\nversion = 1\n[base]\nmodel="rayleigh"\nmass = 1\n')
    assert load_damping(path) == sp.Rayleigh(mass=1.0)


def edited(damping: sp.Damping | tuple, path: Path, where: str, value: Any) -> Path:
    """A file with a value of it changed or taken out."""
    table = json.loads(saved(damping, path))
    *keys, last = (int(key) if key.isdigit() else key for key in where.strip().split("/"))
    inner = reduce(getitem, keys, table)
    if value is TAKEN_OUT:
        del inner[last]
    else:
        inner[last] = value
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


TAKEN_OUT = object()
EDITS: dict[str, tuple[Any, str]] = {
    "format": ("supple motion", "not a damping file"),
    "version": (3, "newer version"),
    "version ": ("1", "version="),
    "base": (3, "base is 3, not a table"),
    "base/model": ("hysteresis", "base: model='hysteresis': .*one of .*rayleigh"),
    "base/mass": (-1.0, "mass=-1"),
    "base/mass ": ("ear", "base: mass='ear' names none of the shapes"),
    "base/at": ("later", "at='later': give one of current, rest"),
    "base/colour": (1, "base has 'colour'; known are"),
    "speed": (1, "the file has 'speed'"),
    "by_example/symmetric": ("no", "give true or false"),
    "by_example/overall": (-1, "overall: curve=-1"),
    "by_example/about": ("there", "about='there' names none"),
    "example": ({}, "example is not a list"),
    "example/0/curve": ({"bezier": [[0, 1], [0, 2]]}, r"example 0 \('bend'\): curve: points="),
    "example/0/curve ": ({"bezier": [[0, 0], [1, 2]]}, r"example 0 \('bend'\).*positive"),
    "example/0/meassure": ("rate", r"example 0 \('bend'\): it has 'meassure'"),
    "example/1/measure": ("force", r"example 1 \('twist.*give one of excitation, rate"),
    "example/1/name": (1, "example 1: name=1"),
    "example/1/shape": ("example 7", "example 1 .* names none of the shapes"),
    "shapes/example 0/size": ([3, 5], r"example 0 \('bend'\): shape 'example 0' is damaged"),
    "shapes/example 0/type": ("int64", "is damaged"),
    "shapes/example 0/checksum": ("0", "is damaged"),
    "shapes/example 0/data": ("AAAA", "is damaged"),
    "shapes/example 0/data ": ("no base64!", "is damaged"),
    "base  ": (TAKEN_OUT, "has no 'base'"),
    "base/model  ": (TAKEN_OUT, "has no 'model'"),
    "example/0/shape  ": (TAKEN_OUT, "has no 'shape'"),
    "example/0/curve  ": (TAKEN_OUT, "has no 'curve'"),
}
INSIDE: dict[str, tuple[Any, str]] = {
    "damping/1/exponent": (-1, "damping 1: exponent=-1"),
    "damping/1/exponent ": (10**400, "damping 1: a number is too large"),
    "damping/1/of": (3, "damping 1: of: of is 3, not a table"),
    "damping/1/of/model": ("stone", "damping 1: of: model='stone': .*rayleigh"),
    "damping/1/of/shear": ("there", "of: shear='there' names none of the shapes"),
    "damping/1/scale": (-1, "damping 1: scale=-1"),
    "damping/1/strength": (1.0, "damping 1: give strength=, or of="),
    "damping/1/colour": (1, "damping 1 has 'colour'; known are exponent"),
    "damping/2/examples": ({}, "damping 2: example is not a list"),
    "damping/2/examples/0/shape": (
        "ear",
        r"damping 2: example 0 \('bend'\): shape='ear' names none",
    ),
    "damping/3/by": ("hand", "damping 3: by='hand': give one of velocity_gradient"),
    "damping/3/damping": ([], "damping 3: damping="),
    "damping/3/damping/0/model": (None, "damping 3: damping 0: model=None"),
    "damping/3/damping/0/mass": (-1, "damping 3: damping 0: mass=-1"),
    "damping/0": ([], r"damping 0 is \[\], not a table"),
}


@pytest.mark.parametrize(
    ("damping", "where", "value", "message"),
    [
        *((DAMPINGS["examples"], where, *rest) for where, rest in EDITS.items()),
        *((SEVERAL, where, *rest) for where, rest in INSIDE.items()),
    ],
    ids=[*EDITS, *INSIDE],
)
def test_bad_edits_named(damping, where, value, message, tmp_path):
    """The message names the file and the place."""
    path = edited(damping, tmp_path / "a.json", where, value)
    with pytest.raises(sp.InputError, match=message) as caught:
        load_damping(path)
    assert str(path) in str(caught.value)


def test_dampings_without_end_refused(tmp_path):
    path = tmp_path / "a.json"
    deep: Any = {"model": "rayleigh"}
    for _ in range(300):
        deep = {"model": "momentum_conserving", "damping": deep}
    path.write_text(json.dumps({"format": "supple damping", "version": 1, "base": deep}))
    with pytest.raises(sp.InputError):
        load_damping(path)
    for wrong in (3, [3], "rayleigh", []):
        refused("give a damping", save_damping, wrong, path)


def test_matrix_that_is_none_named(tmp_path):
    """Checksums can be right and the indices wrong; they are never trusted."""
    path = tmp_path / "a.json"
    table = json.loads(saved(DAMPINGS["viscous"], path))
    for first, second in (("columns", "rows"), ("entries", "rows")):
        base = table["base"] | {first: second, second: first}
        path.write_text(json.dumps(table | {"base": base}), encoding="utf-8")
        refused("are no matrix", load_damping, path)


# -- damage ----------------------------------------------------------------------------------


@lru_cache
def text_of(name: str, suffix: str, folder: Path) -> str:
    return saved(DAMPINGS[name], folder / f"sound{suffix}")


def loads_or_is_refused(path: Path) -> None:
    """Whatever loads has only shapes that were saved."""
    try:
        damping = load_damping(path)
    except sp.InputError:
        return
    assert isinstance(damping, sp.Damping)
    if isinstance(damping, sp.ExampleDamping):
        known = {shape.tobytes() for shape in SHAPES}
        assert {each.shape.tobytes() for each in damping.examples} <= known


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(OFTEN),
    suffix=st.sampled_from([".toml", ".json"]),
    data=st.data(),
)
def test_damaged_text_is_refused(tmp_path_factory, name, suffix, data):
    """Parts cut out, doubled or written over, anywhere."""
    folder = tmp_path_factory.getbasetemp()
    text = text_of(name, suffix, folder)
    for _ in range(data.draw(st.integers(1, 3))):
        i, k = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        k = min(k, i + data.draw(st.sampled_from([0, 1, 5, 200])))
        text = text[:i] + data.draw(st.text(max_size=4) | st.just(text[i:k] * 2)) + text[k:]
    path = folder / f"damaged{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    loads_or_is_refused(path)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([10**400, -1, "example 0", "rayleigh", "viscous", [[0, 1], [1, 10**400]]]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["linear", "bezier", "model", "data"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(OFTEN), st.data())
def test_anything_in_place_of_a_value_is_refused(tmp_path_factory, name, data):
    folder = tmp_path_factory.getbasetemp()
    table = json.loads(text_of(name, ".json", folder))
    inner: Any = table
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or not inner[key] or data.draw(st.booleans()):
            inner[key] = data.draw(anything)
            break
        inner = inner[key]
    path = folder / "changed.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    loads_or_is_refused(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", b"", "not a damping file"),
        ("a.json", b"", "not JSON"),
        ("a.json", b"[]", "not a damping file"),
        ("a.toml", b"\xff\xfe", "not TOML"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.toml", b"a = " + b"[" * 100_000, "not TOML"),
        ("a.toml", b"version = 1", "not a damping file"),
    ],
)
def test_other_files_named(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    refused(message, load_damping, path)


def test_no_file_and_no_folder_named(tmp_path):
    refused("there is no file", load_damping, tmp_path / "a.toml")
    refused("there is no folder", save_damping, DAMPINGS["rayleigh"], tmp_path / "b" / "a.toml")


class Unknown(sp.Damping):
    def bind(self, body: sp.Body) -> BoundDamping:
        raise AssertionError("a damping that is only saved is not bound")


def test_what_cannot_be_kept_is_named_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.toml"
    before = saved(DAMPINGS["rayleigh"], path)
    odd = sp.ExampleDamping(sp.Rayleigh(mass=1), [sp.Example(SHAPES[0], name="\ud800")])
    for damping, message in (
        (Unknown(), "cannot keep Unknown"),
        (sp.ExampleDamping(Unknown(), [BEND]), "cannot keep Unknown"),
        (odd, "a name holds"),
    ):
        refused(message, save_damping, damping, path)
    assert path.read_text(encoding="utf-8") == before
    assert tomllib.loads(before)["version"] == 2
