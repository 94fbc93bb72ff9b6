"""The rivals' floats agree with the library's certified accounting."""

import math

import pytest

from benchmarks.rivals.calibration import delta_of, mu_of
from tacit.accounting.composition import mu_squared_of
from tacit.privacy.budget import Budget


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 8.0])
def test_mu_is_what_the_library_allows(epsilon: float) -> None:
    ours = math.sqrt(float(mu_squared_of(Budget(epsilon=epsilon, delta=1e-6))))
    assert mu_of(epsilon, 1e-6) == pytest.approx(ours, rel=1e-6)


def test_delta_and_mu_undo_each_other() -> None:
    assert delta_of(0.7, mu_of(0.7, 1e-4)) == pytest.approx(1e-4, rel=1e-9)


def test_no_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        mu_of(0.0, 1e-6)
