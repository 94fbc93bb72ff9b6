"""Settings, laws, validating rows and the price of a trial."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit.errors import SettingError
from tacit.estimators.search_space import (
    budget_of,
    law_of_runs,
    part_of,
    require_within,
    settings_of_search,
    validating,
)
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, NegativeBinomial, PoissonRuns, Pure

MODEL = tacit.LogisticRegression(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1])


def test_grids_and_lists_of_grids() -> None:
    assert len(settings_of_search(MODEL, {"l2": [1, 2], "iterations": [3, 4]}, None, None)) == 4
    assert len(settings_of_search(MODEL, [{"l2": [1, 2]}, {"iterations": [3]}], None, None)) == 3


def test_laws_by_name() -> None:
    assert law_of_runs("poisson", 5) == PoissonRuns(5)
    assert law_of_runs("geometric", 4) == NegativeBinomial(1, Fraction(1, 4))
    own = NegativeBinomial(Fraction(-1, 2), Fraction(1, 9))
    assert law_of_runs(own, 1) is own


def test_validation_is_a_share_or_public() -> None:
    assert validating(MODEL, 0.25) == (Fraction(1, 4), None)
    rows = tacit.public(np.zeros((2, 1)), [0, 1])
    assert validating(MODEL, rows)[1] is rows
    with pytest.raises(SettingError, match="costs budget"):
        validating(MODEL, np.zeros(3))


def test_parts_of_arrays_and_sparse_rows() -> None:
    mask = np.array([True, False, True])
    X, y, more = part_of((sparse.csr_array(np.eye(3)), [1, 2, 3], {"units": np.arange(3)}), mask)
    assert X.shape == (2, 3)
    assert list(y) == [1, 3]
    assert more["units"].tolist() == [0, 2]


def test_budgets_are_never_above_the_event() -> None:
    square = Fraction(1, 3)
    given = budget_of(Gaussian(square, 1), Budget(epsilon=1.0, delta=1e-6))["budget"]
    assert Fraction(given.mu) ** 2 <= square
    pure = budget_of(Pure(Fraction(1, 3)), Budget(epsilon=1.0, delta=0))["budget"]
    assert pure.is_pure
    assert Fraction(pure.epsilon) <= Fraction(1, 3)


def test_a_plan_beyond_the_trial_is_refused() -> None:
    plan = MODEL.plan(1000, 3)
    require_within(plan, Gaussian(1, 1))
    with pytest.raises(SettingError, match="Choose another solver"):
        require_within(plan, Gaussian(Fraction(1, 100), 1))
    with pytest.raises(SettingError, match="Choose another solver"):
        require_within(plan, Pure(1))
