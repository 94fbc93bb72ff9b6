"""What one trial of a private search may spend, so that the whole search is within a budget.

Proof: ``proofs/accounting/best_of_runs.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tacit.accounting import gaussian
from tacit.accounting.composition import compose
from tacit.accounting.rounding import float_down
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian, NegativeBinomial, Pure, RandomStopping, RunCountLaw

STEPS = 18
"""Halvings of the interval of μ: the budget is used up to a part in 10^5. Each takes some 20 ms."""
ROUNDED = 1.0 - 2.0**-30
"""The total is stated with a little rounding, which must be within the budget too."""
LARGEST_MEAN = 10_000
"""No search runs so many trials; it bounds the length of the table that their number is drawn from."""


@dataclass(frozen=True)
class SearchEvents:
    """One trial and, where the winner is fitted again, that fit: each a Gaussian or a pure release at most."""

    trial: Gaussian | Pure
    law: RunCountLaw
    refit: Gaussian | Pure | None = None

    def events(self) -> tuple[Event, ...]:
        """What the whole search releases."""
        best = RandomStopping(self.trial, self.law)
        return (best,) if self.refit is None else (best, self.refit)


def search_events(budget: Budget, law: RunCountLaw, refit_ratio: Fraction | None = None) -> SearchEvents:
    """The largest trial, and refit of `refit_ratio` times its μ (or ε), within a budget of ε and δ.

    Guarantee: all events together are within the budget.
    """
    require_few_runs(law)
    if budget.epsilon is None or budget.delta is None or budget.is_infinite:
        raise BudgetError(
            "A search has no μ or ρ of its own; expected a budget of a finite epsilon and a delta: epsilon=1, say."
        )
    if budget.is_pure:
        if not isinstance(law, NegativeBinomial):
            raise BudgetError("With delta = 0 the number of trials must be negative binomial: law='geometric'.")
        shares = 2 + Fraction(law.shape) + (refit_ratio or 0)
        each = Fraction(float_down(Fraction(budget.epsilon) / shares))
        return SearchEvents(Pure(each), law, None if refit_ratio is None else Pure(each * refit_ratio))
    return _gaussian(budget.epsilon, budget.delta, law, refit_ratio)


@lru_cache(maxsize=64)
def _gaussian(epsilon: float, delta: float, law: RunCountLaw, ratio: Fraction | None) -> SearchEvents:
    def at(mu: float) -> SearchEvents:
        square = Fraction(mu) ** 2
        return SearchEvents(Gaussian(square, 1), law, None if ratio is None else Gaussian(square * ratio**2, 1))

    low, high = 0.0, gaussian.mu(epsilon, delta)
    for _ in range(STEPS):
        middle = (low + high) / 2
        fits = compose(at(middle).events()).epsilon(delta) <= epsilon * ROUNDED
        low, high = (middle, high) if fits else (low, middle)
    if not low > 0.0:
        raise BudgetError("epsilon and delta are too small for a search; expected larger ones, or fewer trials.")
    return at(low)


def require_few_runs(law: RunCountLaw) -> None:
    """Refuse laws whose trials are too many to be run: γ below 1/10,000, or a mean or a shape above 10,000."""
    if isinstance(law, NegativeBinomial):
        few = Fraction(law.gamma) * LARGEST_MEAN >= 1 and Fraction(law.shape) <= LARGEST_MEAN
    else:
        few = Fraction(law.mean) <= LARGEST_MEAN
    if not few:
        raise SettingError(f"The law of the runs asks for too many of them; expected a mean of at most {LARGEST_MEAN}.")
