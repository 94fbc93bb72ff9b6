import math
import time
from fractions import Fraction
from typing import Any

import pytest

from tacit.accounting.best_epsilon import best
from tacit.accounting.calibration import calibrate
from tacit.accounting.composition import compose, mu_squared_of
from tacit.errors import AccountingError, BudgetError, InputError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def achieved(run: Any, delta: float = 1e-5) -> float:
    return best([run.event], delta=delta, relation=run.relation).epsilon


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("budget", [BUDGET, Budget(mu=0.3), Budget(rho=0.05)])
def test_t25_over_the_whole_table_the_noise_is_the_smallest_float(relation: Relation, budget: Budget) -> None:
    run = calibrate(budget, relation=relation, steps=30)
    allowed = mu_squared_of(budget)
    assert compose([run.event]).mu_squared <= allowed
    less = Fraction(math.nextafter(float(run.noise), 0.0))
    factor = 4 if relation is Relation.REPLACE_ONE else 1
    assert 30 * factor / less**2 > allowed


def test_the_most_steps_over_the_whole_table() -> None:
    run = calibrate(Budget(mu=0.5), relation="add-remove", find="steps", noise=20)
    assert run.steps == 100
    fewer = calibrate(Budget(mu=0.5), relation="add-remove", find="steps", noise=19.999)
    assert fewer.steps == 99
    with pytest.raises(BudgetError, match="one step"):
        calibrate(Budget(mu=0.5), relation="replace-one", find="steps", noise=3.9)


def test_a_gaussian_calibration_takes_about_a_millisecond() -> None:
    # Best of many, because other work may run at the same time; the bench holds it to 1 ms.
    times = []
    for _ in range(20):
        start = time.perf_counter()
        calibrate(BUDGET, relation="replace-one", steps=50)
        times.append(time.perf_counter() - start)
    assert min(times) < 2e-3


@pytest.mark.parametrize(("rate", "steps", "known"), [(0.01, 1000, 1.41463), (0.05, 400, None)])
def test_t25_sampled_noise_is_within_the_budget_and_close(rate: float, steps: int, known: float | None) -> None:
    run = calibrate(BUDGET, relation="add-remove", steps=steps, sample_rate=rate)
    assert 0.998 <= achieved(run) <= 1.0
    if known is not None:
        assert float(run.noise) == pytest.approx(known, rel=5e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {"relation": "replace-one", "sample_rate": 0.02},
        {"relation": "replace-one", "sample_rate": 0.02, "sampling": "without-replacement"},
        {"relation": "add-remove", "find": "sample_rate", "noise": 1.5},
        {"relation": "add-remove", "find": "steps", "noise": 3.0, "sample_rate": 0.02},
        {"relation": "add-remove", "find": "population", "noise": 1.5, "sample": 100},
    ],
)
def test_t25_every_unknown_is_found_within_the_budget(settings: dict[str, Any]) -> None:
    run = calibrate(BUDGET, **{"steps": 50, **settings})
    assert 0.99 <= achieved(run) <= 1.0


def test_ends_of_the_range() -> None:
    free = calibrate(BUDGET, relation="add-remove", steps=10, sample_rate=0.0)
    assert achieved(free) == 0.0
    whole = calibrate(BUDGET, relation="add-remove", steps=10, sample_rate=1.0)
    exact = calibrate(BUDGET, relation="add-remove", steps=10)
    assert 1.0 <= float(whole.noise / exact.noise) <= 1.001
    loose = Budget(epsilon=10.0, delta=1e-2)
    assert calibrate(loose, relation="add-remove", find="sample_rate", noise=5.0).sample_rate == 1


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"find": "epsilon"}, SettingError),
        ({"find": "steps"}, SettingError),
        ({"find": "population", "noise": 1.0}, SettingError),
        ({"find": "sample_rate", "noise": 1.0, "sample_rate": 0.1}, SettingError),
        ({"noise": 1.0}, SettingError),
        ({"steps": 2.5}, SettingError),
        ({"sample_rate": 1.5}, SettingError),
        ({"sampling": "shuffle", "sample_rate": 0.1}, SettingError),
        ({"budget": Budget(mu=0.3), "sample_rate": 0.1}, AccountingError),
        ({"budget": Budget(rho=0.3), "sample_rate": 0.1}, AccountingError),
        ({"budget": Budget(epsilon=1.0), "sample_rate": 0.1}, BudgetError),
        ({"budget": Budget(epsilon=math.inf, delta=0.1)}, BudgetError),
        (
            {"find": "sample_rate", "noise": 0.01, "steps": 10**6, "budget": Budget(epsilon=1e-3, delta=1e-15)},
            BudgetError,
        ),
        ({"sampling": "without-replacement", "sample_rate": 0.1}, AccountingError),
    ],
)
def test_bad_questions_are_refused(settings: dict[str, Any], error: type[InputError]) -> None:
    with pytest.raises(error):
        calibrate(**{"budget": BUDGET, "relation": "add-remove", **settings})
