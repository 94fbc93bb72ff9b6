"""Least squares without bounds: a deep point among the fits of disjoint blocks."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.contract.block_query import LeastSquares
from tacit.contract.plan import Plan
from tacit.design.design import Design
from tacit.estimators.base import with_noise
from tacit.estimators.block_model import BlockModel
from tacit.estimators.parameters import estimator
from tacit.estimators.settings import ORDER, UNIT
from tacit.solvers import block_plans
from tacit.solvers.block_plans import Aggregator, BlockAggregate
from tacit.solvers.solver import PublicFacts, SolverOptions


class UnstableFit(UserWarning):
    """A stability test failed: nothing was released but that, and it was paid for."""


@estimator
class TukeyRegressor(RegressorMixin, BlockModel):
    """Least squares under differential privacy that needs no bounds, on columns or on the response.

    Least squares is fitted to each of many disjoint blocks. Released is a point that is deep among their coefficients,
    drawn by the exponential mechanism. A noisy test makes sure first that the coefficients of most blocks are close
    together. Where it fails, that is all that is released: `stable_` is False, the coefficients are 0, and the budget
    is spent. It needs about 1000 records a column.

    Guarantee
    ---------
    - Private over the real numbers (`arithmetic: real-number proof` in the certificate).

    Parameters
    ----------
    blocks
        How many blocks; None: by rule.
    y_bounds
        Public bounds to which the response is clipped, if there are any.
    progress
        Called with (done, total, label) after each block.

    Attributes
    ----------
    coef_, intercept_
        The coefficients.
    stable_
        Whether the test was passed.

    References
    ----------
    K. Amin, M. Joseph, M. Ribero, S. Vassilvitskii, ICLR 2023; G. Brown et al., NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1) * 1e6
    >>> y = 3 * X[:, 0] + 1e6 * np.sin(np.arange(20_000))
    >>> model = TukeyRegressor(epsilon=2.0, delta=1e-6).fit(X, y)
    >>> bool(model.stable_ and abs(model.coef_[0] - 3) < 0.5)
    True
    """

    blocks: int | None = None
    y_bounds: ArrayLike | None = None
    progress: Any = None

    def fit(self, X: Any, y: Any, units: Any = None, order: Any = None) -> Self:  # type: ignore[override]
        """Fit blocks of private records and release a point that is deep among their coefficients."""
        return self._fit(X, y, {UNIT: units, ORDER: order})

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that scores are noisy."""
        return with_noise(super().__sklearn_tags__(), self.epsilon)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict responses of new rows."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_ + self.intercept_)

    def _is_classifier(self) -> bool:
        return False

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        del options
        solver = BlockAggregate(LeastSquares(facts.design.width), 2, Aggregator.DEPTH, name="deep-point")
        return block_plans.plan(facts, solver, self._number_of_blocks("blocks"))

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        del design
        self.intercept_, self.coef_ = float(coefficients[0]), coefficients[1:]
        # A point that is drawn has no coordinate that is exactly 0, unless all blocks agree on it.
        self.stable_ = bool(coefficients.any())
        if not self.stable_:
            text = (
                "The stability test failed: coefficients are 0, and the budget is spent. Use more records or a larger"
            )
            warnings.warn(f"{text} epsilon, or declare bounds and use LinearRegression.", UnstableFit, stacklevel=4)
