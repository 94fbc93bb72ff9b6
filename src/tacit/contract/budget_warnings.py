"""Warnings about a budget that protects little, from public facts alone."""

from __future__ import annotations

import math

from tacit.contract.plan import Plan

LARGEST_EPSILON = 10.0
"""e^10 is 22,000: beyond it a guarantee says next to nothing about one person."""


def plan_cautions(plan: Plan) -> tuple[str, ...]:
    """What to warn of before a plan is paid for; nothing where no privacy was asked for."""
    if not plan.private:
        return ()
    guarantee = plan.guarantee()
    return cautions(
        guarantee.epsilon, guarantee.delta, plan.records, n_is_public=plan.relation.n_is_public
    )


def cautions(
    epsilon: float, delta: float, records: int, *, n_is_public: bool = True
) -> tuple[str, ...]:
    """Warnings about a stated total: δ ≥ 1/n, and ε > 10.

    Publishing one record of n, drawn at random, is (0, 1/n)-differentially private: a δ of 1/n
    allows it.

    Guarantee
    ---------
    - They are a function of the stated total and the stated number of records.

    Parameters
    ----------
    epsilon, delta
        The total of a fit.
    records
        The number of records (or units), or the declared lower bound where it is private.
    n_is_public
        Whether `records` is the number itself.

    Examples
    --------
    >>> cautions(1.0, 1e-6, 1000)
    ()
    >>> [text.split(":")[0] for text in cautions(12.0, 0.01, 1000)]
    ['δ = 0.01 is not below 1/n = 0.001', 'ε = 12 is above 10']
    """
    texts = []
    if delta * records >= 1.0:
        word = "n" if n_is_public else "n_at_least"
        texts.append(
            f"δ = {delta:.4g} is not below 1/{word} = {1 / records:.4g}: publishing one record "
            "drawn at random would satisfy such a δ. Choose delta far below it, for example "
            f"{min(1e-6, records**-1.5):.0e}."
        )
    if epsilon > LARGEST_EPSILON and math.isfinite(epsilon):
        texts.append(
            f"ε = {epsilon:.4g} is above {LARGEST_EPSILON:g}: what is concluded about one person "
            f"may be e^{epsilon:.4g} times as likely because of that person's record, which is "
            "hardly any protection. Choose a smaller budget, for example ε = 1."
        )
    return tuple(texts)
