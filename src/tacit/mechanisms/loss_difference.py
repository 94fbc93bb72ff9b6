"""Sums of clipped differences of losses at two points, with exact Gaussian noise. Private: the store.

One number a query: its noise does not grow with the number of coefficients, and a loss needs no slope. A loss that is a
Python function is called for one record at a time. Proof: proofs/mechanisms/loss_difference.md.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tacit.contract.query import Answer
from tacit.contract.selection_query import VALUED, LossDifference
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import shape_of
from tacit.losses.own import OwnLoss
from tacit.losses.values import values
from tacit.mechanisms import kernels
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.means import signed_part
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers


@compiled
def add_differences(
    block: Any, points: Any, loss: Any, columns: Any, scale: float, bound: int, total: Integers
) -> None:
    """Add to total[0] the bound times (loss at the first point - loss at the second)·scale, times the weight."""
    first, second = points
    width = first.shape[0]
    (code, shape), (weighted, shifted) = loss, columns
    margin, square = np.empty(LANES), np.empty(LANES)
    above, below = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        label = kernels.outcome_column(block, t, width, 0)
        own = kernels.outcome_column(block, t, width, int(weighted))
        kernels.measure_tile(block, t, first, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        values(code, shape, margin, label, above)
        kernels.measure_tile(block, t, second, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        values(code, shape, margin, label, below)
        part = np.int64(0)
        for lane in range(LANES):
            share = min(max((above[lane] - below[lane]) * scale, -1.0), 1.0)
            if weighted:
                share *= np.float64(own[lane])
            part += signed_part(bound, share)
        total[0] += part


@compiled
def write_margins(block: Any, theta: Floats, columns: Any, out: Floats) -> None:
    """Write margin, label and weight of every record, (3, tile, lane)."""
    width = theta.shape[0]
    weighted, shifted = columns
    margin, square = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        own = kernels.outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            out[0, t, lane] = margin[lane]
            out[1, t, lane] = np.float64(label[lane])
            out[2, t, lane] = np.float64(own[lane]) if weighted else 1.0


def differences(layout: Layout, query: LossDifference, bound: int) -> BlockSum:
    """The integer of a block."""
    if layout.grouped:
        raise SettingError("Losses are compared on plain records, without units.")
    move = query.step * query.direction
    points = tuple(np.ascontiguousarray(query.theta + side * move, dtype=np.float64) for side in (1.0, -1.0))
    scale, columns = 1.0 / (2.0 * query.step * query.clip), (layout.weighted, layout.shifted)
    own = query.loss
    if isinstance(own, OwnLoss):

        def add_own(block: Any, total: Integers) -> None:
            _add_own_differences(block, points, own, columns, scale, bound, total)

        return BlockSum((1,), add_own)
    if query.loss.code not in VALUED:
        raise SettingError(f"Values of the {query.loss.name} loss cannot be asked for.")
    loss = int(query.loss.code), shape_of(query.loss)

    def add(block: Any, total: Integers) -> None:
        add_differences(block, points, loss, columns, scale, bound, total)

    return BlockSum((1,), add)


def _add_own_differences(
    block: Any, points: Any, loss: OwnLoss, columns: Any, scale: float, bound: int, total: Integers
) -> None:
    tiles = len(block) if isinstance(block, np.ndarray) else len(block.outcome)
    found = np.empty((2, 3, tiles, LANES))
    for point, out in zip(points, found, strict=True):
        write_margins(block, point, columns, out)
    (above, label, weight), (below, _, _) = found.reshape(2, 3, -1).tolist()
    # Warnings of a record are not told either.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for first, second, response, own in zip(above, below, label, weight, strict=True):
            # Equal margins, as of what fills up tiles, have no difference.
            if first != second:
                change = (_value(loss, first, response) - _value(loss, second, response)) * scale
                share = min(max(change, -1.0), 1.0) * own if math.isfinite(change) else 0.0
                total[0] += signed_part(bound, share)


def _value(loss: OwnLoss, margin: float, label: float) -> float:
    """The value of an own loss; not a number where it raises: a record must not be able to."""
    center, scale = loss.shape[0], loss.shape[1]
    try:
        return float(loss.value(center + scale * margin, center + scale * label))  # type: ignore[misc]
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - what a function raises on a record is not told
        return math.nan


def answer_difference(query: LossDifference, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped differences; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - A record adds an integer of size at most the bound; a blank one adds 0.
    - A function that raises, or returns what is not finite, adds 0 for that record, and nothing is told of it.
    """
    total = store.total(differences, query, price.bound)
    return noised_sum(total, price.bound / query.clip, price, entropy)
