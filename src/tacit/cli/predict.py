"""`tacit predict`: probabilities for new records, block by block."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tacit.cli import options
from tacit.cli.files import require_writable, written_whole
from tacit.cli.screen import Screen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Blocks = Iterable[NDArray[np.float64]]

COLUMN = "probability"
MISSING = '""'
"""A quoted blank: readers of CSV skip a line that is empty, and the rows would shift."""


def predict(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="What tacit fit --output kept.")],
    data: options.DataFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a CSV file.")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Predict probabilities for the records of a table.

    They are those of the second class; a record with a missing or undeclared value has none.
    Costs no budget, and protects nobody in the new table.
    """
    screen = Screen(as_json)
    require_writable([output], [fit, data], force=force)
    from tacit.estimators.fit import load

    with screen.work():
        blocks = _started(load(fit).predict_blocks(data))
        if output is not None:
            with written_whole(output) as stream:
                records, missing = write_csv(blocks, stream)
            screen.result({"output": str(output), "records": records, "missing": missing})
            screen.plain(f"{records:,} probabilities, {missing:,} missing, are in {output}")
        elif as_json:
            _write_json(blocks, sys.stdout)
        else:
            write_csv(blocks, sys.stdout)


def write_csv(blocks: Blocks, stream: TextIO) -> tuple[int, int]:
    """Write one column of probabilities; return how many records it has and how many are missing.

    Guarantee
    ---------
    - One line per record, in order, whatever is missing; a number is read back bit by bit.
    - One block is in memory at a time.
    """
    records = missing = 0
    stream.write(f"{COLUMN}\n")
    for block in blocks:
        values = block.tolist()
        lines = [MISSING if math.isnan(value) else repr(value) for value in values]
        stream.write("\n".join([*lines, ""]))
        records += len(values)
        missing += lines.count(MISSING)
    return records, missing


def _write_json(blocks: Blocks, stream: TextIO) -> None:
    stream.write(f'{{"{COLUMN}": [')
    separator = ""
    for block in blocks:
        values = [None if math.isnan(value) else value for value in block.tolist()]
        if values:
            stream.write(separator + json.dumps(values)[1:-1])
            separator = ", "
    stream.write("]}\n")


def _started(blocks: Iterator[NDArray[np.float64]]) -> Blocks:
    """Compute the first block now, so that a wrong table is refused before a byte is written."""
    first = next(blocks, None)
    return blocks if first is None else chain([first], blocks)
