"""``supple enrich`` on characters that others made: how long it takes, and what comes out.

One clip of each, the first, with all defaults, in a process of its own: from cold with an empty
Numba cache, then again with what that left in the cache. Files are read back: the largest motion is
that of their vertices from where the original has them, in every frame; with ``--soft 0`` it must
be nothing at all. With ``--players``, other programs read them as well.
"""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.players import validator
from benchmarks.players.comparing import FOLDER, Difference, by_blender, by_three
from benchmarks.timing import table
from supple.io.gltf.played import PlayedGltf

HEADERS = [
    "character",
    "clip",
    "from cold [s]",
    "warm [s]",
    "targets",
    "largest motion",
    "--soft 0, largest motion",
]
PLAYERS = ["character", "validator errors", "three.js, largest difference", "Blender"]


@dataclass(frozen=True)
class Case:
    """A character, one of its clips, and a folder for what is made of it."""

    source: Path
    clip: str
    place: Path

    @classmethod
    def of(cls, source: Path, place: Path) -> Case:
        own = place / source.stem
        own.mkdir()
        return cls(source, next(iter(PlayedGltf(source).rigged.character.clips)), own)

    @property
    def soft(self) -> Path:
        """The enriched file."""
        return self.place / "soft.glb"

    def seconds(self, target: Path, *words: str) -> float:
        """How long the command takes to write ``target`` [s], with the case's own Numba cache."""
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(self.place / "cache")}
        options = ["--clips", glob.escape(self.clip), "--output", str(target), "--quiet", *words]
        command = [sys.executable, "-m", "supple.cli", "enrich", str(self.source), *options]
        start = time.perf_counter()
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    def moved(self, target: Path) -> float:
        """How far vertices of ``target`` are from the original, at most, of the body's size."""
        before, after = PlayedGltf(self.source), PlayedGltf(target)
        tracks = before.rigged.character.clips[self.clip].tracks
        times = np.unique(
            np.concatenate([after.weights_keys(self.clip), *(track.times for track in tracks)])
        )
        apart = after.positions(self.clip, times) - before.positions(self.clip, times)
        return float(np.linalg.norm(apart, axis=2).max()) / before.size

    def targets(self) -> int:
        """Morph targets of the enriched file: those of the mesh that has most."""
        meshes = PlayedGltf(self.soft).document.json["meshes"]
        return max(len(part.get("targets", ())) for mesh in meshes for part in mesh["primitives"])

    def row(self) -> list[object]:
        cold, warm = self.seconds(self.soft), self.seconds(self.place / "again.glb")
        rigid = self.place / "rigid.glb"
        self.seconds(rigid, "--soft", "0")
        return [
            self.source.stem,
            self.clip,
            f"{cold:.0f}",
            f"{warm:.0f}",
            self.targets(),
            f"{100 * self.moved(self.soft):.2g} %",
            f"{100 * self.moved(rigid):.2g} %",
        ]

    def in_players(self) -> list[object]:
        (issues,) = validator.validated(FOLDER, self.soft)
        return [
            self.source.stem,
            issues["numErrors"],
            *(_share(way, self.soft) for way in (by_three, by_blender)),
        ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks enrich", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of .glb characters")
    parser.add_argument("--players", action="store_true", help="also let other programs read them")
    given = parser.parse_args(arguments)
    sources = sorted(given.folder.glob("*.glb"))
    if not sources:
        parser.error(f"there are no .glb files in {given.folder}")
    with tempfile.TemporaryDirectory() as place:
        cases = [Case.of(source, Path(place)) for source in sources]
        print(table(HEADERS, [case.row() for case in cases]))
        if given.players:
            print(f"\n{table(PLAYERS, [case.in_players() for case in cases])}")
    return 0


def _share(difference: Callable[[Path, Path], Difference], file: Path) -> str:
    """Of the body's size; where a player is not there, what it lacks."""
    try:
        return f"{difference(FOLDER, file).share:.1e}"
    except (RuntimeError, subprocess.SubprocessError) as missing:
        return str(missing).splitlines()[0]
