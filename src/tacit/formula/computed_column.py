"""Expressions as columns of a design: ``I(a + b)``, ``log(a + 1)``, ``pmin(a, 50)``, ``I(ward == "icu")``."""

from __future__ import annotations

from tacit.design.expression_tree import Cell, cells_in, depth_of, with_places
from tacit.design.factor import Computed
from tacit.formula.expression import read_statistic
from tacit.formula.spelling import refused
from tacit.schema.schema import Schema

DEEPEST = 7
"""Functions inside one another: a stored fit holds the tree, and a document has a largest depth."""


def computed_factor(spelling: str, schema: Schema) -> Computed:
    """The factor of an expression of declared columns, with the interval that follows from their bounds.

    Guarantee: nothing is evaluated and nothing is read off the data. What has no finite interval is refused.
    """
    cells = {name: Cell(name, 0, 1.0) for name in schema.columns}
    found = read_statistic(spelling, schema, cells)
    columns = tuple(dict.fromkeys(cell.column for cell in cells_in(found.expression)))
    if depth_of(found.expression) > DEEPEST:
        raise refused(spelling, f"more than {DEEPEST} functions lie inside one another; compute the column before.")
    interval = found.interval
    return Computed(columns, with_places(found.expression, columns), interval.lower, interval.upper)
