from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import SettingError
from tacit.privacy import event as sampling
from tacit.privacy.event import Gaussian, PoissonSampled, SampledWithoutReplacement, SampledWithReplacement

STEP = Gaussian(1, 4)


def test_rates_are_exact() -> None:
    assert PoissonSampled(STEP, Fraction(1, 3)).rate == Fraction(1, 3)
    assert SampledWithoutReplacement(STEP, 10, 1000).rate == Fraction(1, 100)
    assert SampledWithReplacement(STEP, 2000, 1000).inner() == (STEP,)


@pytest.mark.parametrize(
    "build",
    [
        lambda: PoissonSampled(STEP, Fraction(11, 10)),
        lambda: PoissonSampled(STEP, -1),
        lambda: PoissonSampled(STEP, 1.01),
        lambda: PoissonSampled(STEP, float("nan")),
        lambda: PoissonSampled("gaussian", 1),  # type: ignore[arg-type]
        lambda: SampledWithoutReplacement(STEP, 11, 10),
        lambda: SampledWithoutReplacement(STEP, 0, 10),
        lambda: SampledWithReplacement(STEP, 0, 10),
        lambda: SampledWithReplacement(STEP, 1, 0),
    ],
)
def test_what_is_no_sample_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(SettingError):
        build()


def test_t28_shuffled_epochs_are_no_event() -> None:
    assert not [name for name in vars(sampling) if "shuffle" in name.lower()]
