"""What a method of fitting is to the benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.accuracy.table import Kind, Table, Vector

DELTA = 1e-6
Setting = Mapping[str, float]
# A method with nothing to tune has one setting.
UNTUNED: list[Setting] = [{}]


@dataclass(frozen=True)
class Fit:
    """Margins of the test rows (regression: predictions), and the seconds of the fit.

    `uncut` are the predictions before they were cut at the bounds of the response, where they were.
    """

    margins: Vector
    seconds: float
    uncut: Vector | None = None


class Method(Protocol):
    """A way to fit; with more than one setting it is tuned on the test rows.

    `epsilons` is None where every ε applies, () where none does (not private).
    """

    @property
    def name(self) -> str:
        """Key in the rows of results."""

    @property
    def label(self) -> str:
        """Words in tables and pictures."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of tables it can fit."""

    @property
    def epsilons(self) -> tuple[float, ...] | None:
        """The only ε it runs at, if not at all of them."""

    @property
    def version(self) -> str:
        """Version of the library or of the code behind it."""

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:
        """Settings to choose from."""

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """One fit per setting, all from one seed."""
