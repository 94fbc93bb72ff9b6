"""Queries of statistics: sizes, and what is refused."""

import pytest

from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.errors import SettingError


def test_sums_of_statistics_have_a_size_and_something_to_sum() -> None:
    cell = Cell("x", 0, 1.0)
    statistic = Statistic("x", cell, Interval(0.0, 1.0))
    assert BoundedSums((statistic,) * 3).size == 3
    assert GroupSums((statistic,) * 3, cell, 2).size == 4
    assert GroupSums((), cell, 2).size == 1
    with pytest.raises(SettingError, match="At least one"):
        BoundedSums(())
    with pytest.raises(SettingError, match="a group"):
        GroupSums((), cell, 0)
