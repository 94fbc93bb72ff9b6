"""A private search over settings: number the units, charge, draw, try, and keep the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.best_of_runs import SearchEvents
from tacit.engine.ledger_use import Charged, charge_events
from tacit.ledger.current_ledger import pinned
from tacit.ledger.repeated_fits import RefitWarning, refit_warning
from tacit.mechanisms.search_draws import search_draws
from tacit.privacy.relation import Relation
from tacit.rows.admission.contribution_bounding import number_persons, require_persons
from tacit.rows.sources.arrays import MatrixSource, is_sequence
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import AttachedSource, attached_names

Outcome = TypeVar("Outcome")


class SearchTable:
    """Opened records of a search: names, number of units, and which records are whose. Private: what it holds.

    `unit` is the caller's word for the attached column of units; None where each record is one.

    Guarantee: records are of one unit exactly where a fit takes them for one unit's. One that names none has no coin:
    it never validates. No content of a record raises, or changes whose another one is, or how wide a part is read.
    """

    def __init__(self, X: Any, y: Any, attached: Mapping[str, Any], *, unit: str | None, fewest: int) -> None:
        source = open_source(X, y, attached=attached, fewest=fewest, counted=unit is None)
        table = source.table if isinstance(source, AttachedSource) else source
        self.names: tuple[str, ...] = source.names
        # Of a part of a list, another width might be that of most records.
        self.X = table.values if isinstance(table, MatrixSource) and is_sequence(X) else X
        self._numbers: NDArray[np.int64] | None = None
        self.units = source.length or 0
        if unit is not None:
            self._numbers, self.units = number_persons(source, attached_names(source)[unit])
            require_persons(self.units, fewest)

    def records_of(self, drawn: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each record is of a drawn unit."""
        # Nobody's number is -1, the last place.
        return drawn if self._numbers is None else np.append(drawn, False)[self._numbers]


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
