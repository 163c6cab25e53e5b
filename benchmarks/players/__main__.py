"""How the players that are there read enriched files, and how far they are from us."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.players import validator
from benchmarks.players.comparing import FOLDER, Difference, by_blender, by_three

NEAR = 1e-4  # of the body's size: what may be between a player and us


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.players", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.glb")
    parser.add_argument(
        "--players", nargs="+", choices=PLAYERS, default=list(PLAYERS), metavar="NAME"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help=f"where players are installed ({FOLDER})"
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
    return _told("three.js", by_three(folder, file))


def _blender(folder: Path, file: Path) -> bool:
    return _told("Blender", by_blender(folder, file))


def _told(player: str, found: Difference) -> bool:
    verdict = "agrees" if found.share <= NEAR else "DIFFERS"
    print(
        f"  {player} {found.revision}: {verdict}, {found.share:.1e} of the body's size at most, in "
        f"{found.frames} frames of {found.clips} clips (worst in {found.worst})"
    )
    return found.share <= NEAR


PLAYERS = {"validator": _validator, "three": _three, "blender": _blender}

if __name__ == "__main__":
    sys.exit(main())
