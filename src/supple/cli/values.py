"""How commands and their values are read; shared by the descriptions of all commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EXIT_CODES = (
    "Exit codes: 0 all went well, 1 it could not be done and the message says why, 2 wrong usage, "
    "3 it was done but the result is not what was asked for, 130 interrupted."
)
_NEGATIVE = re.compile(r"-\.?\d(?!(\d|\.|[eE][+-]?\d)*$)")  # plain numbers are known as such


def command(
    commands: Any, name: str, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"{epilog}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(parser=made)  # errors name its options
    made.add_argument("--debug", action="store_true", help="show where an error comes from")
    return made


def add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--threads", type=count, metavar="N", help="use N threads instead of every core"
    )
    command.add_argument("--quiet", "-q", action="store_true", help="say nothing but errors")


def default_folder(given: argparse.Namespace) -> Path:
    """Where ``run`` and ``design`` write if nothing is said: beside each other, by the scene."""
    stem = Path(given.scene).stem
    return Path(f"{stem}_design" if given.command == "design" else stem)


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -float("inf") < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def ratio(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return value


def poisson(text: str) -> float:
    value = number(text)
    if not -1 < value < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not more than -1 and less than 0.5")
    return value


def material(text: str) -> str:
    known = ("StVK", "NeoHookean", "StableNeoHookean", "Corotational")
    for name in known:
        if text.lower() == name.lower():
            return name
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(known)}")


def basis(text: str) -> str:
    if text in ("modal-derivatives", "modes") or text.endswith(".motion"):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is not modal-derivatives, modes or a recorded motion (*.motion)"
    )


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def joined(arguments: Sequence[str]) -> list[str]:
    """Options and values such as -1s, which argparse takes for further options, as one word."""
    found: list[str] = []
    for text in arguments:
        if found and re.fullmatch(r"--[a-z-]+", found[-1]) and _NEGATIVE.match(text):
            found[-1] += f"={text}"
        else:
            found.append(text)
    return found
