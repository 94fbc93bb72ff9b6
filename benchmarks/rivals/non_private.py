"""What the same tables give without privacy: scikit-learn, practically unpenalised."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.accuracy.table import Kind, Table
from benchmarks.rivals.method import UNTUNED, Fit, Setting


@dataclass(frozen=True)
class NonPrivate:
    """Logistic regression at C = 10^6, or ordinary least squares clipped to the bounds of y."""

    name: str = "non-private"
    label: str = "not private"
    kinds: tuple[Kind, ...] = ("classification", "regression")
    epsilons: tuple[float, ...] | None = ()
    version: str = f"scikit-learn {sklearn.__version__}"

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Nothing to tune."""
        return UNTUNED

    def fits(
        self,
        table: Table,
        epsilon: float,  # noqa: ARG002
        settings: Sequence[Setting],
        seed: int,  # noqa: ARG002
    ) -> list[Fit]:
        """The same fit for any ε and seed."""
        X, test = (np.asarray(rows, np.float64) for rows in (table.features, table.test_features))
        start = time.perf_counter()
        if table.kind == "regression":
            uncut = LinearRegression().fit(X, table.y_train).predict(test)
            margins = np.clip(uncut, *table.y_bounds)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = LogisticRegression(C=1e6, max_iter=1000).fit(X, table.y_train)
            margins = uncut = model.decision_function(test)
        return [Fit(margins, time.perf_counter() - start, uncut)] * len(settings)
