"""The sensitivity of a noisy minimum: exact rationals, all events, both relations."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.accuracy_of_minimum import minimum_accuracy, minimum_step
from tacit.contract.query import NoisyMinimum, QueryKind
from tacit.contract.sensitivity import GammaPrice, Price, event_of, events_of
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.event import Gaussian, Pure
from tacit.privacy.relation import Relation

LOSSES = [classification.LOGISTIC, classification.hinge(), regression.huber(0.3), regression.pinball(0.2, 0.1)]
KIND = QueryKind.NOISY_MINIMUM


@given(
    loss=st.sampled_from(LOSSES),
    clip=st.floats(1e-6, 1e6),
    ridge=st.floats(1e-6, 1e9),
    records=st.integers(1, 10**8),
    width=st.integers(1, 300),
    bound=st.integers(2**12, 2**36),
    gamma=st.booleans(),
)
def test_one_record_moves_the_integers_by_at_most_the_bound(
    loss: Loss, clip: float, ridge: float, records: int, width: int, bound: int, *, gamma: bool
) -> None:
    """(clip·lipschitz / ridge + 2·drift / clip) / step + √width ≤ bound, in exact rationals."""
    query = NoisyMinimum(clip, ridge, loss=loss)
    price = GammaPrice(bound, 30) if gamma else Price(bound, 30)
    accuracy = minimum_accuracy(query, records=records, width=width)
    step = minimum_step(query, price, accuracy, width=width)
    exact = Fraction(clip) * Fraction(loss.lipschitz) / Fraction(ridge)
    moved = (exact + 2 * Fraction(accuracy.drift) / Fraction(clip)) / step
    assert moved <= bound
    assert (bound - moved) ** 2 >= width
    # No more is charged than rounding and drift need.
    assert moved >= bound - math.sqrt(width) - 1


@given(ridge=st.floats(1e-3, 1e6), width=st.integers(1, 50))
def test_t06_the_step_does_not_shrink_with_the_number_of_records(ridge: float, width: int) -> None:
    query, price = NoisyMinimum(1.0, ridge), Price(2**30, 30)
    steps = [
        minimum_step(query, price, minimum_accuracy(query, records=n, width=width), width=width)
        for n in (1, 100, 10_000, 10**7)
    ]
    assert steps == sorted(steps)
    assert steps[0] >= Fraction(1) / Fraction(ridge) / 2**30


def test_events() -> None:
    """μ = 2S / 2^bits and ε = 2S / 2^bits under replace-one, half of that for a record that is blanked."""
    for relation, factor in ((Relation.REPLACE_ONE, 2), (Relation.ZERO_OUT, 1)):
        (event,) = events_of(KIND, Price(1000, 12), relation)
        assert isinstance(event, Gaussian)
        assert event.mu_squared == Fraction(factor * 1000, 2**12) ** 2
        (pure,) = events_of(KIND, GammaPrice(1000, 12), relation)
        assert isinstance(pure, Pure)
        assert pure.epsilon == Fraction(factor * 1000, 2**12)
    for price in (Price(1000, 12), GammaPrice(1000, 12)):
        with pytest.raises(SettingError, match="public number of records"):
            events_of(KIND, price, Relation.ADD_REMOVE)
    with pytest.raises(SettingError, match="not Gaussian"):
        event_of(KIND, GammaPrice(1000, 12), Relation.ZERO_OUT)
    with pytest.raises(SettingError, match="noisy minima"):
        events_of(QueryKind.GRADIENT, GammaPrice(1000, 12), Relation.ZERO_OUT)
