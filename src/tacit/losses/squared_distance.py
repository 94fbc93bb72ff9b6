"""Squared distance ½‖θ - x‖², for means.

As a margin loss it is -z, with slope -1 and curvature 0: up to terms in θ alone, the gradient sum
is minus the sum of the rows.
"""

from __future__ import annotations

from tacit.losses.loss import Code, Loss

LOSS = Loss("squared-distance", Code.DISTANCE, lipschitz=1.0, smoothness=0.0, one_signed=True)
