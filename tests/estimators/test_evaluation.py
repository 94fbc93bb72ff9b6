"""Scores: exact and free on public rows, noised and paid on private ones, and nothing in between."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special, stats
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
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(Y == "yes", LABELS.decision_function(X)))
    assert (found.certificate, found.noise, "public rows" in repr(found)) == (None, {}, True)
    several = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 3), random_state=0).fit(X, WARDS)
    found = several.evaluate(tacit.public(X, WARDS))
    assert found["accuracy"] == pytest.approx(several.score(X, WARDS))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(WARDS, several.predict_proba(X)))
    found = NUMERIC.evaluate(tacit.public(X, NUMBERS))
    assert found["r2"] == pytest.approx(NUMERIC.score(X, NUMBERS))
    assert found["mean_squared_error"] == pytest.approx(metrics.mean_squared_error(NUMBERS, NUMERIC.predict(X)))
    margins = tacit.LinearSVC(epsilon=1.0, bounds=(-1, 3), random_state=0).fit(X, Y)
    found = margins.evaluate(tacit.public(X, Y))
    area = metrics.roc_auc_score(Y == "yes", margins.decision_function(X))
    right = margins.score(X, Y)
    assert dict(found) == pytest.approx({"accuracy": right, "zero_one_loss": 1 - right, "auc": area})


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
    mean, noise = 1 - LABELS.score(X, Y), found[0].noise["zero_one_loss"]
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


ALL = ("accuracy", "auc", "log_loss", "calibration")


def test_without_noise_all_scores_are_near_the_exact_ones() -> None:
    found = LABELS.evaluate(X, Y, epsilon=math.inf, scores=ALL)
    chances = LABELS.predict_proba(X)[:, 1]
    assert found["accuracy"] == pytest.approx(LABELS.score(X, Y), abs=1e-12)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(Y == "yes", chances), abs=1e-4)
    # Ties within an interval of 1/4 in the log odds count one half.
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(Y == "yes", chances), abs=2e-3)
    ends = special.expit([-np.inf, *np.linspace(-6, 6, 9)[1:-1], np.inf])
    for group, name in enumerate(list(found)[3:]):
        inside = (chances > ends[group]) & (chances <= ends[group + 1])
        if inside.sum() > 10:
            assert found[name] == pytest.approx(np.mean(Y[inside] == "yes"), abs=1e-9)
    found = NUMERIC.evaluate(X, NUMBERS, epsilon=math.inf, scores=("r2", "mean_squared_error"))
    errors = (NUMBERS - NUMERIC.predict(X)) ** 2
    assert found["r2"] == pytest.approx(NUMERIC.score(X, NUMBERS), abs=1e-5)
    assert found.error["mean_squared_error"] == pytest.approx(errors.std() / math.sqrt(3000), rel=1e-3)
    ratio = errors.mean() / NUMBERS.var()
    spread = (errors - ratio * (NUMBERS - NUMBERS.mean()) ** 2).std() / NUMBERS.var() / math.sqrt(3000)
    assert found.error["r2"] == pytest.approx(spread, rel=1e-2)


def test_without_an_intercept_scores_are_those_of_the_model() -> None:
    model = labels(fit_intercept=False).fit(X, Y)
    found = model.evaluate(X, Y, epsilon=math.inf, scores=("auc", "accuracy"))
    assert found["accuracy"] == pytest.approx(model.score(X, Y), abs=1e-12)
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(Y == "yes", model.decision_function(X)), abs=2e-3)


@pytest.mark.filterwarnings("ignore:The same data")
@pytest.mark.parametrize(
    ("settings", "given"),
    [({}, {}), ({"relation": "add-remove", "n_at_least": 2000}, {}), ({"max_rows_per_unit": 3}, {"units": UNITS})],
)
def test_all_scores_are_paid_with_intervals(settings: dict[str, Any], given: dict[str, Any]) -> None:
    model = labels(random_state=None, **settings).fit(X, Y, **given)
    found = model.evaluate(X, Y, epsilon=2.0, delta=1e-6, scores=ALL, **given)
    assert found.certificate is not None
    assert found.certificate.check().consistent
    assert found.certificate.parsed["total"]["epsilon"] <= 2.0
    low, high = found.interval("auc", 0.999999)
    assert low < metrics.roc_auc_score(Y == "yes", model.decision_function(X)) < high
    assert all(0 <= low <= found[name] <= high for name in found for low, high in [found.interval(name)])
    assert "±" in repr(found)


def test_intervals_cover_at_their_level() -> None:
    """400 fresh samples, 95% intervals of four scores; a coverage below 0.85 has a chance below 1e-12."""
    generator = np.random.default_rng(4)
    truth = LABELS.evaluate(tacit.public(*sample(generator, 400_000)))
    model = labels(random_state=None)
    model.release_, model.plan_ = LABELS.release_, LABELS.plan_
    hits = dict.fromkeys(("accuracy", "auc", "log_loss"), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(400):
            found = model.evaluate(*sample(generator, 1000), epsilon=4.0, scores=tuple(hits))
            for name in hits:
                low, high = found.interval(name)
                hits[name] += low <= truth[name] <= high
    assert min(hits.values()) > 0.85 * 400


def sample(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    rows = generator.uniform(-1, 3, (n, 2))
    chances = special.expit(2 * rows[:, 0] - rows[:, 1])
    return rows, np.where(generator.random(n) < chances, "yes", "no")


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize("scores", [("r2",), (), ("auc", "auc"), "area"])
def test_scores_that_a_response_does_not_have_are_refused(scores: Any) -> None:
    with pytest.raises(SettingError, match="scores are one or more of"):
        LABELS.evaluate(X, Y, epsilon=1.0, scores=scores)
    with pytest.raises(SettingError, match="one or more of mean_squared_error, r2"):
        NUMERIC.evaluate(X, NUMBERS, epsilon=1.0, scores=("auc",))
    with pytest.raises(SettingError, match="no interval of 'auc'"):
        LABELS.evaluate(tacit.public(X, Y)).interval("auc")
