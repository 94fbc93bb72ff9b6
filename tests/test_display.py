"""Texts and HTML of objects: short, alike, and escaped."""

from dataclasses import dataclass
from html.parser import HTMLParser

import pytest

from tacit.display import LONGEST_TABLE, Displayed, Shown
from tacit.text_table import Table


@dataclass(frozen=True, repr=False)
class Words(Displayed):
    text: str

    def __str__(self) -> str:
        return self.text


class Facts(Displayed):
    def _shown(self) -> Shown:
        rows = tuple((f"x{j}", str(j)) for j in range(LONGEST_TABLE + 5))
        return Shown("Title", (("Unit", "<b>patient</b>\n"),), Table(("name", "number"), rows), ("A note.",))


class Balance(HTMLParser):
    """Tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_text_of_its_own_is_shown_in_both_forms() -> None:
    words = Words("first\nsecond <i>")
    assert repr(words) == "first\nsecond <i>"
    assert '<p class="title">first</p><p>second &lt;i&gt;</p>' in words._repr_html_()


def test_facts_tables_and_notes_are_shown_in_both_forms() -> None:
    text = repr(Facts())
    assert str(Facts()) == text
    assert text.splitlines()[:3] == ["Title", "  Unit  <b>patient</b>\\n", "  name  number"]
    assert text.splitlines()[-2:] == ["  … and 5 more", "  A note."]
    page = Balance()
    page.feed(Facts()._repr_html_())
    assert page.open == []
    assert "b" not in page.seen
    assert {"table", "th", "td", "p"} <= page.seen


@pytest.mark.parametrize("columns", [1, 2])
def test_facts_stand_side_by_side(columns: int) -> None:
    shown = Shown(facts=(("a", "1"), ("b", "2"))).html(columns)
    assert shown.count("<tr>") == 2 // columns
