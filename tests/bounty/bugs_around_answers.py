"""Bugs around the answers: accountants, solvers, what leaves a fit, ledgers, certificates and searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tacit.accounting import composition
from tacit.accounting.best_of_runs import SearchEvents
from tacit.accounting.pld.pairs.gaussian import PoissonGaussian
from tacit.certificate import certificate
from tacit.contract.query import Answer, GradientSum
from tacit.contract.release import Release
from tacit.contract.sensitivity import Price
from tacit.engine import interruptible_run, ledger_use, table
from tacit.engine.search import Search, run_search
from tacit.errors import DataError
from tacit.estimators import base, search
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger import joint_certificate
from tacit.mechanisms import moments, search_draws
from tacit.privacy.event import Repeated
from tacit.solvers import counting, noisy_steps
from tacit.solvers import gradient as gradient_solver
from tests.bounty.bug import Bug

Patch = pytest.MonkeyPatch
FINE = Price(2**30, 0)


def wrong_direction(patch: Patch) -> None:
    """Samples are priced for a record that is added, and never for one that is removed."""
    found = PoissonGaussian._tails
    patch.setattr(PoissonGaussian, "_tails", lambda self, _, points: found(self, "add", points))


def repeated_once(patch: Patch) -> None:
    """A release that is repeated k times is counted once."""
    found = composition._unfold

    def unfold(event: Any, times: int, relation: Any) -> Any:
        return found(event.event if isinstance(event, Repeated) else event, times, relation)

    patch.setattr(composition, "_unfold", unfold)


def rounded_down(patch: Patch) -> None:
    """The certified ε is rounded to the nearest tenth."""
    found = certificate._total

    def total(plan: Any) -> Any:
        stated = found(plan)
        return {**stated, "epsilon": np.floor(10 * stated["epsilon"]) / 10}

    patch.setattr(certificate, "_total", total)


def stopping_on_data(patch: Patch) -> None:
    """Descent stops early where the exact gradient at 0 is small."""
    found = noisy_steps.descend

    def descend(gate: Any, plan: Any, descent: Any, *rest: Any, **given: Any) -> Any:
        responder = gate._responder
        entropy, responder._entropy = responder._entropy, None
        slope = responder.answer(GradientSum(np.zeros(plan.design.width), 1.0, None, False, plan.loss), FINE).value
        responder._entropy = entropy
        few = float(np.linalg.norm(slope)) < 0.25 * plan.records
        return found(gate, plan, replace(descent, iterations=2) if few else descent, *rest, **given)

    patch.setattr(gradient_solver, "descend", descend)


def exact_loss_shown(patch: Patch) -> None:
    """A fitted model has the exact loss on its training rows as an attribute."""
    found = LogisticRegression.fit

    def fit(self: Any, X: Any, y: Any, *rest: Any, **given: Any) -> Any:
        found(self, X, y, *rest, **given)
        self.loss_ = float(np.mean(self.predict(np.nan_to_num(X)) != np.asarray(y)))
        return self

    patch.setattr(LogisticRegression, "fit", fit)


def exact_number_of_records(patch: Patch) -> None:
    """Where the number of records is private, sums are divided by the exact one."""
    found = counting.count_records

    def counted(gate: Any, plan: Any) -> Any:
        return replace(found(gate, plan), total=float(gate._responder._store.length))

    patch.setattr(interruptible_run, "count_records", counted)


def exact_curvature(patch: Patch) -> None:
    """Standard errors come from a curvature without noise, whose price is kept."""

    def noised(total: Any, unit: float, price: Any, entropy: Any, *, symmetric: bool = False) -> Answer:
        del symmetric
        return Answer(total / unit, 0.0 if entropy is None else 2.0**price.bits / unit)

    patch.setattr(moments, "noised_sum", noised)


@dataclass
class _Late:
    """A charge that is made when the fit is complete."""

    plan: Any
    given: Any

    def stored_release(self, _: Any) -> None:
        return None

    def settle(self, release: Any) -> None:
        charged = ledger_use.charge(self.plan, **self.given)
        if charged is not None:
            charged.settle(release)


def charge_after_the_fit(patch: Patch) -> None:
    """A fit is charged when it is complete: one that fails in the middle is free."""
    patch.setattr(table, "charge", lambda plan, **given: _Late(plan, given))


def seeded_is_private(patch: Patch) -> None:
    """Noise of a seed is certified as private."""
    patch.setattr(Release, "private", property(lambda self: self.plan.private))


def refusals_in_a_ledger(patch: Patch) -> None:
    """Inside a ledger too, an invalid record is refused, which tells of it."""
    refusals = ledger_use.Refusals
    patch.setattr(refusals, "settle", classmethod(lambda cls, asked, **_: cls(asked or "error")))


def classes_read_off(patch: Patch) -> None:
    """Inside a ledger too, classes are read off the labels."""
    patch.setattr(table, "require_declared", lambda *_: None)
    patch.setattr(base, "require_declared", lambda *_: None)


def warning_of_the_labels(patch: Patch) -> None:
    """A fit warns where all labels are the same."""
    found = LogisticRegression.fit

    def fit(self: Any, X: Any, y: Any, *rest: Any, **given: Any) -> Any:
        if len(np.unique(y)) == 1:
            import warnings

            warnings.warn("all labels are the same", UserWarning, stacklevel=2)
        return found(self, X, y, *rest, **given)

    patch.setattr(LogisticRegression, "fit", fit)


def message_with_a_value(patch: Patch) -> None:
    """The message about an invalid record shows its label."""
    found = LogisticRegression.fit

    def fit(self: Any, X: Any, y: Any, *rest: Any, **given: Any) -> Any:
        try:
            return found(self, X, y, *rest, **given)
        except DataError as error:
            unlike = [label for label in np.asarray(y).tolist() if label not in (0, 1)]
            raise DataError(f"{error} Found: {unlike}") from None

    patch.setattr(LogisticRegression, "fit", fit)


def any_total_is_right(patch: Patch) -> None:
    """The total of a certificate is not compared with its events."""
    patch.setattr(certificate, "require_total", lambda *_, **__: None)


def equal_charges_count_once(patch: Patch) -> None:
    """Equal charges of a ledger are one in its certificate."""
    found = joint_certificate._composed
    patch.setattr(
        joint_certificate, "_composed", lambda events, relation, law: found([*dict.fromkeys(events)], relation, law)
    )


def fixed_number_of_trials(patch: Patch) -> None:
    """A search always runs the mean number of trials."""
    patch.setattr(search_draws, "drawn_runs", lambda law, _: int(law.mean))


def scored_on_its_own_rows(patch: Patch) -> None:
    """Trials of a search are fitted to all rows, those that score them among them."""
    found = search._Trials.fitted

    def fitted(self: Any, setting: int, part: Any, budget: Any, number: int) -> Any:
        return found(self, setting, None, budget, number)

    patch.setattr(search._Trials, "fitted", fitted)


def key_for_every_request(patch: Patch) -> None:
    """A key stands for any request: a second one under it is not charged."""
    patch.setattr(ledger_use, "request_digest", lambda _: "0" * 64)


def search_pays_the_winner(patch: Patch) -> None:
    """A search pays for the winner's trial alone."""
    patch.setattr(SearchEvents, "events", lambda self: (self.trial,))


