"""The query of a deviance: of losses that are half a deviance, and of one linear predictor."""

import numpy as np
import pytest

from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import KIND_OF, QueryKind
from tacit.errors import SettingError
from tacit.losses import classification, regression


def test_it_is_a_count_and_needs_a_deviance() -> None:
    assert KIND_OF[DevianceSum] is QueryKind.COUNTS
    for loss in (regression.huber(1.0), regression.pinball(0.5), classification.hinge()):
        with pytest.raises(SettingError, match="no deviance"):
            DevianceSum(np.zeros(2), 12.0, loss)
    with pytest.raises(SettingError, match="no deviance"):
        DevianceSum(np.zeros((2, 3)), 12.0, classification.LOGISTIC)
    with pytest.raises(SettingError, match="positive"):
        DevianceSum(np.zeros(2), 0.0, classification.LOGISTIC)
    with pytest.raises(SettingError, match="finite"):
        DevianceSum(np.array([np.nan]), 12.0, classification.LOGISTIC)
