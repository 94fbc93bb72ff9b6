"""The page of results in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.accuracy.catalogue import Entry
from benchmarks.accuracy.results import Results, Summary
from benchmarks.accuracy.scores import METRICS, SMALLER_IS_BETTER, WORDS
from benchmarks.accuracy.table import Kind
from benchmarks.accuracy.verdicts import MARKED_EPSILONS, MARKS, TOLERANCE, Verdict, checks, marks
from benchmarks.rivals.registry import BASELINE, WIDE

NOTHING = "–"
HEAD = """# Accuracy

Written by `python -m benchmarks accuracy`; how to read it is in `docs/accuracy.md`.

δ = 10⁻⁶; mean ± standard deviation over repetitions of the noise, on one split into training and
test rows. Methods marked *tuned* had their settings chosen **on the test rows**, for each table, ε
and metric by itself; Tacit and the other methods have nothing to tune. The best private mean of
each column is bold.
"""


def rendered(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def columns(results: Results) -> list[str]:
    """Headings of the budgets."""
    return [f"ε = {epsilon:g}" for epsilon in results.epsilons]


def compared(results: Results, metric: str, found: Mapping[str, Sequence[Summary | None]]) -> list[str]:
    """Methods against ε, the best private mean of each column bold; absent methods left out."""
    contestants = [row for name, row in found.items() if name not in (BASELINE, WIDE)]
    best = [
        best_of(metric, [each.mean for row in contestants if (each := row[k]) is not None])
        for k in range(len(results.epsilons))
    ]
    rows = []
    for name, row in found.items():
        if not any(row):
            continue
        words = [results.methods[name].label]
        for summary, top in zip(row, best, strict=True):
            word = NOTHING if summary is None else str(summary)
            leads = summary is not None and summary.mean == top and name not in (BASELINE, WIDE)
            words.append(f"**{word}**" if leads else word)
        rows.append(words)
    return rendered(["", *columns(results)], rows)


def mean_over(results: Results, name: str, entries: Sequence[Entry], epsilon: float, metric: str) -> Summary | None:
    """Mean of a method over tables; None where one of them is missing."""
    found = [results.of(name, entry.name, epsilon, metric) for entry in entries]
    values = [summary.mean for summary in found if summary is not None]
    complete = values and len(values) == len(entries)
    return Summary(statistics.fmean(values), 0.0, 1) if complete else None


def best_of(metric: str, values: Sequence[float]) -> float | None:
    """The best value, if there is any."""
    if not values:
        return None
    return min(values) if metric in SMALLER_IS_BETTER else max(values)


def overview(results: Results) -> list[str]:
    """Means over the tables of the codebook."""
    lines: list[str] = []
    kinds: tuple[Kind, ...] = ("classification", "regression")
    for kind in kinds:
        entries = results.tables(kind, "codebook")
        for metric in METRICS[kind] if entries else ():
            names = ", ".join(entry.name for entry in entries)
            lines += [f"**{WORDS[metric]}**, mean over {names}", ""]
            found = {
                name: [mean_over(results, name, entries, e, metric) for e in results.epsilons]
                for name in results.methods
                if name != WIDE
            }
            lines += compared(results, metric, found)
    return ["## Means over the codebook's tables", "", *lines] if lines else []


def marks_section(found: Sequence[Verdict]) -> list[str]:
    """The marks, one row a table and metric."""
    lines = ["## Marks", ""]
    if not found:
        return [*lines, "Tacit has not been run on the tables that have marks.", ""]
    missed = sum(not verdict.met for verdict in found)
    count = f"{len(found) - missed} of {len(found)} met"
    lines += [f"{count} (tolerance {TOLERANCE:g}). Measured mean, and the mark in brackets.", ""]
    by_place = {(verdict.table, verdict.check): verdict for verdict in found}
    rows = []
    for table, metric in MARKS:
        row = [table, WORDS[metric]]
        for epsilon in MARKED_EPSILONS:
            verdict = by_place.get((table, f"{WORDS[metric]}, ε = {epsilon:g}"))
            if verdict is None:
                row.append(NOTHING)
            else:
                word = "met" if verdict.met else "**missed**"
                row.append(f"{verdict.measured} ({verdict.asked}) {word}")
        rows.append(row)
    return lines + rendered(["table", "", *(f"ε = {e:g}" for e in MARKED_EPSILONS)], rows)


def checks_section(found: Sequence[Verdict]) -> list[str]:
    """The checks, one row each."""
    lines = ["## Checks", ""]
    if not found:
        return [*lines, "Tacit has not been run.", ""]
    missed = sum(not verdict.met for verdict in found)
    rows = [
        [verdict.check, verdict.table, verdict.measured, verdict.asked, "met" if verdict.met else "**missed**"]
        for verdict in found
    ]
    lines += [f"{len(found) - missed} of {len(found)} met.", ""]
    return lines + rendered(["", "table", "measured", "asked", ""], rows)


def table_section(results: Results, entry: Entry) -> list[str]:
    """Everything about one table."""
    facts = results.facts(entry.name)
    words: list[str] = [entry.kind, entry.group]
    if facts:
        words.append(f"{facts['rows']} training rows of {facts['width']} columns")
    lines = [f"### {entry.name}", "", ", ".join(words) + ".", ""]
    for metric in METRICS[entry.kind]:
        trivial = results.trivial(entry.name, metric)
        hint = "" if trivial is None else f" (trivial model: {trivial:.3f})"
        lines += [f"**{WORDS[metric]}**{hint}", "", *detailed(results, entry, metric)]
    rows = []
    for name, method in results.methods.items():
        seconds = [results.seconds(name, entry.name, epsilon) for epsilon in results.epsilons]
        if any(value is not None for value in seconds):
            words = [NOTHING if value is None else f"{value:.3g}" for value in seconds]
            rows.append([method.label, *words])
    return [*lines, "**seconds of a fit**", "", *rendered(["", *columns(results)], rows)]


def detailed(results: Results, entry: Entry, metric: str) -> list[str]:
    """Mean ± standard deviation of every method on one table."""
    found = {
        name: [results.of(name, entry.name, epsilon, metric) for epsilon in results.epsilons]
        for name in results.methods
    }
    return compared(results, metric, found)


def page(results: Results, drawn: Sequence[tuple[str, str]]) -> str:
    """The whole page."""
    lines = [HEAD, *overview(results)]
    for file, title in drawn:
        lines += [f"![{title}]({file})", ""]
    lines += marks_section(list(marks(results)))
    lines += checks_section(checks(results))
    lines += ["## Tables", ""]
    for entry in results.tables():
        lines += table_section(results, entry)
    return "\n".join(lines).rstrip() + "\n"
