import math

import numpy as np
import pytest

from tacit.accounting.pld import BelowRoundOff
from tacit.accounting.pld.distribution import Bound, LossDistribution, dyadic, from_pair
from tacit.accounting.pld.pairs.gaussian import GaussianPair
from tacit.accounting.pld.transform import Transform, Window, epsilon_at, transform


def composed(bound: Bound, tilt: float = 2.0) -> Transform:
    grid = dyadic(2.0**-6, center=0, low=-8.0, high=9.0, per_octave=64)
    law = from_pair(GaussianPair(0.5), "remove", grid, bound)
    return transform([(law, 4)], Window(tilt, 2.0, 2.0, 35.0), bound)


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("guess", [-1.0, 0.3, 4.0, 50.0])
def test_the_answer_is_on_its_side_of_the_root(bound: Bound, guess: float) -> None:
    law = composed(bound)
    for delta in (0.2, 1e-3, 1e-6):
        found = epsilon_at(law, delta, guess)
        safe = law.delta(found)
        assert safe <= delta if bound == "upper" else safe >= delta
        # And near to it: a step of a millionth crosses the root.
        other = law.delta(found * (1 - 1e-6 if bound == "upper" else 1 + 1e-6))
        assert other > delta if bound == "upper" else other < delta


def test_a_large_delta_needs_no_epsilon() -> None:
    assert epsilon_at(composed("upper"), 0.9, 1.0) == 0.0


def test_infinite_losses_above_delta_need_an_infinite_epsilon() -> None:
    law = LossDistribution(0.5, np.array([0, 1]), np.array([0.5, 0.4]), 0.1, 0.0, 0.0)
    upper = transform([(law, 1)], Window(0.0, 1.0, 1.0, 30.0), "upper")
    assert math.isinf(epsilon_at(upper, 0.05, 1.0))


def test_a_delta_below_round_off_is_refused() -> None:
    # Without a tilt nothing below 1e-16 can be told from round-off.
    with pytest.raises(BelowRoundOff, match="round-off"):
        epsilon_at(composed("upper", tilt=0.0), 1e-25, 3.0)
