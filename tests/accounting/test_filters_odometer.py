import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.accounting.filters import Odometer
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.event import Approximate, Event, Gaussian, Laplace, PoissonSampled, Repeated
from tacit.privacy.relation import Relation

ADD = Relation.ADD_REMOVE


def test_readings_grow_and_reading_changes_nothing() -> None:
    odometer, readings = Odometer(ADD), []
    events: list[Event] = [Gaussian(1, 10**6), Laplace(1, 100), Repeated(Gaussian(1, 100), 30)]
    for event in events:
        odometer = odometer.after(event)
        readings.append(odometer.reading(1e-6))
        assert odometer.reading(1e-6) == readings[-1]
    assert readings == sorted(readings)
    assert Odometer(ADD).reading(1e-6) == 0.0
    assert math.isinf(odometer.reading(0.0))


def test_the_reading_is_not_far_above_the_fixed_budget() -> None:
    odometer = Odometer(ADD).after(Gaussian(1, 4))
    rho = 0.125
    fixed = rho + 2 * math.sqrt(rho * math.log(1e6))
    assert fixed < odometer.reading(1e-6) < 1.5 * fixed


def test_the_loss_stays_below_the_reading_at_all_times() -> None:
    # 20 000 adaptive analysts of 40 steps who spend more after luck. At delta = 0.05 the number of
    # violations would exceed 1 250 with probability below 1e-6 if each were 0.05.
    generator, delta, runs = np.random.default_rng(7), 0.05, 20_000
    losses, spent = np.zeros(runs), np.zeros(runs)
    violated = np.zeros(runs, dtype=bool)
    small, large = 0.05, 0.3
    ladder: dict[float, float] = {}
    for _ in range(40):
        mu = np.where(losses > 0.2, large, small)
        losses += mu * generator.standard_normal(runs) + 0.5 * mu * mu
        spent = np.round(spent + 0.5 * mu * mu, 10)
        for value in set(spent.tolist()) - set(ladder):
            ladder[value] = Odometer(ADD, Fraction(value)).reading(delta)
        violated |= losses > np.array([ladder[value] for value in spent.tolist()])
    assert violated.sum() < 1_250


def test_other_relations_and_other_releases_are_refused() -> None:
    with pytest.raises(AccountingError, match="never added"):
        Odometer(ADD).after(Gaussian(1, 1), "replace-one")
    for event in (Approximate(1, Fraction(1, 10)), PoissonSampled(Gaussian(1, 1), Fraction(1, 2))):
        with pytest.raises(AccountingError, match="odometer"):
            Odometer(ADD).after(event)
    with pytest.raises(BudgetError):
        Odometer(ADD).reading(1.0)
