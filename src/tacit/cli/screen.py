"""Where a command speaks: drawn on a terminal, plain text in a pipe, JSON for programs."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.problem.progress import Progress
    from tacit.report.table import Table


@dataclass(frozen=True)
class Screen:
    """One command's way to its reader.

    Guarantee
    ---------
    - Piped output has no escape codes; with `as_json` standard output is one JSON document.
    - The progress bar is drawn on standard error, and only where that is a terminal.

    Parameters
    ----------
    as_json
        Whether only `result` is written to standard output.
    quiet
        Whether details and the progress bar are left out.
    """

    as_json: bool = False
    quiet: bool = False
    warned: list[str] = field(default_factory=list)
    """Warnings of the library so far."""

    def say(self, text: str = "") -> None:
        """Write a line or a paragraph, wrapped to the terminal."""
        if self.as_json:
            return
        if sys.stdout.isatty():
            _console().print(text, markup=False, highlight=False)
        else:
            sys.stdout.write(f"{text}\n")

    def plain(self, text: str) -> None:
        """Write text that is a file in itself, character by character."""
        if not self.as_json:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")

    def detail(self, text: str = "") -> None:
        """Write what `quiet` leaves out."""
        if not self.quiet:
            self.say(text)

    def heading(self, text: str) -> None:
        """Write the title of a part, with a blank line before it."""
        if self.as_json:
            return
        if sys.stdout.isatty():
            _console().print(f"\n{text}", style="bold", markup=False, highlight=False)
        else:
            sys.stdout.write(f"\n{text}\n")

    def table(self, table: Table) -> None:
        """Write a table."""
        if self.as_json:
            return
        if sys.stdout.isatty():
            _draw(table)
        else:
            sys.stdout.write(f"{table.text(indent='  ')}\n")

    def result(self, document: Mapping[str, Any]) -> None:
        """Write the one document of a command, where JSON was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")

    @contextmanager
    def work(self) -> Iterator[Progress]:
        """Show progress and warnings while the library works."""
        with warnings.catch_warnings():
            warnings.showwarning = self._warn  # type: ignore[assignment]
            if self.quiet or not sys.stderr.isatty():
                yield _nothing
            else:
                with _bar() as progress:
                    yield progress

    def _warn(self, message: Warning | str, *_: object) -> None:
        text = str(message)
        self.warned.append(text)
        sys.stderr.write(f"warning: {text}\n")


def _nothing(done: int, total: int, label: str) -> None:
    """Draw no bar."""


def _console() -> Any:
    from rich.console import Console

    return Console(file=sys.stdout)


def _draw(table: Table) -> None:
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    from tacit.report.table import one_line

    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=True, header_style="bold", show_edge=False)
    for place, header in enumerate(table.headers):
        drawn.add_column(
            Text(one_line(header)),
            justify="right" if place else "left",
            no_wrap=place > 0,
            overflow="fold",
        )
    for row in table.rows:
        # Text, not markup: the brackets of C(ward)[T.b] are part of the name.
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    _console().print(drawn)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description:<18}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task("reading", total=None)

        def progress(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield progress
