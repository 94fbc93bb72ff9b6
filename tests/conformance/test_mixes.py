"""Random mixes of events against an independent implementation of loss distributions."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as oracle

from tacit.accounting import best
from tacit.privacy.event import Event, Gaussian, Laplace, PoissonSampled, Pure, Repeated

DELTA = 1e-6
Build = Callable[[bool], Any]


def settings(pessimistic: bool) -> dict[str, Any]:
    return {"pessimistic_estimate": pessimistic, "value_discretization_interval": 2e-3, "use_connect_dots": pessimistic}


def draw(generator: np.random.Generator) -> tuple[Event, Build]:
    noise = Fraction(int(generator.integers(10, 80)), 10)
    rate = Fraction(int(generator.integers(1, 30)), 100)
    scale, share = float(noise), float(rate)
    match int(generator.integers(5)):
        case 0:
            return Gaussian(1, noise**2), lambda side: oracle.from_gaussian_mechanism(scale, **settings(side))
        case 1:
            return Laplace(1, noise), lambda side: oracle.from_laplace_mechanism(scale, **settings(side))
        case 2:
            event: Event = PoissonSampled(Gaussian(1, noise**2), rate)
            return event, lambda side: oracle.from_gaussian_mechanism(scale, sampling_prob=share, **settings(side))
        case 3:
            event = PoissonSampled(Laplace(1, noise), rate)
            return event, lambda side: oracle.from_laplace_mechanism(scale, sampling_prob=share, **settings(side))
        case _:
            lie = 0.9 - 0.5 * share
            epsilon = math.log((1.0 - lie / 2.0) / (lie / 2.0))
            return Pure(Fraction(epsilon)), lambda side: oracle.from_randomized_response(
                lie, 2, pessimistic_estimate=side, value_discretization_interval=2e-3
            )


@pytest.mark.parametrize("seed", range(20))
def test_a_mix_is_between_the_optimistic_and_just_above_the_pessimistic_value(seed: int) -> None:
    generator = np.random.default_rng(seed)
    drawn = [(*draw(generator), int(generator.integers(1, 10))) for _ in range(int(generator.integers(2, 5)))]
    bounds = []
    for pessimistic in (False, True):
        laws = [build(pessimistic).self_compose(times) for _, build, times in drawn]
        total = laws[0]
        for law in laws[1:]:
            total = total.compose(law)
        bounds.append(total.get_epsilon_for_delta(DELTA))
    events = [Repeated(event, times) for event, _, times in drawn]
    found = best(events, delta=DELTA, relation="add-remove").epsilon
    assert bounds[0] <= found <= max(1.01 * bounds[1], bounds[1] + 1e-4)
