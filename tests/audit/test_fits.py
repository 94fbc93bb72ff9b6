"""Audited fits: the estimator, its plan and its worlds."""

from functools import partial

import numpy as np
import pytest

from tacit import LinearRegression, LogisticRegression
from tacit.audit.attack import approximate_budget, gaussian_budget, pure_budget
from tacit.audit.deep_points import epsilon_budget
from tacit.audit.fits import AuditedFit
from tacit.audit.registry import REPLAYED
from tacit.audit.simulated_pairs import Outcome
from tacit.errors import SettingError
from tacit.privacy.relation import Relation

NAMES = {"auto": "whitened-gradient", "intercept-only": "level", "private-bounds": "whitened-gradient"}
NAMES |= {"several-classes": "whitened-gradient", "counted-records": "newton", "GaussianMean": "mean"}
NAMES |= {"SubsampleAggregate": "subsample-and-aggregate", "PATE": "teachers"}
NAMES |= {"Covariance": "covariance", "PrivateWhitener": "covariance", "GaussianNB": "statistical-queries"}
NAMES |= {"HypothesisClassifier": "hypotheses", "TukeyRegressor": "deep-point"}


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("name", REPLAYED)
def test_a_fit_runs_the_solver_that_it_is_called_after(name: str, mu: float) -> None:
    fit = REPLAYED[name]
    if name == "whitened-mean" and mu < 1:
        fit = AuditedFit(name, fit.make, fit.outcome, records=4096, pair=fit.pair)
    expected = NAMES.get(name, name.split(":", maxsplit=1)[0] if name.islower() else "gradient")
    plan = fit.plan(mu)
    if name == "one-step" and mu < 1:
        # Intervals would mean nothing there, and are declined.
        expected = "whitened-gradient"
    if name == "private-bounds" and mu < 1:
        # What is left after the bounds is little.
        expected = "label-direction"
    if name in {"auto", "private-bounds"} and mu > 1:
        # n·μ is large for so few records.
        expected = "public-descent"
    assert plan.solver.name == expected
    stated = plan.guarantee()
    if stated.mu is not None:
        assert fit.budget is gaussian_budget
        assert 0.999 * mu < stated.mu <= mu * (1 + 1e-12)
    else:
        assert fit.budget in {approximate_budget, pure_budget, epsilon_budget}
        assert (
            (name.endswith(":pure") or name == "HypothesisClassifier")
            == (fit.budget is pure_budget)
            == (stated.delta == 0)
        )
        assert stated.epsilon <= (fit.budget(mu).epsilon or 0.0)


def test_fits_cover_private_bounds_counting_and_intervals() -> None:
    assert REPLAYED["private-bounds"].plan(1.0).locating is not None
    assert REPLAYED["counted-records"].plan(1.0).counting
    assert REPLAYED["one-step"].plan(3.0).solver.intervals


def test_scores_of_answers_are_higher_in_the_second_world() -> None:
    """Log-likelihood ratios of 200 runs: means of ±μ²/2 = ±2 and deviations of 2 / √200, twelve of them apart."""
    fit = AuditedFit("short", partial(LogisticRegression, solver="whitened-gradient", iterations=3))
    worlds = fit.worlds(2.0, 1)
    assert worlds.threshold == 0.0
    assert worlds.relation is Relation.ZERO_OUT
    first, second = worlds.draw(0, 200), worlds.draw(1, 200)
    assert np.mean(first) < -1.0 < 1.0 < np.mean(second)


def test_a_fit_by_coefficients_fits_the_estimator_itself() -> None:
    made: list[LinearRegression] = []

    def make(**given: object) -> LinearRegression:
        made.append(LinearRegression(solver="moments", **given))  # type: ignore[arg-type]
        return made[-1]

    fit = AuditedFit("own", make, Outcome.NUMBERS, coefficients=(1.0, 0.0, 0.0))
    worlds = fit.worlds(3.0, None)
    scores = worlds.draw(1, 4)
    assert scores.shape == (4,)
    assert worlds.threshold is None
    assert [hasattr(model, "coef_") for model in made] == [False, True, True, True, True]
    assert scores[-1] == made[-1].release_.theta[0]
    assert made[-1].release_.private


def test_add_remove_declares_fewer_records_than_there_are() -> None:
    fit = REPLAYED["counted-records"]
    assert fit.model(1.0).n_at_least == fit.records // 2
    assert fit.model(1.0, Relation.REPLACE_ONE).n_at_least is None


def test_another_outcome_than_the_estimator_has_is_refused_with_the_way_out() -> None:
    make = partial(LinearRegression, solver="whitened-gradient")
    with pytest.raises(SettingError, match=r"no parameter .classes..*numbers"):
        AuditedFit("mine", make).plan(1.0)
    with pytest.raises(SettingError, match="outcome"):
        AuditedFit("mine", make, "sums")  # type: ignore[arg-type]
    assert AuditedFit("mine", make, "numbers").plan(1.0).records == 64  # type: ignore[arg-type]
