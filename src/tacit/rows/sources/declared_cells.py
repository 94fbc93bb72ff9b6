"""A source whose cells are read as declared: codes that mean "missing", dates as numbers.

Private: every cell. Public: the declared reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.reading import Reading
from tacit.rows.encoding.cells import (
    NormalForm,
    cell_number,
    level_codes,
    normal_form,
    remembering,
    text_number,
    to_float64,
)
from tacit.rows.encoding.dates import date_numbers
from tacit.rows.sources.source import Batch, Names, Source
from tacit.rows.storage.tiles import Floats


@dataclass(frozen=True)
class DeclaredSource(Source):
    """The records of another source, with missing codes made missing and dates made numbers.

    Guarantee: as of any source. What a cell becomes depends on that cell and the declared reading alone.
    """

    source: Source = field(repr=False)
    reading: Reading = field(repr=False)

    @classmethod
    def of(cls, source: Source, reading: Reading) -> DeclaredSource:
        """Read a source by what is declared of it."""
        own = {name: getattr(source, name) for name in ("names", "response", "length", "resident", "typed_by")}
        return cls(source, reading, **own)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the other source, which are asked for text where numbers are spelt in other ways."""
        spelt = tuple(name for name in numeric if name in self.reading.dates or self._words(name))
        numbers = tuple(name for name in numeric if name not in spelt)
        texts = tuple(dict.fromkeys((*labels, *spelt)))
        for batch in self.source.batches(rows, numeric=numbers, labels=texts):
            read, raw = partial(self._numeric, batch, frozenset(spelt)), partial(self._labels, batch)
            yield Batch(batch.length, read, raw)

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose type is text, but for dates and for columns in which words mean "missing"."""
        return self.source.text_among([it for it in names if it not in self.reading.dates and not self._words(it)])

    def _codes(self, column: str) -> tuple[NormalForm, ...]:
        """What stands for a missing cell of a column, each once, in the form in which labels are compared."""
        return tuple(dict.fromkeys(map(normal_form, self.reading.codes_of(column))))

    def _words(self, column: str) -> bool:
        """Whether codes of a column are no numbers, so that its cells have to be seen as text."""
        return any(isinstance(code, str) for code in self._codes(column))

    def _numeric(self, batch: Batch, spelt: frozenset[str], names: Names) -> Floats:
        block = np.empty((batch.length, len(names)), dtype=np.float64)
        plain = [j for j, name in enumerate(names) if name not in spelt]
        if plain:
            block[:, plain] = batch.numeric([names[j] for j in plain])
        for j, name in enumerate(names):
            codes = self._codes(name)
            if name in self.reading.dates:
                block[:, j] = date_numbers(without(batch.labels(name), codes), self.reading.dates[name])
            elif name in spelt:
                block[:, j] = self._spelt(without(batch.labels(name), codes), name)
            elif codes:
                block[level_codes(block[:, j], codes, name) >= 0, j] = np.nan
        return block

    def _spelt(self, cells: NDArray[Any], name: str) -> Floats:
        if self.reading.file.decimal == "." or self.source.typed_by is not None:
            return to_float64(cells, name)
        read = remembering(decimal_number)
        return np.fromiter(map(read, cells.tolist()), np.float64, len(cells))

    def _labels(self, batch: Batch, name: str) -> NDArray[Any]:
        return without(batch.labels(name), self._codes(name))


def decimal_number(cell: Any) -> float:
    """Number of a cell of a text file that is written with a decimal comma."""
    return text_number(cell.replace(".", "?").replace(",", ".")) if type(cell) is str else cell_number(cell)


def without(cells: NDArray[Any], codes: tuple[NormalForm, ...]) -> NDArray[Any]:
    """The cells with None in place of codes that mean "missing"; numbers are compared by value, texts by letter."""
    if not codes:
        return cells
    found = level_codes(cells, codes, "missing_codes") >= 0
    if not found.any():
        return cells
    # A copy of objects, where a number could not be missing.
    kept = cells.astype(object)
    kept[found] = None
    return kept
