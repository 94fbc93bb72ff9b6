"""The progress bar: drawn on standard error while the library works, gone when anybody speaks."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Bar:
    """A bar that appears with the first report of progress, where standard error is a terminal.

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
            self.drawn.append(_start(label, total))
        bar = self.drawn[0]
        bar.update(bar.task_ids[0], completed=done, total=total, description=label)

    def clear(self) -> None:
        """Take the bar away; the next report draws a new one."""
        if self.drawn:
            self.drawn.pop().stop()


def _start(label: str, total: int) -> Any:
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
