"""Bad input: the right error, helpful words, no value and no row, and nothing spent."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit import Budget, LogisticRegression
from tacit.errors import BoundsError, BudgetError, DataError, InputError, SchemaError, SettingError

CANARY = 7654.321
"""A value that no message may hold."""
ROW = 617
"""Where the bad record stands."""
N = 800
GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10)}

pytestmark = pytest.mark.usefixtures("nothing_spent")

SETTINGS: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "no budget": ({"epsilon": None}, BudgetError, "epsilon has no default"),
    "epsilon zero": ({"epsilon": 0.0}, BudgetError, "above 0"),
    "epsilon negative": ({"epsilon": -1.0}, BudgetError, "above 0"),
    "epsilon NaN": ({"epsilon": np.nan}, BudgetError, "NaN"),
    "epsilon text": ({"epsilon": "1"}, BudgetError, "number"),
    "delta zero": ({"delta": 0.0}, SettingError, "delta"),
    "delta one": ({"delta": 1.0}, BudgetError, "delta"),
    "delta negative": ({"delta": -0.1}, BudgetError, "delta"),
    "delta NaN": ({"delta": np.nan}, BudgetError, "delta"),
    "two budgets": ({"budget": Budget(mu=1.0)}, BudgetError, "not both"),
    "no Budget": ({"epsilon": None, "budget": 1.0}, BudgetError, "tacit.Budget"),
    "budget too small": ({"epsilon": 1e-18, "delta": 1e-18}, BudgetError, "too small"),
    "bounds missing": ({"bounds": None}, BoundsError, r'bounds=.*row_norm=.*"private"'),
    "bounds reversed": ({"bounds": (10, 0)}, BoundsError, "reversed"),
    "bounds equal": ({"bounds": (1, 1)}, BoundsError, "below"),
    "bounds too long": ({"bounds": ([0, 0, 0], [1, 1, 1])}, BoundsError, "length 2"),
    "bounds too short": ({"bounds": ([0], [1])}, BoundsError, "length 2"),
    "one bound reversed": ({"bounds": ([1, 0], [0, 1])}, BoundsError, "reversed"),
    "bounds of three": ({"bounds": (0, 1, 2)}, BoundsError, "two numbers"),
    "bounds text": ({"bounds": "public"}, BoundsError, '"private"'),
    "bounds infinite": ({"bounds": (0, np.inf)}, BoundsError, "finite"),
    "bounds NaN": ({"bounds": (np.nan, 1)}, BoundsError, "finite"),
    "row norm zero": ({"row_norm": 0.0}, BoundsError, "row_norm"),
    "row norm NaN": ({"row_norm": np.nan}, BoundsError, "row_norm"),
    "row norm text": ({"row_norm": "1"}, BoundsError, "row_norm"),
    "relation": ({"relation": "swap"}, SchemaError, "replace-one"),
    "relation None": ({"relation": None}, SchemaError, "replace-one"),
    "add-remove without n": ({"relation": "add-remove"}, SettingError, "n_at_least"),
    "n_at_least one": ({"relation": "add-remove", "n_at_least": 1}, SettingError, "n_at_least"),
    "solver": ({"solver": "magic"}, SettingError, "'gradient'"),
    "output": ({"output": "first"}, SettingError, "'tail'"),
    "iterations zero": ({"iterations": 0}, SettingError, "iterations"),
    "iterations half": ({"iterations": 1.5}, SettingError, "iterations"),
    "iterations true": ({"iterations": True}, SettingError, "iterations"),
    "passes zero": ({"max_passes": 0}, SettingError, "max_passes"),
    "step size zero": ({"step_size": 0.0}, SettingError, "step_size"),
    "step size NaN": ({"step_size": np.nan}, SettingError, "step_size"),
    "step size infinite": ({"step_size": np.inf}, SettingError, "step_size"),
    "l2 negative": ({"l2": -1.0}, SettingError, "l2"),
    "l2 NaN": ({"l2": np.nan}, SettingError, "l2"),
    "l2 text": ({"l2": "1"}, SettingError, "l2"),
    "radius zero": ({"radius": 0.0}, SettingError, "radius"),
    "radius infinite": ({"radius": np.inf}, SettingError, "radius"),
    "prior mean short": ({"prior_mean": [1.0], "l2": 1.0}, SettingError, "2 entries"),
    "prior mean NaN": ({"prior_mean": [1.0, np.nan]}, SettingError, "prior_mean"),
    "invalid rows": ({"invalid_rows": "drop"}, SettingError, "'zero'"),
    "seed negative": ({"random_state": -1}, SettingError, "random_state"),
    "seed half": ({"random_state": 0.5}, SettingError, "random_state"),
    "one class": ({"classes": [0]}, SettingError, "two different"),
    "equal classes": ({"classes": [0, 0]}, SettingError, "two different"),
    "three equal classes": ({"classes": [0, 1, 1]}, SettingError, "three different"),
    "feature map": ({"feature_map": "magic"}, SettingError, "feature_map"),
    "largest weight": ({"max_weight": 0.0}, SettingError, "max_weight"),
    "balanced": ({"class_weight": "balanced"}, SettingError, "read off the data"),
}


def matrix() -> Any:
    return np.random.default_rng(0).uniform(0, 10, (N, 2))


def labels() -> Any:
    return np.random.default_rng(1).integers(0, 2, N)


def marked(value: Any, kind: Any = float) -> Any:
    """The matrix with one bad entry, beside a canary in the same record."""
    X = matrix().astype(kind)
    X[ROW] = [value, CANARY]
    return X


def labels_with(value: Any) -> Any:
    y = labels().astype(object)
    y[ROW] = value
    return y


def frame_with_text() -> Any:
    return pd.DataFrame({"age": marked("about 7654.321", object)[:, 0], "bmi": matrix()[:, 1]})


TABLES: dict[str, tuple[Any, Any, type[InputError], str]] = {
    "NaN": (marked(np.nan), labels(), DataError, "invalid_rows"),
    "infinite": (marked(-np.inf), labels(), DataError, "invalid_rows"),
    "masked": (np.ma.masked_greater(marked(20.0), 15.0), labels(), DataError, "invalid_rows"),
    "text": (marked(f"about {CANARY}", object), labels(), DataError, "'x0'"),
    "text in a frame": (frame_with_text(), labels(), DataError, "'age'"),
    "text in polars": (pl.DataFrame({"age": ["about 7654.321"] * N}), labels(), DataError, "'age'"),
    "dates": (matrix().astype("datetime64[s]"), labels(), DataError, "not numbers"),
    "complex": (matrix() + 1j, labels(), DataError, "no number"),
    "fractions among labels": (matrix(), labels_with(CANARY), DataError, "regression"),
    "one kind of labels": (matrix(), np.zeros(N), DataError, "fewer"),
    "missing label": (matrix(), labels_with(None), DataError, "invalid_rows"),
    "NaN label": (matrix(), labels_with(np.nan), DataError, "invalid_rows"),
    "continuous labels": (matrix(), matrix()[:, 0], DataError, "regression"),
    "no labels": (matrix(), None, DataError, "y"),
    "labels of two dimensions": (matrix(), np.column_stack([labels()] * 2), DataError, "one column"),
    "lengths differ": (matrix(), labels()[:-1], DataError, "equally many"),
    "empty": (matrix()[:0], labels()[:0], DataError, "fewer than 2 records"),
    "one record": (matrix()[:1], labels()[:1], DataError, "more than one sample"),
    "no columns": (matrix()[:, :0], labels(), DataError, "no columns"),
    "one dimension": (matrix()[:, 0], labels(), DataError, "reshape"),
    "three dimensions": (matrix()[:, :, None], labels(), DataError, "two dimensions"),
    "ragged": ([[1.0, 2.0], [3.0], [4.0, 5.0]], [0, 1, 0], DataError, "fewer fields"),
    "repeated names": (pd.DataFrame(matrix(), columns=["a", "a"]), labels(), DataError, "Column names must differ"),
}


def check_words(message: str) -> None:
    """No value of the table, no row number, no number of records but the smallest allowed."""
    for secret in ("7654", str(ROW), str(ROW + 1), str(N), str(N - 1)):
        assert secret not in message
    assert len(message) > 15


def check_chain(error: BaseException | None) -> None:
    """What a traceback would print: the error and all it was raised from or during."""
    while error is not None:
        check_words(str(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("case", SETTINGS)
@pytest.mark.filterwarnings("ignore:The budget is small")
def test_settings(case: str) -> None:
    changes, kind, words = SETTINGS[case]
    model = LogisticRegression(**{**GOOD, **changes})
    with pytest.raises(kind, match=words) as caught:
        model.fit(matrix(), labels())
    assert isinstance(caught.value, ValueError)
    check_words(str(caught.value))
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "certificate_")


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_are_refused_by_the_plan_too(case: str) -> None:
    changes, kind, words = SETTINGS[case]
    with pytest.raises(kind, match=words):
        LogisticRegression(**{**GOOD, **changes}).plan(N, 2)


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
@pytest.mark.parametrize("case", TABLES)
def test_t41_tables(case: str, epsilon: float) -> None:
    X, y, kind, words = TABLES[case]
    model = LogisticRegression(**{**GOOD, "epsilon": epsilon})
    with pytest.raises(kind, match=words) as caught:
        model.fit(X, y)
    assert isinstance(caught.value, ValueError)
    check_chain(caught.value)
    assert not hasattr(model, "coef_")


def test_labels_beside_the_declared_ones_are_invalid_rows() -> None:
    model = LogisticRegression(**GOOD, classes=["no", "yes"])
    with pytest.raises(DataError, match="not declared"):
        model.fit(matrix(), labels())


def test_a_failed_refit_does_not_pass_for_a_fit() -> None:
    """The fitted attributes are those of the last successful fit, or none."""
    model = LogisticRegression(**GOOD)
    with pytest.raises(DataError):
        model.fit(marked(np.nan), labels())
    assert not [name for name in vars(model) if name.endswith("_") and "feature" not in name]
