"""Attacks on whole fits: by the coefficients of an estimator alone, or by every noised answer of its solver."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.accounting.composition import compose
from tacit.audit.attack import Worlds, gaussian_budget
from tacit.audit.bounds import Floats
from tacit.audit.simulated_pairs import FACTS, MakePair, Outcome, contrary_row
from tacit.audit.twin_tables import Pair, Program, Records, TwinTables
from tacit.contract.plan import Plan
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.validate import one_of

MakeModel = Callable[..., Any]
"""What fits, or plans like it, from keywords: budget, relation, bounds and what is declared of the response."""


def released_theta(model: Any) -> Floats:
    """The released coefficients, in prepared units."""
    return np.asarray(model.release_.theta)


@dataclass(frozen=True)
class AuditedFit:
    """A way to fit: the estimator with its settings, the tables that it is audited on, and what is claimed.

    `pair` makes the worst pair of tables that is known. `budget` is what a μ is asked for as: an ε for what has no μ.
    `columns` may depend on μ. Where `coefficients` are given, the score is their inner product with what is `seen` of
    the release, and the attacker sees nothing else. Otherwise it is the log-likelihood ratio of all noised answers.
    `program` asks in the place of a solver, where queries are asked one by one.
    """

    name: str
    make: MakeModel
    outcome: Outcome = Outcome.LABELS
    relation: Relation = Relation.ZERO_OUT
    records: int = 64
    columns: int = 2
    pair: MakePair = contrary_row
    budget: Callable[[float], Budget] = gaussian_budget
    coefficients: tuple[float, ...] | None = None
    seen: Callable[[Any], Floats] = released_theta
    program: Program | None = None

    def __post_init__(self) -> None:
        one_of("outcome", self.outcome, tuple(Outcome))
        object.__setattr__(self, "outcome", Outcome(self.outcome))

    def model(self, mu: float, relation: Relation | None = None, seed: int | None = None) -> Any:
        """The estimator, with the budget that μ is asked for as."""
        relation = self.relation if relation is None else relation
        settings: dict[str, Any] = {
            "budget": self.budget(mu),
            "relation": str(relation),
            "bounds": (-1.0, 1.0),
            "invalid_rows": "zero",
            "random_state": seed,
            **FACTS[self.outcome],
        }
        if relation is Relation.ADD_REMOVE:
            settings["n_at_least"] = self.records // 2
        try:
            return self.make(**settings)
        except TypeError as error:
            wrong = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if wrong is None:
                raise
            raise SettingError(
                f"The estimator of the audit {self.name!r} has no parameter {wrong[1]!r}, which outcome="
                f'"{self.outcome}" declares. Give the outcome that it has: AuditedFit(name, make, outcome="labels" '
                '(classes), "classes" (three of them), "numbers" (y_bounds), "counts" (y_max) or "none").'
            ) from None

    def plan(self, mu: float, relation: Relation | None = None) -> Plan:
        """The plan of the fit."""
        plan: Plan = self.model(mu, relation).plan(self.records, self.columns)
        return plan

    def tables(self, plan: Plan, pair: Pair) -> TwinTables:
        """Two tables, to run the fit on."""
        return TwinTables.of(plan, pair, self.program)

    def worlds(self, mu: float, seed: int | None) -> Worlds:
        """The worst pair of tables, what is claimed of a fit, and the score."""
        plan = self.plan(mu)
        pair = self.pair(self.relation, self.outcome, self.records, self.columns)
        claim = compose(plan.events(), plan.relation)
        if self.coefficients is not None:
            return Worlds(claim, plan.relation, self._by_coefficients(mu, pair, seed))
        return Worlds(claim, plan.relation, _by_answers(self.tables(plan, pair), seed), 0.0)

    def _by_coefficients(self, mu: float, pair: Pair, seed: int | None) -> Callable[[int, int], Floats]:
        seeds = Seeds(seed)

        def score(world: int) -> float:
            model = fitted_quietly(self.model(mu, seed=seeds.next()), pair[world])
            return float(np.asarray(self.coefficients) @ self.seen(model))

        return lambda world, runs: np.array([score(world) for _ in range(runs)])


def fitted_quietly(model: Any, records: Records) -> Any:
    """Fit a model without warnings of small tables, large budgets and repeated fits, all of which are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(records.X, records.y)


def _by_answers(tables: TwinTables, seed: int | None) -> Callable[[int, int], Floats]:
    seeds = Seeds(seed)

    def score(world: int) -> float:
        return tables.run(world, seeds.next(), compared=False).log_ratio

    return lambda world, runs: np.array([score(world) for _ in range(runs)])


class Seeds:
    """Seeds that do not repeat; None, the system's noise, where none was given."""

    def __init__(self, first: int | None) -> None:
        self._next = None if first is None else first << 32

    def next(self) -> int | None:
        """Return a seed of its own for the next run."""
        if self._next is not None:
            self._next += 1
        return self._next
