"""Errors about a formula, with carets below the place that is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tacit.errors import InputError

_LONGEST_SHOWN = 200


@dataclass(frozen=True)
class Diagnostics:
    """A formula, and the way to mark a place in it."""

    formula: str

    @property
    def shown(self) -> str:
        """The formula as an error quotes it, cut where it is long."""
        whole = self.formula
        return repr(whole if len(whole) <= _LONGEST_SHOWN else whole[:_LONGEST_SHOWN] + "…")

    def marked(self, start: int, stop: int) -> str:
        """The formula with a line of carets below its characters start … stop."""
        return f"  {self.formula}\n  {' ' * start}{'^' * (stop - start + 1)}"

    @contextmanager
    def at(self, terms: Sequence[Any]) -> Iterator[None]:
        """Mark these parsed terms in any error about what was given."""
        try:
            yield
        except InputError as error:
            place = self._place(terms)
            if place is None:
                raise
            raise type(error)(f"{error}\n{self.marked(*place)}") from error

    def _place(self, terms: Sequence[Any]) -> tuple[int, int] | None:
        """First and last character of parsed terms, where the parser knows them."""
        if len(self.formula) > _LONGEST_SHOWN or not self.formula.isprintable():
            return None
        tokens = [getattr(factor, "token", None) for term in terms for factor in term.factors]
        starts = [getattr(token, "source_start", None) for token in tokens]
        stops = [getattr(token, "source_end", None) for token in tokens]
        known = [place for place in (*starts, *stops) if isinstance(place, int)]
        return (min(known), max(known)) if known else None
