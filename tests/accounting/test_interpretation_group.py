import itertools
import math
import warnings

import mpmath
import pytest

from tacit.accounting.interpretation import group_approximate
from tacit.errors import SettingError


def test_approximate_groups_are_the_formula_rounded_up() -> None:
    for epsilon, delta, size in itertools.product([0.0, 1e-9, 0.5, 3.0], [1e-20, 1e-6], [2, 3, 9]):
        found = group_approximate(epsilon, delta, size)
        with mpmath.workdps(40):
            e = mpmath.mpf(epsilon)
            weight = mpmath.fsum(mpmath.exp(i * e) for i in range(size))
            truth = weight * mpmath.mpf(delta)
        assert found[0] >= size * epsilon
        assert found[0] == pytest.approx(size * epsilon)
        assert min(truth, 1) <= found[1] <= truth * (1 + 1e-9)


def test_replace_one_is_a_group_of_two() -> None:
    epsilon, delta = group_approximate(0.7, 1e-6, 2)
    assert epsilon == pytest.approx(1.4)
    assert delta == pytest.approx((1 + math.exp(0.7)) * 1e-6)


def test_a_group_of_one_is_one_record() -> None:
    assert group_approximate(0.3, 1e-6, 1) == (0.3, 1e-6)


def test_t26_ends_of_the_range() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert group_approximate(1.0, 0.0, 10**6)[1] == 0.0
        assert group_approximate(1.0, 1e-300, 10**6)[1] == 1.0
        assert group_approximate(400.0, 1e-300, 2)[1] < 1.0
        assert group_approximate(400.0, 1e-300, 2)[1] >= math.exp(400.0) * 1e-300
        assert group_approximate(math.inf, 1e-6, 2) == (math.inf, 1.0)
    with pytest.raises(SettingError, match=r"expected|must"):
        group_approximate(1.0, 1e-6, 0)
