"""The route of Newton's method with double noise: one trace, then rounds of gradient and direction.

Shares of μ²: a twentieth for the trace, the rest in the proportion 3 to 2 for gradients and
directions, the same in every round. Nothing is divided by n, so n may be private.
"""

from __future__ import annotations

from fractions import Fraction

from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.query import Kind
from tacit.contract.sensitivity import price_for
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.planning.pricing import assembled, priced
from tacit.planning.wishes import DOUBLE_NOISE, Facts, Wishes

ROUNDS = 10
TRACE, GRADIENTS, DIRECTIONS = Fraction(5, 100), Fraction(57, 100), Fraction(38, 100)


def plan_double_noise(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price the rounds.

    Guarantee
    ---------
    - The events cost at most `allowed`, in exact rationals.
    """
    rounds = _require_possible(facts, wishes)
    steps = [priced(facts, Kind.COUNTS, allowed * TRACE, 1, "trace of the curvature")]
    gradient = priced(facts, Kind.GRADIENT, allowed * GRADIENTS / rounds, 1, "gradient")
    price = price_for(
        Kind.DIRECTION,
        allowed * DIRECTIONS / rounds,
        facts.relation,
        records=1,
        width=facts.design.width,
    )
    steps += rounds * [gradient, Step(Kind.DIRECTION, price, 1, "direction")]
    return assembled(facts, DOUBLE_NOISE, tuple(steps))


def _require_possible(facts: Facts, wishes: Wishes) -> int:
    """Refuse, from public facts, what this route cannot do; return the number of rounds."""
    if facts.loss.code is not Code.LOGISTIC:
        raise SettingError(
            'solver="double-noise-newton" is for the logistic regression of two classes.'
        )
    if facts.design.open_places:
        raise SettingError('solver="double-noise-newton" needs declared bounds.')
    if wishes.inference:
        raise SettingError('There are no intervals for solver="double-noise-newton".')
    if facts.design.beside.unit is not None:
        raise SettingError('solver="double-noise-newton" is for records without units.')
    if facts.penalty != Penalty():
        raise SettingError(
            'solver="double-noise-newton" takes no l2, prior_mean, radius and constraint.'
        )
    for name in ("step_size", "output"):
        if getattr(wishes, name) is not None:
            raise SettingError(f'solver="double-noise-newton" takes no {name}: leave it out.')
    if wishes.iterations is not None or wishes.max_passes is None:
        return wishes.iterations or ROUNDS
    return max(1, min(ROUNDS, (wishes.max_passes - 1) // 2))
