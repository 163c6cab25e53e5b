"""How commands and their values are read; shared by the descriptions of all commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, nan
from typing import Any

EXIT_CODES = (
    "Exit codes: 0 all went well, 1 it could not be done and the message says why, 2 wrong usage, "
    "3 it was done but the result is not what was asked for, 130 interrupted."
)
APPENDED = {"action": "append", "default": []}
_EITHER = ("edge", "voxels")  # of which one can be given
_ALWAYS = """
--debug  show where an error comes from
--plugin MODULE  import this module, or .py file, first: it registers models of its own; so does the
    variable SUPPLE_PLUGINS, with commas between several
"""
_NEGATIVE = re.compile(r"-\.?\d(?!(\d|\.|[eE][+-]?\d)*$)")  # plain numbers are known as such


def command(
    commands: Any,
    name: str,
    text: str,
    read: Mapping[str, Callable[[str], object]],
    **more: Mapping[str, Any],
) -> argparse.ArgumentParser:
    """A command that is described by a text: summary, paragraph, epilog and table of options.

    A row of the table has the names of an option, words for its values, and after two spaces its
    help, which may go on in further lines; one without words is a flag. ``read`` says by
    which functions values are read, ``more`` what else ``add_argument`` takes for some options.
    """
    summary, description, rest = text.strip().split("\n\n", 2)
    epilog, _, table = rest.partition("\n\noptions:\n")
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=" ".join(description.split()),
        epilog=f"{epilog}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(parser=made)  # errors name its options
    more |= {option: {"type": how} for them, how in read.items() for option in them.split()}
    more |= {"plugin": APPENDED, "threads": {"type": count}}
    unread = set(more)
    either: Any = made
    for row in re.split(r"\n+(?=--)", (_ALWAYS + table).strip()):
        words, about = row.split("  ", 1)
        flags = [word for word in words.split() if word.startswith("-")]
        told = words.split()[len(flags) :]
        option = flags[0].strip("-").replace("-", "_")
        given = dict(more.get(option, {}))
        unread.discard(option)
        if told:
            given["metavar"] = tuple(told) if len(told) > 1 else told[0]
        if len(told) > 1:
            given["nargs"] = len(told)
        elif not told and not given:
            given["action"] = "store_true"
        if option == _EITHER[0]:
            either = made.add_mutually_exclusive_group()
        place = either if option in _EITHER else made
        place.add_argument(*flags, help=" ".join(about.split()), **given)
    assert unread <= {"threads"}, f"{name} has no option {unread}"
    return made


def asked(given: argparse.Namespace, options: str) -> dict[str, Any]:
    """Options by their names, as a function takes them."""
    return {name: getattr(given, name) for name in options.split()}


def _checked(text: str, is_fine: Callable[[float], bool], what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not is_fine(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def positive(text: str) -> float:
    return _checked(text, lambda value: 0 < value < inf, "a positive number")


def number(text: str) -> float:
    return _checked(text, isfinite, "a number")


def ratio(text: str) -> float:
    number(text)
    return _checked(text, lambda value: 0 <= value <= 1, "between 0 and 1")


def poisson(text: str) -> float:
    number(text)
    return _checked(text, lambda value: -1 < value < 0.5, "more than -1 and less than 0.5")


def basis(text: str) -> str:
    if text in ("modal-derivatives", "modes", "sketch") or text.endswith(".motion"):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is not modal-derivatives, modes, sketch or a recorded motion (*.motion)"
    )


def names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def count(text: str, least: int = 1) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
    return int(text)


def whole(text: str) -> int:
    return count(text, 0)


def joined(arguments: Sequence[str]) -> list[str]:
    """Options and values such as -1s, which argparse takes for further options, as one word."""
    found: list[str] = []
    for text in arguments:
        if found and re.fullmatch(r"--[a-z-]+", found[-1]) and _NEGATIVE.match(text):
            found[-1] += f"={text}"
        else:
            found.append(text)
    return found


def softness(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        found = number(value)
    except argparse.ArgumentTypeError as error:
        part = name or value or "tail"
        raise argparse.ArgumentTypeError(
            f"{text!r} has no number in it; {part}=2 is twice as soft, {part}=0 rigid"
        ) from error
    if found < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: softness is 0 or more")
    return name.strip() or "*", found


def seconds(text: str) -> float:
    units = {"ms": 1e-3, "s": 1.0}
    unit = next((each for each in units if text.endswith(each)), "")
    try:
        return positive(text.removesuffix(unit).strip()) * units.get(unit, 1.0)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time above 0; write 0.4s or 400ms"
        ) from error
