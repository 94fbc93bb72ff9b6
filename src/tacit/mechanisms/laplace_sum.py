"""An integer sum plus exact discrete Laplace noise: a sum that is released where delta is 0.

Private: the sum. Public: its unit and the price. Proof: proofs/mechanisms/laplace_sum.md.
"""

from __future__ import annotations

import math

from tacit.contract.query import Answer
from tacit.contract.sensitivity import LaplacePrice
from tacit.errors import SettingError
from tacit.noise.entropy import Entropy
from tacit.noise.laplace import discrete_laplace
from tacit.rows.storage.tiles import Integers


def require_width(price: LaplacePrice, width: int) -> None:
    """Refuse a sum of another number of coordinates than the price is for; its L1 sensitivity would be another."""
    if price.width != width:
        raise SettingError(f"The price is for a sum of {price.width} coordinates, and this one has {width}.")


def laplace_sum(total: Integers, unit: float, price: LaplacePrice, entropy: Entropy | None) -> Answer:
    """(total + noise) / unit with discrete Laplace noise of scale 2^bits; without entropy total / unit (ε = ∞).

    `noise_scale` of the answer is a standard deviation, about √2 scales.

    Guarantee
    ---------
    - The noise is drawn exactly, and independently for each entry.
    - Sums that differ by Δ in L1 norm give answers whose probabilities differ by at most e^(Δ / 2^bits).
    """
    require_width(price, total.size)
    if entropy is None:
        return Answer(total / unit, 0.0)
    noise = discrete_laplace(total.size, 2**price.bits, entropy).reshape(total.shape)
    return Answer((total + noise) / unit, math.sqrt(2.0) * 2.0**price.bits / unit)
