"""Summaries drawn: the same numbers in three ways, whatever the columns are called."""

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from tacit.inference.estimates import Line
from tacit.inference.summary import Header, Summary
from tacit.inference.summary_rendering import (
    latex_name,
    summary_facts,
    summary_html,
    summary_latex,
    summary_markdown,
    summary_notes,
    summary_table,
    summary_text,
)
from tacit.privacy.budget import Guarantee
from tacit.privacy.relation import Relation

GUARANTEE = Guarantee(Relation.REPLACE_ONE, "patient", 1.00000001, 1e-5, 0.27)
FACTS = Header("binomial, logit link", "readmit", 20_000, False, GUARANTEE, None, "one-step", 34)
LINES = (
    Line("Intercept", -5.6, 0.93, -6.06, 1e-9, -7.4, -3.8, 0.82, "nominal"),
    Line("age", 0.0375, 0.0065, 5.74, 2e-8, 0.0244, 0.0506, 0.8, "nominal"),
    Line("smoker[T.yes]", 0.29, 0.22, 1.35, 0.18, -0.14, 0.73, 0.7, "nominal"),
)
SUMMARY = Summary(FACTS, LINES, statement="nominal")


def test_the_text_is_the_table_people_know() -> None:
    assert (
        summary_text(SUMMARY)
        == """\
Model:     binomial, logit link    Guarantee: ε = 1.00001, δ = 1e-05
Response:  readmit                 Relation:  replace-one
Records:   20,000                  Unit:      patient
Method:    one-step                Passes:    34
=========================================================================
                  coef  std err       z   P>|z|   [0.025   0.975]  privacy
-------------------------------------------------------------------------
Intercept      -5.6000   0.9300  -6.060  <0.001  -7.4000  -3.8000      82%
age             0.0375   0.0065   5.740  <0.001   0.0244   0.0506      80%
smoker[T.yes]   0.2900   0.2200   1.350   0.180  -0.1400   0.7300      70%
=========================================================================
Intervals: nominal 95%, sampling and privacy noise together.
Privacy: share of the variance that is due to the noise added.""".replace("=" * 73, "=" * 74).replace(
            "-" * 73, "-" * 74
        )
    )


def test_what_was_not_paid_for_has_no_column() -> None:
    bare = replace(SUMMARY, lines=tuple(Line(line.name, line.coef) for line in LINES))
    assert summary_table(bare).headers == ("", "coef")
    assert summary_notes(bare) == []
    kept = tuple(replace(line, statistic=None, pvalue=None, privacy_share=None) for line in LINES)
    headers = summary_table(replace(SUMMARY, lines=kept)).headers
    assert headers == ("", "coef", "std err", "[0.025", "0.975]")


def test_levels_are_in_the_headers() -> None:
    assert summary_table(replace(SUMMARY, level=0.9)).headers[-3:-1] == ("[0.05", "0.95]")
    assert summary_table(replace(SUMMARY, level=0.999)).headers[-3:-1] == ("[0.0005", "0.9995]")


def test_statements_that_differ_have_a_column() -> None:
    mixed = (replace(LINES[0], statement="approximate"), *LINES[1:])
    table = summary_table(replace(SUMMARY, lines=mixed))
    assert table.headers[-1] == "interval"
    assert [row[-1] for row in table.rows] == ["approximate", "nominal", "nominal"]
    assert "interval" not in summary_table(SUMMARY).headers


def test_no_star_unless_asked_and_none_outside_the_nominal_region() -> None:
    assert "*" not in summary_text(SUMMARY)
    starred = summary_table(replace(SUMMARY, stars=True))
    assert [row[4] for row in starred.rows] == ["<0.001***", "<0.001***", "0.180"]
    for word in ("conservative", "approximate"):
        lines = tuple(replace(line, statement=word) for line in LINES)
        table = summary_table(replace(SUMMARY, lines=lines, statement=word, stars=True))
        assert [row[4] for row in table.rows] == ["<0.001", "<0.001", "0.180"]


@pytest.mark.parametrize(
    ("pvalue", "shown"), [(0.049, "0.049*"), (0.0099, "0.010**"), (0.05, "0.050"), (0.0005, "0.001***"), (1.0, "1.000")]
)
def test_stars_go_by_the_number_and_not_by_its_rounding(pvalue: float, shown: str) -> None:
    line = replace(LINES[0], pvalue=pvalue)
    table = summary_table(replace(SUMMARY, lines=(line,), stars=True))
    assert table.rows[0][4] == shown


def test_sampling_intervals_say_what_they_leave_out() -> None:
    (note, *_) = summary_notes(replace(SUMMARY, which="sampling"))
    assert "left out" in note
    assert "do not cover" in note


