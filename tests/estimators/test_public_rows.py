"""Public rows: a mark without which nothing is a warm start."""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import LogisticRegression as Rival

import tacit
from tacit.engine.table import Table
from tacit.errors import DataError, SettingError
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table

RNG = np.random.default_rng(9)
X = RNG.uniform(-1, 3, (4000, 2))
Y = (RNG.random(4000) < 1 / (1 + np.exp(-(2 * X[:, 0] - X[:, 1])))).astype(int)
WARDS = (X[:, 0] > 0).astype(int) + (X[:, 1] > RNG.uniform(-1, 3, 4000))
NUMBERS = 3 * X[:, 0] - X[:, 1] + 10 + RNG.normal(size=4000)
OLD = tacit.public(X[:1000], Y[:1000])


def model(**settings: Any) -> Any:
    return tacit.LogisticRegression(**{"epsilon": 1.0, "bounds": (-1, 3), "classes": (0, 1), **settings})


def begins(fit: Any) -> Any:
    """Where the descent began, on the user's scale."""
    design = fit.plan_.design
    start = np.array(fit.plan_.solver.start).reshape(design.width, -1)
    return (design.to_user() @ start + design.shift()[:, None]).T.ravel()


def test_a_start_is_the_exact_fit_of_the_public_rows() -> None:
    fit = model(warm_start=OLD, iterations=3).fit(X, Y)
    exact = model(epsilon=math.inf).fit(X[:1000], Y[:1000])
    np.testing.assert_allclose(begins(fit), [*exact.intercept_, *exact.coef_[0]], rtol=1e-9)
    assert ("warm_start", "public rows") in [(fact.name, fact.value) for fact in fit.plan_.facts]
    assert fit.plan_.guarantee().epsilon <= 1.0


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_other_models_have_starts_too(kind: str) -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 3), "iterations": 3}
    if kind == "numbers":
        rows = tacit.public(X[:1000], NUMBERS[:1000])
        numbers = tacit.LinearRegression(y_bounds=(0, 25), clip=0.5, warm_start=rows, **settings).fit(X, NUMBERS)
        plain = Plain().fit(X[:1000], np.clip(NUMBERS[:1000], 0, 25))
        np.testing.assert_allclose(begins(numbers), [plain.intercept_, *plain.coef_], rtol=1e-8)
    else:
        fit = tacit.LogisticRegression(warm_start=tacit.public(X[:1000], WARDS[:1000]), **settings).fit(X, WARDS)
        exact = tacit.LogisticRegression(epsilon=math.inf, bounds=(-1, 3)).fit(X[:1000], WARDS[:1000])
        np.testing.assert_allclose(begins(fit), exact.release_.coefficients().T.ravel(), atol=1e-8)


def test_a_public_model_and_a_released_one_are_starts() -> None:
    rival = Rival().fit(X[:1000], Y[:1000])
    np.testing.assert_allclose(
        begins(model(warm_start=tacit.public(rival), iterations=3).fit(X, Y)), [*rival.intercept_, *rival.coef_[0]]
    )
    released = model().fit(X[:2000], Y[:2000])
    again = clone(model(warm_start=released, iterations=3)).fit(X, Y)
    np.testing.assert_allclose(begins(again), [*released.intercept_, *released.coef_[0]])


def test_a_good_start_helps_where_the_budget_is_small() -> None:
    def error(**start: Any) -> float:
        fits = [model(epsilon=0.05, iterations=5, random_state=seed, **start).fit(X, Y) for seed in range(20)]
        return float(np.mean([abs(fit.coef_[0, 0] - 2) for fit in fits]))

    assert error(warm_start=OLD) < 0.5 * error(solver="gradient")


