"""The command line: help and wrong usage."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from supple.cli import main
from supple.cli.failures import DONE, FAILED, INTERRUPTED, MISSED, USAGE
from supple.io.export import MOTION_FORMATS
from supple.mesh import WRITTEN_MESHES, WRITTEN_SURFACES

ROOT = Path(__file__).parents[2]
COMMANDS = ("run", "demo", "design", "match", "reduce", "play", "enrich", "info", "convert")
FILES = {"design": ["damping.toml", "report.html"], "play": ["play.html"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_it_does_shows_an_example_and_what_it_writes(command, tells):
    tells(f"{command} --help", "example:", "writes", *FILES.get(command, []), "Exit codes")
    tells("--help", command, "supple demo", "Exit codes")


@pytest.mark.parametrize("command", ["run", "design", "enrich", "convert"])
def test_every_exit_code_is_documented(command, capsys):
    main([command, "--help"])
    told = capsys.readouterr().out.partition("Exit codes:")[2]
    guide = (ROOT / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")
    for code in (DONE, FAILED, USAGE, MISSED, INTERRUPTED):
        assert re.search(rf"\b{code} \w", told)
        assert f"| {code} |" in guide


def test_convert_help_lists_every_ending_that_is_written(capsys):
    main(["convert", "--help"])
    shown = capsys.readouterr().out
    written = {"meshes": WRITTEN_MESHES, "surfaces": WRITTEN_SURFACES, "motions": MOTION_FORMATS}
    for kind, endings in written.items():
        (line,) = [x.split() for x in shown.splitlines() if x.startswith(f"  {kind} ")]
        assert line[1:] == list(endings)


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"supple \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        "", "fly", "run", "run a.toml --duration -1", "run a.toml --threads 0",
        "convert a.obj b.msh --edge 0.1 --voxels 3", "play", "play a --damping 2",
        "play a --pull 1 2", "reduce", "reduce a.msh --modes 0", "reduce a.msh --poisson 0.5",
        "reduce a.msh --basis fourier", "reduce a.obj --edge 0.1 --voxels 3",
    ],
)  # fmt: skip
def test_wrong_usage_is_2(arguments, refused):
    refused(arguments, "usage: supple", code=2)


def test_help_does_not_import_what_it_does_not_need():
    code = (
        "import sys; before = set(sys.modules); import supple.cli.options as o; o.parser();"
        "print([m for m in ('supple.io.scene.scene', 'tqdm', 'pxr') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tqdm" not in done.stdout
    assert "pxr" not in done.stdout
