"""Audited programs that are no fit of one solver: statistical queries, naive Bayes, evaluations, numbers set by hand.

Each plans like an estimator, from the keywords of `AuditedFit.model`. Queries that a program asks one after the other
are asked by a function of the gate and the plan.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.bounds import Floats
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Gate
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import cells_of
from tacit.design.expression_tree import Cell
from tacit.estimators.classifiers import LogisticRegression
from tacit.estimators.naive_bayes import column_statistics
from tacit.estimators.settings import settings_of
from tacit.estimators.statistics_gate import stored_design
from tacit.formula.expression import read_statistic
from tacit.losses import regression
from tacit.losses.own import OwnLoss, own_loss
from tacit.schema.columns import NumericColumn
from tacit.schema.schema import Schema
from tacit.solvers import statistical_queries
from tacit.solvers.evaluation import plan_evaluation
from tacit.solvers.statistical_queries import QueryShape

SCHEMA = Schema({name: NumericColumn(-1.0, 1.0) for name in ("x0", "x1")})
"""Of the simulated tables."""


class LineQueries:
    """What `simple_regression` asks of two columns: two means, and two products about the released means."""

    def __init__(self, **given: Any) -> None:
        self._settings = settings_of(given)

    def plan(self, records: int, columns: int) -> Plan:
        """Plan both queries."""
        del columns
        case = [(stored_design(SCHEMA, None), regression.DISTANCE)]
        shapes = [QueryShape(2), QueryShape(2)]
        return self._settings.first_plan(case, records, lambda facts, _: statistical_queries.plan(facts, shapes))


def ask_line(gate: Gate, plan: Plan) -> Answer:
    """Ask for two means, and then about them."""
    x, y = np.clip(gate.ask(_sums(plan, "x0", "x1")).value / plan.count, -1.0, 1.0).tolist()
    return gate.ask(_sums(plan, f"(x0 - {x!r}) ** 2", f"(x0 - {x!r}) * (x1 - {y!r})"))


def _sums(plan: Plan, *spellings: str) -> BoundedSums:
    cells = cells_of(plan.design)
    return BoundedSums(tuple(read_statistic(text, SCHEMA, cells) for text in spellings))


def ask_by_class(gate: Gate, plan: Plan) -> Answer:
    """Ask what naive Bayes asks."""
    design = plan.design
    label = Cell("y", design.width, 1.0)
    return gate.ask(GroupSums(column_statistics(design), label, len(design.response.classes)))


def class_totals(model: Any) -> Floats:
    """The share of the second class in the records and the sums over it, from a fitted naive Bayes of two classes."""
    theta = np.asarray(model.release_.theta)
    share = (theta[1] + 1.0) / 2.0
    means = theta[2:].reshape(2, -1)[1]
    return np.append(share, share * means)


def released_moments(model: Any) -> Floats:
    """All second moments that a covariance is made of."""
    return np.asarray(model.release_.moments).ravel()


@dataclass(frozen=True)
class EvaluatedLabels:
    """An evaluation of public coefficients by the number of wrong labels."""

    model: LogisticRegression

    def plan(self, records: int, columns: int) -> Plan:
        """Plan the one count, with the design by which records are read."""
        fitted = self.model.plan(records, columns)
        settings = settings_of(self.model.get_params())
        facts = settings.public_facts(fitted.design, records, fitted.loss)
        theta = (-1.0,) * fitted.design.width
        return replace(plan_evaluation(facts, theta), design=fitted.design)


def evaluated_labels(**given: Any) -> EvaluatedLabels:
    """An evaluation of coefficients that are all -1: they are wrong about a corner with the highest label."""
    return EvaluatedLabels(LogisticRegression(**given))


def hand_set_gradient(*, iterations: int, **given: Any) -> LogisticRegression:
    """A descent whose noise is set by hand, to the budget; the clip is half of what gradients can be."""
    multiplier = math.sqrt(iterations) / given["budget"].mu * (1 + 1e-9)
    return LogisticRegression(
        solver="gradient", iterations=iterations, noise_multiplier=multiplier, clip=0.5, row_norm=1.0, **given
    )


@functools.cache
def audited_loss() -> OwnLoss:
    """A loss of a user: log cosh of margin less label, compiled when it is first asked for."""
    return own_loss(
        lambda z, y: math.tanh(z - y),
        lambda z, y: abs(z - y) + math.log1p(math.exp(-2.0 * abs(z - y))),
        lipschitz=1.0,
        curvature=1.0,
        convex=True,
        name="log cosh",
    )


class Detector:
    """A black box that tells whether a block has a record whose first column is above ½, as loudly as it can."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - as scikit-learn calls it
        """No parameters."""
        return {}

    def fit(self, X: Floats, y: Any) -> Detector:
        """Look for the record."""
        del y
        self.found = bool((X[:, 0] > 0.5).any())
        self.intercept_ = 1.0 if self.found else -1.0
        self.coef_ = np.full(X.shape[1], self.intercept_)
        return self

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Vote for the second class where it was found."""
        return np.full(len(X), int(self.found))


def ask_solver(gate: Gate, plan: Plan) -> Any:
    """What the solver of a plan returns."""
    return plan.solver.run(gate, plan)
