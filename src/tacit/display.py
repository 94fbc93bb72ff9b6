"""Short text of an object, and the same as HTML for a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.text_table import Table, one_line

STYLE = """\
.tacit-summary {display: inline-block; font-size: 13px; line-height: 1.45}
.tacit-summary table {border-collapse: collapse; margin: 0 0 .6em 0; color: inherit; font: inherit}
.tacit-summary th, .tacit-summary td {padding: .18em .75em; text-align: right; border: 0;
  background: none; white-space: nowrap}
.tacit-summary td {font-variant-numeric: tabular-nums}
.tacit-summary tbody th {font-weight: 400}
.tacit-summary .facts th {opacity: .7}
.tacit-summary th:first-child, .tacit-summary .facts th, .tacit-summary .facts td {text-align: left}
.tacit-summary .facts td {white-space: normal; max-width: 52em}
.tacit-summary .terms {border-top: 2px solid; border-bottom: 2px solid}
.tacit-summary .terms thead th {border-bottom: 1px solid; font-weight: 600}
.tacit-summary .title {font-weight: 600}
.tacit-summary p {margin: .15em .75em; max-width: 56em; white-space: pre-wrap}"""
LONGEST_TABLE = 60
"""Rows of a table that a notebook shows; what is left out is counted below it."""


@dataclass(frozen=True)
class Shown:
    """What an object shows of itself: a title, facts as pairs of words, a table, and sentences."""

    title: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """The same as plain text."""
        lines = [self.title] if self.title else []
        width = max((len(word) for word, _ in self.facts), default=0)
        lines += [f"  {word.ljust(width)}  {one_line(said)}" for word, said in self.facts]
        if self.table is not None:
            table, left_out = _shortened(self.table)
            lines += [table.text("  "), *(f"  {note}" for note in left_out)]
        return "\n".join((*lines, *(f"  {note}" for note in self.notes)))

    def html(self, columns: int = 1) -> str:
        """A fragment of HTML with its own style; whatever a column is called, it stays text."""
        parts = [f'<p class="title">{_safe(self.title)}</p>'] if self.title else []
        if self.facts:
            parts.append(_facts(self.facts, columns))
        notes = list(self.notes)
        if self.table is not None:
            table, left_out = _shortened(self.table)
            parts.append(_table(table))
            notes = [*left_out, *notes]
        parts += [f"<p>{_safe(note)}</p>" for note in notes]
        return f'<div class="tacit-summary"><style>{STYLE}</style>{"".join(parts)}</div>'


class Displayed:
    """An object that says what it shows in `_shown`, in an interpreter and in a notebook.

    Guarantee: text and HTML are made from the same `Shown`. HTML is escaped, whatever a column is called.
    """

    __slots__ = ()

    def _shown(self) -> Shown:
        """What is shown; by default the first line of the text as a title, and the others below it."""
        first, *others = str(self).splitlines() or [type(self).__name__]
        return Shown(first, notes=tuple(others))

    def __repr__(self) -> str:
        """The short text."""
        # Where a class has a text of its own, `str` is that.
        own = type(self).__str__ is not object.__str__
        return str(self) if own else self._shown().text()

    def _repr_html_(self) -> str:
        return self._shown().html()


def _shortened(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The first rows of a long table, and how many are left out."""
    rest = len(table.rows) - LONGEST_TABLE
    if rest <= 0:
        return table, ()
    return Table(table.headers, table.rows[:LONGEST_TABLE]), (f"… and {rest:,} more",)


def _facts(facts: Sequence[tuple[str, str]], columns: int) -> str:
    lines = [facts[place : place + columns] for place in range(0, len(facts), columns)]
    cells = ("".join(f"<th>{_safe(word)}</th><td>{_safe(said)}</td>" for word, said in line) for line in lines)
    return f'<table class="facts"><tbody>{"".join(f"<tr>{line}</tr>" for line in cells)}</tbody></table>'


def _table(table: Table) -> str:
    titles = "".join(f'<th scope="col">{_safe(title)}</th>' for title in table.headers)
    rows = "".join(
        f'<tr><th scope="row">{_safe(name)}</th>' + "".join(f"<td>{_safe(cell)}</td>" for cell in cells) + "</tr>"
        for name, *cells in table.rows
    )
    return f'<table class="terms"><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>'


def _safe(text: str) -> str:
    return html.escape(one_line(text))
