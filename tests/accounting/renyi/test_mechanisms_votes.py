import numpy as np
import pytest

from tacit.accounting.renyi.mechanisms import confidence_check, gaussian, noisy_plurality
from tacit.errors import SettingError

ORDERS = np.array([1.0, 2.0, 20.0])


def test_a_changed_vote_moves_two_counts() -> None:
    for scale in (5.0, 40.0, 200.0):
        assert noisy_plurality(ORDERS, scale**2) == pytest.approx(ORDERS / scale**2)
        pair = gaussian(ORDERS, np.sqrt(2.0) / scale)
        assert noisy_plurality(ORDERS, scale**2) == pytest.approx(pair)


def test_t43_the_check_is_paid_whatever_the_votes() -> None:
    for scale in (5.0, 150.0):
        assert confidence_check(ORDERS, scale**2) == pytest.approx(ORDERS / (2 * scale**2))
        assert np.all(2 * confidence_check(ORDERS, scale**2) >= ORDERS / scale**2)


def test_noise_must_exist() -> None:
    for curve in (noisy_plurality, confidence_check):
        with pytest.raises(SettingError, match=r"expected|must"):
            curve(2.0, 0.0)
