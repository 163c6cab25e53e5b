"""Line plots as inline SVG that follow the page's colours, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Literal

import numpy as np

from supple.core.types import Floats

_WIDTH, _HEIGHT = 480, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 34
_NAME = 20  # for the name of the horizontal axis
_MOST = 1200  # points of a curve; more than a screen has columns


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a plot: a name, values (T,) and the number of its colour, from 1.

    ``places`` (T,) are where its values stand along the horizontal axis, those of the plot by
    default. ``mark`` draws each value as a dot or a ring instead of joining them. A curve without
    a name is not in the legend.
    """

    name: str
    values: Floats
    color: int = 1
    dashed: bool = False
    thin: bool = False
    mark: Literal["", "dot", "ring"] = ""
    places: Floats | None = None

    @property
    def style(self) -> str:
        """Its classes in the style sheet."""
        line = f"{' dashed' if self.dashed else ''}{' thin' if self.thin else ''}"
        return f"c{self.color}{line}"


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure with a title, the unit of its values, a caption and some curves.

    ``places`` are where values stand along the horizontal axis, and the ends of that axis. It is
    named by ``across``; without that name it is the time [s] of a run, which the player follows.
    ``log`` is for positive values, on a logarithmic scale.
    """

    title: str
    unit: str
    places: Floats
    curves: Sequence[Curve]
    caption: str = ""
    from_zero: bool = False
    dots: bool = False
    across: str = ""
    log: bool = False

    def html(self) -> str:
        """The figure, with its legend."""
        factor, unit = _prefix(self.unit, [curve.values for curve in self.curves])
        low, high, rows = self._heights(factor)
        start, end = float(self.places[0]), float(self.places[-1])
        end = end if end > start else start + 1.0
        columns = ticks(start, end, 6)
        height = _HEIGHT + (_NAME if self.across else 0)

        def x(t: Floats | float) -> Floats:
            return _LEFT + (np.asarray(t) - start) / (end - start) * (_WIDTH - _LEFT - _RIGHT)

        def y(v: Floats | float) -> Floats:
            scaled = self._scaled(np.asarray(v))
            return _TOP + (high - scaled) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

        parts = []
        for value in rows:
            level = float(y(value))
            style = "axis" if value == (1 if self.log else 0) else "grid"
            label = f"{value:g}" if self.log else _label(value, rows)
            parts.append(
                f'<line class="{style}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
                f'y1="{level:.1f}" y2="{level:.1f}"/>'
                f'<text class="tick" x="{_LEFT - 8}" y="{level + 4:.1f}" '
                f'text-anchor="end">{label}</text>'
            )
        for value in columns:
            place = float(x(value))
            unit_here = " s" if value == columns[-1] and not self.across else ""
            parts.append(
                f'<text class="tick" x="{place:.1f}" y="{_HEIGHT - 12}" '
                f'text-anchor="middle">{_label(value, columns)}{unit_here}</text>'
            )
        for curve in sorted(self.curves, key=lambda curve: bool(curve.mark)):  # marks on top
            places = self.places if curve.places is None else curve.places
            parts.append(self._drawn(curve, x(places), y(curve.values * factor)))
        linked = ""
        if self.across:
            parts.append(
                f'<text class="tick" x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{height - 8}" '
                f'text-anchor="middle">{escape(self.across)}</text>'
            )
        else:
            linked = (
                f' data-t0="{start!r}" data-t1="{end!r}" data-x0="{_LEFT}" '
                f'data-x1="{_WIDTH - _RIGHT}"'
            )
            parts.append(
                f'<line class="cursor" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" '
                f'y2="{_HEIGHT - _BOTTOM}"/>'
            )
        names = ", ".join(curve.name for curve in self.curves if curve.name)
        svg = (
            f'<svg class="plot" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-label="{escape(self.title)} over {escape(self.across or "time")}: '
            f'{escape(names)}"{linked}>{"".join(parts)}</svg>'
        )
        caption = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return (
            f"<figure><figcaption><h3>{escape(self.title)} <small>{escape(unit)}</small></h3>"
            f"{self._legend()}</figcaption>{svg}{caption}</figure>"
        )

    def _scaled(self, values: Floats) -> Floats:
        return np.log10(values) if self.log else values

    def _heights(self, factor: float) -> tuple[float, float, list[float]]:
        """The ends of the vertical axis, as scaled, and the values to mark on it."""
        scaled = [self._scaled(curve.values * factor) for curve in self.curves]
        low, high = _range(scaled, self.from_zero)
        if self.log:
            room = max(0.0, 1.0 - (high - low)) / 2  # a power of ten at least
            low, high = low - room, high + room
            return low, high, log_ticks(low, high)
        rows = ticks(low, high, 5)
        return min(low, rows[0]), max(high, rows[-1]), rows

    def _drawn(self, curve: Curve, x: Floats, y: Floats) -> str:
        if curve.mark:
            radius = {"dot": 2.4, "ring": 5.5}[curve.mark]
            return "".join(
                f'<circle class="{curve.mark} {curve.style}" cx="{a:.1f}" cy="{b:.1f}" '
                f'r="{radius}"/>'
                for a, b in zip(x, y, strict=True)
            )
        if self.dots:
            marks = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x, y, strict=True))
            return f'<path class="dots c{curve.color}" d="{marks}"/>'
        x, y = _thinned(x, y)
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
        return f'<path class="line {curve.style}" d="M{points}"/>'

    def _legend(self) -> str:
        named = [curve for curve in self.curves if curve.name]
        if len(named) < 2:
            return ""
        items = "".join(
            f'<li><i class="{c.style}{" " + c.mark if c.mark else ""}"></i>{escape(c.name)}</li>'
            for c in named
        )
        return f'<ul class="legend">{items}</ul>'


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers, about ``count`` of them, that cover most of low…high."""
    span = high - low
    raw = span / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    made = [step * k for k in range(first, last + 1)]
    return made if len(made) > 1 else [low, high]


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between 10^low and 10^high: powers of ten, with 2 and 5 where there is room."""
    within = math.floor(high) - math.ceil(low)
    every = math.ceil((within + 1) / 6) if within > 0 else 1
    steps = (1.0,) if within >= 2 else (1.0, 2.0, 5.0)
    first, last = math.floor(low), math.ceil(high)
    made = [float(f"{step}e{power}") for power in range(first, last + 1, every) for step in steps]
    made = [value for value in made if low <= math.log10(value) <= high]
    return made if len(made) > 1 else [10.0**low, 10.0**high]


def _label(value: float, among: Sequence[float]) -> str:
    step = abs(among[1] - among[0])
    if max(abs(among[0]), abs(among[-1])) >= 1e6 or step < 1e-6:
        return f"{value:.3g}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    if round(step, digits) != round(step, 10):
        digits += 1
    return f"{value:.{digits}f}".replace("-", "−") if value else "0"


def _prefix(unit: str, values: Sequence[Floats]) -> tuple[float, str]:
    """The factor and the unit that give the numbers a handy size."""
    largest = max((float(np.abs(v).max()) for v in values if len(v)), default=0.0)
    if unit not in ("J", "m", "s") or largest == 0:
        return 1.0, unit
    for factor, name in ((1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n")):
        if largest * factor >= 1.0:
            return factor, name + unit
    return 1.0, unit


def _range(values: Sequence[Floats], from_zero: bool) -> tuple[float, float]:
    whole = np.concatenate([np.asarray(v, dtype=float).ravel() for v in values])
    low, high = float(whole.min()), float(whole.max())
    if from_zero:
        low = min(low, 0.0)
    if high - low <= 1e-9 * max(abs(high), abs(low), 1e-12):
        half = max(abs(high), 1e-6) * 0.5
        low, high = low - half, high + half
    margin = 0.05 * (high - low)
    return (low if from_zero and low == 0 else low - margin), high + margin


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Long curves with the lowest and highest point of each stretch."""
    if len(x) <= _MOST:
        return x, y
    edges = np.linspace(0, len(x), _MOST // 2 + 1).astype(int)
    keep = {0, len(x) - 1}
    for a, b in pairwise(edges.tolist()):
        keep |= {a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b]))}
    index = np.array(sorted(keep))
    return x[index], y[index]
