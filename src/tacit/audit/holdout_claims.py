"""An attack on the reusable holdout: one claim at the threshold, one record that moves the sum as far as it can.

With one release a world answers either that the claim is near, or a noised sum. The score is the log-likelihood ratio.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.accounting.composition import compose
from tacit.audit.attack import Worlds, pure_budget
from tacit.audit.bounds import Floats
from tacit.audit.single_answers import WIDTH, prepared_table
from tacit.contract.holdout_price import holdout_price
from tacit.contract.statistic_query import BoundedSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.mechanisms.means import integer_sums
from tacit.mechanisms.reusable_holdout import HoldoutComparisons
from tacit.privacy.relation import Relation

_ONLY = BoundedSums((Statistic("x", Cell("x", 0, 1.0), Interval(-1.0, 1.0)),))
_RECORDS = 2


def chance_above(distance: float, compared: float, threshold: float) -> float:
    """P[A - B ≥ distance] for Laplace noises A and B of these scales, the first twice the second or so."""
    a, b = compared, threshold
    size = abs(distance)
    tail = (a * a * math.exp(-size / a) - b * b * math.exp(-size / b)) / (2 * (a * a - b * b))
    return tail if distance >= 0 else 1 - tail


def holdout_claims(mu: float, seed: int | None) -> Worlds:
    """Two tables that differ in one record, and the claim that their sums are at the lower end.

    A pure ε of `mu` is claimed. The threshold lies between what the two sums are off.
    """
    relation = Relation.REPLACE_ONE
    price = holdout_price(pure_budget(mu), relation, 1, _RECORDS)
    constant = np.zeros(WIDTH)
    constant[-1] = 1.0
    ends = [constant + sign * np.eye(WIDTH)[0] for sign in (-1.0, 1.0)]
    stores = [prepared_table([(end, 0.0), (constant, 0.0)]) for end in ends]
    totals = [int(integer_sums(_ONLY, price.bound, store)[0]) for store in stores]
    scale = 2.0**price.bits
    # Far below the first sum, so that no distance changes its sign.
    claimed = totals[0] - 64 * int(scale)
    threshold = totals[0] - claimed + price.bound
    chances = [chance_above(threshold - (total - claimed), 4 * scale, 2 * scale) for total in totals]

    def log_ratio(answer: int | None) -> float:
        if answer is None:
            return math.log((1 - chances[1]) / (1 - chances[0]))
        shift = (abs(answer - totals[0]) - abs(answer - totals[1])) / scale
        return math.log(chances[1] / chances[0]) + shift

    def draw(world: int, runs: int) -> Floats:
        found = []
        for run in range(runs):
            own = None if seed is None else 2 * (seed * 1_000_003 + run) + world
            found.append(log_ratio(HoldoutComparisons(stores[world], price, threshold, own).compare(_ONLY, claimed)))
        return np.array(found)

    return Worlds(compose(price.events(relation), relation), relation, draw, 0.0)
