"""Attacks on whole fits: nothing fails after the charge, nothing else depends on the records.

Every mix of an estimator, a relation and options is fitted to several tables with the same public
facts. What leaves a fit outside its noised answers (plan, warnings, refusals, number of queries)
must be the same for all of them.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tacit
from tacit.accounting.composition import compose, mu_squared_of
from tacit.constraints import Box, L1Ball
from tacit.contract.plan import Plan
from tacit.engine.gate import PlannedGate
from tacit.engine.ledger_use import charge
from tacit.errors import DataError, InputError
from tacit.privacy.relation import Relation

N, WIDTH = 150, 3
with warnings.catch_warnings():
    # Slopes are cut.
    warnings.simplefilter("ignore")
    OWN = tacit.own_loss(
        lambda z, y: math.exp(z) - math.sqrt(y),
        lambda z, y: math.exp(z) - z * math.sqrt(y),
        lipschitz=1.0,
        curvature=1.0,
    )
"""A loss whose function overflows, and is not a number for a label below 0."""
ESTIMATORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "logistic": (tacit.LogisticRegression, {"classes": (0, 1)}),
    "softmax": (tacit.LogisticRegression, {"classes": (0, 1, 2)}),
    "linear": (tacit.LinearRegression, {"y_bounds": (-2, 2)}),
    "open": (tacit.LinearRegression, {"y_bounds": "private"}),
    "ridge": (tacit.Ridge, {"y_bounds": (-2, 2)}),
    "huber": (tacit.HuberRegressor, {"y_bounds": (-2, 2)}),
    "scaled": (tacit.HuberRegressor, {"y_bounds": (-2, 2), "scale": 0.5}),
    "hinge": (tacit.LinearSVC, {"classes": (0, 1)}),
    "poisson": (tacit.PoissonRegressor, {"y_max": 4, "exposure_bounds": (0.1, 10)}),
    "quantile": (tacit.QuantileRegressor, {"y_bounds": (-2, 2), "quantile": 0.9}),
    "mean": (tacit.GaussianMean, {}),
    "own": (tacit.MarginClassifier, {"classes": (0, 1), "loss": OWN, "iterations": 20}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "loose": {"bounds": (-1e6, 1e6), "step_size": 1e30},
    "found": {"bounds": "private"},
    "sparse": {},
    "weights": {"max_weight": 40.0},
    "units": {"max_rows_per_unit": 2},
    "intervals": {"inference": True},
    "sparse intervals": {"inference": True, "fit_intercept": False},
    "box": {"constraint": Box(0.0, 1.0)},
    "ball": {"constraint": L1Ball(1e-3), "fit_intercept": False},
    "penalty": {"l2": 1e30},
    "full": {"l2": 1e30, "radius": 1e-6, "penalize_intercept": True},
    "by hand": {"clip": 1e-9, "iterations": 5},
}
UNSUITED = {"loose", "intervals", "sparse intervals", "box", "ball", "penalty", "full", "by hand"}
"""Options that a mean does not have."""
CONTENTS = ("usual", "far", "invalid")


@dataclass
class Seen:
    """What an observer of a fit sees beside the noised answers."""

    plan: Plan | None = None
    asked: int = 0
    warned: list[str] = field(default_factory=list)
    refused: str = ""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Seen]:
    """A record of every run: the plan when it is charged, and how many queries were asked."""
    runs = [Seen()]
    ask = PlannedGate.ask

    def charging(plan: Plan, **how: Any) -> Any:
        runs[-1].plan = plan
        return charge(plan, **how)

    def asking(gate: Any, query: Any) -> Any:
        runs[-1].asked += 1
        return ask(gate, query)

    monkeypatch.setattr("tacit.engine.table.charge", charging)
    monkeypatch.setattr(PlannedGate, "ask", asking)
    return runs


def cells(content: str, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    X, y = rng.uniform(-1, 1, (n, WIDTH)), rng.integers(0, 2, n).astype(float)
    if content == "zeros":
        X, y = np.zeros((n, WIDTH)), np.zeros(n)
    elif content == "far":
        X = rng.choice([1e308, -1e308, 5e-324], (n, WIDTH))
    elif content == "invalid":
        X, y = np.full((n, WIDTH), np.nan), np.full(n, np.inf)
    return X, y


def fit(name: str, option: str, relation: str, content: str, runs: list[Seen], n: int = N) -> Any:
    """Fit one mix to one table and note what is seen; None where it was refused."""
    runs.append(Seen())
    make, facts = ESTIMATORS[name]
    X, y = cells(content, n)
    declared = {"bounds": (-1, 1), "relation": relation, "n_at_least": N, "invalid_rows": "zero"}
    attached: dict[str, Any] = {}
    if "max_weight" in OPTIONS[option]:
        attached["sample_weight"] = np.full(n, {"invalid": np.nan, "far": 1e308}.get(content, 1.0))
    if "max_rows_per_unit" in OPTIONS[option]:
        attached["units"] = np.arange(n) // 2
    if name == "poisson":
        attached["exposure"] = np.full(n, {"invalid": -1.0, "far": 1e-300}.get(content, 1.0))
    model = make(**{"epsilon": 0.5, **declared, **facts, **OPTIONS[option]})
    table = sp.csr_array(X) if option.startswith("sparse") else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return model.fit(table, *(() if name == "mean" else (y,)), **attached)
        except InputError as error:
            runs[-1].refused = str(error)
            return None
        finally:
            runs[-1].warned = [str(warning.message) for warning in caught]


MIXES = [
    (name, option, relation)
    for (name, option), relation in zip(itertools.product(ESTIMATORS, OPTIONS), itertools.cycle(Relation), strict=False)
    if not (name == "mean" and option in UNSUITED)
][::2]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_t38_t40_nothing_but_the_charge_depends_on_the_records(name: str, seen: list[Seen]) -> None:
    for own, option, relation in MIXES:
        if own != name:
            continue
        del seen[1:]
        for content in CONTENTS:
            model = fit(name, option, str(relation), content, seen)
            run = seen[-1]
            if run.refused:
                assert run.plan is None, f"{option}: refused after the charge"
                continue
            assert run.plan is not None
            assert run.asked == run.plan.queries
            spent = compose(run.plan.events()).mu_squared / mu_squared_of(run.plan.budget)
            assert 0.98 < spent <= 1, f"{option}: spends {float(spent)}"
            released = [model.mean_] if name == "mean" else [model.coef_, model.intercept_]
            assert all(np.isfinite(part).all() for part in released)
        first = seen[1]
        for run in seen[2:]:
            assert (run.plan, run.refused) == (first.plan, first.refused), option
            assert run.warned == first.warned, option


@pytest.mark.parametrize("option", ["plain", "found", "sparse", "weights", "units", "intervals"])
def test_t30_a_private_number_of_records_may_be_none(option: str, seen: list[Seen]) -> None:
    for count, name in zip(itertools.cycle((0, 1)), ESTIMATORS, strict=False):
        if name == "mean" and option in UNSUITED:
            continue
        fit(name, option, "add-remove", "zeros", seen, N)
        fit(name, option, "add-remove", "zeros", seen, count)
        many, few = seen[-2:]
        assert (few.plan, few.asked, few.refused) == (many.plan, many.asked, many.refused)


def test_t30_a_public_number_of_records_is_refused_below_two(seen: list[Seen]) -> None:
    for relation in ("replace-one", "zero-out"):
        with pytest.raises(DataError, match="fewer than 2 records"):
            tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1), relation=relation).fit(
                np.zeros((1, 2)), np.zeros(1)
            )
    assert seen[-1].plan is None


def test_a_penalised_softmax_has_no_intervals_without_noise_either(seen: list[Seen]) -> None:
    X, _ = cells("usual", N)
    with pytest.raises(InputError, match="without l2"):
        tacit.LogisticRegression(epsilon=np.inf, bounds=(-1, 1), l2=0.1, inference=True).fit(X, np.arange(N) % 3)
    assert seen[-1].plan is None
