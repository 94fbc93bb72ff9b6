"""Settings at their limits: what is refused, what is held, and what a wish cannot break."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import LogisticRegression
from tacit.errors import BudgetError, DataError, InputError, SettingError
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table

GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10)}
RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (2000, 2))
Y = (RNG.random(2000) < 1 / (1 + np.exp(-(X - 5) @ [0.5, -0.3]))).astype(int)


def test_a_response_named_in_the_table_is_no_feature() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y})
    with pytest.raises(DataError, match="glm"):
        LogisticRegression(**GOOD).fit(frame, "label")


def test_one_new_record_is_predicted() -> None:
    table = pd.DataFrame(clinic_table(600))
    fit = tacit.glm("readmit ~ age", table, tacit.Schema.parse(CLINIC_SCHEMA), epsilon=4.0)
    assert fit.predict(table[:1]).shape == (1,)
    np.testing.assert_array_equal(fit.predict(table[:1]), fit.predict(table)[:1])
    assert fit.predict(table[:0]).shape == (0,)


def test_numpy_numbers_are_settings() -> None:
    settings: dict[str, Any] = {"iterations": np.int64(5), "step_size": np.float32(0.5)}
    model = LogisticRegression(**GOOD, **settings)
    plan = model.plan(999, 2)
    assert plan.steps[-1].times == 5


@pytest.mark.parametrize("inference", [True, False])
@pytest.mark.parametrize("passes", [1, 2, 5, 8, 30])
def test_a_declared_cap_on_passes_holds(passes: int, inference: bool) -> None:
    model = LogisticRegression(**GOOD, max_passes=passes, inference=inference)
    for n in (1000, 10**7):
        try:
            plan = model.plan(n, 3)
        except SettingError:
            continue
        assert plan.passes <= passes


def test_the_default_cap_holds_with_intervals() -> None:
    assert LogisticRegression(**GOOD, inference=True).plan(10**6, 10).queries <= 48


def test_contradicting_wishes_are_refused() -> None:
    with pytest.raises(SettingError, match="max_passes"):
        LogisticRegression(**GOOD, iterations=500, max_passes=5, solver="whitened-gradient").plan(1000, 2)


@pytest.mark.parametrize("settings", [{"l2": 1e300}, {"radius": 1e300, "solver": "gradient"}])
def test_settings_beyond_floats_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        LogisticRegression(**GOOD, **settings).fit(X, Y)


def test_a_tiny_radius_holds_or_is_refused() -> None:
    try:
        model = LogisticRegression(**GOOD, radius=1e-300).fit(X, Y)
    except InputError:
        return
    assert np.linalg.norm(model.coef_) <= 1e-300


@pytest.mark.parametrize("n", [1000.5, "1000", None, True])
def test_a_number_of_records_is_a_whole_number(n: Any) -> None:
    with pytest.raises(SettingError):
        LogisticRegression(**GOOD).plan(n, 3)


def test_a_huge_budget_is_not_called_small() -> None:
    with pytest.raises(BudgetError, match="beyond"):
        LogisticRegression(epsilon=1e25, bounds=(0, 10)).plan(1000, 3)


def test_plain_descent_is_refused_where_n_is_private() -> None:
    """Its steps would be too long by the unknown factor n / n_at_least; the default's are not."""
    settings: dict[str, Any] = {**GOOD, "epsilon": 5.0, "relation": "add-remove"}
    with pytest.raises(SettingError, match="public n"):
        LogisticRegression(**settings, n_at_least=100, solver="gradient").fit(X, Y)
    model = LogisticRegression(**settings, n_at_least=100, random_state=0)
    assert np.abs(model.fit(X, Y).coef_[0] - [0.5, -0.3]).max() < 0.25