def test_intervals_for_all_at_once_are_named() -> None:
    assert "for all at once (Bonferroni)" in summary_notes(replace(SUMMARY, simultaneous="bonferroni"))[0]
    assert "Scheffé" in summary_notes(replace(SUMMARY, simultaneous="scheffe"))[0]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"records_at_least": True}, ("Records", "at least 20,000")),
        ({"passes": None}, ("Passes", "until converged")),
        ({"not_private": "no noise was added"}, ("Guarantee", "none: no noise was added")),
    ],
)
def test_facts(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert expected in summary_facts(replace(SUMMARY, header=replace(FACTS, **changes)))


def test_what_is_not_private_states_no_epsilon() -> None:
    open_facts = replace(FACTS, not_private="the noise came from a fixed seed")
    for draw in (summary_text, summary_html, summary_latex):
        assert "1.00001" not in draw(replace(SUMMARY, header=open_facts))


class Tags(HTMLParser):
    """Which tags there are, which of them are open, and the cells' text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in {"td", "th"}:
            self.cells.append(data)


def test_html_is_well_formed_and_shows_the_same() -> None:
    tags = Tags()
    tags.feed(summary_html(SUMMARY))
    assert tags.open == []
    assert tags.seen.count("table") == 2
    for row in summary_table(SUMMARY).rows:
        for cell in row:
            assert cell in tags.cells


def test_names_cannot_command_the_page_nor_the_terminal() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m"
    lines = (replace(LINES[0], name=hostile),)
    summary = replace(SUMMARY, lines=lines, header=replace(FACTS, response=hostile))
    assert "<script" not in summary_html(summary)
    for draw in (summary_text, summary_html, summary_latex):
        assert "\x1b" not in draw(summary)


@pytest.mark.parametrize("draw", [summary_text, summary_html, summary_latex, summary_markdown])
def test_statements_cannot_command_the_terminal(draw: Any) -> None:
    said = "nominal\x1b[31m"
    lines = tuple(replace(line, statement=said) for line in LINES)
    assert "\x1b" not in draw(replace(SUMMARY, lines=lines, statement=said))


def test_latex_escapes_and_balances() -> None:
    lines = (replace(LINES[0], name=r"a_b & 50% of {x} [T.y] ~^\$#"),)
    text = summary_latex(replace(SUMMARY, lines=lines))
    row = next(line for line in text.splitlines() if line.startswith("a"))
    assert row.count(" & ") == len(summary_table(SUMMARY).headers) - 1
    assert r"a\_b \& 50\% of \{x\} {[}T.y{]}" in row
    bare = re.sub(r"\\[&%$#_{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    for line in text.splitlines():
        assert not line.startswith("[")
    assert "$-$5.600" in text


def test_infinite_ends_are_drawn() -> None:
    lines = (replace(LINES[0], lower=-math.inf, upper=math.inf), *LINES[1:])
    for draw in (summary_text, summary_html, summary_latex):
        assert "inf" in draw(replace(SUMMARY, lines=lines))


WITHHELD = Line("Intercept", -5.6, statement="withheld")
"""The first of the lines, which used to decide for all of them."""
PARTLY = replace(SUMMARY, lines=(WITHHELD, *LINES[1:]), notes=("Withheld (Intercept): noise hides a direction.",))


def test_a_withheld_interval_is_a_blank_and_a_word() -> None:
    table = summary_table(PARTLY)
    assert table.headers[-1] == "interval"
    name, coef, *blanks, word = table.rows[0]
    assert (name, coef, word) == ("Intercept", "-5.6000", "withheld")
    assert set(blanks) == {""}
    assert [row[1:-1] for row in table.rows[1:]] == [row[1:] for row in summary_table(SUMMARY).rows[1:]]
    text = summary_text(PARTLY)
    assert "Withheld (Intercept): noise hides a direction." in text
    assert "nominal 95%" in text
    assert "inf" not in text
    assert "None" not in text


def test_html_and_latex_have_the_blanks_and_the_word() -> None:
    tags = Tags()
    html = summary_html(PARTLY)
    tags.feed(html)
    place = tags.cells.index("withheld")
    assert "nominal" in tags.cells
    assert tags.cells[place - 1] in {"", "-5.6000"}
    latex = summary_latex(PARTLY)
    (row,) = [line for line in latex.splitlines() if "withheld" in line and "Intercept &" in line]
    assert row.count("&") == len(summary_table(PARTLY).headers) - 1
    for drawn in (html, latex):
        assert "inf" not in drawn
        assert "None" not in drawn


def test_where_all_are_withheld_the_coefficients_and_the_reason_are_left() -> None:
    lines = tuple(Line(line.name, line.coef, statement="withheld") for line in LINES)
    nothing = replace(SUMMARY, lines=lines, statement="withheld", notes=("Withheld: why.",))
    assert summary_table(nothing).headers == ("", "coef")
    assert summary_notes(nothing) == ["Withheld: why."]
    for draw in (summary_text, summary_html, summary_latex):
        assert "Withheld: why." in draw(nothing)


def test_no_star_for_what_is_withheld() -> None:
    starred = summary_table(replace(PARTLY, stars=True))
    assert starred.rows[0][4] == ""


def test_a_test_by_a_t_law_is_called_so() -> None:
    assert "P>|z|" in SUMMARY.as_text()
    finite = replace(SUMMARY, lines=tuple(replace(line, degrees=30.0) for line in LINES))
    assert "P>|t|" in finite.as_text()
    assert "P>|z|" not in finite.as_text()


def test_latex_has_readable_names_powers_and_a_mark_of_what_is_withheld() -> None:
    text = replace(SUMMARY, lines=(WITHHELD, *LINES[1:])).as_latex()
    assert "smoker: yes &" in text
    assert r"$1\cdot 10^{-5}$" in text
    assert "--- & ---" in text
    assert "multicolumn" not in text
    assert latex_name("C(ward, Treatment('b'))[T.a]") == "ward: a"
    assert latex_name("age:sex[T.f]") == r"age $\times$ sex: f"
