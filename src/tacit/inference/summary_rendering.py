"""A summary as plain text, as HTML for a notebook, as LaTeX for a paper; all show the same."""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING

from tacit.display import Shown
from tacit.text_table import Table, columns_of_numbers, one_line, rounded

if TYPE_CHECKING:
    from tacit.inference.estimates import Line
    from tacit.inference.summary import Summary

NARROWEST = 72
"""Columns of text; a wider table makes everything as wide as itself."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
_LARGEST_STATISTIC = 1e5


def summary_table(summary: Summary) -> Table:
    """The table of coefficients: what was paid for, and no column without a number."""
    return lines_table(summary.lines, summary.estimate, summary.level, stars=summary.stars)


def lines_table(lines: Sequence[Line], estimate: str = "coef", level: float = 0.95, *, stars: bool = False) -> Table:
    """Return a table with a row a line."""
    names = [line.name for line in lines]
    if all(line.std_err is None for line in lines):
        (numbers,) = columns_of_numbers([line.coef for line in lines])
        return Table(("", estimate), tuple(zip(names, numbers, strict=True)))
    tail = (1 - level) / 2
    rows = [(line.coef, line.std_err, line.lower, line.upper) for line in lines]
    coef, error, lower, upper = columns_of_numbers(*zip(*rows, strict=True))
    columns: dict[str, Sequence[str]] = {"": names, estimate: coef, "std err": error}
    # A fit read from a file of 0.1.0 has intervals and no tests.
    if any(line.statistic is not None for line in lines):
        # p-values are those of a t law wherever an error is itself an estimate.
        law = "t" if any(math.isfinite(math.inf if it.degrees is None else it.degrees) for it in lines) else "z"
        columns[law] = [_statistic(line.statistic) for line in lines]
        columns[f"P>|{law}|"] = [_pvalue(line, stars=stars) for line in lines]
    columns |= {f"[{tail:.4g}": lower, f"{1 - tail:.4g}]": upper}
    shares = [line.privacy_share for line in lines]
    if any(share is not None for share in shares):
        columns["privacy"] = ["" if share is None else f"{share:.0%}" for share in shares]
    if len({line.statement for line in lines}) > 1:
        columns["interval"] = [line.statement or "" for line in lines]
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def summary_facts(summary: Summary) -> list[tuple[str, str]]:
    """The header, as pairs of a word and what it says."""
    facts, guarantee = summary.header, summary.header.guarantee
    promise = f"none: {facts.not_private}"
    if facts.not_private is None:
        epsilon = rounded(guarantee.epsilon, 6, ROUND_CEILING)
        promise = f"ε = {epsilon}, δ = {rounded(guarantee.delta, 6, ROUND_CEILING)}"
    pairs = [("Model", facts.model), ("Guarantee", promise)]
    if facts.response is not None:
        pairs.append(("Response", facts.response))
    pairs.append(("Relation", guarantee.relation.value))
    if facts.records is not None:
        least = "at least " if facts.records_at_least else ""
        pairs.append(("Records", f"{least}{facts.records:,}"))
    pairs += [("Unit", guarantee.unit), ("Method", facts.method)]
    pairs.append(("Passes", "until converged" if facts.passes is None else f"{facts.passes:,}"))
    return [(word, one_line(text)) for word, text in pairs]


def summary_notes(summary: Summary) -> list[str]:
    """What must be said below the table, in sentences."""
    notes = []
    if any(line.std_err is not None for line in summary.lines):
        notes.append(_interval_note(summary))
        if any(line.privacy_share for line in summary.lines):
            notes.append("Privacy: share of the variance that is due to the noise added.")
        if summary.stars:
            notes.append("Stars, of nominal intervals only: * p < .05, ** p < .01, *** p < .001.")
    if summary.estimate != "coef":
        notes.append("Ratios: exponentials of the coefficients and of their interval ends.")
    # A file may say anything, of statements too.
    return [*map(one_line, (*notes, *summary.notes))]


def summary_text(summary: Summary) -> str:
    """Draw a summary as plain text, like the summaries of statsmodels and R."""
    table = summary_table(summary).text().splitlines()
    width = max(NARROWEST, *map(len, table))
    wrapped = [line for note in summary_notes(summary) for line in textwrap.wrap(note, width)]
    parts = [*_fact_lines(summary_facts(summary)), "=" * width, table[0], "-" * width]
    return "\n".join([*parts, *table[1:], "=" * width, *wrapped])


def summary_html(summary: Summary) -> str:
    """Draw a summary as a fragment of HTML; whatever a column is called, it stays text."""
    facts, notes = summary_facts(summary), summary_notes(summary)
    return Shown("", tuple(facts), summary_table(summary), tuple(notes)).html(columns=2)


def summary_latex(summary: Summary) -> str:
    """Draw a summary as a LaTeX tabular; it needs the package booktabs."""
    return table_latex(summary_table(summary), summary_facts(summary), summary_notes(summary))


def table_latex(table: Table, told: Sequence[tuple[str, str]], notes: Sequence[str] = ()) -> str:
    """Draw a table with facts above it and notes below as a LaTeX tabular."""
    width = len(table.headers)
    facts = "; ".join(f"{word.lower()} {text}" for word, text in told)
    rows = [(latex_name(name), *(_latex_cell(cell or "---") for cell in cells)) for name, *cells in table.rows]
    empty = any(not cell for _, *cells in table.rows for cell in cells)
    said = [facts, *notes, *(["---: withheld."] if empty else [])]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{l{'r' * (width - 1)}}}",
            "\\toprule",
            f"{' & '.join(map(_escaped, table.headers))} \\\\",
            "\\midrule",
            *(f"{' & '.join(row)} \\\\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
            "",
            *(f"{{\\footnotesize {_escaped(note)}\\par}}" for note in said),
        ]
    )


def summary_markdown(summary: Summary) -> str:
    """Draw a summary as Markdown: facts, table, notes."""
    return table_markdown(summary_table(summary), summary_facts(summary), summary_notes(summary))


def table_markdown(table: Table, told: Sequence[tuple[str, str]], notes: Sequence[str] = ()) -> str:
    """Draw a table with facts above it and notes below as Markdown."""
    facts = "; ".join(f"{word.lower()} {text}" for word, text in told)
    aligned = ["---", *["---:"] * (len(table.headers) - 1)]
    rows = (table.headers, aligned, *table.rows)
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in map(one_line, row))} |" for row in rows]
    return "\n\n".join([facts, "\n".join(lines), *notes])


def summary_csv(summary: Summary) -> str:
    """Write the lines of a summary as CSV, each number with all its digits."""
    return lines_csv(summary.lines, summary.estimate)


def lines_csv(lines: Sequence[Line], estimate: str) -> str:
    """Write lines as CSV, each number with all its digits."""
    names = [field.name for field in fields(lines[0])] if lines else []
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([estimate.replace(" ", "_") if name == "coef" else name for name in names])
    # A term that begins like a formula of a spreadsheet is text.
    writer.writerows([[_cell(getattr(line, name)) for name in names] for line in lines])
    return stream.getvalue().rstrip("\n")


def lines_in(form: str, lines: Sequence[Line], estimate: str, level: float) -> str:
    """Lines of tests in a format that a summary has too: text, html, latex, markdown or csv."""
    table, fact = lines_table(lines, estimate, level), (("Level", f"{100 * level:.6g}%"),)
    match form:
        case "html":
            return Shown("", fact, table).html(columns=2)
        case "latex":
            return table_latex(table, fact)
        case "markdown":
            return table_markdown(table, fact)
        case "csv":
            return lines_csv(lines, estimate)
    return table.text()


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = one_line(value) if isinstance(value, str) else repr(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in "=+-@" else text


def _interval_note(summary: Summary) -> str:
    """What the intervals are, and what may be said of them."""
    level = f"{100 * summary.level:.6g}%"
    if summary.which == "sampling":
        return (
            f"Intervals: sampling only, {level}. The noise added for privacy is left out of them, "
            "so they do not cover at this level; standard errors and p-values are of both."
        )
    scope = ""
    if summary.simultaneous is not None:
        name = {"bonferroni": "Bonferroni", "scheffe": "Scheffé"}[summary.simultaneous]
        scope = f", for all at once ({name})"
    statement = "" if summary.statement is None else f"{summary.statement} "
    return f"Intervals: {statement}{level}{scope}, sampling and privacy noise together."


def _fact_lines(facts: Sequence[tuple[str, str]]) -> list[str]:
    """Pairs side by side, two in a line."""
    words = max(len(word) for word, _ in facts) + 2
    left = max(len(text) for _, text in facts[::2]) + 4
    lines = []
    for place in range(0, len(facts), 2):
        cells = [f"{word + ':':<{words}}{text:<{left}}" for word, text in facts[place : place + 2]]
        lines.append("".join(cells).rstrip())
    return lines


def _statistic(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if abs(value) < _LARGEST_STATISTIC else f"{value:.4g}"


def _pvalue(line: Line, *, stars: bool) -> str:
    if line.pvalue is None:
        return ""
    text = "<0.001" if line.pvalue < 0.0005 else f"{line.pvalue:.3f}"
    if stars and line.statement == "nominal":
        text += next((mark for limit, mark in STARS if line.pvalue < limit), "")
    return text


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "·": r"$\cdot$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "μ": r"$\mu$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # A row may not begin with a bracket: LaTeX would read it as a distance.
    "[": "{[}",
    "]": "{]}",
}


_LEVEL = re.compile(r"(?:C\(|factor\()?([^\[\]():]*?[^\[\]():\s])(?:, [^\[\]]*)?\)?\[T\.([^\]]*)\]")
_POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([-+]?)0*(\d+)(?!\w)")


def latex_name(name: str) -> str:
    """A term for a paper: "C(ward)[T.surgery]" is "ward: surgery", and a product has its sign."""
    readable = _LEVEL.sub(r"\1: \2", one_line(name))
    return _escaped(readable.replace(":", "\0").replace("\0 ", ": ").replace("\0", " × "))


def _escaped(text: str) -> str:
    escaped = "".join(_LATEX.get(character, character) for character in one_line(text))
    return _POWER.sub(lambda it: f"${it[1]}\\cdot 10^{{{it[2].strip('+')}{it[3]}}}$", escaped).replace("×", r"$\times$")


def _latex_cell(text: str) -> str:
    """A number with a real minus sign, or escaped words."""
    if text.startswith("-") and text[1:2].isdigit():
        return f"$-${_escaped(text[1:])}"
    return _escaped(text)
