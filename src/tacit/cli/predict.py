"""`tacit predict`: probabilities, or other predictions, for new records, block by block."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from tacit.cli import options
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.files import replacing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.design.response import Response

    Blocks = Iterable[NDArray[np.float64]]

COLUMN, OTHER = "probability", "prediction"
MISSING = '""'
"""A quoted blank: readers of CSV skip a line that is empty, and the rows would shift."""


def predict(
    fit: Annotated[Path, argument("FIT", "What tacit fit --output wrote.")],
    data: options.DataFile,
    *,
    output: Annotated[Path | None, flag("FILE", "Write a CSV file.", "--output", "-o")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Predict probabilities for the records of a table, or values and counts.

    Probabilities are those of the second class, or of each where there are three or more; a record with a missing or
    undeclared value has none. Costs no budget, and protects nobody in the new table.
    """
    require_writable([output], [fit, data], force=force)
    from tacit.estimators.fit import load

    with screen.work():
        fitted = load(fit)
        names = columns_of(fitted.stored.design.response)
        later = fitted.predict_blocks(data)
        # The first block now, so that a wrong table is refused before a byte is written.
        blocks = chain(list(islice(later, 1)), later)
        if output is not None:
            with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="\n") as stream:
                records, missing = write_csv(blocks, stream, names)
            screen.result({"output": str(output), "records": records, "missing": missing})
            what = "predictions" if names == (OTHER,) else "probabilities"
            screen.plain(f"{records:,} {what}, {missing:,} missing, are in {output}")
        elif screen.as_json:
            _write_json(blocks, sys.stdout, OTHER if names == (OTHER,) else COLUMN)
        else:
            write_csv(blocks, sys.stdout, names)


def columns_of(response: Response) -> tuple[str, ...]:
    """Names of what is predicted of a response."""
    if response.kind == "classes":
        return tuple(f"{COLUMN} of {label}" for label in response.classes)
    return (COLUMN if response.kind == "binary" else OTHER,)


def write_csv(blocks: Blocks, stream: TextIO, names: Sequence[str] = (COLUMN,)) -> tuple[int, int]:
    """Write columns of predictions; return how many records there are and how many are missing.

    There is one line per record, in order, whatever is missing; a number is read back bit by bit.
    """
    records = missing = 0
    csv.writer(stream, lineterminator="\n").writerow(names)
    for block in blocks:
        rows = block.reshape(-1, len(names)).tolist()
        lines = [",".join(MISSING if math.isnan(value) else repr(value) for value in row) for row in rows]
        stream.write("\n".join([*lines, ""]))
        records += len(rows)
        missing += sum(math.isnan(row[0]) for row in rows)
    return records, missing


def _write_json(blocks: Blocks, stream: TextIO, name: str) -> None:
    stream.write(f'{{"{name}": [')
    separator = ""
    for block in blocks:
        # One number a record, or one for each class; missing where the first is.
        firsts = (block if block.ndim == 1 else block[:, 0]).tolist()
        pairs = zip(firsts, block.tolist(), strict=True)
        values = [None if math.isnan(first) else value for first, value in pairs]
        if values:
            stream.write(separator + json.dumps(values)[1:-1])
            separator = ", "
    stream.write("]}\n")
