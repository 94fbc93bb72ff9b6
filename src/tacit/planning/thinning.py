"""How many tiles of a large table a later look or a first step need read: a public rule."""

from __future__ import annotations

import math

from tacit.planning.wishes import Facts
from tacit.problem.plan import Plan, PublicFact

LARGEST_EDGE = 0.2
"""Noise edge of a look in whitened coordinates, as a share of the records read."""
LARGEST_STEP = 0.1
"""Noise that a first step adds in whitened coordinates, in sizes of residuals."""
SPARSEST = 8
RECORDS_A_COLUMN = 1000
"""Records read for each column, at least: the sample's own error then counts for nothing."""
PLACES = PublicFact("places of the records", "fixed", "assumed")
"""A neighbour has the other record in the same place; tables sorted by their content have none."""


def tiles_apart(facts: Facts, mu: float, row_factor: float) -> int:
    """Read every so many tiles in a look of price μ at rows of norm `row_factor`·√d.

    A look is for the shape of the coordinates; its noise edge is √(2d)·√2·row_factor²·d / μ, and as
    long as that is a small share of the records read, more records buy nothing. Where n is private
    all are read: a record more would move the places of others.
    """
    width = facts.design.width
    edge = 2 * row_factor**2 * width * math.sqrt(width) / (mu * facts.records)
    return _apart(facts, LARGEST_EDGE / edge)


def tiles_apart_in_steps(facts: Facts, mu: float, clip_factor: float) -> int:
    """Read every so many tiles in a step of price μ that clips at `clip_factor`·√d.

    The noise of a step of length 1 is 2·clip_factor·d / (μ n). A first stage only has to bring the
    next one near: as long as that is small, more records buy nothing.
    """
    noise = 2 * clip_factor * facts.design.width / (mu * facts.records)
    return _apart(facts, LARGEST_STEP / noise)


def _apart(facts: Facts, tolerated: float) -> int:
    if not facts.is_large or not facts.relation.n_is_public:
        return 1
    enough = min(tolerated, facts.records / (RECORDS_A_COLUMN * facts.design.width))
    return max(1, min(SPARSEST, math.floor(enough)))


def assumed_places(plan: Plan) -> tuple[PublicFact, ...]:
    """Return what a plan takes as public beyond n where it reads records by their places.

    Guarantee
    ---------
    - A plan of which a query may read a part of the records, by their places, says so.
    """
    looks = 1 if plan.whitening is None else plan.whitening.every
    thinned = max(looks, *(stage.every for stage in plan.stages), 1) > 1
    # Persons are always read whole.
    return (PLACES,) if thinned and plan.design.beside.unit is None else ()
