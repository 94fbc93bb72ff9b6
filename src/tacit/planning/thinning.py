"""How small a part of a large table a later look or a first step need read: a public rule."""

from __future__ import annotations

import math

from tacit.contract.query import PART
from tacit.planning.wishes import Facts

LARGEST_EDGE = 0.25
"""Noise edge of a look in whitened coordinates, as a share of the records read."""
LARGEST_STEP = 0.1
"""Noise that a first step adds in whitened coordinates, in sizes of residuals."""
RECORDS_A_COLUMN = 1000
"""Records read for each column, at least: the sample's own error then counts for nothing."""


def thinned_look(facts: Facts, mu: float, row_factor: float) -> int:
    """Read all records or one in so many in a look of price μ at rows of norm `row_factor`·√d.

    A look is for the shape of the coordinates; its noise edge is √(2d)·√2·row_factor²·d / μ, and as
    long as that is a small share of the records read, more records buy nothing.
    """
    width = facts.design.width
    edge = 2 * row_factor**2 * width * math.sqrt(width) / (mu * facts.records)
    return _one_in(facts, LARGEST_EDGE / edge)


def thinned_steps(facts: Facts, mu: float, clip_factor: float) -> int:
    """Read all records or one in so many in a step of price μ that clips at `clip_factor`·√d.

    The noise of a step of length 1 is 2·clip_factor·d / (μ n). A first stage only has to bring the
    next one near: as long as that is small, more records buy nothing.
    """
    noise = 2 * clip_factor * facts.design.width / (mu * facts.records)
    return _one_in(facts, LARGEST_STEP / noise)


def _one_in(facts: Facts, tolerated: float) -> int:
    if not facts.is_large:
        return 1
    enough = min(tolerated, facts.records / (RECORDS_A_COLUMN * facts.design.width))
    return PART if enough >= PART else 1
