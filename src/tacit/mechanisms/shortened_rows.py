"""Gradients and pairs of rows that keep as much weight as their bounds allow. Private: `block`.

A row z of curvature h has the weight w = min(1, C / ‖z‖, C² H / (h‖z‖²)), H the public bound on curvatures. So its
gradient is at most C long for slopes up to 1, and its curvature w h ‖z‖² at most C² H. A weight min(1, (C / ‖z‖)²)
keeps both too, and weighs rows down where neither asks for it. Integers depend on that record and on public numbers.
Proof: proofs/mechanisms/shortened_rows.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import curvatures, slopes
from tacit.mechanisms import kernels
from tacit.rows.storage.store import BlockSum, Layout
from tacit.rows.storage.tiles import LANES, Floats, Integers


def require_single_rows(layout: Layout) -> None:
    """Refuse persons of several records: their weights go by the mean of all."""
    if layout.grouped:
        raise SettingError("Shortened rows are those of units with one record each.")


def shortened_gradients(layout: Layout, theta: Floats, loss: Any, columns: Any, clip: Any) -> BlockSum:
    """Integer gradients of a block; `clip` is that of `kernels`, then the bound on curvatures."""
    require_single_rows(layout)

    def add(block: Any, total: Integers) -> None:
        add_shortened_gradients(block, theta, loss, columns, clip, total)

    return BlockSum(theta.shape, add)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def row_weight(norm: float, curvature: float, radius: float, smoothness: float) -> float:
    """Return min(1, r / ‖z‖, r² H / (h‖z‖²)); a curvature that is not a number makes it none."""
    ratio = radius / norm
    flat = ratio * ratio * smoothness / curvature
    weight = min(1.0, ratio)
    # Not `min`, which may drop a number that is none.
    return weight if weight <= flat else flat  # noqa: FURB136


@compiled
def add_shortened_gradients(block: Any, theta: Floats, loss: Any, columns: Any, clip: Any, total: Integers) -> None:
    """Add rint(c z) of every record to `total`, c = w·weight·loss'·scale kept within limit / ‖z‖."""
    width = theta.shape[0]
    (code, shape), (weighted, shifted), (scale, limit, radius, smoothness) = loss, columns, clip
    margin, square = np.empty(LANES), np.empty(LANES)
    factor, curved = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        slopes(code, shape, margin, label, factor)
        curvatures(code, shape, margin, label, curved)
        own = kernels.outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            norm = math.sqrt(square[lane])
            slope = factor[lane] * (np.float64(own[lane]) if weighted else 1.0) * scale
            slope *= row_weight(norm, curved[lane], radius, smoothness)
            largest = limit / norm
            # Written so that a slope that is not a number becomes 0.
            slope = slope if slope > -largest else (-largest if slope <= -largest else 0.0)
            factor[lane] = min(slope, largest)
        kernels.add_tile(block, t, factor, square, total)


@compiled
def quantise_shortened_pairs(block: Any, theta: Floats, loss: Any, columns: Any, limits: Any, out: Any) -> None:
    """Write rint(f z) for the curvature and rint(g z) for the score, as float64 (column, record).

    With N = ‖z‖, the weight w and the record's own ω, p = ω w h N² / (C² H) and q = √ρ·ω w|a|N / (C·lipschitz), where
    a gradient longer than C·lipschitz is cut to it and has p = 0. Both are shrunk, p by κ² and q by κ, where p² + q⁴
    exceeds `joint`; then f = L√p / N and g = L q / N.
    """
    width = theta.shape[0]
    code, shape, (smoothness, lipschitz, joint, root) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square = np.empty(LANES), np.empty(LANES)
    curved, slope = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        curvatures(code, shape, margin, label, curved)
        slopes(code, shape, margin, label, slope)
        own = kernels.outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            norm = math.sqrt(square[lane])
            weight = row_weight(norm, curved[lane], bound, smoothness)
            weight *= np.float64(own[lane]) if weighted else 1.0
            length = norm / bound
            flat = weight * (curved[lane] / smoothness) * length * length
            steep = weight * (abs(slope[lane]) / lipschitz) * length
            if steep > 1.0:
                steep, flat = 1.0, 0.0
            steep *= root
            excess = (flat * flat + steep * steep * steep * steep) / joint
            shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
            f = limit / norm * math.sqrt(flat) * shrink
            g = limit / norm * steep * shrink
            # A factor that is not a number, or above what the bound allows, becomes 0.
            largest = limit / norm * joint
            curved[lane] = f if f <= largest else 0.0
            slope[lane] = g if g <= largest else 0.0
        kernels.write_tile(block, t, curved, out[0])
        kernels.write_tile(block, t, slope, out[1])
