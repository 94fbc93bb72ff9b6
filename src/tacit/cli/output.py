"""What a command writes: on a terminal, in a pipe, as JSON, into files, and when it fails, without a value of the
table.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.cli.wording import in_flags
from tacit.errors import CertificateError, ClusterLost, DataError, FileError, LedgerError, TacitError
from tacit.text_table import Table, one_line

if TYPE_CHECKING:
    from tacit.contract.query import Progress

_WIDTH, _WIDEST = 80, 100  # Lines longer than the widest are hard to read, however wide the terminal.
_INDENT = "  "
EPILOG = (
    "Exit codes: 0 done; 1 a fault of Tacit; 2 something given is wrong, nothing was spent; 3 a table or file is "
    "wrong, or a cluster was lost; 4 a certificate, a stored fit or a ledger does not hold; 130 interrupted."
)


@dataclass
class Bar:
    """A bar of progress on standard error, where that is a terminal; it is gone when anybody speaks."""

    wanted: bool = True
    drawn: Any = None
    rows: int = 0
    """Records that a round reads, as the plan has them: a public number."""

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` public steps have been made."""
        if not self.wanted or not sys.stderr.isatty():
            return
        if self.drawn is None:
            from rich import progress
            from rich.console import Console

            self.drawn = progress.Progress(
                progress.TextColumn("  {task.description:<18}", markup=False),
                progress.BarColumn(),
                progress.TextColumn("{task.percentage:>3.0f} %", markup=False),
                progress.TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[speed]}", markup=False),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left", markup=False),
                progress.TimeRemainingColumn(),
                console=Console(file=sys.stderr),
                transient=True,
            )
            self.drawn.add_task(label, total=total, speed="")
            self.drawn.start()
        task = self.drawn.tasks[0]
        speed = f"{self.rows * done / task.elapsed:,.0f} rows/s" if self.rows and done and task.elapsed else ""
        self.drawn.update(task.id, completed=done, total=total, description=label, speed=speed)

    def clear(self) -> None:
        """Take the bar away; the next report draws a new one."""
        if self.drawn is not None:
            self.drawn.stop()
            self.drawn = None


@dataclass(frozen=True)
class Screen:
    """One command's way to its reader: no escape codes in a pipe, and with `as_json` one JSON document."""

    as_json: options.AsJson = False
    quiet: bool = False
    """Whether details and the progress bar are left out."""
    warned: list[str] = field(default_factory=list)
    """Warnings of the library so far."""
    bar: Bar = field(default_factory=Bar)

    def say(self, text: str, label: str = "") -> None:
        """Write a paragraph, wrapped, with a label hanging before it."""
        first = _INDENT + (f"{label:<10}" if label else "")
        terminal = shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH
        self.plain(
            textwrap.fill(
                text,
                width=max(min(terminal, _WIDEST), len(first) + 20),
                initial_indent=first,
                subsequent_indent=" " * len(first),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )

    def part(self, title: str, table: Table) -> None:
        """Write a table under its title."""
        self.heading(title)
        self.table(table)

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
        if self.as_json or not sys.stdout.isatty():
            self.plain(f"\n{text}")
            return
        from rich.console import Console

        self.bar.clear()
        Console(file=sys.stdout).print(f"\n{text}", style="bold", markup=False, highlight=False)

    def table(self, table: Table) -> None:
        """Write a table."""
        if self.as_json or not sys.stdout.isatty():
            self.plain(table.text(indent=_INDENT))
            return
        from rich import box, console, padding
        from rich import table as tables
        from rich.text import Text

        drawn = tables.Table(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False)
        for place, header in enumerate(table.headers):
            side: console.JustifyMethod = "right" if place else "left"
            drawn.add_column(Text(one_line(header)), justify=side, no_wrap=place > 0, overflow="fold")
        for row in table.rows:
            # Text, not markup: the brackets of C(ward)[T.b] are part of the name.
            drawn.add_row(*(Text(one_line(cell)) for cell in row))
        self.bar.clear()
        console.Console(file=sys.stdout).print(padding.Padding(drawn, (0, 0, 0, 1), expand=False))

    def result(self, document: Mapping[str, Any]) -> None:
        """Write the one document of a command, where JSON was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")

    @contextmanager
    def work(self) -> Iterator[Progress]:
        """Show progress and warnings while the library works."""
        self.bar.wanted = not self.quiet

        def warn(message: Warning | str, *_: object) -> None:
            self.bar.clear()
            self.warned.append(in_flags(str(message)))
            sys.stderr.write(f"warning: {self.warned[-1]}\n")

        with warnings.catch_warnings():
            # Whatever the interpreter was told to do with them: they are part of the answer.
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = warn  # type: ignore[assignment]
            try:
                yield self.bar
            finally:
                self.bar.clear()


def require_writable(
    outputs: Sequence[Path | None], inputs: Sequence[Path | None] = (), *, force: bool = False
) -> None:
    """Refuse outputs that cannot be written, that exist unless `force`, or are also read; nothing is changed."""
    read = {path.resolve() for path in inputs if path is not None}
    seen: set[Path] = set()
    for output in filter(None, outputs):
        target = output.resolve()
        folder = target.parent
        faults = {
            "is read by this command; write to another file.": target in read,
            "was given twice; each file needs a name of its own.": target in seen,
            "is a directory; give the name of a file.": target.is_dir(),
            "exists; choose another name, or add --force.": target.exists() and not force,
            "cannot be written: its directory does not exist.": not folder.is_dir(),
            "cannot be written: its directory is read-only.": not os.access(folder, os.W_OK | os.X_OK),
        }
        for fault in (text for text, holds in faults.items() if holds):
            raise FileError(f"{str(output)!r} {fault}")
        seen.add(target)


class Exit(IntEnum):
    """What the shell is told."""

    DONE = 0
    INTERNAL = 1
    INPUT = 2
    DATA = 3
    CERTIFICATE = 4
    INTERRUPTED = 130
    UNREAD = 141


def exit_of(error: TacitError) -> Exit:
    """Exit code of an error that was raised on purpose."""
    if isinstance(error, CertificateError | LedgerError):
        return Exit.CERTIFICATE
    # A cluster may be lost after the charge: that is no refusal that cost nothing.
    return Exit.DATA if isinstance(error, ClusterLost | DataError | FileError) else Exit.INPUT


def error_document(kind: str, message: str) -> dict[str, object]:
    """An error as a program reads it."""
    return {"error": {"kind": kind, "message": in_flags(message)}}


def tell_error(kind: str, message: str, *, as_json: bool) -> None:
    """Say what was wrong: to a program on standard output, to a person on standard error."""
    if as_json:
        sys.stdout.write(json.dumps(error_document(kind, message), indent=2) + "\n")
        return
    sentence = in_flags(message)
    # A formula may follow, with marks below the place that is meant.
    sentence += "" if sentence.endswith((".", "…", "?", "!", "^")) else "."
    # Whatever a file says: no message commands a terminal.
    sys.stderr.write("error: " + "\n".join(map(one_line, sentence.split("\n"))) + "\n")


def tell_fault(error: BaseException, *, as_json: bool) -> None:
    """Show where Tacit failed, without the message, which might quote the table."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    # What could not be imported is a fact about the machine, and the one that helps.
    what = f": {error}" if isinstance(error, ImportError) else ""
    kind = type(error).__name__
    sys.stderr.write(f"Traceback (most recent call last):\n{frames}{kind}{what}\n")
    withheld = "The message is withheld because it may quote the table; please report the lines on standard error."
    tell_error(kind, f"This is a fault of Tacit. {withheld}", as_json=as_json)
