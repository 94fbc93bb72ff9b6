"""A private search over settings: charge, draw, try, and keep the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.best_of_runs import SearchEvents
from tacit.engine.ledger_use import Charged, charge_events
from tacit.ledger.current_ledger import pinned
from tacit.ledger.repeated_fits import RefitWarning, refit_warning
from tacit.mechanisms.search_draws import search_draws
from tacit.privacy.relation import Relation

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Search:
    """What a search is, in public numbers: its price, how many settings and units, and the share that validates."""

    price: SearchEvents
    relation: Relation
    unit: str
    settings: int
    units: int
    validation: Fraction
    seed: int | None = None


@dataclass(frozen=True, repr=False)
class Trial(Generic[Outcome]):
    """What one trial released: its setting, its score, and what was fitted."""

    setting: int
    score: float
    outcome: Outcome


TryOne = Callable[[int, NDArray[np.bool_], int], Trial[Outcome]]
"""A trial of a setting with these validating units; last, the number of the trial, for seeds."""


def run_search(
    search: Search, attempt: TryOne[Outcome], data: object = None
) -> tuple[Trial[Outcome] | None, Charged | None]:
    """Charge the whole search, run the trials, and return the best one, None where none was drawn; and the charge.

    A second search of the same `data` outside a ledger is warned of.

    Guarantee: the charge is durable before a record is read, and is that of the whole search however many trials are
    run. Of the trials nothing leaves but the best: not their number, not a score.
    """
    charged = charge_events(
        search.price.events(), search.relation, search.unit, label="private search", private=search.seed is None
    )
    warning = refit_warning(data, charged=charged is not None) if search.seed is None else None
    if warning is not None:
        warnings.warn(warning, RefitWarning, stacklevel=4)
    draws = search_draws(search.price.law, search.settings, search.units, search.validation, search.seed)
    best: Trial[Outcome] | None = None
    # The search has paid for its trials.
    with pinned(None):
        for number, setting in enumerate(draws.settings):
            found = attempt(setting, draws.validation, number)
            if best is None or found.score > best.score:
                best = found
    return best, charged
