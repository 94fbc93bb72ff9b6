"""What a notebook shows of every public object: something short, and no traceback."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tacit
from tacit import accounting, privacy
from tacit.errors import UnavailableError
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table

LONGEST = 2500  # Characters of a text that a cell shows.

PLAIN = frozenset(
    {
        "assumptions",
        "budget",
        "certificate",
        "cluster",
        "feature map",
        "format of a file",
        "guarantee",
        "loss",
        "mean",
        "polynomial",
        "solver",
    }
)
"""Objects whose text is the call that makes them, or names their digest."""


@cache
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (2000, 2))
    return X, (rng.random(2000) < X[:, 0]).astype(int)


def logistic(**settings: Any) -> tacit.LogisticRegression:
    return tacit.LogisticRegression(**{"epsilon": 1.0, "bounds": (0, 1), "random_state": 1, **settings})


@cache
def fitted(inference: bool = True) -> tacit.LogisticRegression:
    return logistic(inference=inference).fit(*rows())


@cache
def clinic_fit() -> tacit.Fit:
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    return tacit.glm(CLINIC_FORMULA, pd.DataFrame(clinic_table(3000)), schema, epsilon=2.0, random_state=1)


def objects() -> dict[str, Any]:
    model, fit, schema = fitted(), clinic_fit(), tacit.Schema.parse(CLINIC_SCHEMA)
    assert fit.plan is not None
    study = logistic(inference=True).study(2000, 2)
    return {
        "fit": fit,
        "summary": fit.summary(),
        "plan": fit.plan,
        "plan of an estimator": model.plan_,
        "release": model.release_,
        "certificate": fit.certificate,
        "verification": fit.certificate.check(),
        "test": fit.t_test("age = 0"),
        "joint test": fit.wald_test(["age", "bmi"]),
        "region": fit.confidence_region(["age", "bmi"]),
        "prediction": model.get_prediction(rows()[0]),
        "scores": model.evaluate(tacit.public(*rows())),
        "schema": schema,
        "study": study,
        "forecast": study.at(runs=2),
        "assumptions": tacit.Assumptions(),
        "budget": tacit.Budget(epsilon=1.0),
        "guarantee": fit.plan.guarantee(),
        "composition": accounting.compose([privacy.Gaussian(1, 2)] * 3, "replace-one"),
        "mean": tacit.Mean("age"),
        "public rows": tacit.public(*rows()),
        "ledger": tacit.Ledger(budget=tacit.Budget(mu=1.0)),
        "loss": fit.plan.loss,
        "status of a ledger": tacit.Ledger(budget=tacit.Budget(epsilon=1.0, delta=1e-6)).status(),
        "selection": tacit.select(pd.DataFrame(clinic_table(500)), schema, ["age > 50", "bmi > 30"], epsilon=1.0),
        "feature map": tacit.RandomFourier(8),
        "polynomial": tacit.Polynomial(2),
        "format of a file": tacit.FileFormat(";"),
        "cluster": tacit.Cluster(workers=2),
        "solver": tacit.Langevin(mu=1.0, certified=False, steps=3),
        "holdout": tacit.ReusableHoldout(pd.DataFrame(clinic_table(500)), schema, epsilon=1.0),
        "comparison": tacit.compare(
            "readmit ~ age",
            tacit.public(pd.DataFrame(clinic_table(500))),
            schema,
            epsilon=1.0,
            repeats=1,
            solvers=["auto"],
        ),
    }


def test_every_object_has_a_short_text_and_html() -> None:
    for name, shown in objects().items():
        assert 0 < len(repr(shown)) < LONGEST, name
        assert 0 < len(str(shown)) < LONGEST, name
        assert "array(" not in repr(shown), name
        assert name in PLAIN or not repr(shown).startswith(f"{type(shown).__name__}("), name
        page = shown._repr_html_()
        assert page[:4] + page[-6:] == "<div</div>", name


def test_a_fit_prints_its_model_guarantee_and_first_coefficients() -> None:
    text = str(clinic_fit())
    assert len(text.splitlines()) == 6
    assert "binomial, logit link" in text
    assert "and 2 more" in text


@pytest.mark.parametrize("inference", [False, True])
def test_a_fitted_estimator_has_html(inference: bool) -> None:
    """scikit-learn reads every attribute for it."""
    assert "LogisticRegression" in fitted(inference)._repr_html_()
    assert "LogisticRegression" in logistic()._repr_html_()
    piped = make_pipeline(FunctionTransformer(), logistic(random_state=2, inference=inference)).fit(*rows())
    assert "LogisticRegression" in piped._repr_html_()


def test_what_was_not_paid_for_is_not_there() -> None:
    for name in ("bse", "tvalues", "zvalues", "pvalues"):
        assert not hasattr(fitted(inference=False), name)
        assert hasattr(fitted(), name)
    with pytest.raises(UnavailableError, match="inference=True"):
        fitted(inference=False).conf_int()


def test_numbers_are_those_of_pandas_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = clinic_fit()
    assert isinstance(fit.params, pd.Series)
    assert isinstance(fit.bse, pd.Series)
    assert list(fit.conf_int().columns) == ["lower", "upper"]
    assert list(fit.conf_int().index) == list(fit.params.index)
    series, frame = fit.params, fit.conf_int()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert fit.params == series.to_dict()
    np.testing.assert_array_equal(fit.conf_int(), frame)
