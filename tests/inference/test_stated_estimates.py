"""What a stored fit states beside its coefficients is compared with what its ledger noted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tacit
from tacit.certificate.fit_file import Estimates, StoredFit, Term
from tacit.certificate.release_digest import digest_of_fit, first_digest_of_fit
from tacit.errors import CertificateError
from tacit.inference.stated_estimates import compare_estimates
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table

TABLE, SCHEMA = pd.DataFrame(clinic_table(4000)), tacit.Schema.parse(CLINIC_SCHEMA)


def fit_of(**settings: Any) -> tacit.Fit:
    return tacit.glm("readmit ~ age + bmi", TABLE, SCHEMA, epsilon=3.0, random_state=1, **settings)


@pytest.fixture(scope="module")
def fit() -> tacit.Fit:
    return fit_of()


def forged(fit: tacit.Fit, change: Callable[[Estimates], Estimates]) -> StoredFit:
    """A fit that adds up in itself, of the same release, and states something else."""
    assert fit.release is not None
    return StoredFit.from_release(fit.release, "binomial", change(fit.stored.estimates))


def narrower(estimates: Estimates) -> Estimates:
    return replace(estimates, terms=tuple(replace(term, std_err=(term.std_err or 0) / 2) for term in estimates.terms))


def moved_end(estimates: Estimates) -> Estimates:
    first, *others = estimates.terms
    return replace(estimates, terms=(replace(first, lower=(first.lower or 0) + 1e-3), *others))


def without_an_interval(estimates: Estimates) -> Estimates:
    first, *others = estimates.terms
    return replace(estimates, terms=(Term(first.name, first.coef), *others))


def less_noise(estimates: Estimates) -> Estimates:
    assert estimates.scatter is not None
    privacy = tuple(value * 0.99 for value in estimates.scatter.privacy)
    return replace(estimates, scatter=replace(estimates.scatter, privacy=privacy))


def other_covariance(estimates: Estimates) -> Estimates:
    assert estimates.covariance is not None
    *rows, last = estimates.covariance
    return replace(estimates, covariance=(*rows, (-last[0], *last[1:])))


def other_label(estimates: Estimates) -> Estimates:
    told = estimates.reliability
    assert told.terms is not None
    label = "conservative" if told.terms[0] == "nominal" else "nominal"
    return replace(estimates, reliability=replace(told, terms=(label, *told.terms[1:])))


def another_note(estimates: Estimates) -> Estimates:
    return replace(estimates, reliability=replace(estimates.reliability, notes=("All is well.",)))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (narrower, "standard errors or intervals"),
        (moved_end, "standard errors or intervals"),
        (without_an_interval, "standard errors or intervals"),
        (less_noise, "variances"),
        (other_covariance, "variances"),
        (other_label, "labels or notes"),
        (another_note, "labels or notes"),
    ],
)
def test_other_statements_about_the_same_release_are_refused(
    fit: tacit.Fit, change: Callable[[Estimates], Estimates], what: str
) -> None:
    other = forged(fit, change)
    other.certificate.check()
    assert digest_of_fit(other) == fit.release_digest
    with pytest.raises(CertificateError, match=f"states other {what} than follow"):
        compare_estimates(other)


@pytest.mark.parametrize("settings", [{}, {"statistics": ["deviance"]}, {"inference": False}])
def test_a_fit_states_what_follows_from_its_release(settings: dict[str, Any], tmp_path: Path) -> None:
    fit_of(**settings).save(tmp_path / "fit.json")
    assert compare_estimates(StoredFit.read(tmp_path / "fit.json"))


def test_intervals_that_nobody_paid_for_are_refused(fit: tacit.Fit) -> None:
    bare = fit_of(inference=False)
    terms = tuple(
        replace(term, std_err=0.1, lower=term.coef - 1, upper=term.coef + 1) for term in bare.stored.estimates.terms
    )
    with pytest.raises(CertificateError, match="its release was without any"):
        compare_estimates(forged(bare, lambda estimates: replace(estimates, terms=terms)))


def test_the_digest_of_a_release_covers_what_intervals_are_made_of(fit: tacit.Fit) -> None:
    other = replace(fit.stored, further={"inference": {**fit.stored.further["inference"], "signal": 1e6}})
    assert digest_of_fit(other) != fit.release_digest
    assert first_digest_of_fit(other) == first_digest_of_fit(fit.stored)


def test_each_variance_is_measured_by_its_own_column(fit: tacit.Fit) -> None:
    """A column of large units has small variances: an intercept's must not hide that one of theirs was changed."""

    def changed(estimates: Estimates) -> Estimates:
        assert estimates.scatter is not None
        privacy = list(estimates.scatter.privacy)
        privacy[privacy.index(min(privacy))] *= 0.9995
        return replace(estimates, scatter=replace(estimates.scatter, privacy=tuple(privacy)))

    with pytest.raises(CertificateError, match="variances"):
        compare_estimates(forged(fit, changed))


@pytest.mark.parametrize(
    "told", [{"notes": ("Audited: the intervals are exact.",)}, {"statement": "nominal"}, {"offered": False}]
)
def test_words_of_a_fit_without_intervals_are_compared(told: dict[str, Any]) -> None:
    bare = fit_of(inference=False)
    other = forged(bare, lambda estimates: replace(estimates, reliability=replace(estimates.reliability, **told)))
    assert digest_of_fit(other) == bare.release_digest
    with pytest.raises(CertificateError, match="other labels or notes"):
        compare_estimates(other)


def test_degrees_that_are_infinite_are_compared() -> None:
    exact = tacit.glm("readmit ~ age", TABLE, SCHEMA, epsilon=math.inf, inference=True)
    assert compare_estimates(exact.stored)

    def fewer(estimates: Estimates) -> Estimates:
        assert estimates.scatter is not None
        return replace(estimates, scatter=replace(estimates.scatter, degrees=(math.inf, 3.0)))

    with pytest.raises(CertificateError, match="variances"):
        compare_estimates(forged(exact, fewer))


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3])
def test_a_fit_that_hardly_sees_anything_states_why(epsilon: float) -> None:
    """The level alone, or intervals that are not offered."""
    with pytest.warns(UserWarning, match="n·μ"):
        fit = tacit.glm("readmit ~ age + bmi", TABLE, SCHEMA, epsilon=epsilon, random_state=1)
    assert fit.stored.estimates.reliability.notes
    assert compare_estimates(fit.stored)


@pytest.mark.parametrize(
    ("name", "number"), [("curvature_noise", 1e308), ("hidden_size", 1e200), ("pilot_error", -1.0)]
)
def test_a_release_whose_numbers_overflow_is_refused_as_forged(fit: tacit.Fit, name: str, number: float) -> None:
    inference = fit.stored.further["inference"]
    other = replace(
        fit.stored, further={"inference": {**inference, "sandwich": {**inference["sandwich"], name: number}}}
    )
    with pytest.raises(CertificateError):
        compare_estimates(other)
