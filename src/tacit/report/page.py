"""A page that a person reads, as plain data, and its two forms: text, and HTML that needs no other file.

Guarantee: whatever a text holds, the HTML shows it as text. The page has no script and loads nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from html import escape

from tacit.text_table import Table, one_line

WIDTH = 88
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f8; color: #1c2733; }
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1.5rem 3rem; background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-bottom: .25rem; border-bottom: 1px solid #d5dce2; }
p { margin: .5rem 0; }
ul { margin: .5rem 0; padding-left: 1.25rem; }
li { margin: .3rem 0; }
.of { color: #4b5b69; margin: 0; overflow-wrap: anywhere; }
.verdict { margin: 1.25rem 0; padding: .9rem 1.1rem; border-left: .4rem solid; border-radius: .25rem; }
.verdict { font-size: 1.08rem; }
.good { background: #eaf4ec; border-color: #2f7d43; }
.bad { background: #fbeaea; border-color: #b3261e; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .95rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #dfe5ea; }
th { background: #f0f3f6; }
td { overflow-wrap: break-word; max-width: 24rem; }
.status { font-weight: 600; white-space: nowrap; }
.held { color: #2f7d43; } .assumed { color: #8a5a00; } .open { color: #b3261e; }
footer { margin-top: 2.5rem; color: #4b5b69; font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { main { padding: 1rem; } h1 { font-size: 1.35rem; } }
@media print {
  body { background: #fff; font-size: 10.5pt; line-height: 1.4; } main { max-width: none; padding: 0; }
  table { font-size: 9pt; } th, td { padding: .2rem .4rem; } h2 { margin-top: 1.2rem; }
  h2 { break-after: avoid; } tr, .verdict { break-inside: avoid; } .scroll { overflow: visible; }
}
"""


class Status(StrEnum):
    """What is known of a hazard: that it cannot happen here, that this is assumed, or that it is open."""

    HELD = "held off"
    ASSUMED = "assumed"
    OPEN = "open"


_CLASSES = {Status.HELD: "held", Status.ASSUMED: "assumed", Status.OPEN: "open"}


@dataclass(frozen=True)
class Section:
    """A part of a page: sentences, then a list, then a table; each may be missing."""

    title: str
    sentences: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Page:
    """A title, what the page is of, a verdict that is good or bad, sections, and what stands below them."""

    title: str
    of: str
    verdict: str
    good: bool
    sections: tuple[Section, ...]
    footer: tuple[str, ...] = ()

    def text(self) -> str:
        """The page as plain text, in lines of at most 88 characters where words allow it."""
        parts = [one_line(self.title), one_line(self.of), "", *_filled(self.verdict)]
        for section in self.sections:
            parts += ["", one_line(section.title), "-" * len(section.title)]
            for sentence in section.sentences:
                parts += _filled(sentence)
            for item in section.items:
                parts += _filled(item, "- ")
            if section.table is not None:
                parts += _listed(section.table)
        parts += ["", *(line for text in self.footer for line in _filled(text))]
        return "\n".join(parts) + "\n"

    def html(self) -> str:
        """The page as one HTML file."""
        body = "\n".join(part for section in self.sections for part in _section(section))
        footer = "\n".join(f"<p>{escape(one_line(text))}</p>" for text in self.footer)
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(one_line(self.title))}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(one_line(self.title))}</h1>
<p class="of">{escape(one_line(self.of))}</p>
<p class="verdict {"good" if self.good else "bad"}">{escape(one_line(self.verdict))}</p>
{body}
<footer>
{footer}
</footer>
</main>
</body>
</html>
"""


def _section(section: Section) -> Iterator[str]:
    yield f"<section>\n<h2>{escape(one_line(section.title))}</h2>"
    for sentence in section.sentences:
        yield f"<p>{escape(one_line(sentence))}</p>"
    if section.items:
        items = "\n".join(f"<li>{escape(one_line(item))}</li>" for item in section.items)
        yield f"<ul>\n{items}\n</ul>"
    if section.table is not None:
        heads = "".join(f'<th scope="col">{escape(one_line(head))}</th>' for head in section.table.headers)
        rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.table.rows)
        yield f'<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'
    yield "</section>"


def _cell(text: str) -> str:
    shown = escape(one_line(text))
    for status in Status:
        if text == status:
            return f'<td class="status {_CLASSES[status]}">{shown}</td>'
    return f"<td>{shown}</td>"


def _filled(text: str, mark: str = "") -> list[str]:
    """Lines of a text; a mark stands before the first."""
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _listed(table: Table) -> list[str]:
    """A table as text: aligned where it is narrow, else row after row."""
    aligned = table.text().splitlines()
    if max(map(len, aligned)) <= WIDTH:
        return aligned
    lines = []
    for row in table.rows:
        lines += _filled(row[0], "- ")
        for head, cell in zip(table.headers[1:], row[1:], strict=True):
            lines += [f"  {line}" for line in _filled(f"{head}: {cell}")]
    return lines
