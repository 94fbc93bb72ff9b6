"""The jackknife takes the first term off the bias."""

import numpy as np
import pytest

from tacit.mechanisms.jackknife import jackknifed


@pytest.mark.parametrize("groups", [2, 4, 5])
def test_a_bias_of_one_over_m_vanishes(groups: int) -> None:
    found = jackknifed(lambda mask: np.array([3.0 + 7.0 / mask.sum()]), 20, groups)
    assert abs(found[0] - 3.0) < 1e-12


def test_a_second_order_term_is_as_in_the_proof() -> None:
    found = jackknifed(lambda mask: np.array([1.0 / mask.sum() ** 2]), 20, 4)
    assert abs(found[0] + 4 / 3 / 400) < 1e-15


def test_without_groups_the_estimate_is_as_it_is() -> None:
    assert jackknifed(lambda mask: np.array([float(mask.sum())]), 7, 0).tolist() == [7.0]


def test_groups_are_disjoint_and_cover_all_rows() -> None:
    seen: list[np.ndarray] = []

    def estimate(mask: np.ndarray) -> np.ndarray:
        seen.append(mask.copy())
        return np.zeros(1)

    jackknifed(estimate, 10, 4)
    assert seen[0].all()
    assert (np.sum([~mask for mask in seen[1:]], axis=0) == 1).all()