def test_inside_a_ledger_public_rows_cost_nothing() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(epsilon=2, delta=1e-4))
    with ledger:
        fit = model(warm_start=OLD).fit(X, Y)
        fit.evaluate(OLD)
    assert len(ledger.charges()) == 1


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((X, Y), "nothing that may be private"),
        (X, "nothing that may be private"),
        (pd.DataFrame(X), "nothing that may be private"),
        (Rival().fit(X, Y), "nothing that may be private"),
        (np.zeros(3), "nothing that may be private"),
        (True, "nothing that may be private"),
        (tacit.public(X[:100]), "response is missing"),
        (tacit.public(Rival().fit(X[:, :1], Y)), "coefficients of shape"),
    ],
)
def test_what_may_be_private_is_no_start(start: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        model(warm_start=start).fit(X, Y)


@pytest.mark.parametrize("settings", [{"epsilon": math.inf}, {"random_state": 1}])
def test_a_fit_without_a_guarantee_is_no_start(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="without a guarantee"):
        model(warm_start=model(**settings).fit(X, Y)).fit(X, Y)


def test_other_solvers_are_refused_before_labels_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "classes", lambda *_: pytest.fail("Labels were read."))
    with pytest.raises(SettingError, match="takes no clip"):
        model(warm_start=OLD, solver="newton", classes=None).fit(X, Y)


def test_other_solvers_take_no_start() -> None:
    with pytest.raises(SettingError, match="takes no clip, noise_multiplier or warm_start"):
        model(warm_start=OLD, solver="newton").plan(1000, 2)
    assert model(warm_start=OLD).plan(1000, 2).forecast is None


def test_rows_are_neither_shown_nor_copied() -> None:
    assert repr(OLD) == "public rows"
    assert copy.deepcopy(OLD) is OLD
    assert "0." not in repr(tacit.public(Rival().fit(X, Y)))


def test_a_formula_takes_a_public_table() -> None:
    table, schema = pd.DataFrame(clinic_table(3000)), tacit.Schema.parse(CLINIC_SCHEMA)
    old = tacit.public(table.iloc[:800])
    fit = tacit.glm(CLINIC_FORMULA, table, schema, epsilon=1.0, warm_start=old, iterations=3)
    assert fit.plan is not None
    exact = tacit.glm(CLINIC_FORMULA, table.iloc[:800], schema, epsilon=math.inf, inference=False)
    design = fit.plan.design
    start = np.array(fit.plan.solver.start)  # type: ignore[attr-defined]
    np.testing.assert_allclose(design.to_user() @ start, exact.stored.coefficients, rtol=1e-7)
    scores = fit.evaluate(old)
    right = (fit.predict(table.iloc[:800]) > 0.5) == (table["readmit"].iloc[:800] == design.response.classes[1])
    assert scores["accuracy"] == pytest.approx(right.mean())


def test_a_fit_of_a_formula_is_evaluated_from_its_file(tmp_path: Path) -> None:
    table, schema = pd.DataFrame(clinic_table(3000)), tacit.Schema.parse(CLINIC_SCHEMA)
    tacit.glm(CLINIC_FORMULA, table, schema, epsilon=1.0).save(tmp_path / "fit.json")
    fit = tacit.load(tmp_path / "fit.json")
    exact = fit.evaluate(tacit.public(table))["zero_one_loss"]
    assert fit.evaluate(table, epsilon=math.inf)["zero_one_loss"] == pytest.approx(exact, abs=1e-12)
    paid = fit.evaluate(table, epsilon=1.0, delta=1e-6)
    assert paid["zero_one_loss"] == pytest.approx(exact, abs=0.02)
    assert paid.certificate is not None
    assert paid.certificate.parsed["unit"] == "patient"
    with pytest.raises(SettingError, match="costs budget"):
        fit.evaluate(table)
    with pytest.raises(SettingError, match="costs nothing"):
        fit.evaluate(tacit.public(table), epsilon=1.0)


@pytest.mark.parametrize("nothing", [None, 3, 1.5, object()])
def test_what_has_no_rows_cannot_be_marked(nothing: Any) -> None:
    with pytest.raises(SettingError, match="marked as public"):
        tacit.public(nothing)


def test_public_rows_need_one_response_each() -> None:
    with pytest.raises(DataError, match="1000 rows, 5 responses"):
        tacit.public(X[:1000], Y[:5])
