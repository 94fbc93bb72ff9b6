"""Weights, units and exposures beside a table: what must be declared, and what is made of it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as Reference

import tacit
from tacit import LinearRegression, LogisticRegression
from tacit.design.attached_columns import Offset, Unit, Weighting
from tacit.errors import DataError, InputError, SettingError
from tacit.estimators.settings import Declared, class_weights

FACTS: dict[str, Any] = {"bounds": (0, 10)}
SEEDED: dict[str, Any] = {**FACTS, "epsilon": 2.0, "random_state": 1}


def table(n: int = 900) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 10, (n, 2))
    return X, ((X - 5) @ [0.5, -0.3] + rng.logistic(size=n) > 0).astype(np.int64)


def reference(X: Any, y: Any, weights: Any = None, **settings: Any) -> Any:
    return Reference(C=np.inf, solver="newton-cholesky", tol=1e-13, **settings).fit(X, y, weights)


def test_what_is_given_must_be_declared() -> None:
    nothing = Declared()
    nothing.require(())
    for given, words in (
        ({"sample_weight"}, "max_weight"),
        ({"unit"}, "max_rows_per_unit"),
        ({"order"}, "units="),
        ({"exposure"}, "exposure_bounds"),
    ):
        with pytest.raises(InputError, match=words):
            nothing.require(given)
    with pytest.raises(SettingError, match="units="):
        Declared(max_rows_per_unit=3).require(())
    Declared(2.0, 3, (1, 2)).require({"sample_weight", "unit", "order", "exposure"})


def test_declarations_become_those_of_the_record() -> None:
    declared = Declared(2.0, 3, (1.0, np.e))
    names = {"sample_weight": "sample_weight_", "unit": "unit", "order": "day", "exposure": "t"}
    attached = declared.attached(names, (1.0, 4.0))
    assert attached.weighting == Weighting("sample_weight_", 2.0, (1.0, 4.0))
    assert attached.unit == Unit("unit", 3, "day")
    assert attached.offset == Offset("t", 0.0, 1.0, exposure=True)
    assert declared.attached({}, None).weighting is None
    assert Declared(5.0).attached({}, (1.0, 2.0)).weighting == Weighting(None, 1.0, (1.0, 2.0))


@pytest.mark.parametrize(
    "limits",
    [
        {"max_weight": 0.0},
        {"max_weight": np.nan},
        {"max_weight": "1"},
        {"max_weight": True},
        {"max_rows_per_unit": 2.5},
        {"max_rows_per_unit": 0},
        {"max_rows_per_unit": True},
    ],
    ids=str,
)
def test_limits_are_checked_before_the_table_is_touched(limits: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(limits))):
        LogisticRegression(epsilon=1.0, **FACTS, **limits).plan(100, 2)


def test_undeclared_weights_and_units_are_refused_by_fit() -> None:
    X, y = table()
    model = LogisticRegression(**SEEDED)
    with pytest.raises(SettingError, match="max_weight"):
        model.fit(X, y, sample_weight=np.ones(len(X)))
    with pytest.raises(SettingError, match="max_rows_per_unit"):
        model.fit(X, y, units=np.arange(len(X)))
    with pytest.raises(SettingError, match="units="):
        LogisticRegression(**SEEDED, max_rows_per_unit=2).fit(X, y)


def test_t11_weights_above_the_maximum_are_capped_and_that_is_always_said() -> None:
    X, y = table()
    weights, far = np.full(len(X), 2.0), np.full(len(X), 2.0)
    far[5], weights[5] = 1e9, 3.0
    settings: dict[str, Any] = {**SEEDED, "max_weight": 3.0}
    with pytest.warns(UserWarning, match="max_weight=3 are capped") as first:
        capped = LogisticRegression(**settings).fit(X, y, sample_weight=far)
    with pytest.warns(UserWarning, match="max_weight=3 are capped") as second:
        plain = LogisticRegression(**settings).fit(X, y, sample_weight=weights)
    assert [str(w.message) for w in first] == [str(w.message) for w in second]
    assert capped.coef_.tobytes() == plain.coef_.tobytes()
    facts = {fact["name"]: fact for fact in plain.certificate_.document["public"]}
    assert facts["sample_weight"]["value"] == {"max_weight": 3.0, "larger weights": "capped"}
    assert facts["sample_weight"]["source"] == "declared"


@pytest.mark.filterwarnings("ignore:Weights above")
def test_weights_without_privacy_are_scikit_learns() -> None:
    X, y = table()
    weights = np.random.default_rng(0).uniform(0, 2, len(X))
    model = LogisticRegression(epsilon=np.inf, max_weight=5.0, **FACTS)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, reference(X, y, weights).coef_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_t11_the_price_does_not_depend_on_the_weights() -> None:
    X, y = table()
    settings: dict[str, Any] = {**SEEDED, "max_weight": 50.0}
    weights = np.full(len(X), 50.0)
    model = LogisticRegression(**settings).fit(X, y, sample_weight=weights)
    weights[: len(X) // 2] = 0.0
    half = LogisticRegression(**settings).fit(X, y, sample_weight=weights)
    assert half.plan_.steps == model.plan_.steps
    assert half.certificate_.document["events"] == model.certificate_.document["events"]
    # All weights at the maximum: the model without weights, but for the noise of their sum.
    heavy: dict[str, Any] = {**settings, "epsilon": 1000.0}
    weighted = LogisticRegression(**heavy).fit(X, y, sample_weight=np.full(len(X), 50.0))
    plain = LogisticRegression(**{**SEEDED, "epsilon": 1000.0}).fit(X, y)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=0.01)


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, np.nan], [1.0], [[1.0, 1.0]], ["a", "b"]])
def test_t41_bad_weights_are_refused_without_their_values(weights: Any) -> None:
    X, y = table(200)
    values = np.resize(weights, 200) if np.ndim(weights) == 1 and len(weights) == 2 else weights
    with pytest.raises(DataError) as caught:
        LogisticRegression(**SEEDED, max_weight=2.0).fit(X, y, sample_weight=values)
    assert "-1" not in str(caught.value)


def test_weights_are_sequences() -> None:
    X, y = table()
    with pytest.raises(DataError, match="sequences"):
        LogisticRegression(**SEEDED, max_weight=2.0).fit(X, y, sample_weight="x0")


def test_class_weights_are_scikit_learns() -> None:
    X, y = table()
    weights = {0: 1.0, 1: 5.0}
    model = LogisticRegression(epsilon=np.inf, class_weight=weights, **FACTS).fit(X, y)
    expected = reference(X, y, class_weight=weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-6)
    facts = {fact["name"]: fact for fact in model.certificate_.document["public"]}
    assert facts["class_weight"]["value"] == [1.0, 5.0]


def test_t11_class_weights_are_the_users_own() -> None:
    assert class_weights(None, [0, 1]) is None
    assert class_weights({"b": 2, "a": 0.5}, ["a", "b", "c"]) == (0.5, 2.0, 1.0)
    assert class_weights({np.int64(1): 3}, [0, 1]) == (1.0, 3.0)
    for weights, words in (
        ("balanced", "read off the data"),
        ([1.0, 2.0], "dictionary"),
        ({2: 1.0}, "not among"),
        ({0: "1"}, "numbers"),
    ):
        with pytest.raises(SettingError, match=words):
            class_weights(weights, [0, 1])
    X, y = table()
    balanced: dict[str, Any] = {"class_weight": "balanced"}
    with pytest.raises(SettingError, match="balanced"):
        LogisticRegression(**SEEDED, **balanced).fit(X, y)
    with pytest.raises(SettingError, match="not negative"):
        LogisticRegression(**SEEDED, class_weight={0: -1.0}).fit(X, y)


def test_t35_a_unit_counts_no_more_than_its_declared_records() -> None:
    """Of a unit with many records only the declared number move the fit, by order or content."""
    rng = np.random.default_rng(0)
    X, y = table()
    units = np.arange(len(X)) // 3
    settings: dict[str, Any] = {**SEEDED, "max_rows_per_unit": 2}
    order = np.arange(len(X)) % 3
    model = LogisticRegression(**settings).fit(X, y, units=units, order=order)
    changed, labels = np.array(X), np.array(y)
    changed[order == 2] = rng.uniform(0, 10, (len(X) // 3, 2))
    labels[order == 2] = 1 - labels[order == 2]
    same = LogisticRegression(**settings).fit(changed, labels, units=units, order=order)
    assert model.coef_.tobytes() == same.coef_.tobytes()
    assert model.certificate_.document["unit"] == "unit"
    facts = {fact["name"]: fact for fact in model.certificate_.document["public"]}
    assert facts["max_rows_per_unit"]["value"] == 2


def test_t35_the_plan_of_units_says_so() -> None:
    model = LinearRegression(epsilon=1.0, y_bounds=(0, 1), max_rows_per_unit=3, **FACTS)
    plan = model.plan(1000, 2)
    assert plan.guarantee().unit == "unit"
    assert plan.guarantee().epsilon <= 1.0
    assert plan.design.attached.unit == Unit("unit", 3)


LOOSE: dict[str, dict[str, Any]] = {
    "LogisticRegression": {},
    "LinearRegression": {"y_bounds": (-15, 25)},
    "HuberRegressor": {"y_bounds": (-15, 25)},
    "QuantileRegressor": {"y_bounds": (-15, 25), "quantile": 0.8},
    "PoissonRegressor": {"y_max": 60},
}


def large(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (40_000, 3))
    z = (X - 5) @ [0.5, -0.3, 0.2]
    if name == "LogisticRegression":
        return X, z + rng.logistic(size=len(X)) > 0
    if name == "PoissonRegressor":
        return X, rng.poisson(np.exp(1.0 + 0.3 * z))
    return X, z + rng.normal(size=len(X))


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("name", LOOSE)
def test_a_loose_maximum_of_the_weights_costs_noise_and_no_bias(name: str) -> None:
    """All weights 1, declared to be at most 20: one seeded fit on n = 40,000 records, ε = 4."""
    X, y = large(name)
    settings: dict[str, Any] = {"bounds": (0, 10), "epsilon": 4.0, "random_state": 0, **LOOSE[name]}
    plain = getattr(tacit, name)(**settings).fit(X, y)
    loose = getattr(tacit, name)(**settings, max_weight=20.0)
    loose.fit(X, y, sample_weight=np.ones(len(X)))
    np.testing.assert_allclose(loose.coef_, plain.coef_, atol=0.1)


@pytest.mark.parametrize("name", LOOSE)
def test_a_loose_bound_on_a_private_number_of_records_costs_no_bias(name: str) -> None:
    """40,000 records, declared to be at least 2,000: one seeded fit, ε = 4."""
    X, y = large(name)
    settings: dict[str, Any] = {"bounds": (0, 10), "epsilon": 4.0, "random_state": 0, **LOOSE[name]}
    plain = getattr(tacit, name)(**settings).fit(X, y)
    loose = getattr(tacit, name)(**settings, relation="add-remove", n_at_least=2000).fit(X, y)
    np.testing.assert_allclose(loose.coef_, plain.coef_, atol=0.1)
