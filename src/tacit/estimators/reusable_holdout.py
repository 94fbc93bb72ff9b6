"""A reusable holdout: private records that check claims made on other ones, again and again.

What was found on training rows is claimed of the population. The holdout says nothing where its own mean is near the
claim, and a noised mean where it is not. So it can be asked many times before it overfits
(docs/theory/generalisation.md).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, Self

from tacit.certificate.holdout_certificate import MOST_RELEASES, HoldoutCertificate
from tacit.contract.holdout_price import HoldoutPrice, holdout_price
from tacit.contract.plan import PublicFact
from tacit.contract.statistic_query import BoundedSums
from tacit.design.expression import cells_of
from tacit.display import Displayed, Shown
from tacit.engine.holdout import HoldoutTerms, opened_holdout
from tacit.engine.ledger_use import Charged, Refusals
from tacit.engine.table import Table
from tacit.errors import PlanViolation, SettingError
from tacit.estimators.settings import TRIED_RECORDS, settings_of
from tacit.estimators.statistics_gate import stored_design
from tacit.formula.expression import read_statistic
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.schema.schema import Schema
from tacit.validate import between, whole, within

SAMPLING, COMPARED = 2.0, 4.0
"""The default threshold: so many 1/√n, which sampling moves a mean by, and so many scales of a comparison's noise."""


@dataclass(frozen=True)
class Checked(Displayed):
    """What a holdout says of a claim: the claim itself where it is near, else a mean of its own, with its noise."""

    value: float
    confirmed: bool
    noise_scale: float = 0.0


