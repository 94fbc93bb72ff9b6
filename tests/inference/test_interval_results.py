"""Tests and intervals need the sandwich alone: of a release, or of a stored fit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.errors import UnavailableError
from tacit.inference.interval_results import IntervalResults
from tacit.inference.results import Results


def test_they_are_those_of_the_results(make_release: Any) -> None:
    release = make_release()
    alone, whole = IntervalResults(release), Results(release)
    np.testing.assert_array_equal(alone.cov_params(), whole.cov_params())
    assert str(alone.t_test("x0 = 0")) == str(whole.t_test("x0 = 0"))


def test_without_a_sandwich_they_are_not_there(make_release: Any) -> None:
    with pytest.raises(UnavailableError, match="inference=True"):
        IntervalResults(replace(make_release(), sandwich=None)).t_test("x0 = 0")
