"""Fits by a perturbed objective, from the estimator to the certificate."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import LogisticRegression
from tacit.certificate.certificate import Certificate
from tacit.errors import SettingError

TRUTH = np.array([-0.3, 1.0, -0.7])


def table(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.random(n) < 1 / (1 + np.exp(-TRUTH[0] - X @ TRUTH[1:]))
    return X, y.astype(np.int64)


def model(**settings: Any) -> LogisticRegression:
    chosen: dict[str, Any] = {
        "epsilon": 4.0,
        "delta": 1e-6,
        "bounds": (-5, 5),
        "solver": "objective-perturbation",
        "classes": [0, 1],
    }
    return LogisticRegression(**{**chosen, **settings})


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_a_fit_is_near_the_truth_and_its_certificate_holds(relation: str) -> None:
    """n = 20000: noise and sampling together are below 0.03; ten deviations, no false alarms."""
    fitted = model(relation=relation).fit(*table(20_000, 1))
    found = np.concatenate([fitted.intercept_, fitted.coef_[0]])
    np.testing.assert_allclose(found, TRUTH, atol=0.3)
    assert fitted.certificate_.private
    again = Certificate.from_json(fitted.certificate_.to_json()).check()
    assert again.consistent
    assert fitted.certificate_.document["total"]["epsilon"] <= 4.0 * (1 + 1e-9)


def test_weights_are_honoured() -> None:
    """A class that counts double moves the intercept by about log 2."""
    X, y = table(20_000, 4)
    plain = model(random_state=1).fit(X, y)
    heavy = model(random_state=1, class_weight={1: 2.0}).fit(X, y)
    moved = heavy.intercept_[0] - plain.intercept_[0]
    assert abs(moved - math.log(2)) < 0.2


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["one label", "constant", "separable", "two rows"])
def test_t40_singular_tables_are_answered(kind: str) -> None:
    X, y = table(200, 5)
    if kind == "one label":
        y[:] = 1
    elif kind == "constant":
        X[:] = 2.0
    elif kind == "separable":
        y[:] = X[:, 0] > 0
    else:
        X, y = X[:2], y[:2]
    assert np.isfinite(model().fit(X, y).coef_).all()


def test_public_facts_alone_decide_a_refusal() -> None:
    """A plan needs no records, and what it refuses is refused before any are charged."""
    with pytest.raises(SettingError, match="public n"):
        model(relation="add-remove", n_at_least=50).plan(100, 2)
    with pytest.raises(SettingError, match="There are no intervals for solver='objective-perturbation'"):
        model(inference=True).plan(100, 2)
    with pytest.raises(SettingError, match="no prior_mean, radius"):
        model(radius=1.0).plan(100, 2)


def test_without_a_budget_the_fit_is_the_exact_one() -> None:
    X, y = table(500, 6)
    exact = model(epsilon=np.inf, delta=None).fit(X, y)
    usual = model(epsilon=np.inf, delta=None, solver="auto").fit(X, y)
    np.testing.assert_array_equal(exact.coef_, usual.coef_)
    assert not exact.certificate_.private
