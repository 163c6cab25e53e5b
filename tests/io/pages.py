"""What the tests of web pages share."""

import re
from html.parser import HTMLParser

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


def read(path):
    """The page, once every tag of it was found closed."""
    checker = Checker()
    checker.feed(path.read_text(encoding="utf-8"))
    assert checker.open == []
    return checker


def assert_needs_no_other_file(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"https?://", text)
    for name, address in re.findall(r'\b(src|href)="([^"]*)"', text):
        assert name == "src"
        assert address.startswith("data:image/png;base64,")
    assert "@import" not in text
    assert "url(" not in text
