"""Results by statsmodels' names: what a fit and an estimator show is what `Results` computes."""

from typing import Any

import numpy as np
import pytest

from tacit.inference.results import Results
from tacit.inference.results_mixin import ResultsMixin


class Shown(ResultsMixin):
    """Anything with results."""

    def __init__(self, results: Results) -> None:
        self.results = results

    def _results(self) -> Results:
        return self.results


@pytest.fixture
def shown(twins: Any) -> Shown:
    return Shown(Results(twins.ours.release_))


def test_numbers_come_by_name(shown: Shown) -> None:
    results, found = shown.results, shown.results.coefficients
    for name, numbers in (
        ("params", results.values),
        ("bse", found.std_errors),
        ("tvalues", found.statistics),
        ("zvalues", found.statistics),
        ("pvalues", found.pvalues),
    ):
        assert getattr(shown, name).to_dict() == dict(zip(results.names, numbers.tolist(), strict=True))


def test_arguments_are_handed_on(shown: Shown) -> None:
    results = shown.results
    settings = (0.8, "sampling", "scheffe")
    np.testing.assert_array_equal(shown.conf_int(*settings), results.conf_int(*settings))
    np.testing.assert_array_equal(shown.cov_params("sampling"), results.cov_params("sampling"))
    assert str(shown.t_test("x0 - x1")) == str(results.t_test("x0 - x1"))
    assert shown.wald_test(["x0", "x1"]) == results.wald_test(["x0", "x1"])
    how: dict[str, Any] = {"which": "sampling", "simultaneous": True, "stars": True}
    assert shown.summary(0.8, **how) == results.summary(0.8, **how)
    assert shown.summary_frame(0.8).equals(results.summary_frame(0.8))
