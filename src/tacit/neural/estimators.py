"""`DPClassifier` and `DPRegressor`: networks for tables, with scikit-learn's interface and nothing to tune."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from torch import nn

from tacit.certificate.certificate import Certificate
from tacit.contract.plan import VALID, Plan, PublicFact
from tacit.contract.query import Progress
from tacit.design.declared_bounds import bound_vectors
from tacit.engine.ledger_use import Refusals, require_declared
from tacit.engine.network_cells import numbers_of_column, numbers_of_table
from tacit.errors import BoundsError, DataError, SettingError
from tacit.estimators.ledger_membership import LedgerMember
from tacit.estimators.parameters import estimator
from tacit.estimators.settings import make_budget
from tacit.ledger import current_ledger
from tacit.neural.architectures import mlp
from tacit.neural.examples import Examples
from tacit.neural.trainer import DPTrainer
from tacit.privacy.budget import Budget
from tacit.solvers.network_rules import constants_for
from tacit.validate import one_of

Floats = NDArray[np.float32]


@dataclass(eq=False, repr=False)
class NetworkModel(LedgerMember):
    """What both share: scaling by declared bounds, training, and outputs of new records.

    Guarantee:

    - Columns are clipped to their declared bounds and mapped to [-1, 1]; no bound is read off the data.
    - Architecture, number of steps, batch size, clip and step size are functions of the number of records and columns
      and of the budget. Nothing is chosen by a score of private records, and training does not stop early.
    - A record with a missing number is refused before anything is spent; inside a ledger, or with
      invalid_rows="zero", it contributes nothing.

    Parameters
    ----------
    epsilon, delta, budget
        The budget; delta is min(1e-5, n^-1.1) unless it is given.
    bounds
        Public bounds of the columns: (lower, upper) for all, a pair for each, or a dict by name.
    hidden, activation
        Sizes of the hidden layers, and "tanh", "relu", "leaky-relu", "sigmoid" or "tempered-sigmoid".
    module
        A torch module in place of the default one; it gets the scaled columns.
    batch_size, epochs, clip, step_size, optimiser, momentum, weights, physical_batch
        As in `DPTrainer`; None leaves them to the public rule.
    relation
        "zero-out": other relations have no proof in floating point.
    invalid_rows
        "error" or "zero".
    random_state
        Makes the noise reproducible, and the fit not private.
    """

    loss_name: ClassVar[str] = "squared"
    epsilon: float | None = None
    delta: float | None = None
    _: KW_ONLY
    budget: Budget | None = None
    bounds: ArrayLike | dict[str, Any] | None = None
    hidden: Sequence[int] | None = None
    activation: str = "tanh"
    module: nn.Module | None = None
    batch_size: int | None = None
    epochs: float | None = None
    clip: float | None = None
    step_size: float | None = None
    optimiser: str = "sgd"
    momentum: float = 0.9
    weights: str = "average"
    physical_batch: int | None = None
    relation: str = "zero-out"
    invalid_rows: str | None = None
    random_state: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        current_ledger.born(self)

    def plan(self, n: int, d: int) -> Plan:
        """Price a fit of n records of d columns; nothing is read."""
        return self._trainer(n, d, self._outputs()).plan(n)

    def _outputs(self) -> int:
        return 1

    def _loss_name(self) -> str:
        return self.loss_name

    def _trainer(self, n: int, d: int, outputs: int) -> DPTrainer:
        budget = make_budget(self.epsilon, self.delta, self.budget).with_delta(min(1e-5, n**-1.1))
        usual = constants_for(n, budget.epsilon or 1.0)
        if isinstance(self.hidden, int | str):
            raise SettingError("hidden must be the sizes of the layers, as in hidden=(32, 32).")
        hidden = usual.hidden if self.hidden is None else tuple(self.hidden)
        module = mlp(d, outputs, hidden, self.activation) if self.module is None else copy.deepcopy(self.module)
        return DPTrainer(
            module=module,
            loss=self._loss_name(),
            budget=budget,
            batch_size=usual.batch_size if self.batch_size is None else self.batch_size,
            epochs=usual.epochs if self.epochs is None else self.epochs,
            clip=usual.clip if self.clip is None else self.clip,
            step_size=usual.step_size if self.step_size is None else self.step_size,
            optimiser=self.optimiser,
            momentum=self.momentum,
            weights=self.weights,
            physical_batch=self.physical_batch,
            relation=self.relation,
            random_state=self.random_state,
            progress=self.progress,
        )

    def _trained(
        self, X: Any, labels: NDArray[Any], valid: NDArray[np.bool_], outputs: int, *facts: PublicFact
    ) -> None:
        refusals = Refusals.settle(self.invalid_rows, beside=[X])
        inputs, complete = self._scaled(X)
        if len(labels) != len(inputs):
            raise DataError(f"y has {len(labels)} labels for {len(inputs)} records.")
        trainer = self._trainer(len(inputs), inputs.shape[1], outputs)
        # Wrong settings refuse before a word is said about a record.
        trainer.plan(len(inputs))
        _require_outputs(trainer.module, inputs.shape[1], outputs)
        usable = valid & complete
        with refusals.logged():
            if refusals.invalid_rows == "error" and not usable.all():
                raise DataError(
                    "Some record has a missing or infinite number, or a label that is not among the classes or is "
                    'outside the bounds. Mend it, or use invalid_rows="zero": such records then contribute nothing.'
                )
        assumed = [PublicFact(VALID, True, "assumed")] if refusals.invalid_rows == "error" else []
        trainer.facts = (*facts, *assumed)
        self.trainer_ = trainer.train(Examples(inputs, labels, usable), source=X)
        self.release_, self.plan_, self.module_ = trainer.release_, trainer.plan_, trainer.module_
        self.n_features_in_ = inputs.shape[1]
        self.__dict__.pop("certificate_", None)

    def _scaled(self, X: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Columns in [-1, 1] by declared bounds, each record on its own; and which records are complete."""
        names = [str(name) for name in getattr(X, "columns", [])]
        matrix = numbers_of_table(X)
        if matrix.ndim != 2 or matrix.shape[1] < 1:
            raise DataError("X must be a table: records by columns.")
        if self.bounds is None:
            raise BoundsError("bounds are missing: declare (lower, upper) of the columns. They are never read off X.")
        lower, upper = bound_vectors(self.bounds, names or [f"x{j}" for j in range(matrix.shape[1])])
        complete = np.asarray(np.isfinite(matrix).all(axis=1))
        clipped = np.clip(np.where(np.isfinite(matrix), matrix, lower), lower, upper)
        return ((2.0 * clipped - (lower + upper)) / (upper - lower)).astype(np.float32), complete

    def _predicted(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "module_")
        try:
            np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            # Rows to predict are the caller's own, and may be refused for what they hold.
            raise DataError("X must be a table of numbers.") from error
        inputs, _ = self._scaled(X)
        if inputs.shape[1] != self.n_features_in_:
            raise DataError(f"X has {inputs.shape[1]} columns, but the model was fitted with {self.n_features_in_}.")
        return self.trainer_.predict(inputs).astype(np.float64)

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers the weights and the architecture."""
        check_is_fitted(self, "module_")
        return self.trainer_.certificate_


def _require_outputs(module: nn.Module, columns: int, outputs: int) -> None:
    """Refuse a module with another number of outputs; one that cannot be run is refused by its rehearsal."""
    try:
        with torch.no_grad():
            shape = tuple(copy.deepcopy(module).float().cpu()(torch.zeros(2, columns)).shape)
    except Exception:  # noqa: BLE001 - whatever a module of one's own raises
        return
    if shape != (2, outputs):
        raise SettingError(f"The module must return {outputs} numbers a record; its shape for 2 records is {shape}.")


def _sorted_labels(cells: list[Any]) -> list[Any]:
    """The different labels, in order."""
    try:
        return sorted(set(cells))
    except TypeError as error:
        raise DataError(
            "Labels of several kinds have no order: declare classes=… and give labels of one kind."
        ) from error


def _place(label: Any, places: Mapping[Any, int]) -> int:
    """Place of a label among the classes, -1 of what is none of them."""
    try:
        return places.get(label, -1)
    except Exception:  # noqa: BLE001 - a list, or whatever a label of a class of its own raises
        return -1


@estimator
class DPClassifier(ClassifierMixin, NetworkModel):
    """A neural classifier of tables under differential privacy.

    Parameters
    ----------
    classes
        The labels; None: they are read from y, and listed in the certificate as assumed public. Inside a ledger they
        must be declared.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000)[:, None] * [1, -1]
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)
    >>> model = DPClassifier(epsilon=8.0, bounds=(-1, 1), classes=(0, 1)).fit(X, y)
    >>> model.predict(X[[0, 2000]])
    array([1, 0])
    """

    loss_name: ClassVar[str] = "cross-entropy"
    classes: Sequence[Any] | None = None

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on labelled records."""
        with current_ledger.charged_for(self):
            Refusals.settle(self.invalid_rows, beside=(X, y))
            if getattr(y, "ndim", 1) != 1 or not hasattr(y, "__len__"):
                raise DataError("y must be one label for each record.")
            # Cell by cell: in an array of a list, one text would make texts of all numbers.
            cells = y.tolist() if isinstance(y, np.ndarray) else list(y)
            if self.classes is None:
                require_declared("classes", "classes=…")
            labels = np.asarray(_sorted_labels(cells) if self.classes is None else list(self.classes))
            places = {label: place for place, label in enumerate(labels.tolist())}
            if len(labels) < 2 or len(places) < len(labels):
                raise SettingError("There must be at least two different classes.")
            codes = np.array([_place(cell, places) for cell in cells], dtype=np.int64)
            source = "assumed" if self.classes is None else "declared"
            fact = PublicFact("classes", labels.tolist(), source)
            self._trained(X, np.maximum(codes, 0), codes >= 0, len(labels), fact)
            self.classes_ = labels
            return self

    def _outputs(self) -> int:
        return 2 if self.classes is None else len(self.classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Outputs of the network (record, class); of two classes their difference."""
        found = self._predicted(X)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of all classes for new records."""
        found = self._predicted(X)
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest output."""
        return np.asarray(self.classes_[self._predicted(X).argmax(axis=1)])


@estimator
class DPRegressor(RegressorMixin, NetworkModel):
    """A neural regression of tables under differential privacy.

    Parameters
    ----------
    response_bounds
        Public (lower, upper) of y; values outside count as on them.
    loss
        "squared" or "huber", in units of half the range of the response.
    """

    response_bounds: tuple[float, float] | None = None
    loss: str = "squared"

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on records with a response."""
        with current_ledger.charged_for(self):
            Refusals.settle(self.invalid_rows, beside=(X, y))
            lower, upper = self._ends()
            if y is None or np.ndim(y if hasattr(y, "ndim") else np.empty(len(y))) != 1:
                raise DataError("y must be one number for each record.")
            values = numbers_of_column(y)
            known = np.isfinite(values)
            scaled = (2.0 * np.clip(np.where(known, values, lower), lower, upper) - (lower + upper)) / (upper - lower)
            fact = PublicFact("response bounds", [lower, upper], "declared")
            self._trained(X, scaled.astype(np.float32), known, 1, fact)
            return self

    def _ends(self) -> tuple[float, float]:
        if self.response_bounds is None:
            raise BoundsError("response_bounds are missing: declare (lower, upper) of y. They are never read off y.")
        (lower,), (upper,) = bound_vectors([self.response_bounds], ["y"])
        return float(lower), float(upper)

    def _loss_name(self) -> str:
        return one_of("loss", self.loss, ("squared", "huber"))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predicted response of new records, within the bounds of the response."""
        lower, upper = self._ends()
        margins = np.clip(self._predicted(X)[:, 0], -1.0, 1.0)
        return np.asarray((margins * (upper - lower) + (lower + upper)) / 2)
