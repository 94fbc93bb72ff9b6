"""Values of expressions for the records of a few tiles. Private: the tiles and the values.

Every step is one correctly rounded IEEE operation on a record's own numbers, or a function of `transforms`, which is a
fixed sequence of them. So the value of a record depends on that record and the expression alone, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.expression_tree import Cell, Expression, Number, Power
from tacit.design.factor import FUNCTIONS
from tacit.errors import SettingError
from tacit.rows.encoding.cells import quiet
from tacit.rows.encoding.transforms import power, transform
from tacit.rows.storage.tiles import Floats

_OPERATIONS: Mapping[str, Callable[..., NDArray[Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "abs": np.abs,
    "not": lambda value: 1.0 - value,
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def evaluated(expression: Expression, tiles: NDArray[Any]) -> Floats:
    """Value of each record of some tiles, (tile, 64); what a record of zeros gives is void.

    Guarantee: a record's value depends on that record and the expression alone, bit by bit. Nothing is raised and no
    warning is given, whatever the records hold; a value may be infinite or not a number.
    """
    with quiet():
        return np.asarray(np.broadcast_to(_value(expression, tiles), (len(tiles), tiles.shape[2])), dtype=np.float64)


def _value(expression: Expression, tiles: NDArray[Any]) -> Floats:
    match expression:
        case Number(value=value):
            return np.full((1, 1), value)
        case Cell():
            return cell_values(expression, tiles)
        case Power(base=base, exponent=exponent):
            return power(_value(base, tiles), exponent)
    operands = [_value(operand, tiles) for operand in expression.operands]
    if expression.function in FUNCTIONS:
        # Only records of zeros, which fill up tiles, can lie outside of the domain: their value is void.
        return transform(expression.function, np.asarray(operands[0], dtype=np.float64))
    return np.asarray(_OPERATIONS[expression.function](*operands), dtype=np.float64)


def cell_values(cell: Cell, tiles: NDArray[Any]) -> Floats:
    """Numbers, or indices of levels, of one stored column: exact, since the scale is a power of two."""
    if not 0 <= cell.place < tiles.shape[1]:
        raise SettingError("An expression names a column that the stored records do not have.")
    return np.asarray(tiles[:, cell.place], dtype=np.float64) * cell.scale
