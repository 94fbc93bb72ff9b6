"""Clip, noise and start set by hand: they reach the mechanism, and the guarantee follows from them."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.accounting import gaussian
from tacit.accounting.composition import compose
from tacit.contract.query import GradientSum
from tacit.errors import BudgetError, SettingError
from tacit.mechanisms import query_responder
from tacit.mechanisms.gradient import answer_gradient
from tacit.solvers.gradient import Gradient, HandSetGradient

RNG = np.random.default_rng(8)
X = RNG.uniform(-1, 1, (1000, 2))
Y = (RNG.random(1000) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)


def model(**settings: Any) -> Any:
    return tacit.LogisticRegression(**{"bounds": (-1, 1), "classes": (0, 1), **settings})


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 4), ("zero-out", 1)])
@pytest.mark.parametrize("multiplier", [0.3, 7.0, 400.0])
def test_the_guarantee_is_computed(relation: str, factor: int, multiplier: float) -> None:
    plan = model(noise_multiplier=multiplier, iterations=50, relation=relation, delta=1e-6).plan(10_000, 2)
    mu = math.sqrt(50) / multiplier
    assert plan.guarantee().mu == pytest.approx(mu, rel=1e-6)
    assert plan.guarantee().epsilon == pytest.approx(gaussian.epsilon(mu, 1e-6), rel=1e-5)
    price = plan.steps[0].price
    # Noise over sensitivity is the multiplier, or more by what rounding to integers takes.
    squared = Fraction(4**price.bits, factor * price.bound**2)
    assert multiplier <= math.sqrt(squared) <= multiplier * (1 + 1e-6)
    assert not plan.budget.is_infinite


@pytest.mark.parametrize("settings", [{"clip": 0.25}, {"clip": 0.25, "noise_multiplier": 9.0, "iterations": 4}])
def test_the_clip_reaches_the_mechanism(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[GradientSum] = []

    def spy(query: GradientSum, *others: Any) -> Any:
        seen.append(query)
        return answer_gradient(query, *others)

    monkeypatch.setattr(query_responder, "MECHANISMS", {**query_responder.MECHANISMS, GradientSum: spy})
    epsilon = {} if "noise_multiplier" in settings else {"epsilon": 1.0, "iterations": 4}
    fit = model(**settings, **epsilon).fit(X, Y)
    assert [query.clip for query in seen] == [0.25] * 4
    assert isinstance(fit.plan_.solver, HandSetGradient)
    assert fit.plan_.forecast is None


def test_a_clip_beyond_every_gradient_is_kept_and_paid_for() -> None:
    wide = model(epsilon=1.0, clip=100.0).plan(10_000, 2)
    usual = model(epsilon=1.0, solver="gradient").plan(10_000, 2)
    assert isinstance(wide.solver, HandSetGradient)
    assert wide.solver.clip == 100.0
    assert wide.forecast.excess_loss > usual.forecast.excess_loss


def test_a_loss_in_units_of_its_residuals_needs_its_scale() -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1), "y_bounds": (-3, 3), "clip": 0.5}
    with pytest.raises(SettingError, match="scale or smoothing"):
        tacit.HuberRegressor(**settings).plan(1000, 2)
    assert tacit.HuberRegressor(scale=1.0, **settings).plan(1000, 2).solver.name == "gradient"


def test_without_them_nothing_changes() -> None:
    plan = model(epsilon=1.0, solver="gradient").plan(10_000, 2)
    assert type(plan.solver) is Gradient


def noise_of(multiplier: float, clip: float, halved: bool = False) -> float:
    """The p-value of the noise of 600 one-step fits under its stated law, by the chi-square of all coordinates."""
    fits = 600
    steps = np.array(
        [
            model(noise_multiplier=multiplier, clip=clip, iterations=1, step_size=1.0, random_state=seed)
            .fit(X, Y)
            .release_.theta
            for seed in range(fits)
        ]
    )
    # A step of length 1 moves by -(sum + noise) / n; noise = multiplier·2·clip under replace-one.
    deviation = multiplier * 2 * clip / 1000 * (0.5 if halved else 1.0)
    found = ((steps - steps.mean(axis=0)) ** 2).sum() / deviation**2
    law = stats.chi2((fits - 1) * steps.shape[1])
    return float(2 * min(law.cdf(found), law.sf(found)))


@pytest.mark.filterwarnings("ignore")
def test_the_noise_is_what_was_set() -> None:
    """600 fits, false-alarm rate 1e-7; half the noise would be seen."""
    assert noise_of(12.0, 0.5) > 1e-7
    assert noise_of(12.0, 0.5, halved=True) < 1e-7


def test_a_stated_epsilon_must_agree() -> None:
    agreeing = math.sqrt(20) / gaussian.mu(1.0, 1e-6)
    for multiplier in (agreeing * (1 + 1e-9), agreeing * 1.005):
        plan = model(epsilon=1.0, delta=1e-6, noise_multiplier=multiplier, iterations=20).plan(10_000, 2)
        assert plan.guarantee().epsilon <= 1.0
    for multiplier in (agreeing * 0.99, agreeing * 1.1):
        with pytest.raises(SettingError, match=r"costs μ = .*, ε = .* and the budget is μ = .*, ε = 1\."):
            model(epsilon=1.0, delta=1e-6, noise_multiplier=multiplier, iterations=20).plan(10_000, 2)
    with pytest.raises(SettingError, match="the budget is"):
        model(budget=tacit.Budget(mu=3.0), noise_multiplier=agreeing, iterations=20).plan(10_000, 2)


def test_the_multiplier_of_the_refusal_agrees() -> None:
    with pytest.raises(SettingError) as refusal:
        model(epsilon=1.0, delta=1e-6, noise_multiplier=3.0, iterations=77).plan(10_000, 2)
    suggested = float(str(refusal.value).split("noise_multiplier=")[-1].rstrip("."))
    model(epsilon=1.0, delta=1e-6, noise_multiplier=suggested, iterations=77).plan(10_000, 2)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"epsilon": 1.0, "clip": 0.0}, SettingError, "clip must be a positive"),
        ({"epsilon": 1.0, "clip": -2.0}, SettingError, "clip must be a positive"),
        ({"epsilon": 1.0, "clip": math.nan}, SettingError, "clip must be a positive"),
        ({"epsilon": 1.0, "clip": "small"}, SettingError, "clip must be a number"),
        ({"noise_multiplier": 0.0, "iterations": 3}, SettingError, "noise_multiplier must be a positive"),
        ({"noise_multiplier": math.inf, "iterations": 3}, SettingError, "noise_multiplier must be a positive"),
        ({"noise_multiplier": 3.0}, SettingError, "needs iterations"),
        ({"noise_multiplier": 3.0, "iterations": 3, "epsilon": math.inf}, BudgetError, "no noise"),
        ({"iterations": 3}, BudgetError, "epsilon has no default"),
        ({"epsilon": 1.0, "clip": 1.0, "solver": "newton"}, SettingError, "takes no clip"),
        ({"epsilon": 1.0, "clip": 1.0, "inference": True}, SettingError, "no intervals"),
        ({"epsilon": 1.0, "clip": 1.0, "bounds": "private"}, SettingError, "declared bounds"),
        ({"epsilon": 1.0, "clip": 1.0, "relation": "add-remove", "n_at_least": 9}, SettingError, "public n"),
    ],
)
@pytest.mark.usefixtures("nothing_spent")
def test_what_cannot_be_is_refused(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        model(**settings).fit(X, Y)


def test_a_ledger_charges_what_the_noise_costs() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(mu=1.0, delta=1e-5))
    with ledger:
        model(noise_multiplier=10.0, iterations=25).fit(X, Y)
    (charge,) = ledger.charges()
    assert compose(charge.events, tacit.Relation.REPLACE_ONE).mu == pytest.approx(0.5, rel=1e-6)


def test_a_loss_of_unknown_smoothness_has_the_bound_of_its_slope() -> None:
    hinge = tacit.own_loss(
        lambda z, y: -(2 * y - 1) if (2 * y - 1) * z < 1 else 0.0,
        lambda z, y: max(0.0, 1 - (2 * y - 1) * z),
        lipschitz=1.0,
        convex=True,
    )
    plan = tacit.MarginClassifier(loss=hinge, epsilon=1.0, delta=1e-6, bounds=(-1, 1)).plan(1000, 2)
    bound, mu, d = math.sqrt(3), gaussian.mu(1.0, 1e-6), 3
    noise = 2 * bound / (1000 * mu)
    steps = math.ceil(bound**2 / (0.25 * d * noise**2))
    assert plan.queries == min(steps, 1000)
    radius = 10 / bound
    expected = radius * math.sqrt(bound**2 / plan.queries + d * noise**2)
    assert plan.forecast is not None
    assert plan.forecast.excess_loss == pytest.approx(expected)
