"""``sp.workflows.design``: what supple design does, from Python."""

from pathlib import Path

import pytest

import supple as sp
from supple.damping import load_damping

SCENE = """
integrator = "Bathe"
[mesh]
box = { size = [1.0, 0.2, 0.1], cells = [4, 1, 1], bricks = true }
[material]
model = "StVK"
young = 1e6
poisson = 0.3
[[supports]]
x = 0
[damping]
mass = 0.5
[[damping.examples]]
name = "bend"
mode = 1
[[targets]]
example = "bend"
start = 0.5
settle = 0.9
[design]
size = 8
modes = 5
[time]
duration = 0.2
fps = 60
[output]
report = false
"""


@pytest.fixture(autouse=True)
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path


def test_a_design_settles_in_the_time_that_was_wished(capsys):
    heard = []
    result = sp.workflows.design("bar.toml", found=heard.append)
    assert result.met
    (target,) = result.fit.report.results
    assert target.wanted == pytest.approx(0.5 * 0.05 ** (target.after.period / 0.9))
    assert result.damping_file == Path("bar_design/damping.toml")
    assert load_damping(result.damping_file).curves == result.fit.damping.curves
    # The damping is told before it is checked in full space; nothing is made for a report.
    assert [len(each.checks) for each in heard] == [0, 1]
    assert result.report is None
    assert result.runs == ()
    assert result.linear is None
    assert capsys.readouterr() == ("", "")


def test_an_earlier_design_is_protected():
    first = sp.workflows.design("bar.toml", "out")
    with pytest.raises(sp.InputError, match="overwrite=True replaces it") as caught:
        sp.workflows.design("bar.toml", "out")
    assert caught.value.parameter == "overwrite"
    again = sp.workflows.design(sp.load_scene("bar.toml"), "out", overwrite=True)
    assert again.fit.damping.curves == first.fit.damping.curves


def test_what_is_no_solid_is_refused(scene):
    text = (
        "[mesh]\ngrid = { size = [1.0, 1.0], cells = [2, 2] }\n"
        "[material]\nmodel = 'IsotropicCloth'\nyoung = 1e5\nthickness = 1e-3\n"
        "areal_density = 0.2\n[time]\nduration = 0.5\nfps = 30\n"
    )
    (scene / "cloth.toml").write_text(text)
    with pytest.raises(sp.InputError, match="dampings are designed for solids"):
        sp.workflows.design("cloth.toml")
    assert not (scene / "cloth_design").exists()