class ReusableHoldout(AbstractContextManager["ReusableHoldout"], Displayed):
    """Checks claims about means of bounded expressions on private records; a context manager, which opens them once.

    A claim is confirmed where it is within a noisy threshold of the mean over the records. Else the mean is released,
    with noise. Confirmations are free, and releases are paid for together, before the first claim.

    Guarantee: all answers together are (ε, δ)-differentially private for one unit of the schema, however many claims
    are checked and however they depend on earlier answers. After `releases` of them further claims are refused.

    Parameters
    ----------
    data, schema, columns, invalid_rows, random_state
        As in `tacit.statistics`. The number of records must be public.
    epsilon, delta, budget
        The budget of all answers together; ε has no default. δ = 0 is allowed.
    releases
        How many claims may fail.
    threshold
        How far a claim may be off, in lengths of its interval. By default 2/√n, plus four scales of the noise.

    References
    ----------
    C. Dwork, V. Feldman, M. Hardt, T. Pitassi, O. Reingold, A. Roth, Science 349, 2015.

    Examples
    --------
    >>> import numpy as np, pyarrow, tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.x]
    ... type = "numeric"
    ... lower = 0
    ... upper = 1
    ... ''')
    >>> table = pyarrow.table({"x": np.linspace(0, 1, 50_000)})
    >>> with tacit.ReusableHoldout(table, schema, epsilon=1.0, releases=5) as holdout:
    ...     [holdout.check("x", 0.5).confirmed, holdout.check("x", 0.9).confirmed]
    [True, False]
    >>> holdout.certificate.check().consistent
    True
    """

    def __init__(
        self,
        data: Any,
        schema: Schema | str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        budget: Budget | None = None,
        releases: int = 20,
        threshold: float | None = None,
        columns: Sequence[str] | None = None,
        invalid_rows: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self._schema = schema if isinstance(schema, Schema) else Schema.read(schema)
        given = {"epsilon": epsilon, "delta": delta, "budget": budget, "invalid_rows": invalid_rows}
        self._settings = settings_of({**given, "random_state": random_state, **vars(self._schema)})
        if not self._settings.relation.n_is_public:
            raise SettingError("A holdout needs a public number of records: relation='replace-one' or 'zero-out'.")
        self._releases = whole("releases", releases, 1, MOST_RELEASES)
        self._threshold = None if threshold is None else between("threshold", threshold, 0, 1)
        self._design = stored_design(self._schema, columns)
        # Refused here, if at all: what a budget allows hardly depends on the number of records.
        holdout_price(self._budget(TRIED_RECORDS[0]), self._settings.relation, self._releases, TRIED_RECORDS[0])
        self._data, self._stack = data, ExitStack()
        self._comparisons: Any = None
        self._charged: Charged | None = None
        self._answers: list[list[Any]] = []
        self._facts: list[PublicFact] = []
        self._opened = False
        self.price: HoldoutPrice | None = None
        self.budget, self.records = self._settings.budget, 0

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles, which could be opened where no ledger is charged."""
        raise PlanViolation("A holdout cannot be copied or pickled: make it where it is opened.")

    def _shown(self) -> Shown:
        asked = sum(not confirmed for *_, confirmed in self._answers)
        facts = (
            ("budget", str(self.budget)),
            ("releases", f"{asked} of {self._releases} used"),
            ("claims checked", str(len(self._answers))),
        )
        return Shown("Reusable holdout", facts)

    def __enter__(self) -> Self:
        """Read the records and charge all releases."""
        if self._opened:
            raise SettingError("This holdout was opened before; make another one, at a new charge.")
        self._opened = True
        settings, relation = self._settings, self._settings.relation
        with pinned(active_ledger()):
            refusals = Refusals.settle(settings.invalid_rows, label="reusable holdout", data=self._data)
            try:
                with refusals.logged():
                    units = self._schema.person is not None
                    table = self._stack.enter_context(
                        Table(self._data, fewest=settings.fewest, grouped=units, reading=self._design.reading)
                    )
                    table.admit(self._design, invalid_rows=refusals.invalid_rows, exact=True, seed=settings.seed)
                self.records = table.records
                self._facts = list(settings.facts(table, refusals.invalid_rows, units=units))
                self.budget = self._budget(self.records)
                self.price = holdout_price(self.budget, relation, self._releases, self.records)
                terms = HoldoutTerms(self.price, self._threshold_total(), relation, settings.unit, settings.seed)
                self._comparisons, self._charged = self._stack.enter_context(opened_holdout(table, terms))
            except BaseException:
                self._stack.close()
                raise
        return self

    def __exit__(self, *failure: object) -> None:
        """Give the records up, and note what was released."""
        self._comparisons = None
        self._stack.close()
        if self._charged is not None:
            self._charged.note(self.certificate.digest)

    def check(self, expression: str, claimed: float) -> Checked:
        """Compare a claimed mean of an expression with that of the holdout.

        Guarantee: an expression without a provably finite interval is refused before a record is touched.
        """
        if self._comparisons is None or self.price is None:
            raise PlanViolation("Claims are checked inside the block: with tacit.ReusableHoldout(…) as holdout: …")
        statistic = read_statistic(expression, self._schema, cells_of(self._design))
        interval = statistic.interval
        share = (within("claimed", claimed, interval.lower, interval.upper) - interval.center) / interval.half_width
        unit = self.price.bound * self.records
        answer = self._comparisons.compare(BoundedSums((statistic,)), round(share * unit))
        found = Checked(float(claimed), True)
        if answer is not None:
            scale = math.sqrt(2.0) * 2.0**self.price.bits / unit * interval.half_width
            found = Checked(interval.center + interval.half_width * answer / unit, False, scale)
        self._answers.append([statistic.spelling, found.value, found.confirmed])
        return found

    @property
    def threshold(self) -> float:
        """How far a claim may be off, in lengths of its interval; inside the block."""
        if self.price is None:
            raise SettingError("The threshold is known inside the block, by the number of records.")
        compared = 2.0 ** (self.price.bits + 2) / (2 * self.price.bound * self.records)
        usual = SAMPLING / math.sqrt(self.records) + COMPARED * compared
        return usual if self._threshold is None else self._threshold

    def _budget(self, records: int) -> Budget:
        """The budget, with the δ that a fit to so many records would have where none was given."""
        return self._settings.public_facts(self._design, records, regression.DISTANCE).budget

    def _threshold_total(self) -> int:
        """The threshold on the scale of the sums; an interval has two half-widths."""
        assert self.price is not None  # noqa: S101 - for the type checker
        return round(self.threshold * 2 * self.price.bound * self.records)

    @property
    def remaining(self) -> int:
        """Releases that are left."""
        return self._releases - sum(not confirmed for _, _, confirmed in self._answers)

    @cached_property
    def certificate(self) -> HoldoutCertificate:
        """What was guaranteed for all answers together; after the block."""
        if self._comparisons is not None or self.price is None:
            raise SettingError("There is a certificate after the block, when everything has been checked.")
        settings = self._settings
        return HoldoutCertificate.issue(
            self.price,
            self.budget,
            settings.relation,
            settings.unit,
            records=self.records,
            answers=self._answers,
            seeded=settings.seed is not None,
            facts=self._facts,
        )
