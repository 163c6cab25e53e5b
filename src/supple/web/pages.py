"""Puts pages together: one file that needs nothing but a browser and no network."""

from __future__ import annotations

import base64
import json
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.web.bundle import bundle


def fill(template: str, **values: str) -> str:
    """The template, e.g. ``"report/report.html"``, with a value for each of its $names."""
    return Template(_read(template)).substitute(values)


def page_text(title: str, body: str, scripts: str, *sheets: str) -> str:
    """A whole page; ``title`` is plain text, ``sheets`` its style and ``scripts`` elements."""
    parts = {"title": escape(title), "styles": style_element(*sheets)}
    return fill("shared/page.html", body=body.strip(), scripts=scripts, **parts)


@cache
def style_element(*sheets: str) -> str:
    """Style sheets, e.g. ``"report/report.css"``, as one element."""
    text = "".join(_read(sheet) for sheet in sheets)
    for refused in ("@import", "url(", "</style"):
        if refused in text:
            raise InputError(f"{', '.join(sheets)}: {refused!r} cannot be in a page of one file")
    return f"<style>\n{text}</style>"


@cache
def script_element(entry: str) -> str:
    """The module, e.g. ``"report/player.js"``, with all that it imports, as one element."""
    return f'<script type="module">\n{bundle(entry, _read)}</script>'


def data_element(id: str, text: str) -> str:
    """What a script reads by ``dataOf(id)``: text from ``json_text``, as an element."""
    return f'<script type="application/json" id="{id}">{text}</script>'


def json_text(value: dict[str, Any]) -> str:
    """JSON that may stand in a script element: no name in it can end that."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def encoded(array: NDArray[Any], dtype: str) -> str:
    """Numbers as text that a script reads back with ``decode``."""
    return base64.b64encode(np.ascontiguousarray(array).astype(dtype).tobytes()).decode("ascii")


def _read(path: str) -> str:
    return files("supple.web").joinpath(path).read_text(encoding="utf-8")
