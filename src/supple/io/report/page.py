"""The frame of a report, and the parts that all reports have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from supple.core.files import replacing
from supple.io.report.plots import Plot
from supple.web.pages import page_text


def write_page(
    path: str | os.PathLike[str], title: str, parts: Sequence[str], scripts: str, *sheets: str
) -> None:
    """A whole page that needs nothing but itself; ``sheets`` add to the style of reports."""
    body = "\n".join(["<main>", *parts, "</main>"])
    text = page_text(title, body, scripts, "report/report.css", *sheets)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def header(title: str, summary: str = "") -> str:
    """The title of a page and a sentence under it."""
    below = f"<p>{escape(summary)}</p>" if summary else ""
    return f"<header><h1>{escape(title)}</h1>{below}</header>"


def pairs(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values as a table."""
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts)
    return f"<table><tbody>{rows}</tbody></table>"


def comparison(head: Sequence[str], rows: Sequence[str], style: str = "") -> str:
    """Rows of a table, under the names of its columns."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return (
        f'<div class="scroll"><table class="compare{style}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def figures(plots: Sequence[Plot]) -> str:
    """Plots beside each other."""
    return f'<div class="plots">{"".join(plot.html() for plot in plots)}</div>'


def ending(source: str = "") -> list[str]:
    """The scene file, where there is one, and who wrote the page."""
    from supple import __version__

    parts = []
    if source:
        parts.append(f"<details><summary>Scene file</summary><pre>{escape(source)}</pre></details>")
    return [*parts, f"<footer>Written by Supple {__version__}.</footer>"]
