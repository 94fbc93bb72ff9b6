"""Pages as text and as HTML: everything is escaped, nothing is loaded."""

import re
from html.parser import HTMLParser

from tacit.report.page import Page, Section, Status
from tacit.text_table import Table

EVIL = '<script>alert("1")</script>&\x1b[31m\u202e'
PAGE = Page(
    f"title {EVIL}",
    f"of {EVIL}",
    f"verdict {EVIL}",
    good=False,
    sections=(
        Section(f"section {EVIL}", (f"sentence {EVIL}",), (f"item {EVIL}",)),
        Section("table", table=Table((f"head {EVIL}", "status"), ((f"cell {EVIL}", str(Status.OPEN)),))),
    ),
    footer=(f"footer {EVIL}",),
)


class Tags(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: dict[str, set[str]] = {}
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_whatever_a_text_holds_is_shown_as_text() -> None:
    page = Tags(PAGE.html())
    assert page.open == []
    assert "script" not in page.tags
    for place in ("title", "of", "verdict", "section", "sentence", "item", "head", "cell", "footer"):
        assert f'{place} <script>alert("1")</script>&' in page.text
    assert "\x1b" not in PAGE.html() + PAGE.text()
    assert "\u202e" not in PAGE.html() + PAGE.text()


def test_nothing_is_loaded_and_nothing_runs() -> None:
    html = PAGE.html()
    page = Tags(html)
    assert set(page.tags) <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "ul", "li", "section"),
        *("div", "table", "thead", "tbody", "tr", "th", "td", "footer"),
    }
    assert not set(page.attributes) & {"src", "href", "action", "srcset", "style"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert not re.search(r"url\(|@import|https?:", html)
    assert "default-src 'none'" in next(iter(v for v in page.attributes["content"] if "default-src" in v))


def test_a_status_has_a_class_and_a_verdict_a_colour() -> None:
    html = PAGE.html()
    assert '<td class="status open">open</td>' in html
    assert 'class="verdict bad"' in html
    assert 'class="verdict good"' in Page("t", "o", "v", good=True, sections=()).html()


def test_text_has_short_lines_and_wide_tables_become_lists() -> None:
    wide = Table(("a", "b"), (("x " * 40, "y " * 40),))
    text = Page("t", "o", "word " * 60, good=True, sections=(Section("s", ("word " * 60,), table=wide),)).text()
    assert max(map(len, text.splitlines())) <= 88
    assert "- x x" in text
    assert "  b: y y" in text
    narrow = Page("t", "o", "v", good=True, sections=(Section("s", table=Table(("a", "b"), (("x", "1"),))),)).text()
    assert "a  b\nx  1" in narrow
