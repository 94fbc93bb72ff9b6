"""An opened holdout: charge, admit, compare; the only place where its rows, noise and budget meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tacit.contract.holdout_price import HoldoutPrice
from tacit.engine.ledger_use import Charged, charge_events
from tacit.engine.table import Table
from tacit.mechanisms.reusable_holdout import HoldoutComparisons
from tacit.privacy.relation import Relation


@dataclass(frozen=True)
class HoldoutTerms:
    """A holdout in public numbers: its price, its threshold on the scale of the sums, and what a charge says of it."""

    price: HoldoutPrice
    threshold: int
    relation: Relation
    unit: str
    seed: int | None = None


@contextmanager
def opened_holdout(table: Table, terms: HoldoutTerms) -> Iterator[tuple[HoldoutComparisons, Charged | None]]:
    """Charge a holdout and open it over the admitted records of a table.

    Guarantee: the charge, of all its releases, is durable before a record enters an answer.
    """
    store = table.taken()
    charged = charge_events(
        terms.price.events(terms.relation),
        terms.relation,
        terms.unit,
        label="reusable holdout",
        private=terms.seed is None,
    )
    table.warn_of_refits(private=terms.seed is None, charged=charged is not None)
    try:
        yield HoldoutComparisons(store, terms.price, terms.threshold, terms.seed), charged
    finally:
        store.close()
