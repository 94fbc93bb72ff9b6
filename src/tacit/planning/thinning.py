"""How many tiles of a large table a later look at the second moments need read: a public rule."""

from __future__ import annotations

import math

from tacit.planning.wishes import Facts

LARGEST_EDGE = 0.2
"""Noise edge of a look in whitened coordinates, as a share of the records read."""
SPARSEST = 8
RECORDS_A_COLUMN = 1000
"""Records read for each column, at least: the sample's own error then counts for nothing."""


def tiles_apart(facts: Facts, mu: float, row_factor: float) -> int:
    """Read every so many tiles in a look of price μ at rows of norm `row_factor`·√d.

    A look is for the shape of the coordinates; its noise edge is √(2d)·√2·row_factor²·d / μ, and as
    long as that is a small share of the records read, more records buy nothing. Where n is private
    all are read: a record more would move the places of others.
    """
    if not facts.is_large or not facts.relation.n_is_public:
        return 1
    width = facts.design.width
    edge = 2 * row_factor**2 * width * math.sqrt(width) / (mu * facts.records)
    enough = min(LARGEST_EDGE / edge, facts.records / (RECORDS_A_COLUMN * width))
    return max(1, min(SPARSEST, math.floor(enough)))
