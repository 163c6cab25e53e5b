"""How the players that are there read enriched files, and how far they are from us."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from supple.io.played_gltf import PlayedGltf

from . import blender, three, validator
from .frames import frames_of

NEAR = 1e-4  # of the body's size: what may be between a player and us
_CACHE = Path(tempfile.gettempdir()) / "supple_players"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.players", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.glb")
    parser.add_argument(
        "--players", nargs="+", choices=PLAYERS, default=list(PLAYERS), metavar="NAME"
    )
    parser.add_argument(
        "--folder", type=Path, default=_CACHE, help=f"where players are installed ({_CACHE})"
    )
    given = parser.parse_args(arguments)
    fine = True
    for file in given.files:
        print(f"\n{file}: {file.stat().st_size / 1e6:.2f} MB")
        for name in given.players:
            fine &= PLAYERS[name](given.folder, file)
    return 0 if fine else 1


def _validator(folder: Path, file: Path) -> bool:
    (found,) = validator.validated(folder, file)
    counts = f"{found['numErrors']} errors, {found['numWarnings']} warnings"
    print(f"  Khronos validator: {counts}, {found['numInfos']} notes")
    for message in found["messages"]:
        if message["severity"] == 0:
            print(f"    {message['code']} at {message['pointer']}: {message['message']}")
    return found["numErrors"] == 0


def _three(folder: Path, file: Path) -> bool:
    played = PlayedGltf(file)
    return _told(
        "three.js", played, three.compared(folder, played, frames_of(played, between=True))
    )


def _blender(folder: Path, file: Path) -> bool:
    played = PlayedGltf(file)
    return _told(
        "Blender", played, blender.compared(folder, played, frames_of(played, between=False))
    )


def _told(player: str, played: PlayedGltf, result: dict[str, object]) -> bool:
    clips = result["clips"]
    assert isinstance(clips, list)
    worst = max(clips, key=lambda clip: clip["worst"])
    share = worst["worst"] / played.size
    frames = sum(clip["frames"] for clip in clips)
    verdict = "agrees" if share <= NEAR else "DIFFERS"
    print(
        f"  {player} {result['revision']}: {verdict}, {share:.1e} of the body's size at most, in "
        f"{frames} frames of {len(clips)} clips (worst in {worst['name']})"
    )
    return bool(share <= NEAR)


PLAYERS = {"validator": _validator, "three": _three, "blender": _blender}

if __name__ == "__main__":
    sys.exit(main())
