"""Fits that are attacked: every estimator in some of its forms, on small tables, and their neighbours.

A table is a mapping of arrays. `neighbours` gives pairs that differ in the first record (or unit) alone.
"""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import tacit
from tacit.audit.image_fits import SIDE, small_recipe
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

N, WIDTH, BUDGET = 120, 3, Budget(mu=2.0)
LABELS, CLASSES, NUMBERS, COUNTS, NOTHING = "labels", "classes", "numbers", "counts", "nothing"
ENDS: Mapping[str, tuple[float, float]] = {LABELS: (0, 1), CLASSES: (0, 2), NUMBERS: (-1, 1), COUNTS: (0, 4)}
FACTS: Mapping[str, Mapping[str, Any]] = {
    LABELS: {"classes": (0, 1)},
    CLASSES: {"classes": (0, 1, 2)},
    NUMBERS: {"y_bounds": (-1.0, 1.0)},
    COUNTS: {"y_max": 4},
    NOTHING: {},
}
FAR, MOST_WEIGHT, ROWS_A_UNIT = 1e9, 2.0, 3
SCHEMA = """
{relation}
[columns.x0]
type = "numeric"
lower = -1
upper = 1
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
[columns.y]
type = "binary"
"""

Table = Mapping[str, Any]


@dataclass(frozen=True)
class FitCase:
    """A way to fit: an estimator, its settings, its response, and what is attached to a record."""

    name: str
    make: Any
    outcome: str = LABELS
    settings: Mapping[str, Any] = field(default_factory=dict)
    attached: tuple[str, ...] = ()
    sparse: bool = False
    budget: Budget = BUDGET
    relations: tuple[Relation, ...] = tuple(Relation)
    other: Callable[[FitCase, Table, Relation], Any] | None = None
    """What is done with a table in the place of a fit; it returns what leaves, and its certificate second."""

    def model(self, relation: Relation, seed: int | None = None) -> Any:
        """The estimator, not fitted."""
        given: dict[str, Any] = {"budget": self.budget, "bounds": (-1.0, 1.0), **FACTS[self.outcome], **self.settings}
        if relation is Relation.ADD_REMOVE:
            given["n_at_least"] = N // 2
        return self.make(relation=str(relation), invalid_rows="zero", random_state=seed, **given)

    def fit(self, table: Table, relation: Relation = Relation.REPLACE_ONE, seed: int | None = None) -> Any:
        """Fit a table: the estimator, its certificate, and what it shows in words."""
        if self.other is not None:
            return self.other(self, table, relation)
        model = self.model(relation, seed)
        X = sp.csr_array(table["X"]) if self.sparse else table["X"]
        given = {name: table[name] for name in self.attached}
        model.fit(X, *(() if self.outcome == NOTHING else (table["y"],)), **given)
        summary = str(model.summary()) if self.settings.get("inference") else None
        return model, model.certificate_, repr(model), summary

    def fitting(self, relation: Relation) -> Any:
        """The fit of a table under a relation; what is fitted to public rows is fitted before."""
        if self.other is evaluate:
            public_model(relation)
        return partial(self.fit, relation=relation)


