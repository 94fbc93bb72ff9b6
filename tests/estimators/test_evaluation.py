"""Scores: exact and free on public rows, noised and paid on private ones, and nothing in between."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import tacit
from tacit.errors import BudgetError, SettingError

RNG = np.random.default_rng(12)
X = RNG.uniform(-1, 3, (3000, 2))
Y = np.where(RNG.random(3000) < 1 / (1 + np.exp(-(2 * X[:, 0] - X[:, 1]))), "yes", "no")
WARDS = (X[:, 0] > 0).astype(int) + (X[:, 1] > RNG.uniform(-1, 3, 3000))
NUMBERS = 3 * X[:, 0] - X[:, 1] + 10 + RNG.normal(size=3000)
UNITS = np.arange(3000) // 3


def labels(**settings: Any) -> Any:
    chosen = {"epsilon": 1.0, "bounds": (-1, 3), "classes": ("no", "yes"), "random_state": 0, **settings}
    return tacit.LogisticRegression(**chosen)


def numbers(**settings: Any) -> Any:
    chosen = {"epsilon": 1.0, "bounds": (-1, 3), "y_bounds": (0, 25), "random_state": 0, **settings}
    return tacit.LinearRegression(**chosen).fit(X, NUMBERS)


LABELS, NUMERIC = labels().fit(X, Y), numbers()


def test_public_scores_are_those_of_scikit_learn() -> None:
    found = LABELS.evaluate(tacit.public(X, Y))
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(Y, LABELS.predict(X)))
    assert found["accuracy"] == pytest.approx(LABELS.score(X, Y))
    assert found["zero_one_loss"] == pytest.approx(1 - found["accuracy"])
    assert found["log_loss"] == pytest.approx(metrics.log_loss(Y, LABELS.predict_proba(X)))
    assert (found.certificate, found.noise, "public rows" in repr(found)) == (None, 0.0, True)
    several = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 3), random_state=0).fit(X, WARDS)
    found = several.evaluate(tacit.public(X, WARDS))
    assert found["accuracy"] == pytest.approx(several.score(X, WARDS))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(WARDS, several.predict_proba(X)))
    found = NUMERIC.evaluate(tacit.public(X, NUMBERS))
    assert found["r2"] == pytest.approx(NUMERIC.score(X, NUMBERS))
    assert found["mean_squared_error"] == pytest.approx(metrics.mean_squared_error(NUMBERS, NUMERIC.predict(X)))
    margins = tacit.LinearSVC(epsilon=1.0, bounds=(-1, 3), random_state=0).fit(X, Y)
    found = margins.evaluate(tacit.public(X, Y))
    assert dict(found) == pytest.approx({"accuracy": margins.score(X, Y), "zero_one_loss": 1 - margins.score(X, Y)})


def test_counts_have_scores() -> None:
    visits = np.floor(np.exp(0.3 * X[:, 0]) + RNG.random(3000))
    fit = tacit.PoissonRegressor(epsilon=1.0, bounds=(-1, 3), y_max=20).fit(X, visits)
    assert fit.evaluate(tacit.public(X, visits))["r2"] == pytest.approx(fit.score(X, visits))
    with pytest.raises(SettingError, match="two classes and for numbers"):
        fit.evaluate(X, visits, epsilon=1.0)


@pytest.mark.parametrize("zero", [False, True])
def test_without_noise_a_private_score_is_exact(zero: bool) -> None:
    model = labels(radius=1e-9) if zero else labels()
    model.fit(X, Y)
    assert model.evaluate(X, Y, epsilon=math.inf)["zero_one_loss"] == pytest.approx(1 - model.score(X, Y), abs=1e-12)
    found = NUMERIC.evaluate(X, NUMBERS, epsilon=math.inf)
    assert found["mean_squared_error"] == pytest.approx(metrics.mean_squared_error(NUMBERS, NUMERIC.predict(X)))
    assert not found.certificate.private


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({}, {}),
        ({"relation": "zero-out"}, {}),
        ({"relation": "add-remove", "n_at_least": 2000}, {}),
        ({"max_rows_per_unit": 3}, {"units": UNITS}),
        ({"class_weight": {"yes": 0.3}}, {}),
    ],
)
@pytest.mark.filterwarnings("ignore:The same data")
def test_a_private_score_is_paid_and_near(settings: dict[str, Any], given: dict[str, Any]) -> None:
    model = labels(random_state=None, **settings).fit(X, Y, **given)
    found = model.evaluate(X, Y, epsilon=1.0, delta=1e-6, **given)
    assert found["zero_one_loss"] == pytest.approx(1 - model.score(X, Y), abs=0.03)
    stated = found.certificate
    assert stated.check().consistent
    assert stated.parsed["total"]["epsilon"] <= 1.0
    assert stated.parsed["unit"] == ("unit" if given else "row")
    assert stated.parsed["solver"] == "evaluation"


@pytest.mark.filterwarnings("ignore")
def test_the_noise_of_a_score_has_its_law() -> None:
    """400 evaluations; false-alarm rate 1e-7; half the noise would be seen."""
    found = [evaluated(seed) for seed in range(400)]
    mean, noise = 1 - LABELS.score(X, Y), found[0].noise
    scores = np.array([it["zero_one_loss"] for it in found])

    def chance(deviation: float) -> float:
        law = stats.chi2(len(scores))
        value = float((((scores - mean) / deviation) ** 2).sum())
        return float(2 * min(law.cdf(value), law.sf(value)))

    assert chance(noise) > 1e-7
    assert chance(noise / 2) < 1e-7
    # One record changes the count by 1, so the noise on it is 1 / μ.
    assert noise * 3000 == pytest.approx(1 / tacit.accounting.gaussian.mu(1.0, 1e-6), rel=1e-4)


def evaluated(seed: int) -> Any:
    model = labels(random_state=seed)
    model.release_, model.plan_ = LABELS.release_, LABELS.plan_
    return model.evaluate(X, Y, epsilon=1.0, delta=1e-6)


def test_a_ledger_charges_a_score() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(epsilon=2, delta=1e-4))
    with ledger:
        model = labels(random_state=None).fit(X, Y)
        model.evaluate(X, Y, epsilon=0.1)
        with pytest.raises(BudgetError):
            model.evaluate(X, Y, epsilon=5.0)
    assert len(ledger.charges()) == 2


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        ((X, Y), {}, "costs budget"),
        ((X,), {"epsilon": 1.0}, "response is missing"),
        ((tacit.public(X, Y), Y), {}, "cost nothing"),
        ((tacit.public(X, Y),), {"epsilon": 1.0}, "cost nothing"),
        ((tacit.public(X),), {}, "response is missing"),
        ((X[:, :1], Y), {"epsilon": 1.0}, "not those of the fit"),
        ((X, Y), {"epsilon": 1.0, "units": UNITS}, "max_rows_per_unit"),
    ],
)
def test_what_is_neither_public_nor_paid_is_refused(arguments: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        LABELS.evaluate(*arguments, **settings)


def test_labels_that_were_not_fitted_are_refused() -> None:
    with pytest.raises(SettingError, match="not among the classes"):
        LABELS.evaluate(tacit.public(X, np.where(Y == "yes", "maybe", Y)))


def test_records_beyond_the_bounds_act_as_in_the_fit() -> None:
    far, clipped = 1000 * X, np.clip(1000 * X, -1, 3)
    found = LABELS.evaluate(far, Y, epsilon=math.inf)["zero_one_loss"]
    assert found == pytest.approx(1 - LABELS.score(clipped, Y), abs=1e-12)
