"""Forecasts agree with fits of the real engine on data like the surrogate."""

import warnings
from typing import Any

import numpy as np
import pytest

from tacit import LogisticRegression, forecast
from tacit.errors import SettingError
from tacit.planning.surrogate import Surrogate

N, D, FITS = 4000, 3, 40


@pytest.fixture(scope="module")
def study() -> Any:
    model = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1), inference=True)
    plan = model.plan(N, D)
    public = Surrogate.simulated(plan.design)
    picked = np.random.default_rng(5).integers(0, len(public.rows), N)
    X, y = public.rows[picked, :D], public.response[picked]
    from tacit.planning.forecast import _Simulation

    whole = _Simulation(plan, Surrogate(plan.design, public.rows[picked], y), 0.95)
    excesses, widths = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(FITS):
            fitted = LogisticRegression(**{**model.get_params(), "random_state": seed}).fit(X, y)
            excesses.append(whole.excess(fitted.release_.coefficients()))
            ends = np.asarray(fitted.conf_int())
            widths.append((ends[:, 1] - ends[:, 0]) / 2)
    return forecast(plan), (np.median(excesses), np.median(widths, axis=0))


def test_forecast_of_excess_and_widths_is_that_of_real_fits(study: Any) -> None:
    # Medians of 40 and 100 excesses of 4 coefficients: a ratio beyond 2.5 has a probability below 1e-6.
    found, (excess, widths) = study
    assert 1 / 2.5 < found.excess_loss / excess < 2.5
    for term, width in zip(found.terms, widths, strict=True):
        assert 1 / 1.4 < term.half_width / width < 1.4


def test_a_forecast_at_another_budget_would_be_noticed(study: Any) -> None:
    _, (excess, widths) = study
    wrong = forecast(LogisticRegression(epsilon=4.0, bounds=(-1, 1), classes=(0, 1), inference=True).plan(N, D))
    assert wrong.excess_loss < excess / 2.5 or wrong.terms[1].half_width < widths[1] / 1.4


def test_more_records_and_budget_are_forecast_to_help() -> None:
    errors = [
        forecast(LogisticRegression(epsilon=e, bounds=(-1, 1), classes=(0, 1)).plan(n, D), runs=12).excess_loss
        for n, e in ((2000, 0.5), (20_000, 0.5), (20_000, 5.0))
    ]
    assert errors[0] > errors[1] > errors[2] > 0


def test_without_noise_there_is_nothing_to_forecast() -> None:
    with pytest.raises(SettingError, match="private plan"):
        forecast(LogisticRegression(epsilon=np.inf, bounds=(-1, 1), classes=(0, 1)).plan(100, 2))