def table_of(outcome: str, seed: int, records: int = N) -> Table:
    """A simulated table, with weights, exposures and units."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (records, WIDTH))
    low, high = ENDS.get(outcome, (0, 1))
    y = low + (high - low) * (1 + np.tanh(2 * X[:, 0])) / 2 + 0.3 * rng.normal(size=records)
    y = np.clip(y if outcome == NUMBERS else np.rint(y), low, high)
    units = np.repeat(np.arange(records), ROWS_A_UNIT)[:records]
    weights, exposures = rng.uniform(0.1, MOST_WEIGHT, records), rng.uniform(0.5, 2.0, records)
    return {"X": X, "y": y, "sample_weight": weights, "exposure": exposures, "units": units}


def changed(case: FitCase, table: Table, rng: np.random.Generator) -> Table:
    """The table with another first record (or unit), far out, at a corner, or with values that are none."""
    own = slice(0, ROWS_A_UNIT if "units" in case.attached else 1)
    found = {name: np.array(values, dtype=np.float64) for name, values in table.items()}
    low, high = ENDS.get(case.outcome, (0, 1))
    found["X"][own] = rng.choice([-1.0, 1.0, FAR, -FAR, 0.0], size=found["X"][own].shape)
    found["y"][own] = rng.choice([low, high])
    found["sample_weight"][own] = rng.choice([MOST_WEIGHT, FAR, 0.5])
    found["exposure"][own] = rng.choice([0.5, 2.0, FAR])
    found["units"] = table["units"]
    return found


def without_first(case: FitCase, table: Table) -> Table:
    """The table without its first record or unit."""
    first = ROWS_A_UNIT if "units" in case.attached else 1
    return {name: values[first:] for name, values in table.items()}


def blank_first(case: FitCase, table: Table) -> Table:
    """The table whose first record or unit is invalid, and contributes nothing."""
    first = ROWS_A_UNIT if "units" in case.attached else 1
    X = np.array(table["X"])
    X[:first] = np.nan
    return {**table, "X": X}


def neighbours(case: FitCase, relation: Relation, pairs: int, seed: int = 0) -> Iterator[tuple[Table, Table]]:
    """Pairs of neighbouring tables: the first record at a corner or beyond the bounds, against another, or none."""
    rng = np.random.default_rng(seed)
    for number in range(pairs):
        whole = changed(case, table_of(case.outcome, number), rng)
        if relation is Relation.REPLACE_ONE:
            yield whole, changed(case, whole, rng)
        else:
            yield whole, (blank_first if relation is Relation.ZERO_OUT else without_first)(case, whole)


def fit_formula(case: FitCase, table: Table, relation: Relation) -> Any:
    """`tacit.glm` of a number and a factor."""
    wards = np.array(["a", "b", "c"])[np.digitize(table["X"][:, 1], [-0.3, 0.3])]
    frame = pd.DataFrame({"x0": table["X"][:, 0], "ward": wards, "y": table["y"].astype(int)})
    schema = tacit.Schema.parse(SCHEMA.format(relation=f'relation = "{relation}"'))
    fit = tacit.glm("y ~ x0 + ward", frame, schema, budget=case.budget, invalid_rows="zero")
    return fit, fit.certificate, str(fit.summary())


def fit_formula_of(unit: str, table: Table) -> Any:
    """`tacit.glm` of one column, for a unit that no column names."""
    schema = tacit.Schema.parse(SCHEMA.format(relation=f'unit = "{unit}"'))
    frame = pd.DataFrame({"x0": table["X"][:, 0], "ward": "a", "y": table["y"].astype(int)})
    return tacit.glm("y ~ x0", frame, schema, budget=BUDGET, inference=False)


def fit_file(case: FitCase, table: Table, relation: Relation) -> Any:
    """`tacit.glm` of a CSV file."""
    schema = tacit.Schema.parse(SCHEMA.format(relation=f'relation = "{relation}"'))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame = pd.DataFrame({"x0": table["X"][:, 0], "ward": "a", "y": table["y"].astype(int)})
        frame.to_csv(path, index=False)
        fit = tacit.glm("y ~ x0", path, schema, budget=case.budget, invalid_rows="zero", inference=False)
    return fit, fit.certificate, repr(fit)


def fit_images(case: FitCase, table: Table, relation: Relation) -> Any:
    """`tacit.ImageClassifier` of images whose stripes are the features of a record."""
    rows = np.clip(np.nan_to_num(np.asarray(table["X"], dtype=np.float64)), -1.0, 1.0)
    images = np.repeat(np.repeat(((rows + 1.0) * 127.5).astype(np.uint8), SIDE // WIDTH, axis=1)[:, None], SIDE, axis=1)
    model = tacit.ImageClassifier(budget=case.budget, recipe=small_recipe(), relation=str(relation))
    model.fit(np.ascontiguousarray(images), table["y"].astype(int))
    return model, model.certificate_, repr(model)


@functools.cache
def public_model(relation: Relation) -> Any:
    """A model of public rows."""
    public = table_of(LABELS, 99)
    model = tacit.LogisticRegression(
        epsilon=math.inf, bounds=(-1, 1), classes=(0, 1), relation=str(relation), invalid_rows="zero"
    )
    return model.fit(public["X"], public["y"])


def evaluate(case: FitCase, table: Table, relation: Relation) -> Any:
    """The paid score of a public model on private rows."""
    scores = public_model(relation).evaluate(table["X"], table["y"], budget=case.budget)
    return scores, scores.certificate, repr(scores)


def ask_statistics(case: FitCase, table: Table, relation: Relation) -> Any:
    """Two means by `tacit.statistics`."""
    schema = tacit.Schema.parse(SCHEMA.format(relation=f'relation = "{relation}"'))
    frame = pd.DataFrame({"x0": table["X"][:, 0], "ward": "a", "y": table["y"].astype(int)})
    with tacit.statistics(frame, schema, budget=case.budget, queries=[2, 1], invalid_rows="zero") as gate:
        found = [gate.ask(tacit.Mean("x0", "x0 ** 2")), gate.ask(tacit.Mean("x0"))]
    return found, gate.certificate


_PUBLIC_N = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
_LOGISTIC = FitCase("logistic", tacit.LogisticRegression)
_LINEAR = FitCase("linear", tacit.LinearRegression, NUMBERS)
_BY_HAND = {"solver": "gradient", "iterations": 5, "row_norm": 1.0, "clip": 0.5, "step_size": 0.1}
CASES: Mapping[str, FitCase] = {
    case.name: case
    for case in (
        _LOGISTIC,
        replace(_LOGISTIC, name="clipped", settings=_BY_HAND, relations=_PUBLIC_N),
        replace(_LOGISTIC, name="newton", settings={"solver": "newton"}),
        replace(_LOGISTIC, name="intervals", settings={"inference": True}),
        replace(_LOGISTIC, name="whitened", settings={"solver": "whitened-gradient"}),
        replace(_LOGISTIC, name="double noise", settings={"solver": "double-noise-newton"}, relations=_PUBLIC_N),
        replace(_LOGISTIC, name="weights", settings={"max_weight": MOST_WEIGHT}, attached=("sample_weight",)),
        replace(_LOGISTIC, name="units", settings={"max_rows_per_unit": 2}, attached=("units",)),
        replace(_LOGISTIC, name="private bounds", settings={"bounds": "private"}),
        replace(_LOGISTIC, name="sparse", sparse=True, settings={"solver": "gradient"}, relations=_PUBLIC_N),
        replace(_LOGISTIC, name="classes", outcome=CLASSES),
        replace(_LOGISTIC, name="without intercept", settings={"fit_intercept": False}),
        FitCase("svm", tacit.LinearSVC),
        _LINEAR,
        replace(_LINEAR, name="linear intervals", settings={"inference": True}),
        replace(_LINEAR, name="moments", settings={"solver": "moments"}),
        replace(_LINEAR, name="adassp", settings={"solver": "adassp"}, relations=_PUBLIC_N),
        replace(_LINEAR, name="open response", settings={"y_bounds": "private"}),
        replace(_LINEAR, name="linear units", settings={"max_rows_per_unit": 2}, attached=("units",)),
        FitCase("huber", tacit.HuberRegressor, NUMBERS),
        FitCase("quantile", tacit.QuantileRegressor, NUMBERS),
        FitCase("poisson", tacit.PoissonRegressor, COUNTS, {"exposure_bounds": (0.5, 2.0)}, ("exposure",)),
        FitCase("mean", tacit.GaussianMean, NOTHING),
        FitCase("covariance", tacit.Covariance, NOTHING),
        FitCase("whitener", tacit.PrivateWhitener, NOTHING, relations=_PUBLIC_N),
        FitCase("naive Bayes", tacit.GaussianNB),
        FitCase("formula", None, relations=_PUBLIC_N, other=fit_formula),
        FitCase("images", None, CLASSES, relations=(Relation.REPLACE_ONE,), other=fit_images),
        FitCase("file", None, relations=_PUBLIC_N, other=fit_file),
        FitCase("evaluation", None, relations=_PUBLIC_N, other=evaluate),
        FitCase("statistics", None, relations=_PUBLIC_N, other=ask_statistics),
        FitCase("mean, pure", tacit.GaussianMean, NOTHING, budget=Budget(epsilon=1.0, delta=0)),
    )
}
"""Fits that are sums with noise, by name."""
MINIMA: Mapping[str, FitCase] = {
    name: replace(_LOGISTIC, name=name, settings={"solver": name}, budget=Budget(epsilon=2.0, delta=1e-5))
    for name in ("objective-perturbation", "objective-perturbation-kst", "output-perturbation")
}
"""Fits that are minima with noise."""
