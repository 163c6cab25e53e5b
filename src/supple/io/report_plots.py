"""Line plots as inline SVG that follow the page's colours, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from supple.types import Floats

_WIDTH, _HEIGHT = 480, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 34
_MOST = 1200  # points of a curve; more than a screen has columns


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a plot: a name, values (T,) and the number of its colour, from 1."""

    name: str
    values: Floats
    color: int = 1
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure with a title, the unit of its values, a caption and some curves over time [s]."""

    title: str
    unit: str
    times: Floats
    curves: Sequence[Curve]
    caption: str = ""
    from_zero: bool = False
    dots: bool = False

    def html(self) -> str:
        """The figure, with its legend."""
        factor, unit = _prefix(self.unit, [curve.values for curve in self.curves])
        low, high = _range([curve.values * factor for curve in self.curves], self.from_zero)
        start, end = float(self.times[0]), float(self.times[-1])
        end = end if end > start else start + 1.0
        rows, columns = ticks(low, high, 5), ticks(start, end, 6)
        low, high = min(low, rows[0]), max(high, rows[-1])

        def x(t: Floats | float) -> Floats:
            return _LEFT + (np.asarray(t) - start) / (end - start) * (_WIDTH - _LEFT - _RIGHT)

        def y(v: Floats | float) -> Floats:
            return _TOP + (high - np.asarray(v)) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

        parts = []
        for value in rows:
            level = float(y(value))
            style = "axis" if value == 0 else "grid"
            parts.append(
                f'<line class="{style}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
                f'y1="{level:.1f}" y2="{level:.1f}"/>'
                f'<text class="tick" x="{_LEFT - 8}" y="{level + 4:.1f}" '
                f'text-anchor="end">{_label(value, rows)}</text>'
            )
        for value in columns:
            place = float(x(value))
            unit_here = " s" if value == columns[-1] else ""
            parts.append(
                f'<text class="tick" x="{place:.1f}" y="{_HEIGHT - 12}" '
                f'text-anchor="middle">{_label(value, columns)}{unit_here}</text>'
            )
        for curve in self.curves:
            parts.append(self._drawn(curve, x(self.times), y(curve.values * factor)))
        parts.append(
            f'<line class="cursor" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        )
        names = ", ".join(curve.name for curve in self.curves)
        svg = (
            f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(self.title)} over time: {escape(names)}" '
            f'data-t0="{start!r}" data-t1="{end!r}" data-x0="{_LEFT}" '
            f'data-x1="{_WIDTH - _RIGHT}">{"".join(parts)}</svg>'
        )
        caption = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return (
            f"<figure><figcaption><h3>{escape(self.title)} <small>{escape(unit)}</small></h3>"
            f"{self._legend()}</figcaption>{svg}{caption}</figure>"
        )

    def _drawn(self, curve: Curve, x: Floats, y: Floats) -> str:
        if self.dots:
            marks = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x, y, strict=True))
            return f'<path class="dots c{curve.color}" d="{marks}"/>'
        x, y = _thinned(x, y)
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
        dashed = " dashed" if curve.dashed else ""
        return f'<path class="line c{curve.color}{dashed}" d="M{points}"/>'

    def _legend(self) -> str:
        if len(self.curves) < 2:
            return ""
        items = "".join(
            f'<li><i class="c{c.color}{" dashed" if c.dashed else ""}"></i>{escape(c.name)}</li>'
            for c in self.curves
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
