"""The query of a histogram refuses edges that are none."""

import numpy as np
import pytest

from tacit.contract.score_query import ScoreHistogram
from tacit.errors import SettingError

THETA, MATRIX = np.array([0.5, -1.0]), np.eye(2)


@pytest.mark.parametrize("edges", [[1.0, 0.0], [0.0, 0.0], [np.inf], [[0.0]], [np.nan]])
def test_edges_of_a_histogram_are_finite_and_grow(edges: list[float]) -> None:
    with pytest.raises(SettingError, match="finite and grow"):
        ScoreHistogram(THETA, np.array(edges))
    with pytest.raises(SettingError, match="one linear predictor"):
        ScoreHistogram(MATRIX, np.array([0.0]))
    assert ScoreHistogram(THETA, np.array([0.0])).size == 1
