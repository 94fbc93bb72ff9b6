"""Norms, clipping and integer sums of gradients of single examples. Private: everything but clip and unit.

Norms and the sums of a block of 32 examples are computed in float32, with proven errors; blocks are rounded to the
lattice and added up as integers. Proof: proofs/mechanisms/clipped_sum.md.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import torch
from torch import Tensor

from tacit.contract.network_query import BLOCK
from tacit.errors import SettingError
from tacit.mechanisms.example_gradients import Dense, Outer, Part, Scattered

SEGMENT = 256
"""Numbers whose squares are added up in float32; segments are added up in float64."""
SLACK = 2.0**-12
"""What a record changes in the sum of its block is at most clip·(1 + SLACK), before rounding to the lattice."""
VANISHING = 2.0**-63
"""Squares below the smallest float32 may be lost: this times the root of the number of squares is added to a norm."""
LARGEST_NORM = 2.0**60
"""Gradients beyond it, and activations, count as not finite: their clip factors would have few digits."""
EXACT = 1024
"""Blocks whose whole numbers are added up in float64: each is below 2^42, and so their sum is exact."""
ALIGNMENT = 64
"""Bytes to which torch aligns new memory."""


def require_plain_torch() -> None:
    """Refuse settings of torch in which products of float32 have fewer bits, or one example may be an error."""
    if torch.is_anomaly_enabled():
        raise SettingError(
            "With torch.autograd.set_detect_anomaly(True) one example without a finite gradient ends the training, "
            "which tells of it. Set it to False."
        )
    try:
        precise = torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:
        # So torch answers where the precision was set for one library alone.
        precise = False
    modes = {os.environ.get(f"{name}_DEFAULT_FPMATH_MODE", "strict").lower() for name in ("ONEDNN", "DNNL")}
    if not precise or modes != {"strict"} or torch.is_autocast_enabled("cpu"):
        raise SettingError(
            "Products of float32 are rounded to fewer bits in this program, for which no bound is proven. Call "
            'torch.set_float32_matmul_precision("highest") and leave autocast.'
        )


def unit_of(bound: int, clip: float, width: int) -> float:
    """Lattice steps of a gradient of norm 1.

    Guarantee: unit·clip·(1 + SLACK) + √width·(1 + 2^-11) ≤ bound, with room for the rounding of this formula.
    """
    root = math.isqrt(width) + 1
    room = bound - root - root // 1000 - 1
    if room < 1:
        raise SettingError("The bound of this price is below what rounding does to so many parameters.")
    return room / (clip * (1.0 + SLACK)) * (1.0 - 2.0**-40)


def norms(parts: Mapping[str, Part], width: int) -> Tensor:
    """Norm of each example's gradient over all parameters, in float64; not finite where the gradient is not.

    Guarantee: a finite one is at least (1 - 2^-15) times the norm of the floats in `parts`.
    """
    square = torch.stack([_squares(part) for part in parts.values()]).sum(0)
    found = square.sqrt() + VANISHING * math.sqrt(width)
    return torch.where(found <= LARGEST_NORM, found, math.inf)


def _squares(part: Part) -> Tensor:
    match part:
        case Outer(left, right):
            # In float64: a small factor, whose squares would vanish in float32, may meet a large one.
            ours, theirs = _wide_squares(left), _wide_squares(right)
            return torch.where(torch.maximum(ours, theirs) <= LARGEST_NORM**2, ours * theirs, math.inf)
        case Dense(rows):
            return _row_squares(rows)
        case Scattered(rows):
            return _row_squares(rows.flatten(1))


def _row_squares(rows: Tensor) -> Tensor:
    """Sums of squares along rows, by segments."""
    whole = rows.shape[1] // SEGMENT * SEGMENT
    found = torch.zeros(len(rows), dtype=torch.float64)
    if whole:
        segments = rows[:, :whole].unflatten(1, (-1, SEGMENT))
        found += torch.linalg.vector_norm(segments, dim=2).double().square().sum(1)
    if whole < rows.shape[1]:
        found += torch.linalg.vector_norm(rows[:, whole:], dim=1).double().square()
    return found


def _wide_squares(rows: Tensor) -> Tensor:
    """The same with every square in float64, where none vanishes and none is too large."""
    found: Tensor = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64).square()
    return found


def clip_factors(norm: Tensor, clip: float, filled: Tensor) -> Tensor:
    """min(1, clip / norm) in float32; 0 for blanks, and where a norm is not finite."""
    factors = (clip / norm).clamp(max=1.0)
    return torch.where(filled & torch.isfinite(norm), factors, 0.0).float()


def integer_sums(parts: Mapping[str, Part], factors: Tensor, unit: float, norm: Tensor) -> dict[str, Tensor]:
    """Σ of factor·gradient over all examples, by parameter, as whole numbers of 1 / unit.

    Guarantee: what the examples of one block change is at most what they change in the block's float32 sum, rounded.
    """
    # A finite norm has finite numbers alone.
    kept = None if bool(torch.isfinite(norm).all()) else factors > 0
    return {name: _sum_of(_laid_out(part, kept), factors, unit) for name, part in parts.items()}


def _laid_out(part: Part, kept: Tensor | None) -> Part:
    """Numbers one after the other in aligned memory, and rows that are not `kept` set to zero: 0·∞ is no number.

    A product may be rounded in another way where its factors lie otherwise in memory. So they lie in one way, whether
    some record made it necessary to clear rows or not.
    """

    def laid_out(rows: Tensor) -> Tensor:
        if kept is not None:
            rows = torch.where(kept.reshape(-1, *[1] * (rows.ndim - 1)), rows, 0.0)
        rows = rows.contiguous()
        return rows.clone() if rows.data_ptr() % ALIGNMENT else rows

    match part:
        case Outer(left, right):
            return Outer(laid_out(left), laid_out(right))
        case Dense(rows):
            return Dense(laid_out(rows))
        case Scattered(rows, places, height):
            return Scattered(laid_out(rows), places, height)


def _sum_of(part: Part, factors: Tensor, unit: float) -> Tensor:
    blocks = len(factors) // BLOCK
    match part:
        case Outer(left, right):
            weighted = (left * factors[:, None]).unflatten(0, (blocks, BLOCK)).transpose(1, 2)
            sums = torch.bmm(weighted, right.unflatten(0, (blocks, BLOCK))).flatten(1)
        case Dense(rows):
            sums = torch.bmm(factors.reshape(blocks, 1, BLOCK), rows.unflatten(0, (blocks, BLOCK))).flatten(1)
        case Scattered(rows, places, height):
            return _scattered_sum(rows * factors[:, None, None], places, height, unit)
    return _added(_whole(sums, unit))


def _whole(sums: Tensor, unit: float) -> Tensor:
    """Whole numbers of 1 / unit, in float64."""
    return sums.double().mul_(unit).round_()


def _added(whole: Tensor) -> Tensor:
    """Sum of whole numbers over blocks: exact in float64 for some, and of these in integers."""
    return torch.stack([some.sum(0).to(torch.int64) for some in whole.split(EXACT)]).sum(0)


def _scattered_sum(rows: Tensor, places: Tensor, height: int, unit: float) -> Tensor:
    """Each row is rounded on its own, so that no sum of floats is left."""
    total = torch.zeros(height, rows.shape[2], dtype=torch.int64)
    total.index_add_(0, places.flatten(), _whole(rows.flatten(0, 1), unit).to(torch.int64))
    return total.flatten()
