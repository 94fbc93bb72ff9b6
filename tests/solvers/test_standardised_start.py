"""Columns of one value but for a few records: their scale, and the intervals of their slopes."""

from typing import Any, cast

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, ColumnCounts, Query
from tacit.inference.results import Results
from tacit.solvers.interval_rules import START
from tacit.solvers.standardised_start import StandardisedStart, Standards, standardise

N = 100_000


class Counting:
    """Counts columns and adds no noise, whatever noise it says there is."""

    def __init__(self, columns: Any, noise: float) -> None:
        self._columns, self._noise = columns, noise

    def ask(self, query: Query) -> Answer:
        asked = cast("ColumnCounts", query)
        values = self._columns[:, list(asked.columns)]
        inside = (asked.lower < values) & (values <= asked.upper)
        return Answer(inside.sum(axis=0).astype(float), self._noise)


class NoisyCounting(Counting):
    """Adds the noise that it says there is."""

    def __init__(self, columns: Any, noise: float, rng: np.random.Generator) -> None:
        super().__init__(columns, noise)
        self._rng = rng

    def ask(self, query: Query) -> Answer:
        quiet = super().ask(query)
        return Answer(quiet.value + quiet.noise_scale * self._rng.standard_normal(quiet.value.shape), quiet.noise_scale)


def standards(values: Any, noise: float, bounds: tuple[float, float] = (-1, 1)) -> Standards:
    model = tacit.LogisticRegression(epsilon=1.0, bounds=bounds, inference=True)
    plan: Plan = model.plan(len(values), 1)
    columns = np.column_stack([values, np.ones(len(values)), np.zeros(len(values))])
    return standardise(Counting(columns, noise), plan, StandardisedStart((0,), 12, 6, 0.4, 1.4, 1.5))


def test_a_rare_column_keeps_its_scale_even_where_noise_hides_it() -> None:
    """Two in a thousand are not zero; a count has noise of half as many, or five times."""
    values = np.zeros(10_000)
    values[:20] = 0.8
    for noise in (10.0, 100.0):
        found = standards(values, noise)
        assert found.scales[0] == 1.0
        assert found.rare == (0,)


def test_a_narrow_column_is_not_taken_for_a_rare_one() -> None:
    values = 0.3 + 1e-5 * np.random.default_rng(0).standard_normal(10_000)
    found = standards(values, 10.0)
    assert found.scales[0] < 2.0**-START.octaves
    assert found.rare == ()


def test_zero_is_the_user_s_zero() -> None:
    """Of bounds (0, 1) the zero is prepared as -1; there few records are elsewhere."""
    values = np.full(10_000, -1.0)
    values[:20] = 0.8
    assert standards(values, 100.0, bounds=(0, 1)).rare == (0,)
    assert standards(values, 100.0).rare == ()


@pytest.mark.parametrize("family", ["binomial", "gaussian"])
def test_slopes_of_rare_columns_are_where_the_truth_is(family: str) -> None:
    """CSR columns with 0.2% that are not zero; seeded, so there are no false alarms.

    Standard errors without noise are 0.09 and 0.18.
    """
    rng = np.random.default_rng(0)
    X = sparse.random_array(
        (N, 4), density=0.002, format="csr", rng=rng, data_sampler=lambda size: 1 - rng.random(size)
    )
    slopes = np.array([1.0, -1.0, 0.0, 0.5])
    settings: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "bounds": (0, 1), "inference": True}
    if family == "binomial":
        y = rng.random(N) < 1 / (1 + np.exp(-(X @ slopes)))
        model: Any = tacit.LogisticRegression(**settings, random_state=1)
    else:
        y = X @ slopes + rng.normal(size=N)
        model = tacit.LinearRegression(**settings, y_bounds=(-10, 10), random_state=1)
    model.fit(X, y)
    words = Results(model.release_).coefficients.statements[1:]
    ends = np.asarray(model.conf_int())[1:]
    given = np.array([word != "withheld" for word in words])
    assert np.isfinite(ends).all(axis=1).tolist() == given.tolist()
    assert np.all((ends[:, 0] - 0.5 <= slopes) & (slopes <= ends[:, 1] + 0.5))
    assert np.all(ends[given, 1] - ends[given, 0] < 3.92 * (6.0 if family == "binomial" else 1.0))


@pytest.mark.parametrize("share", [0.02, 0.04, 0.08])
def test_a_column_that_is_mostly_zero_is_never_blown_up(share: float) -> None:
    """The radius that is sought may hold just the zeros: of 300 draws of the noise none gives a tiny scale."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(4000) < share, rng.uniform(0.1, 0.9, 4000), 0.0)
    for noise in (40.0, 60.0):
        for _ in range(50):
            columns = np.column_stack([values, np.ones(4000), np.zeros(4000)])
            gate = NoisyCounting(columns, noise, rng)
            plan = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), inference=True).plan(4000, 1)
            found = standardise(gate, plan, StandardisedStart((0,), 12, 6, 0.4, 1.4, 1.5))
            assert found.scales[0] > 0.01
