import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.accounting.composition import count_events
from tacit.accounting.training_run import Run
from tacit.errors import InputError, SettingError
from tacit.privacy.event import (
    Event,
    Gaussian,
    PoissonSampled,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

ADD, ZERO, REPLACE = Relation.ADD_REMOVE, Relation.ZERO_OUT, Relation.REPLACE_ONE


@pytest.mark.parametrize(
    ("run", "step"),
    [
        (Run(noise=2, steps=3, relation=ADD), Gaussian(1, 4)),
        (Run(noise=2, steps=3, relation=ZERO), Gaussian(1, 4)),
        (Run(noise=2, steps=3, relation=REPLACE), Gaussian(4, 4)),
        (
            Run(noise=2, steps=3, relation=REPLACE, sample_rate=Fraction(1, 8)),
            PoissonSampled(Gaussian(1, 4), Fraction(1, 8)),
        ),
        (
            Run(noise=2, steps=3, relation=REPLACE, sample_rate=0.125, sampling="without-replacement"),
            SampledWithoutReplacement(Gaussian(4, 4), 1, 8),
        ),
        (
            Run(noise=2, steps=3, relation=REPLACE, sample_rate=0.125, sampling="with-replacement", population=80),
            SampledWithReplacement(Gaussian(4, 4), 10, 80),
        ),
    ],
)
def test_t22_the_sensitivity_follows_from_relation_and_sampling(run: Run, step: Event) -> None:
    assert run.event == Repeated(step, 3)


def test_floats_are_taken_at_their_exact_value() -> None:
    event = Run(noise=0.1, steps=1, relation=ADD).event
    assert event == Repeated(Gaussian(1, Fraction(0.1) ** 2), 1)


def test_a_size_of_a_sample_is_rounded_up() -> None:
    run = Run(
        noise=1, steps=1, relation=REPLACE, sample_rate=Fraction(1, 3), sampling="without-replacement", population=10
    )
    assert run.event == Repeated(SampledWithoutReplacement(Gaussian(4, 1), 4, 10), 1)


def test_rate_zero_costs_nothing() -> None:
    for sampling in ("poisson", "without-replacement"):
        run = Run(noise=1, steps=5, relation=REPLACE, sample_rate=0, sampling=sampling)
        assert count_events([run.event], REPLACE) == ()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Run(noise=0, steps=1, relation=ADD),
        lambda: Run(noise=-1.0, steps=1, relation=ADD),
        lambda: Run(noise=math.nan, steps=1, relation=ADD),
        lambda: Run(noise=math.inf, steps=1, relation=ADD),
        lambda: Run(noise="1", steps=1, relation=ADD),  # type: ignore[arg-type]
        lambda: Run(noise=1, steps=0, relation=ADD),
        lambda: Run(noise=1, steps=2.5, relation=ADD),  # type: ignore[arg-type]
        lambda: Run(noise=1, steps=1, relation="swap"),  # type: ignore[arg-type]
        lambda: Run(noise=1, steps=1, relation=ADD, sample_rate=1.5),
        lambda: Run(noise=1, steps=1, relation=ADD, sample_rate=-0.1),
        lambda: Run(noise=1, steps=1, relation=ADD, sample_rate=math.nan),
        lambda: Run(noise=1, steps=1, relation=ADD, sample_rate=0.1, sampling="with-replacement"),
        lambda: Run(noise=1, steps=1, relation=ADD, sample_rate=0.1, population=0),
    ],
)
def test_bad_runs_are_refused(build: Callable[[], Run]) -> None:
    with pytest.raises(InputError):
        build()


def test_t28_shuffled_batches_are_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match="no amplification"):
        Run(noise=1, steps=1, relation=ADD, sample_rate=0.1, sampling="shuffle")


def test_t25_whole_steps_only() -> None:
    assert Run(noise=1, steps=3 * 75, relation=ADD).event == Repeated(Gaussian(1, 1), 225)
