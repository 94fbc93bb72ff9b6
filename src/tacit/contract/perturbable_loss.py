"""Which losses can be minimised under noise: what their proofs need, by name."""

from __future__ import annotations

import math

from tacit.losses.loss import Code, Loss

PERTURBABLE = frozenset({Code.LOGISTIC, Code.SOFTMAX, Code.HINGE, Code.HUBER, Code.PINBALL})
"""Losses whose gradient is computed, and proven, to within a public error."""


def missing_for_perturbation(loss: Loss) -> str | None:
    """Return the property that a loss misses for a perturbed objective, None if it has all.

    They are: convex, a bounded slope, a slope that changes at a bounded rate, a scale that is public.
    """
    if not math.isfinite(loss.lipschitz):
        return "its slope is not bounded"
    if not math.isfinite(loss.smoothness):
        return "its slope jumps, and a second derivative has to be bounded"
    if loss.relative:
        return "its scale is found in the records: declare it (scale=… or smoothing=…)"
    if loss.code not in PERTURBABLE:
        return "the error of its computed gradient is not proven"
    return None