def search_shows_its_trials(patch: Patch) -> None:
    """A search tells how many trials it ran."""
    found = run_search

    def run(asked: Search, attempt: Any, data: Any = None) -> Any:
        ran: list[int] = []

        def counted(setting: int, drawn: Any, number: int) -> Any:
            ran.append(number)
            return attempt(setting, drawn, number)

        best, charged = found(asked, counted, data)
        shown.append(len(ran))
        return best, charged

    shown: list[int] = []
    kept = search.PrivateSearchCV._keep

    def keep(self: Any, *given: Any) -> None:
        kept(self, *given)
        self.n_trials_ = shown[-1]

    patch.setattr(search, "run_search", run)
    patch.setattr(search.PrivateSearchCV, "_keep", keep)


BUGS = (
    Bug("wrong direction of subsampling", wrong_direction, "prices"),
    Bug("repetitions counted once", repeated_once, "prices"),
    Bug("ε rounded down", rounded_down, "recount: mean, zero-out"),
    Bug("data-dependent stopping", stopping_on_data, "nothing else: clipped, zero-out"),
    Bug("exact loss as an attribute", exact_loss_shown, "nothing else: clipped, zero-out"),
    Bug("exact number of records", exact_number_of_records, "neighbours: newton, add-remove"),
    Bug("curvature without noise", exact_curvature, "noise: covariance"),
    Bug("charge after the fit", charge_after_the_fit, "ledger: charges"),
    Bug("seed certified as private", seeded_is_private, "certificates"),
    Bug("refusals in a ledger", refusals_in_a_ledger, "ledger: refusals"),
    Bug("classes read off in a ledger", classes_read_off, "ledger: refusals"),
    Bug("warning of the labels", warning_of_the_labels, "nothing else: clipped, zero-out"),
    Bug("message with a value", message_with_a_value, "messages"),
    Bug("any total is right", any_total_is_right, "forgeries"),
    Bug("equal charges count once", equal_charges_count_once, "ledger: laws"),
    Bug("fixed number of trials", fixed_number_of_trials, "search: trials"),
    Bug("scored on its own rows", scored_on_its_own_rows, "search: rows"),
    Bug("a key for every request", key_for_every_request, "ledger: keys"),
    Bug("search pays for the winner", search_pays_the_winner, "search"),
    Bug("search shows its trials", search_shows_its_trials, "search"),
)
"""Bugs of what surrounds private answers."""
