"""scikit-learn's conventions for every estimator: parameters, copies, pipelines."""

import copy
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

import tacit
from tacit.errors import BoundsError, BudgetError, DataError, FileError, SettingError


def slope(margin: float, label: float) -> float:
    return math.tanh(margin - label)


def value(margin: float, label: float) -> float:
    return abs(margin - label) + math.log1p(math.exp(-2.0 * abs(margin - label)))


def label_slope(margin: float, label: float) -> float:
    return 1.0 / (1.0 + math.exp(-margin)) - label


def label_value(margin: float, label: float) -> float:
    return math.log1p(math.exp(margin)) - label * margin


LABELS = tacit.own_loss(label_slope, label_value, lipschitz=1.0, curvature=0.25)
OWN = tacit.own_loss(slope, value, lipschitz=1.0, curvature=1.0)
ZOO: dict[str, dict[str, Any]] = {
    "LogisticRegression": {},
    "LinearSVC": {},
    "LinearRegression": {"y_bounds": (-10, 10)},
    "Ridge": {"y_bounds": (-10, 10)},
    "HuberRegressor": {"y_bounds": (-10, 10), "scale": 1.0},
    "QuantileRegressor": {"y_bounds": (-10, 10)},
    "PoissonRegressor": {"y_max": 100},
    "GaussianMean": {},
    "Covariance": {},
    "GaussianNB": {},
    "MarginClassifier": {"loss": LABELS},
    "MarginRegressor": {"loss": OWN, "y_bounds": (-10, 10)},
}
"""Every estimator, and what it must be told besides epsilon and bounds."""
CLASSIFIERS = {"LogisticRegression", "LinearSVC", "MarginClassifier", "GaussianNB"}
WITHOUT_RESPONSE = {"GaussianMean", "Covariance"}
PREDICTING = [name for name in ZOO if name not in WITHOUT_RESPONSE]
LINEAR = [name for name in PREDICTING if name != "GaussianNB"]


def make(name: str, **settings: Any) -> Any:
    chosen = {"epsilon": 2.0, "bounds": (0, 10), "random_state": 3, **ZOO[name], **settings}
    return getattr(tacit, name)(**chosen)


def data(name: str, n: int = 600) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (n, 3))
    z = (X - 5) @ [0.5, -0.3, 0.2]
    if name in CLASSIFIERS:
        return X, (z + rng.logistic(size=n) > 0).astype(int)
    if name == "PoissonRegressor":
        return X, rng.poisson(np.exp(z / 3))
    return X, z + rng.normal(size=n)


def fitted_numbers(model: Any) -> bytes:
    names = ("coef_", "intercept_", "mean_", "covariance_", "class_prior_", "theta_", "var_")
    return b"".join(np.asarray(getattr(model, name)).tobytes() for name in names if hasattr(model, name))


@pytest.mark.parametrize("name", ZOO)
def test_parameters_round_trip(name: str) -> None:
    model = make(name, max_weight=3.0)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert set(model.get_params()) == set(inspect.signature(type(model)).parameters)
    assert twin.set_params(epsilon=0.5).epsilon == 0.5
    assert model.epsilon == 2.0
    assert is_classifier(model) == (name in CLASSIFIERS)
    assert is_regressor(model) == (name not in CLASSIFIERS | WITHOUT_RESPONSE)


