"""P6: fits inside scikit-learn's searches and behind fitted transformers warn, and the certificate says so."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, PolynomialFeatures, StandardScaler

import tacit
from tacit.contract.plan import CHOICES, PREPROCESSING
from tacit.errors import PreprocessingWarning, PrivacyWarning
from tacit.estimators.surroundings import is_public_map
from tacit.ledger.repeated_fits import RefitWarning
from tacit.report.statements import premises

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"age": RNG.uniform(20, 80, 500), "bmi": RNG.uniform(15, 45, 500), "ward": ["a", "b"] * 250})
NUMBERS = TABLE[["age", "bmi"]].to_numpy()
LABELS = (NUMBERS[:, 0] + RNG.normal(0, 20, 500) > 50).astype(int)
ENDS = {"age": (0, 100), "bmi": (10, 60)}


def model(**settings: Any) -> Any:
    return tacit.LogisticRegression(**{"epsilon": 2.0, "bounds": (-3, 3), "classes": [0, 1], **settings})


def assumed(fitted: Any) -> dict[str, Any]:
    return {it["name"]: it["value"] for it in fitted.certificate_.document["public"] if it["source"] == "assumed"}


def warned(call: Any) -> list[type]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [it.category for it in found if issubclass(it.category, RefitWarning | PreprocessingWarning)]


@pytest.mark.filterwarnings("ignore:The budget")
@pytest.mark.parametrize(
    ("transformer", "names"),
    [
        (StandardScaler(), ["StandardScaler"]),
        (SimpleImputer(), ["SimpleImputer"]),
        (make_pipeline(StandardScaler(), PCA(1)), ["StandardScaler", "PCA"]),
        (make_union(PolynomialFeatures(), PCA(1)), ["PCA"]),
        (make_column_transformer((StandardScaler(), [0]), remainder="passthrough"), ["StandardScaler"]),
    ],
    ids=lambda it: it if isinstance(it, str) else None,
)
def test_a_fit_behind_a_fitted_transformer_warns_and_its_certificate_says_so(transformer: Any, names: Any) -> None:
    pipeline = make_pipeline(transformer, model(bounds=(-1e4, 1e4)))
    with pytest.warns(PreprocessingWarning, match=rf"{names[0]}.*does not cover"):
        pipeline.fit(NUMBERS.copy(), LABELS)
    assert assumed(pipeline[-1])[PREPROCESSING] == names
    assert issubclass(PreprocessingWarning, PrivacyWarning)


@pytest.mark.parametrize(
    "transformer",
    [
        FunctionTransformer(lambda X: X / 50),
        Normalizer(),
        PolynomialFeatures(),
        "passthrough",
        tacit.BoundsScaler(bounds=(0, 100)),
        make_pipeline(tacit.BoundsScaler(bounds=(0, 100)), Normalizer()),
    ],
    ids=lambda transformer: type(transformer).__name__,
)
def test_maps_that_learn_nothing_do_not_warn(transformer: Any) -> None:
    pipeline = make_pipeline(transformer, model(bounds=(-1e4, 1e4)))
    assert warned(lambda: pipeline.fit(NUMBERS.copy(), LABELS)) == []
    assert PREPROCESSING not in assumed(pipeline[-1])


def test_our_own_transformers_do_not_warn_in_a_column_transformer() -> None:
    columns = make_column_transformer(
        (tacit.BoundsScaler(bounds=ENDS), ["age", "bmi"]), (tacit.OneHotLevels(levels={"ward": ["a", "b"]}), ["ward"])
    )
    pipeline = make_pipeline(columns, model())
    assert warned(lambda: pipeline.fit(TABLE.copy(), LABELS)) == []
    assert set(assumed(pipeline[-1])) & {PREPROCESSING, CHOICES} == set()


@pytest.mark.parametrize(
    ("encoder", "public"),
    [
        (OneHotEncoder(), False),
        (OneHotEncoder(categories=[["a", "b"]]), True),
        (OneHotEncoder(categories=[["a", "b"]], min_frequency=3), False),
        (OneHotEncoder(categories=[["a", "b"]], drop="if_binary"), True),
        (StandardScaler(), False),
        (Normalizer(), True),
    ],
    ids=str,
)
def test_what_is_a_public_map(encoder: Any, public: bool) -> None:
    assert is_public_map(encoder) is public


def test_a_transformer_of_ones_own_is_taken_for_fitted() -> None:
    class Own(TransformerMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None) -> Any:
            del X, y
            return self

        def transform(self, X: Any) -> Any:
            return X / 50

    assert warned(lambda: make_pipeline(Own(), model()).fit(NUMBERS.copy(), LABELS)) == [PreprocessingWarning]


SEARCHES = {
    "GridSearchCV": lambda it: GridSearchCV(it, {"l2": [0.0, 0.1]}, cv=2).fit(NUMBERS, LABELS),
    "RandomizedSearchCV": lambda it: RandomizedSearchCV(it, {"l2": [0.0, 0.1]}, n_iter=1, cv=2).fit(NUMBERS, LABELS),
    "cross_val_score": lambda it: cross_val_score(it, NUMBERS, LABELS, cv=2),
    "cross_validate": lambda it: cross_validate(it, NUMBERS, LABELS, cv=2),
    "cross_val_predict": lambda it: cross_val_predict(it, NUMBERS, LABELS, cv=2),
    "OneVsRestClassifier": lambda it: OneVsRestClassifier(it).fit(NUMBERS, LABELS + (NUMBERS[:, 1] > 30)),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_fits_inside_a_search_are_fits_of_the_same_data(name: str) -> None:
    with pytest.warns(RefitWarning, match=f"{name} of scikit-learn fits the same data several times"):
        SEARCHES[name](model())


def test_the_winner_of_a_search_certifies_that_its_choice_is_assumed() -> None:
    with pytest.warns(PreprocessingWarning), pytest.warns(RefitWarning):
        found = GridSearchCV(make_pipeline(StandardScaler(), model()), {"logisticregression__l2": [0.0]}, cv=2).fit(
            NUMBERS, LABELS
        )
    facts = assumed(found.best_estimator_[-1])
    assert facts[PREPROCESSING] == ["StandardScaler"]
    assert facts[CHOICES] == ["GridSearchCV"]
    said = " ".join(premises(found.best_estimator_[-1].certificate_))
    assert f'"{PREPROCESSING}" is public' in said
    assert f'"{CHOICES}" is public' in said


def test_a_response_behind_a_fitted_transformer_warns() -> None:
    inner = tacit.LinearRegression(epsilon=2.0, bounds=(0, 100), y_bounds=(-3, 3))
    with pytest.warns(PreprocessingWarning, match="StandardScaler"):
        TransformedTargetRegressor(inner, transformer=StandardScaler()).fit(NUMBERS.copy(), NUMBERS[:, 1])
    logged = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1)
    assert warned(lambda: logged.fit(NUMBERS.copy(), NUMBERS[:, 1])) == []


def test_within_a_ledger_fits_are_charged_and_scores_and_preprocessing_still_warn() -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=30, delta=1e-3)):
        with pytest.warns(PrivacyWarning, match="scores on private records"):
            SEARCHES["GridSearchCV"](model())
        assert warned(lambda: make_pipeline(StandardScaler(), model()).fit(NUMBERS, LABELS)) == [PreprocessingWarning]


@pytest.mark.parametrize("settings", [{"epsilon": np.inf}, {"random_state": 1}])
def test_what_is_not_private_does_not_warn(settings: Any) -> None:
    assert warned(lambda: make_pipeline(StandardScaler(), model(**settings)).fit(NUMBERS, LABELS)) == []
    assert warned(lambda: SEARCHES["GridSearchCV"](model(**settings))) == []


def test_only_steps_before_the_model_count() -> None:
    first = Pipeline([("whiten", tacit.PrivateWhitener(epsilon=1.0, bounds=(0, 100))), ("scale", StandardScaler())])
    assert PreprocessingWarning not in warned(lambda: first.fit(NUMBERS.copy(), LABELS))
    assert warned(lambda: model(bounds=(0, 100)).fit(NUMBERS.copy(), LABELS)) == []


def test_a_private_search_behind_a_fitted_transformer_says_so() -> None:
    search = tacit.PrivateSearchCV(model(epsilon=4.0), {"l2": [0.01, 0.1]}, mean_runs=3)
    pipeline = make_pipeline(StandardScaler(), search)
    with pytest.warns(PreprocessingWarning, match="StandardScaler"):
        pipeline.fit(NUMBERS.copy(), LABELS)
    assert assumed(search)[PREPROCESSING] == ["StandardScaler"]
    assert warned(lambda: search.fit(NUMBERS / 50, LABELS)) == []
    assert PREPROCESSING not in assumed(search)
