"""A classifier that selects one of finitely many hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.contract.plan import Plan, PublicFact
from tacit.contract.selection_query import LARGEST_NUMBER, SelectionLaw
from tacit.design.response import Response
from tacit.errors import SettingError
from tacit.estimators.classifiers import BinaryClassifier
from tacit.estimators.parameters import estimator
from tacit.losses import classification
from tacit.losses.loss import Loss
from tacit.solvers import hypotheses as learner
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.validate import one_of, within

ZERO_ONE, LOGISTIC, HINGE = "zero-one", "logistic", "hinge"


@estimator
class HypothesisClassifier(BinaryClassifier):
    """One of finitely many linear classifiers, selected by its loss under pure differential privacy.

    The exponential mechanism: hypothesis h with probability ∝ exp(-ε Σ loss(h) / (2 cap)), each loss within [0, cap].
    How many records are enough is told by `tacit.planning.finite_class.records_enough`.

    Guarantee
    ---------
    - The selection is exact and ε-differentially private, with no δ.
    - Nothing but the hypothesis is released: no score.

    Parameters
    ----------
    hypotheses
        A matrix of public numbers, one hypothesis a row: the intercept (where there is one), then the slopes, in the
        user's units.
    loss
        "zero-one" (wrong labels), "logistic" or "hinge" (the smooth one of `LinearSVC`), clipped to `cap`.
    cap
        Largest loss of a record; larger ones are clipped. With "zero-one" it is 1.
    law
        "exponential" or "permute-and-flip", whose expected loss is never larger; the first composes better.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 2_000).reshape(-1, 1)
    >>> thresholds = [[-c, 1.0] for c in np.linspace(-1, 1, 41)]
    >>> model = HypothesisClassifier(epsilon=1.0, bounds=(-1, 1), classes=(False, True), hypotheses=thresholds)
    >>> model = model.fit(X, X[:, 0] > 0.3)
    >>> bool(abs(-model.intercept_[0] - 0.3) <= 0.1)
    True
    """

    hypotheses: Any = None
    loss: str = ZERO_ONE
    cap: float = 1.0
    law: str = SelectionLaw.EXPONENTIAL.value

    def _loss(self, _response: Response) -> Loss:
        one_of("loss", self.loss, (ZERO_ONE, LOGISTIC, HINGE))
        return classification.hinge() if self.loss == HINGE else classification.LOGISTIC

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        zero_one = self.loss == ZERO_ONE
        cap = within("cap", self.cap, 1e-6, 1e6)
        if zero_one and cap != 1.0:
            raise SettingError('loss="zero-one" is at most 1: leave cap out.')
        solver = learner.Hypotheses(self._rows(facts.design.width), cap, zero_one)
        return learner.plan(facts, options, solver, SelectionLaw(one_of("law", self.law, list(SelectionLaw))))

    def _rows(self, width: int) -> tuple[tuple[float, ...], ...]:
        try:
            given = np.asarray(self.hypotheses, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim != 2 or given.shape[1] != width or not 1 <= len(given) <= LARGEST_NUMBER:
            what = (
                f"a matrix of {width} columns, the intercept first where there is one, and 1 to {LARGEST_NUMBER} rows"
            )
            raise SettingError(f"hypotheses must be {what}.")
        if not (np.abs(given) <= 1e100).all():
            raise SettingError("hypotheses must be finite numbers of moderate size.")
        return tuple(map(tuple, given.tolist()))

    def _facts(self, response: Response) -> list[PublicFact]:
        named = {"hypotheses": len(self.hypotheses), "loss of a hypothesis": self.loss, "cap": float(self.cap)}
        return [*super()._facts(response), *(PublicFact(name, value, "declared") for name, value in named.items())]
