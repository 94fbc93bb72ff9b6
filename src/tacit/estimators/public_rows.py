"""Rows and models that are public, marked as such: what is computed from them is free.

The mark is the user's word. Warm starts and free scores take nothing else, so that private rows do not reach them by
accident.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.display import Displayed
from tacit.errors import DataError, SettingError

LARGEST_START = 1e30
"""Prepared coefficients beyond it are no start: the public rows are separable, or their columns are copies."""


@dataclass(frozen=True, repr=False)
class PublicRows(Displayed):
    """Features and response that are public, or a table that holds both."""

    X: Any
    y: Any = None

    def __repr__(self) -> str:
        return "public rows"

    def __deepcopy__(self, _memo: Any) -> PublicRows:
        """Return itself: rows need not be copied with the estimators that hold them."""
        return self

    def both(self) -> tuple[Any, Any]:
        """Features and response."""
        if self.y is None:
            raise SettingError(
                "A response is missing: estimators take tacit.public(X, y). A table alone is for tacit.glm."
            )
        return self.X, self.y


@dataclass(frozen=True, repr=False)
class PublicModel:
    """A fitted model that is public, with `coef_` and `intercept_`."""

    model: Any

    def __repr__(self) -> str:
        return "a public model"


def public(X: Any, y: Any = None) -> PublicRows | PublicModel:
    """Mark rows, or a fitted model, as public: they need no protection, and what is computed from them costs nothing.

    Rows are features and their response, a table for `tacit.glm`; a model has `coef_` and `intercept_`, like those of
    scikit-learn. Nobody can check that they are public: it is your word, and a certificate says so.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> X = np.sin(np.arange(10_000)).reshape(-1, 2)
    >>> y = X[:, 0] > 0
    >>> model = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).fit(X[1000:], y[1000:])
    >>> model.evaluate(tacit.public(X[:1000], y[:1000]))["accuracy"] > 0.9
    True
    """
    if y is None and hasattr(X, "coef_"):
        return PublicModel(X)
    if not hasattr(X, "__len__") and not hasattr(X, "shape") and not isinstance(X, os.PathLike):
        raise SettingError(f"Rows, a table or a fitted model can be marked as public; got {type(X).__name__}.")
    if y is not None:
        from sklearn.utils.validation import _num_samples

        rows, responses = _num_samples(X), _num_samples(y)
        if rows != responses:
            raise DataError(f"Public rows need one response each: {rows} rows, {responses} responses.")
    return PublicRows(X, y)


def require_start(start: object) -> None:
    """Refuse what may be private: anything but marked rows, a marked model or a private release."""
    release = _release_of(start)
    if isinstance(start, PublicRows | PublicModel) or (isinstance(release, Release) and release.private):
        return
    if isinstance(release, Release):
        raise SettingError(
            "warm_start is a fit without a guarantee: its coefficients would carry its records along. Use a fit whose "
            "certificate is private, or mark rows that are public with tacit.public(X, y)."
        )
    raise SettingError(
        "warm_start takes public rows or a released model, and nothing that may be private: mark rows with "
        "tacit.public(X, y) and a model of public rows with tacit.public(model)."
    )


def model_coefficients(start: Any, design: Design) -> NDArray[np.float64]:
    """Coefficients on the user's scale of a released or a public model, as a release has them."""
    if isinstance(start, PublicModel):
        slopes = np.atleast_2d(np.asarray(start.model.coef_, dtype=np.float64))
        constant = np.broadcast_to(np.asarray(getattr(start.model, "intercept_", 0.0), dtype=np.float64), len(slopes))
        rows = np.vstack([constant, slopes.T]) if design.intercept else slopes.T
        found = rows[:, 0] if rows.shape[1] == 1 else rows
    else:
        found = _release_of(start).coefficients()
    shape = (design.width,) if design.outputs == 1 else (design.width, design.outputs)
    if found.shape != shape:
        raise SettingError(f"warm_start has coefficients of shape {found.shape}; this model has {shape}.")
    return np.asarray(found)


def _release_of(model: object) -> Any:
    """Release of a fitted estimator or of a fit of `tacit.glm`."""
    return getattr(model, "release_", getattr(model, "release", None))


def prepared_start(coefficients: NDArray[np.float64], design: Design) -> tuple[float, ...]:
    """Return the prepared coefficients of those on the user's scale, row by row."""
    shift = design.shift() if coefficients.ndim == 1 else 0.0
    theta = np.linalg.solve(design.to_user(), coefficients - shift)
    if not (np.abs(theta) <= LARGEST_START).all():
        raise SettingError("warm_start has coefficients that are not finite or far too large; use l2=… for it.")
    return tuple(theta.ravel().tolist())


def start_fact(start: object) -> PublicFact:
    """What the certificate says of the start."""
    marked = isinstance(start, PublicRows | PublicModel)
    return PublicFact("warm_start", repr(start) if marked else "a released model", "declared")


def without_privacy(names: Any) -> dict[str, Any]:
    """Parameters of the same model on public rows: no noise, and nothing set by hand."""
    by_hand = "warm_start", "clip", "noise_multiplier", "iterations", "step_size", "output", "max_passes"
    of_rows = "delta", "budget", "n_at_least", "max_weight", "max_rows_per_unit", "invalid_rows", "random_state"
    plain = dict.fromkeys((*by_hand, *of_rows))
    chosen = {**plain, "epsilon": math.inf, "relation": "replace-one", "solver": "auto", "inference": False}
    return {name: value for name, value in chosen.items() if name in names}
