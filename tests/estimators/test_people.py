"""Fits whose unit is a person with several records: what is fitted, and what is guaranteed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

import tacit
from tacit.certificate.certificate import Certificate
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.errors import BudgetError, DataError, LedgerError, SettingError
from tacit.report.statements import promise
from tacit.solvers.solver import PublicFacts, priced

MOST = 3
FACTS: dict[str, Any] = {"bounds": (0, 10), "max_rows_per_unit": MOST}
NAMES = ["x0", "x1", "x2"]


def visits(n: int = 3000, persons: int = 800, seed: int = 0) -> pd.DataFrame:
    """Visits of persons whose outcomes hang together; `day` orders them and never ties."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.uniform(0, 10, (n, 3)), columns=NAMES)
    table["who"] = rng.integers(0, persons, n)
    table["day"] = rng.permutation(n)
    z = (table[NAMES].to_numpy() - 5) @ [0.5, -0.3, 0.2] + rng.normal(size=persons)[table["who"]]
    table["ill"] = (z + rng.logistic(size=n) > 0).astype(int)
    table["cost"] = z + rng.normal(size=n)
    table["falls"] = rng.poisson(np.exp(0.3 * z))
    return table


def kept(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values("day").groupby("who").head(MOST)


def once(rows: pd.DataFrame) -> Any:
    """Weights 1 / k with which every person counts once."""
    return (1 / rows.groupby("who")["who"].transform("size")).to_numpy()


def fitted(model: Any, table: pd.DataFrame, response: str, **attached: Any) -> Any:
    X = table[NAMES].to_numpy()
    return model.fit(X, table[response], units=table["who"], order=table["day"], **attached)


TWINS: dict[str, tuple[Any, Any]] = {
    "ill": (tacit.LogisticRegression, sm.families.Binomial()),
    "cost": (tacit.LinearRegression, sm.families.Gaussian()),
    "falls": (tacit.PoissonRegressor, sm.families.Poisson()),
}
RESPONSES: dict[str, dict[str, Any]] = {"ill": {}, "cost": {"y_bounds": (-15, 15)}, "falls": {"y_max": 500}}


@pytest.mark.parametrize("response", TWINS)
def test_without_noise_it_is_the_fit_of_the_kept_records_with_clustered_errors(response: str) -> None:
    table = visits()
    make, family = TWINS[response]
    model = make(epsilon=np.inf, inference=True, **FACTS, **RESPONSES[response])
    fitted(model, table, response)
    rows = kept(table)
    twin = sm.GLM(rows[response], sm.add_constant(rows[NAMES]), family=family, var_weights=once(rows)).fit(tol=1e-12)
    np.testing.assert_allclose(model.coef_.ravel(), twin.params.iloc[1:], atol=1e-6)
    # Its clustered errors leave out the weights of the scores: these are by hand.
    scores = pd.DataFrame(twin.model.exog * (twin.resid_response * once(rows)).to_numpy()[:, None])
    summed = scores.groupby(rows["who"].to_numpy()).sum().to_numpy()
    bread = np.linalg.inv(twin.model.hessian(twin.params.to_numpy(), scale=1.0))
    errors = np.sqrt(np.diagonal(bread @ summed.T @ summed @ bread))
    half = np.diff(model.conf_int(), axis=1).ravel() / 2
    np.testing.assert_allclose(half / 1.959964, errors, rtol=1e-3)
    assert model.plan_.records == table["who"].nunique()


def test_several_classes_and_means_without_noise() -> None:
    table = visits()
    levels = np.digitize(table["cost"], [-1.0, 1.0])
    model = fitted(tacit.LogisticRegression(epsilon=np.inf, **FACTS), table.assign(level=levels), "level")
    rows = kept(table.assign(level=levels))
    weights = once(rows)
    Z, own = sm.add_constant(rows[NAMES].to_numpy()), np.eye(3)[rows["level"]]
    chances = model.predict_proba(rows[NAMES].to_numpy())
    # At the minimum the weighted gradient is 0.
    assert (
        np.abs(Z.T @ ((chances - own) * weights[:, None])).max() < 1e-3 * np.abs(Z.T @ (own * weights[:, None])).max()
    )
    means = tacit.GaussianMean(epsilon=np.inf, **FACTS)
    means.fit(table[NAMES].to_numpy(), units=table["who"], order=table["day"])
    np.testing.assert_allclose(means.mean_, np.average(rows[NAMES], axis=0, weights=weights), atol=1e-6)
    assert means.covariance_ is not None
    expected = np.cov(rows[NAMES].T, ddof=0, aweights=weights)
    np.testing.assert_allclose(means.covariance_, expected, atol=1e-3)


def test_the_penalty_is_per_person() -> None:
    table = visits()
    model = fitted(tacit.Ridge(epsilon=np.inf, l2=0.1, y_bounds=(-15, 15), **FACTS), table, "cost")
    rows = kept(table)
    w = once(rows)
    X, y = rows[NAMES].to_numpy(), rows["cost"].to_numpy()
    X, y = X - np.average(X, axis=0, weights=w), y - np.average(y, weights=w)
    alpha = 0.1 * table["who"].nunique()
    np.testing.assert_allclose(
        model.coef_, np.linalg.solve((X.T * w) @ X + alpha * np.eye(3), X.T @ (w * y)), atol=1e-8
    )


def test_the_certificate_and_the_guarantee_are_per_person() -> None:
    table = visits()
    model = fitted(tacit.LogisticRegression(epsilon=1.0, **FACTS), table, "ill")
    document = model.certificate_.document
    assert document["unit"] == model.plan_.guarantee().unit == "who"
    assert document["records"] == {"which": "n", "value": table["who"].nunique()}
    facts = {fact["name"]: fact["value"] for fact in document["public"]}
    assert facts["max_rows_per_unit"] == MOST
    assert "number of units" in facts
    assert "number of records" not in facts
    assert "all records of any one who" in promise(model.certificate_)
    # The number of records is private: nothing public tells of it.
    assert str(len(table)) not in model.certificate_.to_json()
    assert "per who" in str(model.plan_.guarantee())


@pytest.mark.parametrize("response", TWINS)
@pytest.mark.parametrize("inference", [False, True])
def test_t08_seeded_fits_do_not_depend_on_the_order_of_the_file(response: str, inference: bool) -> None:
    table = visits()
    settings = {"epsilon": 2.0, "random_state": 1, "inference": inference, **FACTS}
    make = TWINS[response][0]
    one, other = (
        make(**settings, **RESPONSES[response]).fit(
            rows[NAMES].to_numpy(), rows[response].to_numpy(), units=rows["who"].to_numpy()
        )
        for rows in (table, table.sample(frac=1, random_state=3))
    )
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.certificate_.document["unit"] == "unit"


def test_t35_more_records_of_one_person_leave_the_fit_as_it_is() -> None:
    """With an order they come too late to be kept; the price does not know of them either."""
    table = visits()
    more = table.loc[table["who"] == 5].sample(1000, replace=True, random_state=0)
    heavy = pd.concat([table, more.assign(day=np.arange(1000) + 10_000, ill=1)])
    settings = {"epsilon": 1.0, "random_state": 0, **FACTS}
    assert (table["who"] == 5).sum() >= MOST
    one, other = (fitted(tacit.LogisticRegression(**settings), rows, "ill") for rows in (table, heavy))
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.plan_ == other.plan_


def test_t35_the_price_is_that_of_as_many_rows_as_there_are_persons() -> None:
    """S bounds a person in place of a row: neither noise nor ε grow with the most records."""
    plain = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 10)).plan(5000, 4)
    for most in (1, 10, 100):
        plan = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 10), max_rows_per_unit=most).plan(5000, 4)
        assert plan.steps == plain.steps


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "gradient"},
        {"relation": "add-remove", "n_at_least": 500},
        {"relation": "zero-out"},
        {"bounds": "private"},
        {"max_rows_per_unit": 200},
        {"radius": 1.0},
    ],
    ids=str,
)
def test_every_route_takes_persons(settings: dict[str, Any]) -> None:
    table = visits(6000, 1500)
    model = tacit.LogisticRegression(**{"epsilon": 8.0, "random_state": 0, **FACTS, **settings})
    fitted(model, table, "ill")
    assert model.plan_.unit == "who"
    assert np.sign(model.coef_.ravel()).tolist() == [1, -1, 1]


