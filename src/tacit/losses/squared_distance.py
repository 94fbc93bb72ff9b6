"""Squared distance ½‖θ - x‖², for means: up to terms in θ alone its gradient at a record is -x.

As a margin loss it is -z with slope -1 and no curvature: the gradient sum is minus the sum of the
rows, which is all that a mean needs.
"""

from __future__ import annotations

from tacit.losses.loss import Code, Loss

LOSS = Loss("squared-distance", Code.DISTANCE, lipschitz=1.0, smoothness=0.0, one_signed=True)
