"""What the tests of web pages share."""

import base64
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

_CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(_CHROMIUM is None, reason="needs chromium, to open the page")
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, to run scripts")

_VOID = {"meta", "img", "input", "line", "path", "br", "circle"}


class Checker(HTMLParser):
    """Notes tags, and that every one of them is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def count(self, tag):
        return sum(name == tag for name, _ in self.seen)

    def attributes(self, tag):
        return [attributes for name, attributes in self.seen if name == tag]


def read(page):
    """The page, a file or its text, once every tag of it was found closed."""
    checker = Checker()
    checker.feed(page if isinstance(page, str) else page.read_text(encoding="utf-8"))
    assert checker.open == []
    return checker


def data_of(page, id):
    """What the scripts of a page, a file or its text, are given under this id."""
    text = page if isinstance(page, str) else page.read_text(encoding="utf-8")
    found = re.search(f'<script type="application/json" id="{id}">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def decoded(text, dtype, *shape):
    """Numbers that a page has as text."""
    return np.frombuffer(base64.b64decode(text), dtype).astype(float).reshape(*shape or (-1,))


def assert_needs_no_other_file(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"https?://", text)
    for name, address in re.findall(r'\b(src|href)="([^"]*)"', text):
        assert name == "src"
        assert address.startswith("data:image/png;base64,")
    assert "@import" not in text
    assert "url(" not in text


_FRAMES = """window.requestAnimationFrame = (draw) =>
  setTimeout(() => draw(performance.now()), 20);"""


def in_browser(path, script="", *, seconds):
    """The page as a browser has it after ``script`` ran in it, so many seconds after it opened.

    Skips the test where the browser draws no WebGL. Time is virtual, and frames come by it: a busy
    machine may show none of its own in many seconds.
    """
    opened = path.with_name(f"opened_{path.name}")
    text = path.read_text(encoding="utf-8")
    text = text.replace("<head>", f"<head><script>{_FRAMES}</script>", 1)
    opened.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    flags = "--headless=new --no-sandbox --use-gl=angle --use-angle=swiftshader --dump-dom"
    more = f"--enable-unsafe-swiftshader --virtual-time-budget={1000 * seconds:g}"
    profile = f"--user-data-dir={path.with_name('profile')}"
    done = subprocess.run(
        [_CHROMIUM, *flags.split(), *more.split(), profile, opened.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    body = done.stdout[done.stdout.index("<body") :]
    if 'data-why="no WebGL"' in done.stdout or re.search(r'id="\w+"[^>]* class="still"', body):
        pytest.skip("this chromium draws no WebGL")
    return done.stdout


def in_node(code, given=""):
    """The JSON that a module of this code prints, which reads ``given`` from its input."""
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", code],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)
