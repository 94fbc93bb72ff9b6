"""Transformers of declared bounds and levels: fixed maps that compose, and read nothing off the records."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

import tacit
from tacit import BoundsScaler, OneHotLevels
from tacit.errors import BoundsError, SettingError

TABLE = pd.DataFrame({"age": [20.0, 50.0, 130.0], "bmi": [10.0, 35.0, 60.0], "ward": ["b", "a", "c"]})
ENDS = {"age": (0, 100), "bmi": (10, 60)}
WARDS = {"ward": ["a", "b", "c", "d"]}


def test_bounds_become_minus_one_and_one() -> None:
    """As scikit-learn's scaler does that is fitted to the bounds themselves, and clips."""
    numbers = TABLE[["age", "bmi"]]
    ends = MinMaxScaler((-1, 1), clip=True).fit(pd.DataFrame({"age": [0, 100], "bmi": [10, 60]}))
    np.testing.assert_allclose(BoundsScaler(ENDS).fit_transform(numbers), ends.transform(numbers), atol=1e-15)


def test_levels_become_indicators() -> None:
    ours = OneHotLevels(WARDS).fit(TABLE[["ward"]])
    theirs = OneHotEncoder(categories=[WARDS["ward"]], sparse_output=False).fit(TABLE[["ward"]])
    np.testing.assert_array_equal(ours.transform(TABLE[["ward"]]), theirs.transform(TABLE[["ward"]]))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    dropped = OneHotLevels(WARDS, drop_first=True).fit(TABLE[["ward"]])
    assert dropped.get_feature_names_out().tolist() == ["ward_b", "ward_c", "ward_d"]
    np.testing.assert_array_equal(dropped.transform(TABLE[["ward"]]), ours.transform(TABLE[["ward"]])[:, 1:])


@pytest.mark.parametrize("codes", [[1, 2, 3], ["1", "2", "3"], [1.0, 2.0, 3.0]])
def test_a_level_is_the_same_however_it_is_written(codes: Any) -> None:
    found = OneHotLevels([["1", "2", "3"]]).fit_transform(np.array([[code] for code in codes]))
    np.testing.assert_array_equal(found, np.eye(3))


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_they_compose_in_a_column_transformer_with_set_output(output: Any) -> None:
    columns = make_column_transformer(
        (BoundsScaler(ENDS), ["age", "bmi"]), (OneHotLevels(WARDS), ["ward"]), verbose_feature_names_out=False
    ).set_output(transform=output)
    found = columns.fit_transform(TABLE)
    assert isinstance(found, pd.DataFrame if output == "pandas" else pl.DataFrame)
    assert list(found.columns) == ["age", "bmi", "ward_a", "ward_b", "ward_c", "ward_d"]
    twin = clone(columns).fit(TABLE.iloc[:1])
    np.testing.assert_array_equal(np.asarray(twin.transform(TABLE)), np.asarray(found))


def test_nothing_is_learnt_from_the_records() -> None:
    """Fitted to any table of the same columns, also one without records, the map is the same."""
    others = (TABLE.iloc[:0], TABLE.iloc[:1], TABLE.assign(age=np.nan, bmi=1e9, ward="z"))
    for make, columns in ((lambda: BoundsScaler(ENDS), ["age", "bmi"]), (lambda: OneHotLevels(WARDS), ["ward"])):
        expected = make().fit(TABLE[columns]).transform(TABLE[columns])
        for other in others:
            fitted = make().fit(other[columns])
            np.testing.assert_array_equal(fitted.transform(TABLE[columns]), expected)
            assert set(vars(fitted)) - set(fitted.get_params()) == {"feature_names_in_", "n_features_in_"}


def test_a_record_changes_its_own_row_alone() -> None:
    changed = pd.DataFrame({"age": [20.0, np.nan, 130.0], "bmi": [10.0, 1e300, 60.0], "ward": ["b", "undeclared", "c"]})
    for model, columns in ((BoundsScaler(ENDS), ["age", "bmi"]), (OneHotLevels(WARDS), ["ward"])):
        before, after = model.fit_transform(TABLE[columns]), model.fit_transform(changed[columns])
        assert np.isnan(after[1]).all()
        np.testing.assert_array_equal(np.delete(before, 1, 0), np.delete(after, 1, 0))


def test_undeclared_and_missing_labels_may_count_as_a_declared_one() -> None:
    labels = np.array([["a"], ["undeclared"], [None]], dtype=object)
    found = OneHotLevels([["a", "other"]], other="other").fit_transform(labels)
    np.testing.assert_array_equal(found, [[1, 0], [0, 1], [0, 1]])


def test_sparse_matrices_and_lists_are_read() -> None:
    X = np.array([[0.0, 5.0], [5.0, 0.0]])
    expected = BoundsScaler((0, 10)).fit_transform(X)
    for other in (sparse.csr_array(X), X.tolist(), pl.DataFrame(X, schema=["a", "b"])):
        np.testing.assert_array_equal(BoundsScaler((0, 10)).fit_transform(other), expected)


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        (BoundsScaler(), BoundsError, "never read off the data"),
        (BoundsScaler((3, 1)), BoundsError, "reversed"),
        (BoundsScaler("private"), SettingError, "no budget"),
        (BoundsScaler({"age": (0, 1)}), BoundsError, "missing"),
    ],
)
def test_bad_bounds_are_refused_at_fit(model: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        model.fit(TABLE[["age", "bmi"]])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "never read off the data"),
        ({"levels": "ab"}, "never read off"),
        ({"levels": {"ward": "ab"}}, "is a text"),
        ({"levels": {"bed": ["a", "b"]}}, "every column"),
        ({"levels": [["a", "b"], ["a", "b"]]}, "1 columns"),
        ({"levels": [["a"]]}, "at least two"),
        ({"levels": [["a", "a"]]}, "all different"),
        ({"levels": [["a", "b"]], "other": "z"}, "no level"),
    ],
)
def test_bad_levels_are_refused_at_fit(settings: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        OneHotLevels(**settings).fit(TABLE[["ward"]])


def test_they_are_fitted_before_they_transform_and_know_their_columns() -> None:
    with pytest.raises(NotFittedError):
        BoundsScaler(ENDS).transform(TABLE[["age", "bmi"]])
    fitted = BoundsScaler(ENDS).fit(TABLE[["age", "bmi"]])
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(TABLE[["bmi", "age"]])
    plain = BoundsScaler((0, 1)).fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="expecting 2 features"):
        plain.transform(np.zeros((2, 3)))
    for names in (["a"], ["a", "b", "c"]):
        with pytest.raises(SettingError, match="length"):
            plain.get_feature_names_out(names)
    with pytest.raises(SettingError, match="not equal"):
        fitted.get_feature_names_out(["bmi", "age"])


def test_a_model_behind_them_is_the_model_with_the_bounds() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, (400, 2))
    y = X[:, 0] + rng.normal(0, 30, 400) > 50
    settings: dict[str, Any] = {"epsilon": 1.0, "classes": [False, True], "random_state": 1}
    plain = tacit.LogisticRegression(bounds=(0, 100), **settings).fit(X, y)
    piped = make_pipeline(BoundsScaler((0, 100)), tacit.LogisticRegression(bounds=(-1, 1), **settings)).fit(X, y)
    np.testing.assert_allclose(piped.predict_proba(X), plain.predict_proba(X), rtol=1e-9)