@pytest.mark.parametrize("response", TWINS)
def test_more_records_of_each_person_make_a_better_fit(response: str) -> None:
    """2,000 persons of 1 and of 8 records each: mean squared error over 5 seeded fits, ε = 1."""
    make = TWINS[response][0]
    rng = np.random.default_rng(0)
    table = visits(16_000, 1).assign(who=np.repeat(np.arange(2000), 8))
    z = (table[NAMES].to_numpy() - 5) @ [0.5, -0.3, 0.2]
    table["ill"] = (z + rng.logistic(size=len(z)) > 0).astype(int)
    table["cost"], table["falls"] = z + rng.normal(size=len(z)), rng.poisson(np.exp(0.3 * z))
    truth = np.array([0.5, -0.3, 0.2]) * (0.3 if response == "falls" else 1.0)
    errors = []
    for rows, most in ((table[::8], 1), (table, 8)):
        found = [
            fitted(
                make(
                    epsilon=1.0,
                    bounds=(0, 10),
                    max_rows_per_unit=most,
                    random_state=seed,
                    inference=False,
                    **RESPONSES[response],
                ),
                rows,
                response,
            ).coef_.ravel()
            for seed in range(5)
        ]
        errors.append(float(np.mean((np.array(found) - truth) ** 2)))
    # The clip of labels is not measured: it falls with max_rows alone, so that less is gained.
    assert errors[1] < errors[0] * (0.75 if response == "ill" else 0.5)


