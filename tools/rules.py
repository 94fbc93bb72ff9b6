"""Print the table of rules into docs/solvers.md.

    python -m tools.rules [--check]

With --check nothing is written, and the exit status is 1 where the page's table is not the rules'.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.solvers.interval_rules import GROUPS

PAGE = Path(__file__).parents[1] / "docs" / "solvers.md"
START, END = "<!-- rules: python -m tools.rules -->", "<!-- end of rules -->"


def table() -> str:
    """All rules in Markdown: a table a group, with the study that chose it."""
    return "\n".join(line for group in GROUPS for line in _group(group))


def _group(group: Any) -> Iterator[str]:
    yield f"**{_words(type(group).__name__)}.** {type(group).__doc__}"
    yield f"Chosen on: {group.study}."
    yield ""
    yield "| rule | value | reason |"
    yield "|---|---|---|"
    for field in dataclasses.fields(group):
        reason = field.metadata["reason"]
        yield f"| `{field.name}` | {_value(getattr(group, field.name))} | {reason} |"
    yield ""


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _value(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = (f"{f.name} {_value(getattr(value, f.name))}" for f in dataclasses.fields(value))
        return ", ".join(inner)
    if isinstance(value, tuple):
        return ", ".join(map(_value, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def page(text: str) -> str:
    """The page with the present table between its marks."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{table()}\n{END}{rest.split(END)[1]}"


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    text = PAGE.read_text(encoding="utf-8")
    if "--check" in arguments:
        return int(page(text) != text)
    PAGE.write_text(page(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
