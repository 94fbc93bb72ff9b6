"""Private whitening: near-identity covariance, rows of norm 1, one record at a time, composed under one budget."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import tacit
from tacit.accounting import compose, mu_squared_of, split
from tacit.errors import DataError, SettingError

RNG = np.random.default_rng(4)
ROOT = np.diag([1.0, 0.3, 0.1]) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
X = RNG.normal(size=(20_000, 3)) @ ROOT + [1.0, 0.0, -1.0]
Y = (RNG.normal(size=len(X)) < X[:, 0] - 1.0).astype(int)
BOUNDS = (-6.0, 6.0)


def test_without_privacy_it_whitens() -> None:
    found = tacit.PrivateWhitener(epsilon=np.inf, bounds=BOUNDS, ridge=1e-6, row_clip=100.0).fit_transform(X)
    np.testing.assert_allclose(np.cov(found.T, bias=True) * 100**2 * 3, np.eye(3), atol=1e-2)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-6)


def test_rows_are_functions_of_one_record_and_have_norm_one_at_most() -> None:
    model = tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS, components=2, blocks=(2, 1)).fit(X)
    far = np.vstack([X[:50], [[1e9, -1e9, 6.0]]])
    found = model.transform(far)
    assert found.shape == (51, 2)
    assert np.linalg.norm(found, axis=1).max() <= 1.0 + 1e-12
    for cut in (1, 7, 50):
        assert np.array_equal(model.transform(far[cut:]), found[cut:])
    # Blocks are whitened apart.
    assert all((row[:2] == 0).all() or row[2] == 0 for row in model.whitening_)
    assert list(model.get_feature_names_out()) == ["privatewhitener0", "privatewhitener1"]


def test_it_composes_with_an_estimator_under_one_budget() -> None:
    budget = tacit.Budget(epsilon=1.0, delta=1e-5)
    first, second = split(budget, 0.2, 0.8)
    model = make_pipeline(
        tacit.PrivateWhitener(budget=first, bounds=BOUNDS),
        tacit.LogisticRegression(budget=second, bounds=(-1, 1), row_norm=1.0, classes=(0, 1), solver="gradient"),
    )
    with tacit.Ledger(budget=budget) as ledger:
        fitted = clone(model).fit(X, Y)
        assert len(ledger.charges()) == 2
    events = [event for step in fitted for event in step.plan_.events()]
    assert compose(events, "replace-one").mu_squared <= mu_squared_of(budget)
    certificate = fitted[0].certificate_
    assert certificate.check().consistent
    assert certificate.covers == ("design", "mean", "whitening")
    again = pickle.loads(pickle.dumps(fitted[0]))
    assert np.array_equal(again.transform(X[:5]), fitted[0].transform(X[:5]))


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf, "text", None, object()])
def test_t37_in_a_ledger_no_record_makes_a_pipeline_fail(cell: Any) -> None:
    """The fault: scikit-learn refused the record in `transform`, and quoted it."""
    spoilt = X[:2000].astype(object)
    spoilt[7, 1] = cell
    model = make_pipeline(
        tacit.PrivateWhitener(epsilon=0.5, bounds=BOUNDS),
        tacit.LogisticRegression(epsilon=0.5, bounds=(-1, 1), row_norm=1.0, classes=(0, 1), solver="gradient"),
    )
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)) as ledger:
        found = model.fit(spoilt, Y[:2000])
        assert len(ledger.charges()) == 2
    rows = found[0].transform(spoilt)
    assert np.isnan(rows[7]).all()
    assert np.isfinite(np.delete(rows, 7, axis=0)).all()
    with pytest.raises(DataError, match="Some records are invalid"):
        tacit.LogisticRegression(epsilon=0.5, bounds=(-1, 1), solver="gradient").fit(rows, Y[:2000])


def test_other_columns_are_refused() -> None:
    model = tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS).fit(X)
    for other in (X[:, :2], np.column_stack([X, X])):
        with pytest.raises(ValueError, match="features"):
            model.transform(other)


def test_pure_privacy_is_refused_with_what_helps() -> None:
    with pytest.raises(SettingError, match=r"does not allow\. Use a delta above 0"):
        tacit.PrivateWhitener(epsilon=1.0, delta=0, bounds=BOUNDS).plan(1000, 3)


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    "wrong",
    [
        {"components": 4},
        {"components": 0},
        {"ridge": 0.0},
        {"row_clip": -1.0},
        {"blocks": (1, 1)},
        {"blocks": (4, -1)},
        {"blocks": 3},
    ],
)
def test_wrong_settings_are_refused_before_a_record_is_read(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS, **wrong).plan(1000, 3)
    with pytest.raises(SettingError):
        tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS, **wrong).fit(X)


def test_sparse_rows_are_refused() -> None:
    with pytest.raises(SettingError, match="dense"):
        tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS).fit(sparse.csr_array(X))


@pytest.mark.parametrize("record", [None, "ab", {}, 5.0, [0.1], [0.1] * 4, ["a", 0.2, 0.3]], ids=str)
def test_inside_a_ledger_no_first_record_of_a_list_raises(record: Any) -> None:
    """The fault: scikit-learn took the number of features from the first record."""
    rows = X[:500].tolist()
    rows[0] = record
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)):
        found = tacit.PrivateWhitener(epsilon=2.0, delta=1e-6, bounds=BOUNDS).fit_transform(rows)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1:]).all()


def test_where_n_is_private_no_records_are_whitened_like_some() -> None:
    model = tacit.PrivateWhitener(epsilon=1.0, bounds=BOUNDS, relation="add-remove", n_at_least=1000)
    assert model.fit_transform(np.empty((0, 3))).shape == (0, 3)
