"""What a command writes: on a terminal, as plain text in a pipe, as JSON, and into files."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.failure_messages import in_flags
from tacit.errors import FileError

if TYPE_CHECKING:
    from tacit.contract.gate import Progress
    from tacit.inference.text_table import Table

_WIDTH = 80
_WIDEST = 100
"""Lines longer than this are hard to read, however wide the terminal."""
_INDENT = "  "


@dataclass
class Bar:
    """A bar of progress; it is gone when anybody speaks.

    Guarantee
    ---------
    - Nothing is written where standard error is not a terminal.
    """

    wanted: bool = True
    drawn: list[Any] = field(default_factory=list)

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` public steps have been made."""
        if not self.wanted or not sys.stderr.isatty():
            return
        if not self.drawn:
            self.drawn.append(_started_bar(label, total))
        bar = self.drawn[0]
        bar.update(bar.task_ids[0], completed=done, total=total, description=label)

    def clear(self) -> None:
        """Take the bar away; the next report draws a new one."""
        if self.drawn:
            self.drawn.pop().stop()


def _started_bar(label: str, total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("  {task.description:<18}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %", markup=False),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    bar.add_task(label, total=total)
    bar.start()
    return bar


@dataclass(frozen=True)
class Screen:
    """One command's way to its reader.

    Guarantee
    ---------
    - Piped output has no escape codes; with `as_json` standard output is one JSON document.
    - The progress bar is drawn on standard error, and only where that is a terminal.
    """

    as_json: bool = False
    quiet: bool = False
    """Whether details and the progress bar are left out."""
    warned: list[str] = field(default_factory=list)
    """Warnings of the library so far."""
    bar: Bar = field(default_factory=Bar)

    def say(self, text: str, label: str = "") -> None:
        """Write a paragraph, wrapped, with a label hanging before it."""
        first = _INDENT + (f"{label:<10}" if label else "")
        width = _WIDTH
        if sys.stdout.isatty():
            width = min(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDEST)
        self.plain(
            textwrap.fill(
                text,
                width=max(width, len(first) + 20),
                initial_indent=first,
                subsequent_indent=" " * len(first),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )

    def detail(self, text: str, label: str = "") -> None:
        """Write what `quiet` leaves out."""
        if not self.quiet:
            self.say(text, label)

    def plain(self, text: str) -> None:
        """Write text as it is, character by character."""
        if not self.as_json:
            self.bar.clear()
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")

    def heading(self, text: str) -> None:
        """Write the title of a part, with a blank line before it."""
        if not self.as_json and sys.stdout.isatty():
            self.bar.clear()
            _console().print(f"\n{text}", style="bold", markup=False, highlight=False)
        else:
            self.plain(f"\n{text}")

    def table(self, table: Table) -> None:
        """Write a table."""
        if not self.as_json and sys.stdout.isatty():
            self.bar.clear()
            _draw(table)
        else:
            self.plain(table.text(indent=_INDENT))

    def result(self, document: Mapping[str, Any]) -> None:
        """Write the one document of a command, where JSON was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")

    @contextmanager
    def work(self) -> Iterator[Progress]:
        """Show progress and warnings while the library works."""
        self.bar.wanted = not self.quiet
        with warnings.catch_warnings():
            # Whatever the interpreter was told to do with them: they are part of the answer.
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = self._warn  # type: ignore[assignment]
            try:
                yield self.bar
            finally:
                self.bar.clear()

    def _warn(self, message: Warning | str, *_: object) -> None:
        self.bar.clear()
        text = in_flags(str(message))
        self.warned.append(text)
        sys.stderr.write(f"warning: {text}\n")


def _console() -> Any:
    from rich.console import Console

    return Console(file=sys.stdout)


def _draw(table: Table) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table as Drawn
    from rich.text import Text

    from tacit.inference.text_table import one_line

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
    _console().print(Padding(drawn, (0, 0, 0, 1), expand=False))


def require_writable(
    outputs: Sequence[Path | None], inputs: Sequence[Path | None] = (), *, force: bool = False
) -> None:
    """Refuse outputs that cannot be written, exist already, or are also read.

    Guarantee
    ---------
    - Nothing is created or changed.
    - A file that exists passes only with `force`, an input of the same command never.
    """
    read = {path.resolve() for path in inputs if path is not None}
    seen: set[Path] = set()
    for output in outputs:
        if output is not None:
            target = output.resolve()
            fault = _fault_of_place(target, read, seen, force=force)
            if fault is not None:
                raise FileError(f"{str(output)!r} {fault}")
            seen.add(target)


def _fault_of_place(target: Path, read: set[Path], seen: set[Path], *, force: bool) -> str | None:
    faults = {
        "is read by this command; write to another file.": target in read,
        "was given twice; each file needs a name of its own.": target in seen,
        "is a directory; give the name of a file.": target.is_dir(),
        "exists; choose another name, or add --force.": target.exists() and not force,
        "cannot be written: its directory does not exist.": not target.parent.is_dir(),
        "cannot be written: its directory is read-only.": not os.access(
            target.parent, os.W_OK | os.X_OK
        ),
    }
    return next((text for text, holds in faults.items() if holds), None)
