"""Any estimator as a black box: real processes, a failing estimator, and the ledger."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge

from tacit import Budget, Ledger, LinearRegression, SubsampleAggregate
from tacit.errors import LedgerError, SettingError
from tacit.estimators import block_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 2))
Y = X @ [2.0, -1.0] + 0.5 + 0.3 * RNG.normal(size=2000)


class Moody(BaseEstimator):  # type: ignore[misc]
    """Fails, by its data, on a few blocks."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Moody":
        if X[:, 0].max() > 2.9:
            raise ValueError("a secret")
        twin = Ridge().fit(X, y)
        self.coef_, self.intercept_ = twin.coef_, twin.intercept_
        return self


def test_ridge_regression_of_blocks_inside_a_ledger() -> None:
    """Seeded would not be charged: the system's noise has deviation 0.2 here, and 3.0 is never reached by 1e-40."""
    model = SubsampleAggregate(
        estimator=Ridge(), epsilon=8.0, delta=1e-6, output_bounds=(-4, 4), blocks=40, classes=None
    )
    seen: list[tuple[int, int, str]] = []
    with Ledger(budget=Budget(epsilon=9.0, delta=1e-5), refusals="curator") as ledger:
        model.set_params(progress=lambda *it: seen.append(it)).fit(X, Y)
        assert len(ledger.charges()) == 1
    assert np.abs(model.coef_ - [2.0, -1.0]).max() < 3.0
    assert model.names_ == ("Intercept", "x0", "x1")
    assert model.predict(X[:2]).shape == (2,)
    assert (40, 40, "blocks") in seen
    certificate = model.certificate_
    assert certificate.check().consistent
    assumed = [fact["name"] for fact in certificate.document["public"] if fact["source"] == "assumed"]
    assert "a block's result and its time depend on the rows of that block alone" in assumed


def test_only_a_curator_runs_programs_on_records() -> None:
    """The same rule as for black-box losses; a block whose code is the package's own is for everybody."""
    model = SubsampleAggregate(estimator=Ridge(), epsilon=8.0, delta=1e-6, output_bounds=(-4, 4), blocks=40)
    with Ledger(budget=Budget(epsilon=9.0, delta=1e-5)) as ledger:
        with pytest.raises(LedgerError, match="only a curator may run it"):
            model.fit(X, Y)
        assert ledger.charges() == ()
        LinearRegression(epsilon=8.0, delta=1e-6, bounds=(-3, 3), y_bounds=(-5, 5), solver="aggregate").fit(X, Y)
        assert len(ledger.charges()) == 1


def test_blocks_that_raise_are_charged_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded; the failing blocks give the middle of the bounds. The rehearsal is that of the test above."""
    monkeypatch.setattr(block_model, "rehearse", lambda *given: None)
    model = SubsampleAggregate(
        estimator=Moody(),
        epsilon=8.0,
        delta=1e-6,
        output_bounds=(-4, 4),
        blocks=20,
        aggregator="median",
        random_state=1,
    ).fit(X, Y)
    assert np.abs(model.values_ - [0.5, 2.0, -1.0]).max() < 0.5
    assert model.plan_.guarantee().epsilon <= 8.0


def test_an_estimator_that_always_fails_is_refused_before_anything_is_spent() -> None:
    broken = SubsampleAggregate(
        estimator=LogisticRegression(C=-1.0), epsilon=8.0, delta=1e-6, output_bounds=(-4, 4), blocks=20, classes=[0, 1]
    )
    with Ledger(budget=Budget(epsilon=9.0, delta=1e-5)) as ledger:
        with pytest.raises(SettingError, match="did not return 3 finite numbers"):
            broken.fit(X, (Y > 0).astype(int))
        assert ledger.charges() == ()


def test_names_of_several_classes() -> None:
    model = SubsampleAggregate(
        estimator=LogisticRegression(), epsilon=1.0, output_bounds=(-4, 4), blocks=4, classes=["a", "b", "c"]
    )
    design = model.plan(1000, 1).design
    assert model._output_names(design) == ["a: Intercept", "b: Intercept", "c: Intercept", "a: x0", "b: x0", "c: x0"]
    own = SubsampleAggregate(
        estimator=Ridge(), epsilon=1.0, output_bounds=(-4, 4), blocks=4, statistic=len, outputs=["first", "second"]
    )
    assert own._output_names(own.plan(1000, 1).design) == ["first", "second"]
