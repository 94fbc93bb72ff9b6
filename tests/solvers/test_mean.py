"""The mean of rows: whitened where second moments resolve the spread, exact without noise."""

import numpy as np
import pytest

import tacit
from tacit.certificate.certificate import Certificate
from tacit.errors import CertificateError, SettingError
from tacit.privacy.budget import Budget
from tacit.solvers.mean import Mean

RNG = np.random.default_rng(6)
X = RNG.normal([0.5, -0.2], [0.05, 0.1], (20_000, 2))


@pytest.mark.parametrize(("signal", "name"), [(29.0, "mean"), (31.0, "whitened-mean")])
def test_rows_are_whitened_from_a_signal_on(signal: float, name: str) -> None:
    model = tacit.GaussianMean(budget=Budget(mu=signal * 3 / 5000), bounds=(-1, 1))
    solver = model.plan(5000, 2).solver
    assert isinstance(solver, Mean)
    assert (solver.name, solver.maps_rows) == (name, signal > 30)


def test_whitening_makes_the_mean_of_narrow_columns_more_accurate() -> None:
    errors = {}
    for solver in ("auto", "gradient"):
        found = [
            tacit.GaussianMean(epsilon=0.3, bounds=(-10, 10), solver=solver, random_state=seed).fit(X).mean_
            for seed in range(8)
        ]
        errors[solver] = float(np.sqrt(np.mean((np.array(found) - X.mean(axis=0)) ** 2)))
    assert errors["auto"] < 0.5 * errors["gradient"]


def test_without_noise_mean_and_covariance_are_exact() -> None:
    model = tacit.GaussianMean(epsilon=np.inf, bounds=(-2, 2)).fit(X)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(np.asarray(model.covariance_), np.cov(X.T, bias=True), atol=1e-7)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_a_pure_mean_is_one_sum_with_laplace_noise(relation: str) -> None:
    """The noise of a coordinate has deviation √2·Δ·d / (n ε) of half a bound's width: 12 of them, below 1e-6."""
    model = tacit.GaussianMean(epsilon=1.0, delta=0, bounds=(-1, 1), relation=relation, random_state=1)
    plan = model.set_params(n_at_least=15_000 if relation == "add-remove" else None).fit(X).plan_
    assert plan.solver.name == "mean"
    assert plan.budget.is_pure
    found = plan.guarantee()
    assert (found.epsilon, found.delta, found.mu) == (1.0, 0.0, None)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=12 * np.sqrt(2) * 2 * 3 / len(X))


def test_a_pure_mean_takes_no_other_solver() -> None:
    with pytest.raises(SettingError, match="With delta=0 a mean is one sum"):
        tacit.GaussianMean(epsilon=1.0, delta=0, bounds=(-1, 1), solver="newton").plan(1000, 2)


def test_the_certificate_of_a_pure_mean_holds_and_cannot_be_altered() -> None:
    certificate = tacit.GaussianMean(epsilon=0.5, delta=0, bounds=(-1, 1)).fit(X.copy()).certificate_
    assert "(ε = 0.5, δ = 0)" in certificate.check().statement
    (entry,) = certificate.document["events"]
    assert (entry["noise"]["law"], entry["sensitivity"]["width"], entry["arithmetic"]) == (
        "discrete laplace",
        "3",
        "exact",
    )
    for place, name, value in (("sensitivity", "width", "1"), ("noise", "bits", 20), ("sensitivity", "bound", "7")):
        document = certificate.document
        document["events"][0][place][name] = value
        del document["digest"], document["signature"]
        with pytest.raises(CertificateError, match="does not follow"):
            Certificate.made(document).check()
