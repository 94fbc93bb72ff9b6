"""Numbers with errors: laws from scipy's own distributions, and intervals of several at once."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tacit.errors import SettingError
from tacit.inference.estimates import Estimated, tail_probability

FOUND = Estimated(
    names=("a", "b", "c"),
    values=np.array([1.0, -0.5, 0.0]),
    sampling=np.array([0.04, 0.01, 0.09]),
    privacy=np.array([0.05, 0.03, 0.0]),
    degrees=np.array([5.0, 50.0, math.inf]),
    null=np.zeros(3),
    statements=("nominal",) * 3,
    dimension=3,
)
ERRORS = np.array([0.3, 0.2, 0.3])


def test_errors_and_shares() -> None:
    np.testing.assert_allclose(FOUND.std_errors, ERRORS)
    np.testing.assert_allclose(FOUND.privacy_share, [5 / 9, 0.75, 0.0])


def test_p_values_have_the_law_of_the_intervals() -> None:
    laws = [stats.t(5), stats.t(50), stats.norm()]
    expected = [2 * law.sf(abs(z)) for law, z in zip(laws, FOUND.statistics, strict=True)]
    np.testing.assert_allclose(FOUND.pvalues, expected, rtol=1e-12)
    for level in (0.5, 0.9, 0.999):
        ends = FOUND.conf_int(level)
        covers = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
        np.testing.assert_array_equal(covers, FOUND.pvalues >= 1 - level)


def test_other_nulls_move_the_test_and_not_the_interval() -> None:
    moved = replace(FOUND, null=FOUND.values)
    np.testing.assert_allclose(moved.pvalues, 1.0)
    np.testing.assert_array_equal(moved.conf_int(), FOUND.conf_int())


def test_sampling_intervals_lie_within_total_ones() -> None:
    total, sampling = FOUND.conf_int(), FOUND.conf_int(which="sampling")
    assert (total[:2, 0] < sampling[:2, 0]).all()
    assert (total[:2, 1] > sampling[:2, 1]).all()
    np.testing.assert_array_equal(total[2], sampling[2])
    half = (sampling[:, 1] - sampling[:, 0]) / 2
    np.testing.assert_allclose(half, FOUND.quantiles(0.95) * [0.2, 0.1, 0.3])


def test_bonferroni_shares_the_error() -> None:
    together = FOUND.conf_int(0.95, simultaneous=True)
    np.testing.assert_allclose(together, FOUND.conf_int(1 - 0.05 / 3))
    np.testing.assert_array_equal(together, FOUND.conf_int(simultaneous="bonferroni"))


def test_scheffe_by_the_f_law_and_chi_squared() -> None:
    expected = [
        math.sqrt(3 * stats.f(3, 5).ppf(0.9)),
        math.sqrt(3 * stats.f(3, 50).ppf(0.9)),
        math.sqrt(stats.chi2(3).ppf(0.9)),
    ]
    np.testing.assert_allclose(FOUND.quantiles(0.9, "scheffe"), expected, rtol=1e-9)
    # Of one estimate alone it is the plain interval.
    alone = replace(FOUND, dimension=1)
    np.testing.assert_allclose(alone.quantiles(0.9, "scheffe"), alone.quantiles(0.9), rtol=1e-9)


def test_tails() -> None:
    assert tail_probability(6.0, 2, math.inf) == pytest.approx(stats.chi2(2).sf(6.0))
    assert tail_probability(6.0, 2, 9.0) == pytest.approx(stats.f(2, 9).sf(3.0))


def test_no_error_at_all_is_no_failure() -> None:
    sure = replace(FOUND, sampling=np.zeros(3), privacy=np.zeros(3))
    np.testing.assert_array_equal(sure.statistics, [math.inf, -math.inf, 0.0])
    np.testing.assert_allclose(sure.pvalues, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(sure.privacy_share, 0.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95, float("nan"), True, "0.9", None])
def test_bad_levels_are_refused(level: Any) -> None:
    with pytest.raises(SettingError, match="level"):
        FOUND.conf_int(level)


def test_other_bad_choices_are_refused() -> None:
    with pytest.raises(SettingError, match="which"):
        FOUND.conf_int(which="privacy")
    with pytest.raises(SettingError, match="simultaneous"):
        FOUND.conf_int(simultaneous="tukey")


def test_it_reads_as_a_table() -> None:
    frame = FOUND.summary_frame(0.9)
    assert list(frame.index) == ["a", "b", "c"]
    np.testing.assert_allclose(frame[["lower", "upper"]], FOUND.conf_int(0.9))
    assert "P>|t|" in str(FOUND)


@pytest.mark.parametrize("method", ["bonferroni", "scheffe"])
def test_withheld_estimates_do_not_widen_the_others(method: str) -> None:
    withheld = replace(
        FOUND,
        statements=("nominal", "withheld", "conservative"),
        sampling=np.array([0.04, np.inf, 0.09]),
        privacy=np.array([0.05, np.inf, 0.0]),
    )
    chosen = np.array([0, 2])
    columns = ("values", "sampling", "privacy", "degrees", "null")
    rest = {name: getattr(FOUND, name)[chosen] for name in columns}
    two = replace(FOUND, names=("a", "c"), statements=("nominal", "nominal"), **rest)
    ends = withheld.conf_int(simultaneous=method)
    np.testing.assert_allclose(ends[chosen], two.conf_int(simultaneous=method))
    assert ends[1].tolist() == [-math.inf, math.inf]
    lines = withheld.lines(ends)
    assert (lines[1].lower, lines[1].upper) == (None, None)


def test_nothing_offered_breaks_nothing() -> None:
    none = replace(FOUND, statements=("withheld",) * 3, sampling=np.full(3, np.inf))
    for method in ("bonferroni", "scheffe"):
        assert not np.isfinite(none.conf_int(simultaneous=method)).any()
    missing = replace(FOUND, values=np.array([1.0, np.nan, 0.0]))
    assert missing.offered == [True, False, True]
