"""Dampings by example as pages: how one looks, and what came of designing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from math import ceil
from typing import Literal

from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import ExampleDamping
from supple.design import Fit, TargetResult
from supple.io.report.design_pictures import (
    CURVES_NOTE,
    DESIGN_STYLE,
    ExamplePictures,
    example_cards,
)
from supple.io.report.design_plots import (
    curve_plots,
    decay_plots,
    name_of,
    own_curve_plots,
    results_of,
    run_colors,
    target_text,
)
from supple.io.report.look import Look, Run, Shown
from supple.io.report.page import comparison, ending, figures, header, pairs, write_page
from supple.io.report.run_report import Tracked, moving_plots
from supple.mesh import Embedding, VolumeMesh

_STILL_SIZE = (174, 207)
_EXAMPLE_SIZE = (240, 240)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def write_design_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    summary: str = "",
    mesh: VolumeMesh,
    before: ExampleDamping,
    fit: Fit,
    linear: Fit | None = None,
    skin: Embedding | None = None,
    colors: Floats | None = None,
    floor: float | None = None,
    up: Literal["z", "y"] = "z",
    facts: Sequence[tuple[str, str]] = (),
    timings: Sequence[tuple[str, str]] = (),
    runs: Sequence[Run] = (),
    source: str = "",
) -> None:
    """Writes a page about a designed damping, which needs no other file and no network.

    Args:
        path: The file, ``*.html``; it appears whole or not at all.
        mesh: Of the body, which its examples deform.
        before: The damping that the design began with.
        fit: What the design found.
        linear: The best that constant strengths can do for the same targets, to compare with.
        timings: Names and values that say how long it took; the design's own time comes first.
        runs: Motions of the mesh to play side by side, from before the design to after it.

    The others are those of ``write_report``.
    """
    shown = Shown(skin, colors, floor, up)
    _check(mesh, before, fit, linear)
    parts = [header(title, summary), _verdict(fit, linear)]
    scripts = ""
    if runs:
        look = Look.of(runs, shown, size=_STILL_SIZE)
        plots = moving_plots(runs, Tracked.of(runs[0].motion), run_colors(len(runs)))
        parts.append(look.stage() + figures(plots))
        scripts = look.scripts()
    pictures = ExamplePictures.of(mesh, before, shown, size=_EXAMPLE_SIZE)
    frequencies = [_frequency(i, fit) for i in range(len(fit.damping.examples))]
    parts.append("<h2>The examples</h2>" + example_cards(fit.damping, pictures, frequencies))
    scripts += pictures.scripts
    for heading, note, plots in (
        ("How strongly each is damped", CURVES_NOTE, curve_plots(before, fit, linear)),
        ("How each dies away", _DECAYS_NOTE, decay_plots(fit, linear)),
    ):
        parts.append(f'<h2>{heading}</h2><p class="note">{note}</p>{figures(plots)}')
    parts.append("<h2>Asked and got</h2>" + _results(fit, linear))
    parts.append("<h2>How long it took</h2>" + pairs([_own_timing(fit), *timings]))
    if facts:
        parts.append("<h2>What was designed</h2>" + pairs(facts))
    parts += ending(source)
    write_page(path, title, parts, scripts, DESIGN_STYLE)


def write_damping_page(
    path: str | os.PathLike[str],
    damping: ExampleDamping,
    mesh: VolumeMesh,
    *,
    title: str = "Damping by example",
    skin: Embedding | None = None,
    colors: Floats | None = None,
    floor: float | None = None,
    up: Literal["z", "y"] = "z",
) -> None:
    """Write a page that shows each example of a damping, swinging, and its curve.

    ``path`` is the file, ``*.html``; it needs no other file and no network. ``mesh`` is the body's;
    ``skin`` a surface embedded in it to be drawn instead of its boundary, with ``colors`` (s, 3)
    in 0…1; ``floor`` the level [m] along ``up`` that shadows fall on.
    """
    instance("damping", damping, ExampleDamping, "ExampleDamping(Rayleigh(mass=0.1), [...])")
    if not damping.examples:
        raise InputError("this damping has no examples to show; give it some")
    _check_shapes(mesh, damping)
    shown = Shown(skin, colors, floor, up)
    pictures = ExamplePictures.of(mesh, damping, shown, size=_EXAMPLE_SIZE)
    body = [
        header(title, f"Base: {damping.base}"),
        example_cards(damping, pictures, [""] * len(damping.examples)),
        f'<h2>How strongly each is damped</h2><p class="note">{CURVES_NOTE}</p>',
        figures(own_curve_plots(damping)),
    ]
    write_page(path, title, body, pictures.scripts, DESIGN_STYLE)


_DECAYS_NOTE = (
    "The body is let go from an example and followed for one cycle: through zero, to the other "
    "side, and back. The ring marks what should be left then, the dotted line a steady way there."
)


def _check(mesh: VolumeMesh, before: ExampleDamping, fit: Fit, linear: Fit | None) -> None:
    count = len(fit.damping.examples)
    for name, damping in (
        ("before", before),
        ("linear", None if linear is None else linear.damping),
    ):
        if damping is not None and len(damping.examples) != count:
            raise InputError(
                f"{name} has {len(damping.examples)} examples, the fit {count}; give the damping "
                "for the same examples"
            )
    if linear is not None and len(linear.report.results) != len(fit.report.results):
        raise InputError(
            f"linear has {len(linear.report.results)} targets, the fit "
            f"{len(fit.report.results)}; fit it to the same targets"
        )
    _check_shapes(mesh, before)


def _check_shapes(mesh: VolumeMesh, damping: ExampleDamping) -> None:
    for example in damping.examples:
        if example.shape.shape != mesh.vertices.shape:
            raise InputError(
                f"an example has shape {example.shape.shape}, the mesh {mesh.vertices.shape}; "
                "give the mesh that the examples deform"
            )


def _verdict(fit: Fit, linear: Fit | None) -> str:
    results = fit.report.results
    met, count = [r for r in results if r.met], len(results)
    wishes = "wish" if count == 1 else "wishes"
    headline = f"{len(met)} of {count} {wishes} met"
    if met:
        worst = max(abs(r.error) for r in met)
        headline += f", within {max(ceil(1000 * worst - 1e-9), 1) / 10:g} %"
    says = []
    if missed := count - len(met):
        known = [abs(r.error) for r in results if not (r.met or r.after.is_failed)]
        farthest = max(known, default=1.0)
        word = _NUMBERS[missed].capitalize() if missed < len(_NUMBERS) else str(missed)
        by = "misses by" if missed == 1 else "miss by up to"
        says.append(f"{word} {by} {_percent(farthest)}; the table below says why.")
    if linear is not None:
        known = [abs(r.error) for r in linear.report.results if not r.after.is_failed]
        off = max(known, default=1.0)
        says.append(f"The best that linear damping can do misses by up to {_percent(off)}.")
    style = "met" if not missed else "missed"
    more = f"<p>{escape(' '.join(says))}</p>" if says else ""
    return f'<section class="verdict {style}"><strong>{escape(headline)}</strong>{more}</section>'


def _frequency(example: int, fit: Fit) -> str:
    """How often the body swings along an example, as its gentlest test showed."""
    tests = [test for result in results_of(example, fit) for test in (result.before, result.after)]
    return next((f"{1 / test.period:.3g} Hz" for test in tests if test.oscillates), "")


def _results(fit: Fit, linear: Fit | None) -> str:
    middle = [] if linear is None else ["Best linear"]
    head = ["Example", "Asked", "Wanted", "Before", *middle, "Reached", "Error", "Simulations"]
    rows = []
    for k, result in enumerate(fit.report.results):
        other = None if linear is None else linear.report.results[k]
        cells = _cells(result, other)
        name = escape(name_of(fit.damping, result.example))
        values = "".join(
            f'<td data-name="{column}">{value}</td>'
            for column, value in zip(head[1:], cells, strict=True)
        )
        style = "" if result.met else ' class="missed"'
        rows.append(f"<tr{style}><th>{name}</th>{values}</tr>")
        if not result.met:
            reason = f"Not met: {result.reason}." if result.reason else "Not met."
            wide = len(head) - 1
            rows.append(
                f'<tr class="reason"><td></td><td colspan="{wide}">{escape(reason)}</td></tr>'
            )
    return comparison(head, rows, " results")


def _cells(result: TargetResult, linear: TargetResult | None) -> list[str]:
    target = result.target
    words = f"from {target.start:g}: {target_text(target)}"
    cells = [escape(words), f"{result.wanted:.4g}", result.before_text]
    if linear is not None:
        cells.append(f"{linear.reached:.4g} <small>({_signed(linear.error)})</small>")
    mark = "✓" if result.met else "✗"
    if result.after.is_failed:
        return [*cells, "a step fails", "", str(result.simulations)]
    cells.append(f"<b>{result.reached:.4g}</b> <i>{mark}</i>")
    return [*cells, _signed(result.error), str(result.simulations)]


def _own_timing(fit: Fit) -> tuple[str, str]:
    report = fit.report
    rounds = "one round" if report.rounds == 1 else f"{report.rounds} rounds"
    return (
        "Design",
        f"{report.seconds:.2g} s: {report.simulations} simulations, in {rounds} over the targets",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def _signed(error: float) -> str:
    return f"{100 * error:+.2f} %".replace("-", "−")
