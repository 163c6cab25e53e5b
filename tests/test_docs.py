"""The documentation keeps its word: its code runs, its links and pictures are there."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from supple.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
    + [p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts]
)
# Code that needs an extra says so by these words.
EXTRAS = {
    "matplotlib": "matplotlib",
    "from_surface": "pytetwild",
    ".usd": "pxr",
    "SelfContact": "ipctk",
    "local_regions": "igl",
}

# Takes long, since all that it needs is compiled for it alone.
VERIFIED = {"docs/guides/character-motion.md", "docs/guides/command-line.md"}

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_INCLUDE = re.compile(r"^```\{include\} (\S+)$", re.MULTILINE)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    """Language, text and line of each block of a page."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield match[1], match[2], text.count("\n", 0, match.start()) + 2


def runnable(page: Path) -> bool:
    return any(language in ("python", "toml", "console") for language, _, _ in blocks(page))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.verify] if name(page) in VERIFIED else [])
        for page in filter(runnable, PAGES)
    ],
    ids=name,
)
@pytest.mark.filterwarnings("ignore:.*:supple.mesh.MeshWarning")
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python, ``$ supple`` lines and scene files of a page work, in order, in one folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for language, text, line in blocks(page):
        if any(w in text and importlib.util.find_spec(m) is None for w, m in EXTRAS.items()):
            continue
        if language == "python":
            code = compile("\n" * (line - 1) + text, str(page), "exec")
            exec(code, namespace)
        elif language == "toml":
            tomllib.loads(text)
            if file := re.match(r"# (\w+\.toml)\b", text):
                Path(file[1]).write_text(text, encoding="utf-8")
        elif language == "console":
            for command in re.findall(r"^\$ supple (.*)$", text, re.MULTILINE):
                assert main(shlex.split(command, comments=True)) == 0, f"supple {command}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_and_pictures_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in _LINK.findall(_BLOCK.sub("", text)) + _INCLUDE.findall(text):
        if not re.match(r"\w+:|#", target):
            assert (page.parent / target.split("#")[0]).exists(), f"{name(page)}: {target}"


def test_every_picture_has_its_script_and_is_small() -> None:
    scripts = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/figures").glob("*.py"))
    for image in (ROOT / "docs/images").iterdir():
        assert f'"{image.name}"' in scripts, f"no script makes {image.name}"
        assert image.stat().st_size <= 300_000, f"{image.name} is too large"
