"""The worst results of blocks that are known for a deep point, and rows of which least squares finds them.

All but a few blocks return -1 or 1 in the first number, half of them each, and two return m between. One block less on
the right takes one from the depth of all points right of m, and adds one left of it. The outermost blocks on the right
grow so fast that the stability test looks at them: without the farthest, its distance is one more. So one block moves
the test and the point in the same direction, as far as either can be moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attack import DELTA, Worlds
from tacit.audit.block_laws import KnownDraws
from tacit.audit.bounds import Floats
from tacit.audit.fits import AuditedFit
from tacit.audit.programs import ask_solver
from tacit.audit.simulated_pairs import Outcome, lone_row, neighbours
from tacit.audit.twin_tables import Pair, Records
from tacit.contract.block_price import DepthPrice
from tacit.design.design import Design
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.estimators.tukey import TukeyRegressor
from tacit.mechanisms.block_depth import boxes, distance, log_volumes, outermost
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.storage.gathered_rows import gather

RARE = 0.1
"""Share of the points that are left of m: rare in one world, and by the whole ratio more likely in the other."""
GROWTH, FARTHEST = 4.0, 30.0
"""Logarithm of the ratio of an outer box to the next one, over the rate; and that of the largest to the innermost."""
MOST_BLOCKS = 20_000
ROWS = 4
"""Of a block: one with x = 1, which decides the slope, and others with x = 0."""


@dataclass(frozen=True)
class DeepResults:
    """Results of blocks, (block, number), and the other result of the last one."""

    first: Floats
    moved: Floats

    @property
    def second(self) -> Floats:
        """The results in the other world."""
        return np.concatenate([self.first[:-1], self.moved[np.newaxis]])


def deep_results(price: DepthPrice, size: int) -> DeepResults:
    """The fewest blocks whose distance is one below the threshold in one world, and at it in the other."""
    for blocks in range(8, MOST_BLOCKS, 4):
        found = _results(price, blocks, size)
        distances = [distance(log_volumes(*boxes(it)), blocks, price) for it in (found.first, found.second)]
        if distances == [price.threshold - 1, price.threshold]:
            return found
    raise SettingError("A deep point cannot be audited at so small an ε.")


def _results(price: DepthPrice, blocks: int, size: int) -> DeepResults:
    half, outer = blocks // 2, outermost(blocks) - 1
    middle = -1.0 + 2.0 * RARE
    steps = np.minimum(GROWTH * float(price.rate) * np.arange(1, outer + 1), FARTHEST)
    right = np.concatenate([np.ones(half - 1 - outer), 2.0 * np.exp(steps) - 1.0])
    first = np.concatenate([np.full(half - 1, -1.0), [middle, middle], right])
    # The other numbers are ±1 and stay as they are: their boxes have the same ends at every depth.
    others = np.where(np.arange(blocks) % 2 == 0, 1.0, -1.0)
    results = np.column_stack([first] + [others] * (size - 1))
    moved = results[-1].copy()
    moved[0] = -1.0
    return DeepResults(results, moved)


def fitted_pair(results: DeepResults, design: Design) -> Pair:
    """Tables of which least squares on known blocks finds the results; they differ in the response of one record."""
    block = _known_blocks(ROWS * len(results.first), len(results.first), design)
    # The block of the first record is the last of the results.
    own = (block - block[0] - 1) % len(results.first)
    decides = np.zeros(len(own), dtype=np.bool_)
    decides[np.unique(own, return_index=True)[1]] = True
    X = decides.astype(np.float64)[:, np.newaxis]
    slopes, constants = results.second[own].T
    y = constants + np.where(decides, slopes, 0.0)
    return neighbours(Relation.REPLACE_ONE, X, y, X[0], float(results.first[-1].sum()))


def _known_blocks(records: int, blocks: int, design: Design) -> NDArray[np.int64]:
    """The block of each record of a table; a store has its records in an order of its own."""
    store = Records(np.zeros((records, 1)), np.arange(records, dtype=np.float64)).admitted(design, exact=True)
    assert isinstance(design.response, Continuous)  # noqa: S101 - for the type checker
    numbers = np.rint(gather(store).rows[:, -1] * design.response.scale).astype(np.int64)
    found = np.empty(records, dtype=np.int64)
    found[numbers] = KnownDraws().blocks(records, blocks)
    return found


def epsilon_budget(mu: float) -> Budget:
    """An ε of the amount that was asked for as μ, at δ: a larger one would show no more in ten thousand runs."""
    return Budget(epsilon=mu, delta=DELTA)


def without_bounds(blocks: int, **given: Any) -> TukeyRegressor:
    """A regressor that takes rows and responses as they are."""
    return TukeyRegressor(blocks=blocks, **{**given, "bounds": None, "y_bounds": None})


DEEP_FIT = AuditedFit(
    "TukeyRegressor",
    partial(without_bounds, 100),
    Outcome.NUMBERS,
    Relation.REPLACE_ONE,
    records=ROWS * 100,
    columns=1,
    pair=lone_row,
    budget=epsilon_budget,
    program=ask_solver,
)
"""Of which transcripts are replayed, on pairs of any kind."""


def deep_fit(mu: float, seed: int | None) -> Worlds:
    """The worst pair of tables for least squares on blocks: the answer is a point, or that there is none."""
    plan = DEEP_FIT.plan(mu)
    price = plan.steps[0].price
    assert isinstance(price, DepthPrice)  # noqa: S101 - for the type checker
    found = deep_results(price, 2)
    blocks, pair = len(found.first), fitted_pair(found, plan.design)
    fit = replace(DEEP_FIT, make=partial(without_bounds, blocks), records=ROWS * blocks, pair=lambda *_: pair)
    return fit.worlds(mu, seed)
