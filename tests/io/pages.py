"""What the tests of web pages share."""

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
