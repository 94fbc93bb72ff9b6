"""Queries of grouped rows have kinds of their own and checked parameters."""

import numpy as np
import pytest

from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.query import KIND_OF, QueryKind
from tacit.errors import SettingError


def test_grouped_queries_are_priced_as_sums() -> None:
    kinds = {query: KIND_OF[query] for query in (GroupSum, ChannelMoments, MappedGradient)}
    assert kinds == {
        GroupSum: QueryKind.GRADIENT,
        ChannelMoments: QueryKind.SECOND_MOMENTS,
        MappedGradient: QueryKind.GRADIENT,
    }


def test_means_of_channels_are_finite() -> None:
    with pytest.raises(SettingError, match="finite"):
        ChannelMoments(0, np.array([np.inf]), (0, 1), 1.0)
