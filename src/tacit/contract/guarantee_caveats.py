"""Caveats of a guarantee: what it assumes, and warnings where the budget protects little.

Assumptions are listed in the certificate as public facts whose source is "assumed", and are stated
together with the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.contract.plan import Plan

VALID = "every record is valid"
"""A fit that refuses invalid records has told, by not refusing, that there are none."""
ONE_RECORD = "each unit has at most one record"
"""Assumed where no column names the unit of a record: nothing else bounds its records."""
LARGEST_EPSILON = 10.0
"""e^10 is 22,000: beyond it a guarantee says next to nothing about one person."""


def needs_one_record(unit: str, *, column: bool) -> bool:
    """Whether a guarantee for this unit assumes that a unit has one record."""
    return not column and unit not in {"row", "record"}


def premise_of(names: Collection[str]) -> str | None:
    """What must hold for the unit of a guarantee, by the names of the public facts."""
    return "each has at most one record" if ONE_RECORD in names else None


def plan_cautions(plan: Plan) -> tuple[str, ...]:
    """Warnings before a plan is paid for; none where no privacy was asked for."""
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
    allows it. `records` is n, or its declared lower bound where n is private.

    Guarantee
    ---------
    - They are a function of the stated total and the stated number of records.
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