@pytest.mark.parametrize("name", ZOO)
def test_the_constructor_checks_and_changes_nothing(name: str) -> None:
    odd: dict[str, Any] = {"epsilon": -1.0, "bounds": "nonsense", "solver": 3, "relation": None}
    model = getattr(tacit, name)(**odd)
    assert {setting: getattr(model, setting) for setting in odd} == odd
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("name", ZOO)
def test_a_fitted_model_survives_copies_and_a_clone_is_not_fitted(name: str) -> None:
    X, y = data(name)
    model = make(name)
    assert model.fit(X, y) is model
    check_is_fitted(model)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert fitted_numbers(twin) == fitted_numbers(model)
        assert twin.certificate_.digest == model.certificate_.digest
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@pytest.mark.parametrize("name", LINEAR)
def test_in_a_pipeline_and_a_search(name: str) -> None:
    X, y = data(name)
    half = FunctionTransformer(lambda values: values / 2).set_output(transform="default")
    pipeline = make_pipeline(half, make(name, bounds=(0, 5), l2=0.0)).fit(X, y)
    plain = make(name, l2=0.0).fit(X, y)
    np.testing.assert_allclose(pipeline[-1].coef_ / 2, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(pipeline.predict(X), plain.predict(X), rtol=1e-9)
    search = GridSearchCV(make(name), {"l2": [0.0, 0.1]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"l2"}


@pytest.mark.parametrize("name", PREDICTING)
def test_frames_fit_and_predict_like_their_matrix(name: str) -> None:
    X, y = data(name)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    plain, framed = make(name).fit(X, y), make(name).fit(frame, pd.Series(y))
    assert fitted_numbers(plain) == fitted_numbers(framed)
    np.testing.assert_allclose(framed.predict(frame), plain.predict(X), rtol=1e-12)
    assert framed.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature"):
        framed.predict(frame[["c", "b", "a"]])
    scaler = StandardScaler().set_output(transform="pandas")
    scaled = make_pipeline(scaler, make(name, bounds=(-3, 3))).fit(frame, y)
    assert scaled[-1].feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_matrices_fit_and_predict_like_their_arrays(name: str, kind: Any) -> None:
    """Sparse columns are scaled and never shifted: that changes nothing without privacy."""
    X, y = data(name)
    X = np.where(X < 6, 0.0, X)
    free, exact = (make(name, epsilon=np.inf) for _ in range(2))
    free.fit(kind(X), y)
    exact.fit(X, y)
    numbers = np.frombuffer(fitted_numbers(free)), np.frombuffer(fitted_numbers(exact))
    np.testing.assert_allclose(*numbers, atol=1e-6)
    if name in WITHOUT_RESPONSE:
        return
    np.testing.assert_allclose(free.predict(kind(X)).astype(float), free.predict(X), rtol=1e-9)
    assert make(name).fit(kind(X), y).certificate_.document["loss"]


@pytest.mark.parametrize("name", ZOO)
def test_t36_missing_bounds_and_budgets_are_refused(name: str) -> None:
    X, y = data(name)
    for scale in (1.0, 0.1):
        with pytest.raises(BoundsError, match="never read off the data"):
            make(name, bounds=None).fit(X * scale, y)
    with pytest.raises(BudgetError, match="no default"):
        make(name, epsilon=None).fit(X, y)


@pytest.mark.parametrize("name", PREDICTING)
def test_files_must_be_there_and_responses_named_in_a_table_are_for_glm(name: str) -> None:
    X, y = data(name)
    with pytest.raises(FileError, match="does not exist"):
        make(name).fit("table.csv", "y")
    with pytest.raises(DataError, match="names of the columns"):
        make(name).fit("table.csv", y)
    with pytest.raises(DataError, match="glm"):
        make(name).fit(X, "y")
    with pytest.raises(DataError, match="y"):
        make(name).fit(X, None)


@pytest.mark.parametrize("name", ZOO)
def test_the_plan_needs_no_data_and_is_the_one_that_runs(name: str) -> None:
    X, y = data(name)
    model = make(name)
    plan = model.plan(600, 3)
    ran = model.fit(X, y).plan_
    assert (plan.steps, plan.budget, plan.loss) == (ran.steps, ran.budget, ran.loss)
    assert plan.guarantee().epsilon <= 2.0


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_every_relation_fits(name: str, relation: str) -> None:
    X, y = data(name)
    if "loss" in ZOO[name] and relation == "add-remove":
        with pytest.raises(SettingError, match="public n for an own loss"):
            make(name, relation=relation, n_at_least=500).fit(X, y)
        return
    model = make(name, relation=relation, n_at_least=500).fit(X, y)
    assert model.certificate_.document["relation"] == relation
    assert np.isfinite(np.frombuffer(fitted_numbers(model))).all()


@pytest.mark.parametrize("name", ZOO)
def test_t38_a_fitted_model_holds_what_was_released_and_no_more(name: str) -> None:
    X, y = data(name)
    model = make(name).fit(X, y)
    added = set(vars(model)) - set(model.get_params())
    shared = {"n_features_in_", "release_", "plan_"}
    own = {"coef_", "intercept_"}
    if is_classifier(model):
        own |= {"classes_"}
    if name == "GaussianNB":
        own = {"classes_", "class_prior_", "theta_", "var_"}
    if name in WITHOUT_RESPONSE:
        own = {"mean_", "location_", "covariance_"} | ({"correlation_"} if name == "Covariance" else set())
    assert added == shared | own


def test_the_certificate_is_built_when_it_is_first_asked_for() -> None:
    X, y = data("LogisticRegression")
    model = make("LogisticRegression")
    assert not hasattr(model, "certificate_")
    model.fit(X, y)
    assert "certificate_" in dir(model)
    assert "certificate_" not in vars(model)
    first = model.certificate_
    assert model.certificate_ is first
    assert model.set_params(epsilon=1.0).fit(X, y).certificate_.digest != first.digest
    assert not hasattr(clone(model), "certificate_")


@pytest.mark.parametrize("name", ZOO)
def test_t08_the_order_of_the_records_changes_no_bit(name: str) -> None:
    X, y = data(name)
    order = np.random.default_rng(1).permutation(len(X))
    first, second = make(name).fit(X, y), make(name).fit(X[order], y[order])
    assert fitted_numbers(first) == fitted_numbers(second)


@pytest.mark.parametrize("name", ZOO)
def test_unprotected_methods_are_named_in_the_docstring(name: str) -> None:
    text = " ".join((inspect.getdoc(getattr(tacit, name)) or "").split())
    assert "differentially private" in text
    if name not in WITHOUT_RESPONSE:
        assert "`predict` and `score` on private records are not private" in text


@pytest.mark.parametrize("name", ZOO)
def test_the_docstring_has_every_parameter_once(name: str) -> None:
    """Parameters of the bases are documented with those of the class, in one section."""
    text = inspect.getdoc(getattr(tacit, name)) or ""
    section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    entries = [line for line in section.splitlines() if line and not line.startswith(" ")]
    documented = [parameter for entry in entries for parameter in entry.split(", ")]
    assert sorted(documented) == sorted(inspect.signature(getattr(tacit, name)).parameters)


@pytest.mark.parametrize("name", ZOO)
def test_epsilon_and_delta_alone_may_be_given_by_position(name: str) -> None:
    parameters = inspect.signature(getattr(tacit, name)).parameters.values()
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert positional == ["epsilon", "delta"]
    with pytest.raises(TypeError):
        getattr(tacit, name)(1.0, 1e-6, None)
