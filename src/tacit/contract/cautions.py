"""Warnings about a total that promises little."""

from __future__ import annotations

import math


def cautions(epsilon: float, delta: float, records: int, *, n_is_public: bool = True) -> tuple[str, ...]:
    """Warnings about a stated total: δ ≥ 1/n, and ε > 10, where e^ε is above 22,000.

    Publishing one record of n, drawn at random, is (0, 1/n)-differentially private: a δ of 1/n
    allows it. `records` is n, or its declared lower bound where n is private.

    Guarantee: they are a function of the stated total and the stated number of records.
    """
    texts = []
    if delta * records >= 1.0:
        word = "n" if n_is_public else "n_at_least"
        texts.append(
            f"δ = {delta:.4g} is not below 1/{word} = {1 / records:.4g}: publishing one record drawn at random would "
            f"satisfy such a δ. Choose delta far below it, for example {min(1e-6, records**-1.5):.0e}."
        )
    if 10 < epsilon < math.inf:
        texts.append(
            f"ε = {epsilon:.4g} is above 10: what is concluded about one person may be e^{epsilon:.4g} times as likely "
            "because of that person's record, which is hardly any protection. Choose a smaller budget, say ε = 1."
        )
    return tuple(texts)
