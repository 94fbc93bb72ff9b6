"""Responses that are classes: declared, or read and then listed as assumed public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import PublicFact
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, Response
from tacit.engine.refusals import require_declared
from tacit.engine.table import Table
from tacit.errors import DataError
from tacit.estimators.attached_columns import class_weights
from tacit.estimators.base import linear_predictors


class Classified:
    """A classifier by linear predictors.

    Guarantee
    ---------
    - Classes that are read from the labels are listed in the certificate as assumed public. Inside
      a ledger they are not read: they must be declared.
    - Weights of classes are the user's own and never read off the labels.
    """

    classes: Sequence[Any] | None
    class_weight: Mapping[Any, float] | None
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Linear predictors of new records: one, or one a class where there are three or more."""
        return linear_predictors(self, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest linear predictor."""
        margins = self.decision_function(X)
        chosen = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _response(self, name: str, table: Table | None) -> Response:
        labels = labels_of(self.classes, name, table)
        return Classes.of(name, labels) if len(labels) > 2 else Binary.of(name, labels)

    def _require_nothing_read(self) -> None:
        if self.classes is None:
            require_declared("the classes of the response", "classes=[…]")

    def _class_weights(self, response: Response) -> tuple[float, ...] | None:
        return class_weights(self.class_weight, response.classes)

    def _facts(self, response: Response) -> list[PublicFact]:
        word = "assumed" if self.classes is None else "declared"
        facts = [PublicFact("classes", list(response.classes), word)]
        weights = self._class_weights(response)
        if weights is not None:
            facts.append(PublicFact("class_weight", list(weights), "declared"))
        return facts

    def _keep(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Rows are classes, or the one predictor of the second class."""
        first = int(design.intercept)
        table = coefficients.reshape(design.width, -1)
        self.classes_ = np.asarray(design.response.classes)
        self.intercept_ = np.array(table[0]) if first else np.zeros(table.shape[1])
        self.coef_ = np.array(table[first:].T)


def labels_of(declared: Sequence[Any] | None, name: str, table: Table | None) -> Sequence[Any]:
    """Declared labels, else those of the table's response; 0 and 1 where there is no table."""
    if declared is not None:
        return declared
    if table is None:
        return (0, 1)
    labels = table.classes(name)
    if any(isinstance(label, float) and not label.is_integer() for label in labels):
        raise DataError(
            "Unknown label type: the response has fractions, like a continuous one. Use a "
            "regression, or declare the labels with classes=…"
        )
    return labels