def test_weights_and_exposures_go_with_persons() -> None:
    table = visits()
    weights = np.random.default_rng(0).uniform(0, 2, len(table))
    hours = np.random.default_rng(1).uniform(1, 5, len(table))
    model = tacit.PoissonRegressor(epsilon=np.inf, y_max=500, max_weight=2.0, exposure_bounds=(0.5, 10), **FACTS)
    with pytest.warns(UserWarning, match="max_weight"):
        fitted(model, table, "falls", sample_weight=weights, exposure=hours)
    rows = kept(table.assign(weight=weights, hours=hours))
    twin = sm.GLM(
        rows["falls"],
        sm.add_constant(rows[NAMES]),
        family=sm.families.Poisson(),
        exposure=rows["hours"],
        freq_weights=rows["weight"] * once(rows),
    ).fit(tol=1e-12)
    np.testing.assert_allclose(model.coef_, twin.params.iloc[1:], atol=1e-6)


SCHEMA = """
[unit]
column = "who"
max_rows = 3
order = "day"
name = "patient"

[columns.x0]
type = "numeric"
lower = 0
upper = 10

[columns.x1]
type = "numeric"
lower = 0
upper = 10

[columns.ill]
type = "binary"
"""


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_a_schema_with_a_unit_fits_persons(form: str, tmp_path: Path) -> None:
    table = visits()
    data: Any = table
    if form == "csv":
        data = tmp_path / "visits.csv"
        table.to_csv(data, index=False)
    elif form == "parquet":
        data = tmp_path / "visits.parquet"
        table.to_parquet(data, row_group_size=500)
    schema = tacit.Schema.parse(SCHEMA)
    fit = tacit.glm("ill ~ x0 + x1", data, schema, epsilon=np.inf)
    rows = kept(table)
    binomial = {"family": sm.families.Binomial(), "var_weights": once(rows)}
    twin = sm.GLM(rows["ill"], sm.add_constant(rows[NAMES[:2]]), **binomial).fit(tol=1e-12)
    np.testing.assert_allclose(fit.params.to_numpy(), twin.params, atol=1e-6)
    private = tacit.glm("ill ~ x0 + x1", data, schema, epsilon=1.0)
    document = private.certificate.document
    assert document["unit"] == "patient"
    assert document["records"]["value"] == table["who"].nunique()
    assert Certificate.from_json(private.certificate.to_json()) == private.certificate


