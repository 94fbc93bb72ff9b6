"""A finite class: the best hypothesis at a large budget, its pure price, and what is refused."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import SettingError, TacitError
from tacit.planning.finite_class import records_enough

RNG = np.random.default_rng(8)
X = RNG.uniform(-2, 2, size=(1500, 2))
Y = X @ [1.0, -1.0] > 0.5
HYPOTHESES = [[-c, 1.0, s] for c in (-0.5, 0.0, 0.5) for s in (-1.0, 0.0, 1.0)]
BEST = [-0.5, 1.0, -1.0]


def model(**given: Any) -> tacit.HypothesisClassifier:
    usual = {"epsilon": 5.0, "bounds": (-2, 2), "classes": (False, True), "hypotheses": HYPOTHESES}
    return tacit.HypothesisClassifier(**{**usual, **given})


def chosen(fitted: tacit.HypothesisClassifier) -> list[float]:
    return [round(float(it), 9) for it in (*fitted.intercept_, *fitted.coef_[0])]


@pytest.mark.parametrize("law", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("loss", ["zero-one", "logistic", "hinge"])
def test_the_best_hypothesis_is_selected(loss: str, law: str) -> None:
    """1500 records, gaps of 100 losses and more, ε = 5: wrong with a probability below 1e-40."""
    fitted = model(loss=loss, law=law, cap=1.0 if loss == "zero-one" else 2.0).fit(X, Y)
    assert chosen(fitted) == BEST
    assert fitted.certificate_.check().consistent
    assert fitted.plan_.guarantee().epsilon <= 5.0


def test_its_price_is_pure() -> None:
    fitted = model(delta=0.0).fit(X, Y)
    assert (fitted.plan_.guarantee().epsilon, fitted.plan_.guarantee().delta) == (5.0, 0.0)


def test_without_noise_it_is_the_empirical_minimum() -> None:
    assert chosen(model(epsilon=float("inf")).fit(X, Y)) == BEST


@pytest.mark.filterwarnings("ignore:The budget is small")
def test_the_sample_bound_is_kept() -> None:
    """60 fits at the stated n for α = 0.2, β = 0.05: at most 17 failures (false alarm below 1e-8 at rate β)."""
    class_ = [[-c, 1.0] for c in np.linspace(-1, 1, 9)]
    n = records_enough(9, 1.0, 0.2, 0.05, population=False)
    failures = 0
    for seed in range(60):
        x = np.random.default_rng(seed).uniform(-1, 1, size=(n, 1))
        fitted = model(epsilon=1.0, bounds=(-1, 1), hypotheses=class_, random_state=seed).fit(x, x[:, 0] > 0.25)
        losses = [np.mean((x[:, 0] > -h[0]) != (x[:, 0] > 0.25)) for h in class_]
        failures += np.mean(fitted.predict(x) != (x[:, 0] > 0.25)) > min(losses) + 0.2
    assert failures <= 17


@pytest.mark.parametrize(
    "wrong",
    [
        {"hypotheses": None},
        {"hypotheses": [[1.0, 2.0]]},
        {"hypotheses": []},
        {"hypotheses": [[np.nan, 1.0, 1.0]]},
        {"loss": "squared"},
        {"law": "gumbel"},
        {"cap": 2.0},
        {"cap": 0.0},
        {"solver": "newton"},
        {"l2": 1.0},
        {"bounds": "private"},
        {"budget": tacit.Budget(mu=1.0), "epsilon": None},
        {"max_rows_per_unit": 2},
        {"iterations": 3},
    ],
)
def test_what_cannot_be_is_refused_before_a_record_is_read(wrong: dict[str, Any], nothing_read: None) -> None:
    with pytest.raises((SettingError, TacitError)):
        model(**wrong).plan(100, 2)


@pytest.fixture
def nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.engine.table import Table

    monkeypatch.setattr(Table, "__init__", lambda *_: (_ for _ in ()).throw(AssertionError("A table was opened.")))
