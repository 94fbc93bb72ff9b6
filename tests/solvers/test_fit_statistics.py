"""The paid deviance: its share of the plan, what is refused, and what is released and kept."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm

import tacit
from tacit.accounting.composition import compose, mu_squared_of
from tacit.certificate.stored_release import release_from_json, release_to_json, request_digest
from tacit.contract.purpose import Purpose
from tacit.errors import SettingError
from tacit.privacy.budget import Budget

N = 4000
RNG = np.random.default_rng(12)
X = RNG.uniform(-1, 1, N)
MEAN = np.exp(0.5 + 0.8 * X)
TABLE = pa.table(
    {"x": X, "label": (RNG.random(N) < 1 / (1 + np.exp(-X))).astype(int), "count": RNG.poisson(MEAN), "amount": MEAN}
)
SCHEMA = tacit.Schema.from_mapping(
    {
        "columns": {
            "x": {"type": "numeric", "lower": -1, "upper": 1},
            "label": {"type": "binary"},
            "count": {"type": "numeric", "lower": 0, "upper": 30},
            "amount": {"type": "numeric", "lower": 0, "upper": 8},
        }
    }
)


def fitted(formula: str = "label ~ x", family: str = "binomial", **settings: Any) -> tacit.Fit:
    given = {"epsilon": 1.0, "delta": 1e-6, "statistics": ["deviance"], **settings}
    return tacit.glm(formula, TABLE, SCHEMA, family, **given)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_it_is_the_last_step_of_the_plan_and_within_the_budget(relation: str) -> None:
    declared = {"relation": relation, "n_at_least": 2000} if relation == "add-remove" else {"relation": relation}
    fit = tacit.glm(
        "label ~ x", TABLE, tacit.Schema.parse(_toml(declared)), epsilon=1.0, delta=1e-6, statistics=["deviance"]
    )
    plan = fit.plan
    assert plan is not None
    assert [step.purpose for step in plan.steps][-1] is Purpose.DEVIANCE
    assert sum(step.purpose is Purpose.DEVIANCE for step in plan.steps) == 1
    spent = compose(plan.events(), plan.relation).square
    assert spent is not None
    assert spent <= mu_squared_of(Budget(epsilon=1.0, delta=1e-6))
    assert "deviance" in str(plan)
    labels = [entry["label"] for entry in fit.certificate.parsed["events"]]
    assert labels[-1] == "deviance"
    assert fit.certificate.check().consistent
    # No other number of records is told beside it.
    assert set(vars(fit.statistics["deviance"])) == {"name", "value", "noise", "bound"}


def _toml(declared: dict[str, Any]) -> str:
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in declared.items()]
    return "\n".join([*lines, '[columns.x]\ntype = "numeric"\nlower = -1\nupper = 1\n[columns.label]\ntype = "binary"'])


@pytest.mark.parametrize(
    ("formula", "family", "twin"),
    [
        ("label ~ x", "binomial", sm.families.Binomial()),
        ("label ~ x", "probit", sm.families.Binomial(sm.families.links.Probit())),
        ("count ~ x", "poisson", sm.families.Poisson()),
        ("count ~ x", "negative-binomial", sm.families.NegativeBinomial(alpha=1.0)),
        ("amount ~ x", "gaussian", sm.families.Gaussian()),
    ],
)
def test_without_noise_it_is_that_of_statsmodels(formula: str, family: str, twin: Any) -> None:
    fit = fitted(formula, family, epsilon=math.inf, delta=None)
    y = TABLE[formula.split(maxsplit=1)[0]].to_numpy().astype(float)
    expected = sm.GLM(y, sm.add_constant(X), family=twin).fit(tol=1e-12).deviance / N
    found = fit.statistics["deviance"]
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.noise == 0.0
    assert found.bound == (16.0 if family == "gaussian" else 12.0)


@pytest.mark.parametrize("epsilon", [4.0, math.inf])
@pytest.mark.parametrize(
    ("formula", "family"), [("label ~ x", "binomial"), ("count ~ x", "poisson"), ("amount ~ x", "gamma")]
)
def test_invalid_records_do_not_change_the_mean(formula: str, family: str, epsilon: float) -> None:
    """A fifth of the records has no x; gaps of 8 deviations of the noise are seen with chance 1e-14."""
    at = TABLE.schema.get_field_index("x")
    blank = TABLE.set_column(at, "x", pa.array(np.where(np.arange(N) % 5 == 0, np.nan, X), from_pandas=True))
    given: dict[str, Any] = {"delta": 1e-6, "statistics": ["deviance"], "random_state": 1, "inference": False}
    valid = TABLE.filter(pa.array(np.arange(N) % 5 != 0))
    expected = tacit.glm(formula, valid, SCHEMA, family, epsilon=math.inf, **given).statistics["deviance"]
    fit = tacit.glm(formula, blank, SCHEMA, family, epsilon=epsilon, invalid_rows="zero", **given)
    found = fit.statistics["deviance"]
    assert found.value == pytest.approx(expected.value, rel=1e-6, abs=8 * found.noise + 0.01 * math.isfinite(epsilon))
    assert found.noise < 0.05


def test_a_count_within_its_noise_leaves_a_mean_within_its_bound() -> None:
    """Every record is invalid: there is no mean, and the noise that is stated says so."""
    none = pa.table({"x": [math.nan] * N, "label": [0] * N})
    fit = tacit.glm(
        "label ~ x",
        none,
        SCHEMA,
        epsilon=4.0,
        delta=1e-6,
        statistics=["deviance"],
        invalid_rows="zero",
        inference=False,
    )
    found = fit.statistics["deviance"]
    assert 0.0 <= found.value <= found.bound
    assert found.noise > 1.0


def test_the_noise_is_that_which_is_stated() -> None:
    """50 seeded fits: a sum of squares of 50 standard normals lies within 15 and 115 but with chance 1e-6."""
    exact = fitted(epsilon=math.inf, delta=None).statistics["deviance"].value
    found = [fitted(random_state=k, inference=False).statistics["deviance"] for k in range(50)]
    # Coefficients of other noise raise the deviance by far less than its own noise.
    square = sum(((each.value - exact) / each.noise) ** 2 for each in found)
    assert 15 < square < 115


def test_nothing_of_the_kind_is_told_unless_it_was_asked_for() -> None:
    fit = fitted(statistics=None, random_state=1)
    assert fit.statistics == {}
    assert "eviance" not in str(fit.summary()) + str(fit.plan) + fit.stored.to_json()


def test_summary_and_file_keep_it(tmp_path: Path) -> None:
    fit = fitted("count ~ x", "poisson")
    said = str(fit.statistics["deviance"])
    assert said in fit.summary().notes
    fit.save(tmp_path / "fit.json")
    kept = tacit.load(tmp_path / "fit.json")
    assert kept.statistics == fit.statistics
    assert said in kept.summary().notes
    assert kept.stored.not_covered == ()


def test_a_ledger_answers_with_it_again(tmp_path: Path) -> None:
    ledger = tacit.Ledger(tmp_path / "ledger.json", budget=Budget(epsilon=3.0, delta=1e-5))
    with ledger.request("once"):
        first = fitted()
    with ledger.request("once"):
        again = fitted()
    assert again.statistics == first.statistics
    assert len(again.statistics) == 1


def test_a_plan_without_it_has_the_digest_and_document_of_before() -> None:
    plain, paid = fitted(statistics=None, random_state=1).release, fitted(random_state=1).release
    assert plain is not None
    assert paid is not None
    assert "statistics" not in release_to_json(plain)
    assert release_from_json(paid.plan, release_to_json(paid)).statistics == paid.statistics
    assert request_digest(plain.plan) != request_digest(paid.plan)


def test_what_is_no_deviance_or_has_no_gaussian_noise_is_refused_before_it_is_paid() -> None:
    for formula, family in (("amount ~ x", "huber"), ("amount ~ x", "quantile")):
        with pytest.raises(SettingError, match="is for the families"):
            fitted(formula, family)
    with pytest.raises(SettingError, match="a delta above 0"):
        fitted(delta=0.0, solver="output-perturbation")
    by_hand: dict[str, Any] = {
        "solver": "gradient",
        "iterations": 5,
        "noise_multiplier": 9.0,
        "epsilon": None,
        "delta": 1e-6,
    }
    with pytest.raises(SettingError, match="noise_multiplier"):
        fitted(**by_hand)
    with pytest.raises(SettingError, match='not for solver="exponential"'):
        fitted(solver="exponential", inference=False)
    with pytest.raises(SettingError, match="max_passes must be at least 2"):
        fitted(max_passes=1)


@pytest.mark.parametrize("solver", ["gradient", "stochastic", "aggregate", "objective-perturbation", "newton"])
def test_every_solver_has_it(solver: str) -> None:
    fit = fitted(solver=solver, epsilon=4.0, inference=False)
    found = fit.statistics["deviance"]
    assert found.value == pytest.approx(1.32, abs=8 * found.noise + 0.1)
