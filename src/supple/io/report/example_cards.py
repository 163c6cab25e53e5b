"""Examples as cards with a swinging picture, for the pages about a damping."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from supple.damping import ExampleDamping
from supple.io.report.design_pictures import ExamplePictures
from supple.io.report.design_plots import name_of
from supple.io.report.plots import Plot

DESIGN_STYLE = "report/design.css"
CURVES_NOTE = (
    "γ scales the damping along an example: 1 is the base damping, 10 is ten times as strong. "
    "The excitation |χ| says how much of the example is in the deformation; at 1 it is "
    "the example itself."
)


def example_cards(
    damping: ExampleDamping, pictures: ExamplePictures, frequencies: Sequence[str]
) -> str:
    """A card an example: picture, name, frequency where it is known, and size."""
    cards = []
    for i, example in enumerate(damping.examples):
        name, scale = escape(name_of(damping, i)), pictures.drawn[i]
        facts = [f"up to {_length(example.amplitude)} at χ = 1"]
        if frequencies[i]:
            facts.insert(0, frequencies[i])
        if scale != 1:
            facts.append(f"drawn {scale:g} times as large")
        says = f"The body deformed by {name}, over its outline without"
        cards.append(
            f'<figure><div class="shot"><canvas role="img" aria-label="{says}, swinging">'
            f'</canvas><img alt="{says}" src="{pictures.stills[i]}"></div>'
            f"<figcaption><h3>{name}</h3><p>{'<br>'.join(map(escape, facts))}</p></figcaption>"
            "</figure>"
        )
    columns = min(len(cards), 4)
    return f'<div id="examples" style="--columns: {columns}">{"".join(cards)}</div>'


def figures(plots: Sequence[Plot]) -> str:
    """Plots beside each other."""
    return f'<div class="plots">{"".join(plot.html() for plot in plots)}</div>'


def _length(metres: float) -> str:
    return f"{metres:.3g} m" if metres >= 1 else f"{1e3 * metres:.3g} mm"
