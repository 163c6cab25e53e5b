"""The frame of a report, and the parts that all reports have."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from supple.web.pages import fill, style_element


def page(title: str, body: str, scripts: str, *sheets: str) -> str:
    """A whole page that needs nothing but itself; ``sheets`` add to the style of reports."""
    return fill(
        "report/report.html",
        title=title,
        styles=style_element("report/report.css", *sheets),
        body=body,
        scripts=scripts,
    )


def header(title: str, summary: str = "") -> str:
    """The title of a page and a sentence under it."""
    below = f"<p>{escape(summary)}</p>" if summary else ""
    return f"<header><h1>{escape(title)}</h1>{below}</header>"


def pairs(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values as a table."""
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts)
    return f"<table><tbody>{rows}</tbody></table>"


def ending(source: str = "") -> list[str]:
    """The scene file, where there is one, and who wrote the page."""
    from supple import __version__

    parts = []
    if source:
        parts.append(f"<details><summary>Scene file</summary><pre>{escape(source)}</pre></details>")
    return [*parts, f"<footer>Written by Supple {__version__}.</footer>"]
