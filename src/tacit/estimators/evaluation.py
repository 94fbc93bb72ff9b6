"""How good a fitted model is: exactly and free of charge on public rows, by a noised and paid sum on private ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Plan, PublicFact
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, Response
from tacit.display import Displayed
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.errors import SettingError
from tacit.estimators.settings import TRIED_RECORDS, Declared, Settings
from tacit.losses.loss import Loss
from tacit.solvers.evaluation import LOG_LOSS, R2, SQUARED, plan_evaluation
from tacit.validate import between

ONE_LINE = 120
"""Characters of scores that are printed side by side."""


def _lines(scores: list[str], said: str) -> str:
    """Scores in one line, or in one each where that would be long."""
    whole = f"{', '.join(scores)} {said}"
    return whole if len(whole) <= ONE_LINE else "\n".join([*scores, said])


@dataclass(frozen=True)
class Scores(Mapping[str, float], Displayed):
    """Scores by name. Of private rows each has the deviation of its `noise`, and an `error`: noise and sampling.

    The sampling error is of the rows as a sample of a population. Where n is private, errors leave out that of the
    number of records, by which a sum is divided.

    `certificate` states what was paid for, `plan` how; None on public rows, where nothing was.
    """

    values_by_name: Mapping[str, float]
    noise: Mapping[str, float] = field(default_factory=dict)
    error: Mapping[str, float] = field(default_factory=dict)
    certificate: Certificate | None = None
    plan: Plan | None = None

    def __getitem__(self, name: str) -> float:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of a score of private rows for its value in the population, within its range."""
        if name not in self.error:
            known = ", ".join(self.error) or "none: public rows have no standard errors"
            raise SettingError(f"There is no interval of {name!r}; there are those of {known}.")
        quantile = NormalDist().inv_cdf((1 + between("level", level, 0, 1)) / 2)
        low, high = (-math.inf, 1.0) if name == R2 else (0.0, math.inf if name in {SQUARED, LOG_LOSS} else 1.0)
        half = quantile * self.error[name]
        return max(self[name] - half, low), min(self[name] + half, high)

    def __repr__(self) -> str:
        if self.certificate is None:
            return _lines([f"{name} {value:.5g}" for name, value in self.items()], "(public rows)")
        scores = [f"{name} {value:.5g} ± {self.error[name]:.2g}" for name, value in self.items()]
        return _lines(scores, "(standard errors: noise and sampling)")


def public_scores(response: Response, labels: Any, predicted: Any, *, chances: bool) -> Scores:
    """Exact scores of predictions: numbers, and for classes their `chances`, or margins."""
    from sklearn import metrics

    if not isinstance(response, Binary | Classes):
        found = {"r2": metrics.r2_score, "mean_squared_error": metrics.mean_squared_error}
        found |= {"mean_absolute_error": metrics.mean_absolute_error}
        return Scores({name: float(score(np.asarray(labels), predicted)) for name, score in found.items()})
    classes = [label.item() if isinstance(label, np.generic) else label for label in response.classes]
    places = {label: place for place, label in enumerate(classes)}
    codes = np.array([places.get(label, -1) for label in np.asarray(labels).tolist()])
    if (codes < 0).any():
        raise SettingError("The public rows have labels that are not among the classes of the fit.")
    if predicted.ndim == 1:
        chosen = (predicted > (0.5 if chances else 0.0)).astype(int)
        predicted = np.column_stack([1.0 - predicted, predicted])
    else:
        chosen = predicted.argmax(axis=1)
    wrong = float(np.mean(chosen != codes))
    scores = {"accuracy": 1.0 - wrong, "zero_one_loss": wrong}
    if predicted.shape[1] == 2 and len(set(codes.tolist())) == 2:
        scores["auc"] = float(metrics.roc_auc_score(codes, predicted[:, 1]))
    if chances:
        scores["log_loss"] = float(metrics.log_loss(codes, predicted, labels=range(len(classes))))
    return Scores(scores)


UNPAID = (
    "A score on private rows is an answer about them, and costs budget: give epsilon=… (or budget=…) for them, or mark "
    "rows that are public with tacit.public."
)


def model_fact(*, private: bool) -> PublicFact:
    """On whose word the evaluated coefficients are public: they were released, or it is assumed."""
    words = ("released", "declared") if private else ("public", "assumed")
    return PublicFact("evaluated coefficients", *words)


def private_scores(
    design: Design,
    loss: Loss,
    theta: tuple[float, ...],
    settings: Settings,
    rows: tuple[Any, Any, Mapping[str, Any]],
    declared: Declared | None,
    facts: Sequence[PublicFact] = (),
    scores: Sequence[str] | None = None,
) -> Scores:
    """Pay for noised sums over private rows; by default one: the 0–1 loss of two classes, the squared error of numbers.

    Rows are X, y and units with what is `declared` of them, or a table whose columns the design names.

    Guarantee: the scores are within the budget given for them. Rows are clipped as those of the fit. What public facts
    can refuse is refused before a record is read, and inside a ledger the charge comes before the answer.
    """
    if design.attached.offset is not None:
        raise SettingError(
            "Evaluations on private rows know no exposures; on rows that are tacit.public they are free."
        )
    given, grouped = rows[2], design.attached.unit is not None
    if declared is not None:
        declared.require(given)
    # A record counts once, whatever it weighed in the fit.
    design = replace(design, attached=replace(design.attached, weighting=None))
    if not design.intercept:
        # The constant tells a valid record from one of zeros.
        design, theta = replace(design, intercept=True), (*theta, 0.0)

    def plan_for(records: int | None) -> Plan:
        number = TRIED_RECORDS[0] if records is None else records
        return plan_evaluation(settings.public_facts(design, number, loss), theta, scores).with_facts(*common)

    common = list[PublicFact]()
    # Refused here, if at all: any number of records will do.
    plan_for(None)
    refusals = Refusals.settle(settings.invalid_rows, label="evaluation", beside=(*rows[:2], *given.values()))
    with refusals.logged():
        opened = Table(*rows[:2], attached=given, fewest=settings.fewest, grouped=grouped, reading=design.reading)
    with opened as table:
        if declared is not None:
            if table.names != tuple(column.name for column in design.inputs or design.columns):
                raise SettingError("The features are not those of the fit: their names, or their number, differ.")
            response = replace(design.response, column=table.response or "y")  # type: ignore[arg-type]
            design = replace(design, response=response, attached=declared.attached(table.attached, None))
            common += declared.facts(given)
        common += [*settings.facts(table, refusals.invalid_rows, units=grouped), *facts]
        release = table.fit(design, plan_for, refusals=refusals, seed=settings.seed)
    names = release.plan.design.names
    numbers = release.theta.tolist(), release.decrements[: len(names)], release.decrements[len(names) :]
    values, noise, error = (dict(zip(names, own, strict=True)) for own in numbers)
    return Scores(values, noise, error, Certificate.issue(release), release.plan)
