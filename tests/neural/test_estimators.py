"""`DPClassifier` and `DPRegressor`: scikit-learn's habits, declared bounds, and refusals."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tacit
from tacit.errors import BoundsError, BudgetError, DataError, SettingError
from tacit.neural import DPClassifier, DPRegressor, estimators, mlp
from tests.neural.small_table import table

X, Y = table(1500)
QUICK: dict[str, Any] = {"epsilon": 8.0, "bounds": (-1, 1), "hidden": (8,), "epochs": 2}


def test_a_curved_border_is_learned_without_tuning() -> None:
    model = DPClassifier(epsilon=8.0, bounds=(-1, 1), classes=(0, 1), random_state=1).fit(X, Y)
    assert model.score(X, Y) > 0.9
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    assert model.certificate_.check().consistent


def test_a_curve_is_fitted_within_the_bounds_of_its_response() -> None:
    response = 50 + 30 * np.abs(X[:, 0])
    model = DPRegressor(epsilon=8.0, bounds=(-1, 1), response_bounds=(50, 80), random_state=1).fit(X, response)
    assert model.score(X, response) > 0.6
    found = model.predict(10 * X)
    assert 50 <= found.min() <= found.max() <= 80


@pytest.mark.parametrize("labels", [("no", "yes"), (5, 3), (2.5, 1.5)])
def test_labels_of_any_kind_come_back(labels: tuple[Any, Any]) -> None:
    named = np.array([labels[code] for code in Y])
    model = DPClassifier(**QUICK, classes=labels).fit(X, named)
    assert set(model.predict(X).tolist()) <= set(labels)
    assert model.classes_.tolist() == list(labels)
    read = DPClassifier(**QUICK).fit(X, named)
    assert read.classes_.tolist() == sorted(labels)
    facts = {fact["name"]: fact["source"] for fact in read.certificate_.parsed["public"]}
    assert facts["classes"] == "assumed"


def test_several_classes_have_an_output_each() -> None:
    model = DPClassifier(**QUICK, classes=(0, 1, 2)).fit(X, Y)
    assert model.decision_function(X).shape == (len(X), 3)


def test_parameters_are_scikit_learns() -> None:
    model = DPClassifier(**QUICK, classes=(0, 1))
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert DPRegressor(2.0, 1e-6).epsilon == 2.0


def test_columns_are_scaled_by_their_bounds_each_on_its_own() -> None:
    frame = pd.DataFrame(X * [1, 10, 100] + [0, 5, 0], columns=["a", "b", "c"])
    bounds = {"a": (-1, 1), "b": (-5, 15), "c": (-100, 100)}
    scaled, complete = DPClassifier(**{**QUICK, "bounds": bounds})._scaled(frame)
    np.testing.assert_allclose(scaled, X, atol=1e-6)
    assert complete.all()
    beyond, _ = DPClassifier(**QUICK)._scaled(np.array([[5.0, -np.inf, 0.5]]))
    assert beyond.tolist() == [[1.0, -1.0, 0.5]]


def test_a_module_of_ones_own_and_its_first_weights_are_used() -> None:
    module = mlp(3, 2, (4, 4), "relu")
    model = DPClassifier(**QUICK, classes=(0, 1), module=module).fit(X, Y)
    assert model.release_.theta.size == sum(value.numel() for value in module.parameters())


@pytest.mark.parametrize(
    ("settings", "given", "error", "says"),
    [
        ({"bounds": None}, (X, Y), BoundsError, "never read off"),
        ({}, (np.where(X > 0.9, np.nan, X), Y), DataError, "missing or infinite"),
        ({"classes": (0, 2)}, (X, Y), DataError, "not among the classes"),
        ({"classes": (0, 0)}, (X, Y), SettingError, "two different"),
        ({}, (X, np.zeros(len(X))), SettingError, "two different"),
        ({}, (X, Y[:10]), DataError, "labels for"),
        ({}, (X[:, 0], Y), DataError, "records by columns"),
        ({"relation": "replace-one"}, (X, Y), SettingError, "zero-out"),
        ({"batch_size": 5000}, (X, Y), SettingError, "more than there are records"),
        ({"budget": tacit.Budget(epsilon=1.0)}, (X, Y), BudgetError, "not both"),
        ({"epsilon": None, "budget": 1.0}, (X, Y), BudgetError, "must be a tacit.Budget"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(
    settings: dict[str, Any], given: tuple[Any, Any], error: type[Exception], says: str
) -> None:
    model = DPClassifier(**{**QUICK, **settings})
    with pytest.raises(error, match=says):
        model.fit(*given)
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_module_with_another_number_of_outputs_is_refused(outputs: int, tmp_path: Path) -> None:
    module = mlp(X.shape[1], outputs)
    terms: dict[str, Any] = {"budget": tacit.Budget(epsilon=100.0, delta=1e-4), "law": "rdp", "refusals": "curator"}
    with tacit.Ledger(tmp_path / "ledger", **terms) as ledger:
        with pytest.raises(SettingError, match="must return 2 "):
            DPClassifier(**QUICK, classes=(0, 1), module=module).fit(X, Y)
        if outputs > 1:
            with pytest.raises(SettingError, match="must return 1 "):
                DPRegressor(**QUICK, response_bounds=(0, 1), module=module).fit(X, Y)
        assert not ledger.charges()


def test_a_response_without_bounds_is_refused() -> None:
    with pytest.raises(BoundsError, match="response_bounds"):
        DPRegressor(**QUICK).fit(X, Y)
    with pytest.raises(SettingError, match="loss"):
        DPRegressor(**QUICK, response_bounds=(0, 1), loss="absolute").fit(X, Y)


def test_inside_a_ledger_nothing_is_told_of_single_records(tmp_path: Path) -> None:
    holes = X.copy()
    holes[3, 1] = np.nan
    odd = Y.copy()
    odd[5] = 7
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp") as ledger:
        with pytest.raises(SettingError, match="declared"):
            DPClassifier(**QUICK).fit(holes, odd)
        model = DPClassifier(**QUICK, classes=(0, 1)).fit(holes, odd)
        assert len(ledger.charges()) == 1
    assert "every record is valid" not in {fact["name"] for fact in model.certificate_.parsed["public"]}


def test_new_records_of_another_width_are_refused() -> None:
    model = DPClassifier(**QUICK, classes=(0, 1)).fit(X, Y)
    with pytest.raises(DataError, match="columns"):
        model.predict(X[:, :2])
    assert model.plan(1500, 3).guarantee() == model.plan_.guarantee()


@pytest.mark.parametrize("odd", ["abc", None, [1], 10**400, 1j])
def test_one_odd_cell_leaves_out_its_own_record_alone(odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    usable: list[Any] = []

    class Seen(Exception):
        pass

    def look(inputs: Any, labels: Any, valid: Any) -> None:
        usable.append((inputs, labels, valid))
        raise Seen

    monkeypatch.setattr(estimators, "Examples", look)
    cells: Any = X[:50].astype(object)
    cells[49, 0] = odd if odd != [1] else "x"
    clean: list[Any] = [1 if k % 3 else True for k in range(50)]
    classifier = DPClassifier(classes=(0, 1), invalid_rows="zero", **QUICK)
    regressor = DPRegressor(response_bounds=(0, 1), invalid_rows="zero", **QUICK)
    for model in (classifier, regressor):
        for given, response in [(X[:50], clean), (X[:50], [*clean[:49], odd]), (cells, clean)]:
            with tacit.Ledger(budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp"), pytest.raises(Seen):
                model.fit(given, response)
        whole, *others = usable[-3:]
        assert whole[2].all()
        for one in others:
            assert one[2].tolist() == [True] * 49 + [False]
            assert all(np.array_equal(a[:49], b[:49]) for a, b in zip(whole, one, strict=True))


def test_rows_to_predict_are_refused_where_they_hold_texts() -> None:
    model = DPClassifier(classes=(0, 1), random_state=1, **QUICK).fit(X, Y)
    with pytest.raises(DataError, match="table of numbers"):
        model.predict([["a", "b"]])
