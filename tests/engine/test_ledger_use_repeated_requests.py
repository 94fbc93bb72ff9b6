"""The same request under the same key: the fit that was kept comes back, and nothing is charged."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine.ledger_use import LedgerWarning
from tacit.errors import LedgerError
from tacit.ledger.ledger import Ledger
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget

BUDGET = Budget(epsilon=20, delta=1e-6)
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (2000, 2))
LABELS = (RNG.random(2000) < 0.4).astype(int)
AMOUNTS = X[:, 0] + RNG.normal(size=2000)
COUNTS = RNG.poisson(2.0, 2000)
COMMON: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1)}

MODELS = [
    (tacit.LogisticRegression(**COMMON, classes=[0, 1]), LABELS),
    (tacit.LogisticRegression(**COMMON, classes=[0, 1], inference=True), LABELS),
    (tacit.LogisticRegression(**COMMON, classes=[0, 1, 2]), RNG.integers(0, 3, 2000)),
    (tacit.LinearRegression(**COMMON, y_bounds=(-5, 5), inference=True), AMOUNTS),
    (tacit.LinearRegression(epsilon=1.0, bounds="private", y_bounds="private"), AMOUNTS),
    (
        tacit.LinearRegression(**COMMON, y_bounds=(-5, 5), relation="add-remove", n_at_least=1000, inference=True),
        AMOUNTS,
    ),
    (tacit.Ridge(**COMMON, y_bounds=(-5, 5), l2=1.0), AMOUNTS),
    (tacit.HuberRegressor(**COMMON, y_bounds=(-5, 5)), AMOUNTS),
    (tacit.QuantileRegressor(**COMMON, y_bounds=(-5, 5)), AMOUNTS),
    (tacit.PoissonRegressor(**COMMON, y_max=20, inference=True), COUNTS),
    (tacit.LinearSVC(**COMMON, classes=[0, 1]), LABELS),
]


@pytest.mark.parametrize(("model", "response"), MODELS)
def test_t47_a_retry_returns_the_stored_answer_to_the_bit(model: Any, response: Any) -> None:
    ledger = Ledger(budget=BUDGET)
    with ledger.request("first"):
        model.fit(X, response)
    kept = {name: np.array(getattr(model, name)) for name in ("coef_", "intercept_")}
    text = str(model.summary()) if model.get_params().get("inference") else ""
    certificate = model.certificate_.document
    with ledger.request("first"):
        model.fit(X, response)
    for name, value in kept.items():
        assert np.array_equal(value, getattr(model, name))
    assert model.certificate_.document == certificate
    if text:
        assert str(model.summary()) == text
    assert len(ledger.charges()) == 1


def fit(ledger: Ledger, key: str | None = "a", *, again: bool = False, **settings: Any) -> Any:
    with ledger.request(key, again=again):
        chosen = {**COMMON, "classes": [0, 1], **settings}
        return tacit.LogisticRegression(**chosen).fit(X, LABELS)


@pytest.mark.parametrize("settings", [{"epsilon": 0.9}, {"bounds": (-2, 2)}, {"fit_intercept": False}, {"l2": 0.1}])
def test_another_request_under_the_key_is_refused_and_costs_nothing(settings: dict[str, Any]) -> None:
    ledger = Ledger(budget=BUDGET)
    fit(ledger)
    with pytest.raises(LedgerError, match="stands for another request"):
        fit(ledger, **settings)
    assert len(ledger.charges()) == 1


def test_another_number_of_records_is_another_request() -> None:
    ledger = Ledger(budget=BUDGET)
    model = fit(ledger)
    with ledger.request("a"), pytest.raises(LedgerError, match="another request"):
        model.fit(X[:-1], LABELS[:-1])


def test_without_a_key_every_fit_is_charged() -> None:
    ledger = Ledger(budget=BUDGET)
    first, second = fit(ledger, None), fit(ledger, None)
    assert not np.array_equal(first.coef_, second.coef_)
    assert len(ledger.charges()) == 2


def test_an_interrupted_request_is_paid_for_again_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(budget=BUDGET)

    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Responder, "answer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(ledger)
    with pytest.raises(LedgerError, match="again"):
        fit(ledger)
    assert len(ledger.charges()) == 1
    paid = fit(ledger, again=True)
    assert len(ledger.charges()) == 2
    for again in (False, True):
        assert np.array_equal(paid.coef_, fit(ledger, again=again).coef_)
    assert len(ledger.charges()) == 2


def test_another_process_gets_the_same_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    first = fit(Ledger(path, budget=BUDGET))
    again = fit(Ledger(path))
    assert np.array_equal(first.coef_, again.coef_)
    assert Ledger(path).verify().charges == 1


def test_what_was_paid_for_is_returned_when_only_settling_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(budget=BUDGET)

    def blocked(*arguments: Any) -> None:
        raise LedgerError("the ledger is kept busy by another process")

    monkeypatch.setattr(Ledger, "commit", blocked)
    with pytest.warns(LedgerWarning, match="complete and its charge is kept"):
        model = fit(ledger)
    assert np.isfinite(model.coef_).all()
    assert [charge.release for charge in ledger.charges()] == [None]


def test_the_charge_names_formula_file_and_people(tmp_path: Path) -> None:
    file = tmp_path / "clinic.csv"
    file.write_text("x,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(400)))
    schema = tacit.Schema.parse('[columns.x]\ntype = "numeric"\nlower = 0\nupper = 6\n[columns.y]\ntype = "binary"\n')
    ledger = Ledger(budget=BUDGET, analyst="ana", project="thesis")
    with ledger.request(label="first look"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tacit.glm("y ~ x", file, schema, epsilon=1.0, inference=False)
    (charge,) = ledger.charges()
    assert (charge.formula, charge.file) == ("y ~ x", str(file))
    assert (charge.analyst, charge.project, charge.label) == ("ana", "thesis", "first look")