def test_a_name_for_a_unit_must_be_one() -> None:
    table = visits()
    model = tacit.LogisticRegression(epsilon=1.0, **FACTS)
    for name, unit in ((None, "unit"), ("", "unit"), (7, "unit"), ("patient_nbr", "patient_nbr")):
        units: Any = table["who"].rename(name)
        model.fit(table[NAMES].to_numpy(), table["ill"], units=units)
        assert model.certificate_.document["unit"] == unit


def test_bad_units_are_refused_before_anything_is_spent(nothing_spent: None) -> None:
    table = visits()
    X, y = table[NAMES].to_numpy(), table["ill"]
    model = tacit.LogisticRegression(epsilon=1.0, **FACTS)
    missing: NDArray[Any] = np.array(table["who"], dtype=float)
    missing[3] = np.nan
    for units in (missing, np.zeros(len(X)), table["who"][:-1]):
        with pytest.raises(DataError):
            model.fit(X, y, units=units)
    with pytest.raises(SettingError, match="max_rows_per_unit"):
        tacit.LogisticRegression(epsilon=1.0, bounds=(0, 10), max_rows_per_unit=0).fit(X, y, units=table["who"])


def test_the_price_leaves_room_for_the_rounding_of_all_rows_of_a_person() -> None:
    """At μ = 1e-8 the integers are coarse: fine enough for one row, not for 10,000."""
    for most, enough in ((1, True), (10_000, False)):
        model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 10), max_rows_per_unit=most)
        plan = model.plan(1000, 3)
        facts = PublicFacts(plan.design, 1000, plan.relation, plan.unit, plan.budget, plan.penalty, plan.loss)
        budget = Fraction(1, 10**16)
        if enough:
            assert priced(facts, QueryKind.SECOND_MOMENTS, budget, 1, Purpose.SECOND_MOMENTS).price is not None
        else:
            with pytest.raises(BudgetError, match="too small"):
                priced(facts, QueryKind.SECOND_MOMENTS, budget, 1, Purpose.SECOND_MOMENTS)
        assert priced(facts, QueryKind.GRADIENT, budget, 1, Purpose.GRADIENT).price is not None


def test_rows_that_name_nobody_are_left_out_where_they_may_be() -> None:
    table = visits()
    units = np.array(table["who"], dtype=float)
    spoilt = units == 5
    units[spoilt] = np.nan
    settings = {"epsilon": np.inf, "invalid_rows": "zero", **FACTS}
    X, y = table[NAMES].to_numpy(), table["ill"].to_numpy()
    one = tacit.LogisticRegression(**settings).fit(X, y, units=units)
    other = tacit.LogisticRegression(**settings).fit(X[~spoilt], y[~spoilt], units=units[~spoilt])
    assert one.plan_.records == other.plan_.records == table["who"].nunique() - 1
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("unit", ["patient", "row"])
def test_a_ledger_of_another_unit_says_how_its_own_is_declared(unit: str) -> None:
    rows, labels = np.zeros((400, 1)), [0, 1] * 200
    model = tacit.LogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1])
    named = tacit.LogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1], max_rows_per_unit=1)
    units = pd.Series(range(400), name="patient")
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-5), unit=unit) as ledger:
        if unit == "patient":
            with pytest.raises(LedgerError, match=r'units=pandas\.Series\(…, name="patient"\)'):
                model.fit(rows, labels)
            named.fit(rows, labels, units=units)
        else:
            with pytest.raises(LedgerError, match="leave units= out"):
                named.fit(rows, labels, units=units)
            model.fit(rows, labels)
    assert len(ledger.charges()) == 1
