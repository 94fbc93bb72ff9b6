"""Gaussian naive Bayes from one statistical query: counts, means and squares of the columns, class by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release
from tacit.contract.statistic_query import GroupSums
from tacit.design.design import Design, matrix_design
from tacit.design.expression import Statistic, cells_of, exact_column
from tacit.design.expression_tree import Apply, Cell, Interval, Number, Power
from tacit.design.factor import Numeric
from tacit.design.response import Binary, Classes, Response
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.errors import BoundsError, DataError, SettingError
from tacit.estimators.base import Model, with_noise
from tacit.estimators.estimates import Estimate, group_estimate, release_of
from tacit.estimators.parameters import estimator
from tacit.estimators.settings import ORDER, UNIT
from tacit.losses import regression
from tacit.losses.loss import Loss
from tacit.solvers import statistical_queries
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.statistical_queries import QueryShape
from tacit.validate import within

STAND_INS = ("a label", "another label")


@estimator
class GaussianNB(ClassifierMixin, Model):
    """Gaussian naive Bayes under differential privacy, from one statistical query.

    For each class: the number of its records, and the mean and the mean square of each column about the middle of its
    bounds. A record enters its own class alone, so the noise does not grow with the number of classes. At ε = ∞ it
    equals scikit-learn's GaussianNB.

    Guarantee:

    - Classes that are read from the labels are listed in the certificate as assumed public. Inside a ledger they are
      not read: they must be declared.
    - Priors and variances are positive, whatever the noise was.
    - `predict` and `score` on private records are not private.

    Parameters
    ----------
    classes
        The labels; None: they are read from y.
    var_smoothing
        Part of the largest variance of a column that is added to all variances.

    Attributes
    ----------
    classes_, class_prior_
        The labels, and the noisy shares of the records.
    theta_, var_
        Means and variances of the columns of each class: (K, d).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-3, 3, 20_000)
    >>> model = GaussianNB(epsilon=1.0, bounds=(-3, 3)).fit(x.reshape(-1, 1), x > 0)
    >>> model.predict([[-1.0], [2.0]]).tolist()
    [False, True]
    """

    classes: Sequence[Any] | None = None
    var_smoothing: float = 1e-9

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, units: Any = None, order: Any = None, *, cluster: Any = None
    ) -> Self:
        """Release the statistics of private records; the parameters are those of `LogisticRegression.fit`."""
        return self._fit(X, y, {UNIT: units, ORDER: order}, cluster)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that scores are noisy."""
        return with_noise(super().__sklearn_tags__(), self.epsilon)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest probability."""
        likely = self._joint_log_likelihood(X).argmax(axis=1)
        return np.asarray(self.classes_[likely])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of all classes for new records."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of all classes."""
        joint = self._joint_log_likelihood(X)
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1)[:, None])

    def _joint_log_likelihood(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr")
        values = values.toarray() if hasattr(values, "toarray") else values
        squares = ((values[:, None, :] - self.theta_) ** 2 / self.var_).sum(axis=2)
        return np.asarray(np.log(self.class_prior_) - np.log(2 * np.pi * self.var_).sum(axis=1) / 2 - squares / 2)

    def _response(self, name: str, table: Table | None) -> Response:
        labels: Sequence[Any] = STAND_INS if self.classes is None else self.classes
        if self.classes is None and table is not None:
            labels = table.classes(name)
            if any(isinstance(label, float) and not label.is_integer() for label in labels):
                what = "Unknown label type: the response has fractions, like a continuous one."
                raise DataError(f"{what} Declare the labels with classes=…")
        return Classes.of(name, labels) if len(labels) > 2 else Binary.of(name, labels)

    def _stand_ins(self) -> list[Response]:
        """The price does not depend on the number of labels: any two will do for the first plan."""
        return [Binary("y", STAND_INS)] if self.classes is None else []

    def _loss(self, _response: Response) -> Loss:
        return regression.DISTANCE

    def _facts(self, response: Response) -> list[PublicFact]:
        return [PublicFact("classes", list(response.classes), "assumed" if self.classes is None else "declared")]

    def _design(self, names: Sequence[str], response: Response, *, columns: Mapping[str, str], sparse: bool) -> Design:
        within("var_smoothing", self.var_smoothing, 0.0, 1.0)
        if self.solver != "auto" or self.row_norm is not None:
            raise SettingError("GaussianNB takes bounds, and neither solver nor row_norm.")
        if self.bounds is None or isinstance(self.bounds, str):
            raise BoundsError("GaussianNB needs declared bounds=(lower, upper): they are never read off the data.")
        plain = matrix_design(names, response, bounds=self.bounds, row_norm=None, intercept=True, shifted=not sparse)
        exact = tuple(exact_column(c.name, Numeric(c.name), c.lower, c.upper) for c in plain.columns)
        attached = self._declared().attached(columns, None)
        return replace(plain, columns=exact, attached=attached)

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        del options
        return statistical_queries.plan(facts, [QueryShape(2 * len(facts.design.columns), grouped=True)])

    def _fitter(self, table: Table) -> Callable[..., Release]:
        return partial(self._run, table)

    def _run(
        self,
        table: Table,
        design: Design,
        plan_for: Callable[[int | None], Plan],
        *,
        refusals: Refusals,
        seed: int | None,
        warned: Sequence[str],
    ) -> Release:
        del warned
        labels = list(design.response.classes)
        query = GroupSums(column_statistics(design), Cell("y", design.width, 1.0), len(labels))
        with table.planned_session(design, plan_for, refusals=refusals, seed=seed, stacklevel=6) as session:
            answer = session.gate.ask(query)
            answered, self._estimate = group_estimate(query, answer, session.plan, labels, single=False)
            session.release = release_of(session.plan, [answered], seeded=seed is not None)
        return session.release

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Variances are at least their own noise, and priors at least that of a share."""
        del coefficients
        found: Estimate = self.__dict__.pop("_estimate")
        means, squares = np.split(found.value, 2, axis=1)
        # Columns of the release: shares of the classes, then what was asked of each class.
        first = len(means)
        centers = np.array([column.center for column in design.columns[first : first + means.shape[1]]])
        noise = np.split(found.noise_scale, 2, axis=1)[1]
        shares = np.maximum(found.shares, max(found.share_noise, 1e-12))
        self.classes_ = np.asarray(found.groups)
        self.class_prior_ = shares / shares.sum()
        self.theta_ = means
        spread = squares - (means - centers) ** 2
        whole = self.class_prior_ @ squares - (self.class_prior_ @ (means - centers)) ** 2
        least = np.maximum(noise, 1e-300)
        self.var_ = np.maximum(spread, least) + self.var_smoothing * max(float(whole.max()), 0.0)


def column_statistics(design: Design) -> tuple[Statistic, ...]:
    """Each column, and then the square of each about the middle of its bounds."""
    cells, found, squares = cells_of(design), [], []
    for column in design.columns:
        cell, interval = cells[column.name], Interval(column.lower, column.upper)
        found.append(Statistic(column.name, cell, interval))
        about = Apply("-", (cell, Number(interval.center)))
        square = Interval(0.0, max(column.upper - interval.center, interval.center - column.lower) ** 2)
        squares.append(Statistic(f"({column.name} - {interval.center:g})**2", Power(about, 2), square))
    return (*found, *squares)
