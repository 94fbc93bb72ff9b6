"""Queries of bounded statistics of a record: sums over all records, and over those of each group."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell
from tacit.errors import SettingError


@dataclass(frozen=True)
class BoundedSums:
    """Sums over records of bounded statistics, each mapped from its interval to [-1, 1] and clipped there.

    An invalid record adds 0, as one in the middle of every interval does. A person adds the mean over their records.
    """

    statistics: tuple[Statistic, ...]

    def __post_init__(self) -> None:
        if not self.statistics:
            raise SettingError("At least one statistic is summed.")

    @property
    def size(self) -> int:
        """Number of sums that one record enters."""
        return len(self.statistics)


@dataclass(frozen=True)
class GroupSums:
    """For each of the `groups` levels of a column, its number of records and the sums of `BoundedSums` over them.

    A record adds to its own group alone. The answer is (group, 1 + statistic), the counts first.
    """

    statistics: tuple[Statistic, ...]
    group: Cell
    groups: int

    def __post_init__(self) -> None:
        if self.groups < 1:
            raise SettingError("There must be a group.")

    @property
    def size(self) -> int:
        """Number of sums that one record enters, the count included."""
        return 1 + len(self.statistics)
