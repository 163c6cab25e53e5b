"""Wishes in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from supple.core.errors import InputError
from supple.design.wishes import (
    SETTLED,
    DampingRatio,
    EachCycle,
    Envelope,
    HalfLife,
    SettlingTime,
    ShareLeft,
    Unit,
    Wish,
)

_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _seconds(number: str, unit: str) -> float:
    return float(number) * (1e-3 if unit.startswith("m") else 1.0)


def _count(word: str) -> int:
    return _COUNTS.index(word) + 1 if word in _COUNTS else int(word)


def _settling(found: re.Match[str]) -> Wish:
    return SettlingTime(
        _seconds(found[2], found[3]), float(found[1]) / 100 if found[1] else SETTLED
    )


_NUMBER = r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+)"
_MANY = rf"(\d+|{'|'.join(_COUNTS)})"
_CYCLE = r"(?: (?:after|in|each|per|every)(?: (?:one|a|each|every|1))? cycle)?"
_SECONDS = r"(ms|milliseconds?|s|sec|seconds?)"
_LEFT = (
    rf"(?:(?:down to|leaves?|left|keeps?) )?{_NUMBER} ?%(?: of (?:the|its) amplitude)?"
    r"(?: (?:left|remain|remains))?"
)
_WORDS: tuple[tuple[str, Callable[[re.Match[str]], Wish]], ...] = (
    (rf"{_LEFT}{_CYCLE}", lambda found: ShareLeft(float(found[1]) / 100)),
    (
        rf"{_LEFT} after {_MANY} cycles?",
        lambda found: ShareLeft(float(found[1]) / 100, _count(found[2])),
    ),
    (
        rf"{_LEFT} (?:in|after|by) (?:each|every one) of (?:the first )?{_MANY} cycles?",
        lambda found: EachCycle(float(found[1]) / 100, _count(found[2])),
    ),
    (rf"(?:halved|half left|halves){_CYCLE}", lambda found: ShareLeft(0.5)),
    (
        rf"(?:half[- ]life(?: of| is)?|halves in|halved in)[:=]? ?{_NUMBER} ?{_SECONDS}",
        lambda found: HalfLife(_seconds(found[1], found[2])),
    ),
    (
        rf"(?:settles?|settled|at rest)(?: to {_NUMBER} ?%)? (?:in|within|after)"
        rf" ?{_NUMBER} ?{_SECONDS}",
        _settling,
    ),
    (rf"settling time(?: of| is)?[:=]?()? ?{_NUMBER} ?{_SECONDS}", _settling),
    (
        rf"(?:ζ|zeta|(?:damping )?ratio)(?: of| is)? ?[=:]? ?{_NUMBER}( ?%)?(?: of critical)?",
        lambda found: DampingRatio(float(found[1]) * (0.01 if found[2] else 1.0)),
    ),
    (
        rf"{_NUMBER} ?% (?:damping|of critical(?: damping)?)",
        lambda found: DampingRatio(float(found[1]) / 100),
    ),
)
_POINT = rf"{_LEFT} after (?:{_MANY} cycles?|{_NUMBER} ?{_SECONDS})"


def wish(words: str, folder: str | Path = "") -> Wish:
    """A wish from plain words.

    "down to 20 % after one cycle", "10 % after three cycles", "80 % left in each of three cycles",
    "half-life 0.4 s", "settles in 0.3 s", "settles to 2 % in 0.3 s", "ζ = 0.05", the envelope
    "70 % after 0.5 s, 30 % after 1 s", or "like ring.csv", a recording in ``folder``.
    """
    plain = " ".join(str(words).split())
    if found := re.fullmatch(r"like (?:the recording )?(\S.*)", plain, re.IGNORECASE):
        return Envelope.recorded(Path(folder) / found[1])
    text = plain.lower().replace("per cent", "%").replace("percent", "%")
    text = text.rstrip(".").removesuffix(" at this amplitude")
    for pattern, make in _WORDS:
        if found := re.fullmatch(pattern, text):
            return make(found)
    points = [re.fullmatch(_POINT, part.strip()) for part in re.split(r",| and ", text)]
    if all(points):
        return _envelope(words, [point for point in points if point is not None])
    raise InputError(
        f"wish {words!r} is not understood; write it like 'down to 20 % after one cycle', '10 % "
        "after three cycles', '80 % left in each of three cycles', 'half-life 0.4 s', 'settles in "
        "0.3 s', 'ζ = 0.05', '70 % after 0.5 s, 30 % after 1 s' or 'like ring.csv'; a cycle is one "
        "swing there and back"
    )


def _envelope(words: str, points: list[re.Match[str]]) -> Envelope:
    units: set[Unit] = {"cycles" if point[2] else "s" for point in points}
    if len(units) > 1:
        raise InputError(
            f"wish {words!r} counts some moments in cycles and others in seconds; write all alike"
        )
    moments = [_count(point[2]) if point[2] else _seconds(point[3], point[4]) for point in points]
    shares = [float(point[1]) / 100 for point in points]
    return Envelope(list(zip(moments, shares, strict=True)), unit=units.pop())
