"""The table people know, as data: what was fitted, under which guarantee, and every coefficient.

It is drawn by the report room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.inference.data_frame import frame_of
from tacit.inference.drawing import drawing
from tacit.privacy.budget import Guarantee


@dataclass(frozen=True)
class Facts:
    """The header of a summary.

    `not_private` says why nothing is guaranteed, where nothing is. `records` is the number of
    records, or the declared least one where `records_at_least`; `passes` is None where the
    records were read as often as it took.
    """

    model: str
    response: str | None
    records: int | None
    records_at_least: bool
    guarantee: Guarantee
    not_private: str | None
    method: str
    passes: int | None


@dataclass(frozen=True)
class Line:
    """One coefficient; None where no interval was paid for, or none is offered."""

    name: str
    coef: float
    std_err: float | None = None
    statistic: float | None = None
    pvalue: float | None = None
    lower: float | None = None
    upper: float | None = None
    privacy_share: float | None = None
    statement: str | None = None


@dataclass(frozen=True)
class Summary:
    """Coefficients of a release and its guarantee; `print` it, or show it in a notebook.

    `estimate` names what is shown ("coef", "odds ratio", "rate ratio"); `level`, `which` and
    `simultaneous` are those of the intervals; `statement` and `notes` say what may be said of
    them. `offered` is False where intervals were asked for and would mean nothing.
    """

    facts: Facts
    lines: tuple[Line, ...]
    estimate: str = "coef"
    level: float = 0.95
    which: str = "total"
    simultaneous: str | None = None
    statement: str | None = None
    notes: tuple[str, ...] = ()
    offered: bool = True
    stars: bool = False

    def as_text(self) -> str:
        """Draw the table as plain text."""
        return str(drawing().summary_text(self))

    def as_html(self) -> str:
        """Draw the table as a fragment of HTML, with its own style."""
        return str(drawing().summary_html(self))

    def as_latex(self) -> str:
        """Draw the table as a LaTeX tabular, for the package booktabs."""
        return str(drawing().summary_latex(self))

    def summary_frame(self) -> Any:
        """The lines as a table of pandas', or as a dict of columns where that is not installed."""
        names = [name for name in Line.__dataclass_fields__ if name != "name"]
        columns = {name: [getattr(line, name) for line in self.lines] for name in names}
        shown = {name: column for name, column in columns.items() if column[0] is not None}
        return frame_of(shown, [line.name for line in self.lines])

    def __str__(self) -> str:
        """Draw the table as plain text."""
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()
