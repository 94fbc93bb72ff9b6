"""Statistical queries: planned, charged and certified like any fit, and no query more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pv
import pytest
from scipy import stats

import tacit
from tacit.errors import BudgetError, DataError, FormulaError, InputError, PlanViolation, SchemaError, SettingError

COLUMNS = """
[columns.x]
type = "numeric"
lower = 100
upper = 101
[columns.z]
type = "numeric"
lower = -2
upper = 6
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
[columns.sick]
type = "binary"
"""
SCHEMA = tacit.Schema.parse(COLUMNS)
N = 3001
RNG = np.random.default_rng(8)
TABLE = pa.table(
    {
        "x": 100 + RNG.beta(2, 5, N),
        "z": RNG.normal(1, 1, N),
        "ward": RNG.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1]),
        "sick": RNG.integers(0, 2, N),
    }
)
FRAME = TABLE.to_pandas()
FRAME["z"] = FRAME["z"].clip(-2, 6)
EXACT: dict[str, Any] = {
    "x": FRAME.x,
    "x * z": FRAME.x * FRAME.z,
    "(x - 100.3)**2": (FRAME.x - 100.3) ** 2,
    "log(x) / (z + 3)": np.log(FRAME.x) / (FRAME.z + 3),
    "exp(z) - sqrt(z + 2)": np.exp(FRAME.z) - np.sqrt(FRAME.z + 2),
    "sick": FRAME.sick,
    "z > 1 and ward != 'a'": (FRAME.z > 1) & (FRAME.ward != "a"),
    "clip(z, 0, 1)": FRAME.z.clip(0, 1),
    "x == 100.5 or sick": (FRAME.x == 100.5) | (FRAME.sick == 1),
}


def exact(**settings: Any) -> Any:
    return tacit.statistics(TABLE, SCHEMA, epsilon=np.inf, **settings)


@pytest.mark.parametrize("text", EXACT)
def test_without_privacy_an_answer_is_the_mean(text: str) -> None:
    with exact() as gate:
        found = gate.ask(tacit.Mean(text))
    assert found.value == pytest.approx(float(np.mean(EXACT[text])), abs=1e-9)
    assert found.noise_scale == 0.0
    assert not gate.certificate.private


def test_without_privacy_group_means_are_those_of_the_groups() -> None:
    with exact(queries=[tacit.Mean("x", "z", by="ward")]) as gate:
        found = gate.ask(tacit.Mean("x", "z", by="ward"))
    groups = FRAME.groupby("ward")[["x", "z"]].mean()
    np.testing.assert_allclose(found.value, groups.to_numpy(), atol=1e-9)
    np.testing.assert_allclose(found.shares, FRAME.ward.value_counts(normalize=True).sort_index(), atol=1e-12)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_the_charge_is_the_budget_and_the_certificate_holds(relation: str) -> None:
    more = "n_at_least = 2000\n" if relation == "add-remove" else ""
    schema = tacit.Schema.parse(f'relation = "{relation}"\n{more}{COLUMNS}')
    with tacit.statistics(TABLE, schema, epsilon=1.0, delta=1e-6, queries=[1, 2, tacit.Mean("z", by="ward")]) as gate:
        assert gate.remaining == 3
        gate.ask(tacit.Mean("x"))
        gate.ask(tacit.Mean("x", "z"))
        gate.ask(tacit.Mean("z", by="sick"))
        assert gate.remaining == 0
    assert gate.certificate.check().statement.startswith("The events add up")
    assert gate.certificate.private
    assert gate.certificate.document["relation"] == relation
    assert gate.plan.guarantee().epsilon == pytest.approx(1.0, rel=1e-3)
    assert gate.certificate.document["released"]["covers"] == ["design", "terms"]


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_the_noise_is_the_stated_one(relation: str) -> None:
    """200 answers of two means; the sum of squared standard scores is chi-square of 400, false alarms 1e-6.

    Shown to fail: with noise scales of half or twice the size the sum is far outside.
    """
    more = "n_at_least = 2000\n" if relation == "add-remove" else ""
    schema = tacit.Schema.parse(f'relation = "{relation}"\n{more}{COLUMNS}')
    truth = np.array([FRAME.x.mean(), FRAME.z.mean()])
    with tacit.statistics(TABLE, schema, epsilon=2.0, queries=[2] * 200) as gate:
        answers = [gate.ask(tacit.Mean("x", "z")) for _ in range(200)]
    values = np.array([answer.value for answer in answers])
    if relation == "add-remove":
        # All answers share the noise of one count: it is the same shift of every answer.
        truth = values.mean(axis=0)
    scores = (values - truth) / np.array([answer.noise_scale for answer in answers])
    lost = 0 if relation != "add-remove" else 2
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 400 - lost)
    if relation == "add-remove":
        # The stated noise includes that of the count, which does not vary here.
        low *= 0.5
    assert low < float(np.sum(scores**2)) < high
    for fault in (0.5, 2.0):
        assert not low < float(np.sum((scores / fault) ** 2)) < high


@pytest.mark.parametrize("bounds", [(0.0, 100.0), (100.0, 101.0)])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_t01_the_noise_of_a_mean_is_its_range_over_n(bounds: tuple[float, float], relation: str) -> None:
    """(upper - lower) / (n μ) where a record is replaced, half of it where one vanishes; never 0."""
    schema = tacit.Schema.from_mapping(
        {"relation": relation, "columns": {"x": {"type": "numeric", "lower": bounds[0], "upper": bounds[1]}}}
    )
    with tacit.statistics(TABLE, schema, budget=tacit.Budget(mu=0.5)) as gate:
        found = gate.ask(tacit.Mean("x"))
    half = 1.0 if relation == "replace-one" else 0.5
    assert found.noise_scale == pytest.approx(half * (bounds[1] - bounds[0]) / (N * 0.5), rel=1e-6)


@pytest.mark.parametrize("far", [1e6, -1e300])
def test_t02_a_cell_outside_of_its_bounds_acts_as_the_bound(far: float) -> None:
    out, on = FRAME.copy(), FRAME.copy()
    out.loc[5, "z"], on.loc[5, "z"] = far, 6.0 if far > 0 else -2.0
    values = []
    for frame in (out, on):
        with tacit.statistics(frame, SCHEMA, epsilon=1.0, random_state=4, queries=[2]) as gate:
            values.append(gate.ask(tacit.Mean("z**2", "exp(z)")).value.tobytes())
    assert values[0] == values[1]


@pytest.mark.parametrize("n", [2, 3, 63, 64, 65])
def test_t08_t10_odd_and_even_tables_and_recoded_columns(n: int) -> None:
    schema = tacit.Schema.parse(COLUMNS.replace("upper = 6", "upper = 60"))
    part = TABLE.slice(0, n)
    with tacit.statistics(part, SCHEMA, epsilon=np.inf) as gate:
        found = gate.ask(tacit.Mean("z"))
    assert found.value == pytest.approx(FRAME.z[:n].mean(), abs=1e-9)
    # The interval is that of the schema that was given, not of an earlier one.
    with tacit.statistics(part, schema, epsilon=np.inf) as gate:
        assert gate.ask(tacit.Mean("z")).bounds == (-2.0, 60.0)


def test_files_frames_and_tables_have_the_same_bits(tmp_path: Path) -> None:
    pv.write_csv(TABLE, tmp_path / "table.csv")
    found = []
    order = RNG.permutation(N)
    shuffled = TABLE.take(order)
    for data in (TABLE, TABLE.to_pandas(), shuffled, tmp_path / "table.csv"):
        with tacit.statistics(data, SCHEMA, epsilon=1.0, random_state=3, queries=[tacit.Mean("x", by="ward")]) as gate:
            found.append(gate.ask(tacit.Mean("x", by="ward")).value.tobytes())
    assert len(set(found)) == 1


def test_an_adaptive_program_may_use_earlier_answers() -> None:
    with exact(queries=2) as gate:
        mean = gate.ask(tacit.Mean("z"))
        variance = gate.ask(tacit.Mean(f"(z - {mean.value!r})**2"))
    assert variance.value == pytest.approx(FRAME.z.var(ddof=0), abs=1e-9)


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_queries_beyond_the_plan_are_refused(epsilon: float) -> None:
    with tacit.statistics(TABLE, SCHEMA, epsilon=epsilon, queries=[1, 2]) as gate:
        with pytest.raises(PlanViolation, match="reserved 1 mean at this point, not 2 means"):
            gate.ask(tacit.Mean("x", "z"))
        with pytest.raises(PlanViolation, match="not 1 mean by group"):
            gate.ask(tacit.Mean("x", by="ward"))
        gate.ask(tacit.Mean("x"))
        gate.ask(tacit.Mean("x", "z"))
        with pytest.raises(PlanViolation, match="used up: 2 queries were reserved"):
            gate.ask(tacit.Mean("x"))
    with pytest.raises(PlanViolation, match="inside the block"):
        gate.ask(tacit.Mean("x"))
    with pytest.raises(SettingError, match="opened before"), gate:
        pass


def test_a_refused_expression_uses_nothing_up() -> None:
    with exact() as gate:
        for text in ("1 / z", "log(z)", "ward", "nothing"):
            with pytest.raises((FormulaError, SchemaError)):
                gate.ask(tacit.Mean(text))
        assert gate.remaining == 1
        gate.ask(tacit.Mean("z"))


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({}, BudgetError, "no default"),
        ({"epsilon": -1.0}, BudgetError, "epsilon"),
        ({"epsilon": 1.0, "queries": 0}, SettingError, "queries"),
        ({"epsilon": 1.0, "queries": []}, SettingError, "queries must be"),
        ({"epsilon": 1.0, "queries": "x"}, SettingError, "queries must be"),
        ({"epsilon": 1.0, "queries": [1, 0]}, SettingError, "queries must be"),
        ({"epsilon": 1.0, "queries": True}, SettingError, "queries must be"),
        ({"epsilon": 1.0, "queries": [tacit.Mean("1 / z")]}, FormulaError, "holds 0"),
        ({"epsilon": 1.0, "queries": [tacit.Mean("z", by="x")]}, FormulaError, "declared numeric"),
        ({"epsilon": 1.0, "shares": [1.0, 2.0]}, SettingError, "1 positive numbers"),
        ({"epsilon": 1.0, "shares": [0.0]}, SettingError, "share"),
        ({"epsilon": 1.0, "columns": ["w"]}, SchemaError, "not declared"),
        ({"epsilon": 1.0, "columns": []}, SettingError, "at least one"),
        ({"epsilon": 1.0, "invalid_rows": "drop"}, SettingError, "invalid_rows"),
        ({"budget": tacit.Budget(mu=1e-13), "queries": 5000}, BudgetError, "too small"),
    ],
)
def test_bad_settings_are_refused_before_the_table_is_opened(
    settings: dict[str, Any], error: type[InputError], match: str
) -> None:
    with pytest.raises(error, match=match):
        tacit.statistics("no/such/file.csv", SCHEMA, **settings)


def test_a_mean_needs_an_expression_and_ask_a_mean() -> None:
    with pytest.raises(SettingError, match="needs an expression"):
        tacit.Mean()
    with exact() as gate, pytest.raises(SettingError, match=r"takes a tacit\.Mean"):
        gate.ask("x")


def test_t36_t37_levels_and_bounds_come_from_the_schema() -> None:
    """A label that is not declared makes its record invalid; it is never a level of its own."""
    frame = FRAME.copy()
    frame.loc[3, "ward"] = "nowhere"
    with pytest.raises(DataError, match="invalid"), tacit.statistics(frame, SCHEMA, epsilon=1.0):
        pass
    query = tacit.Mean("z", by="ward")
    with tacit.statistics(frame, SCHEMA, epsilon=np.inf, invalid_rows="zero", queries=[query]) as gate:
        found = gate.ask(query)
    assert found.groups == ("a", "b", "c")
    assert found.shares.sum() == pytest.approx((N - 1) / N)


def test_columns_that_are_left_out_may_be_invalid() -> None:
    frame = FRAME.copy()
    frame.loc[3, "x"] = np.nan
    with tacit.statistics(frame, SCHEMA, epsilon=np.inf, columns=["z"]) as gate:
        assert gate.ask(tacit.Mean("z")).value == pytest.approx(FRAME.z.mean(), abs=1e-9)
    with exact(columns=["z"], queries=[1]) as gate:
        with pytest.raises(FormulaError, match="columns="):
            gate.ask(tacit.Mean("x"))
        with pytest.raises(SettingError, match="columns="):
            gate.read(tacit.Mean("z", by="ward"))


def test_an_invalid_record_counts_as_the_middle_of_every_interval() -> None:
    frame = FRAME.copy()
    frame.loc[:9, "z"] = np.nan
    with tacit.statistics(frame, SCHEMA, epsilon=np.inf, invalid_rows="zero") as gate:
        found = gate.ask(tacit.Mean("z"))
    assert found.value == pytest.approx((FRAME.z[10:].sum() + 10 * 2.0) / N, abs=1e-9)


def test_a_declared_constant_stands_for_a_missing_cell() -> None:
    schema = tacit.Schema.parse(COLUMNS.replace("upper = 6", "upper = 6\nmissing = 0"))
    frame = FRAME.copy()
    frame.loc[:9, "z"] = np.nan
    with tacit.statistics(frame, schema, epsilon=np.inf) as gate:
        assert gate.ask(tacit.Mean("z")).value == pytest.approx(FRAME.z[10:].sum() / N, abs=1e-9)


def test_people_count_once_with_the_mean_over_their_rows() -> None:
    frame = FRAME.assign(person=np.arange(N) // 3)
    schema = tacit.Schema.parse(f'[unit]\ncolumn = "person"\nmax_rows = 3\n{COLUMNS}')
    query = tacit.Mean("z", by="sick")
    with tacit.statistics(frame, schema, epsilon=np.inf, queries=[1, query]) as gate:
        mean, groups = gate.ask(tacit.Mean("z")), gate.ask(query)
    assert mean.value == pytest.approx(frame.groupby("person").z.mean().mean(), abs=1e-9)
    weights = 1 / frame.groupby("person").z.transform("size")
    for label in (0, 1):
        own = frame.sick == label
        assert groups.value[label] == pytest.approx(np.average(frame.z[own], weights=weights[own]), abs=1e-6)
    with tacit.statistics(frame, schema, epsilon=1.0) as gate:
        gate.ask(tacit.Mean("z"))
    facts = {fact["name"]: fact["value"] for fact in gate.certificate.document["public"]}
    assert facts["estimand"] == "Each person counts once, with the mean over its rows."
    assert gate.certificate.document["unit"] == "person"


def test_a_matrix_may_be_asked_by_its_columns() -> None:
    schema = tacit.Schema.parse('[columns.x1]\ntype = "numeric"\nlower = -2\nupper = 6')
    with tacit.statistics(FRAME[["x", "z"]].to_numpy(), schema, epsilon=np.inf) as gate:
        assert gate.ask(tacit.Mean("x1")).value == pytest.approx(FRAME.z.mean(), abs=1e-9)


def test_levels_that_are_numbers_may_be_compared_and_grouped_by() -> None:
    schema = tacit.Schema.parse('[columns.grade]\ntype = "factor"\nlevels = [1, 2, 3]')
    frame = pd.DataFrame({"grade": [1, 2, 2, 3]})
    with tacit.statistics(frame, schema, epsilon=np.inf, queries=[1, tacit.Mean(by="grade")]) as gate:
        assert gate.ask(tacit.Mean("grade == 2")).value == pytest.approx(0.5)
        assert gate.ask(tacit.Mean(by="grade")).shares.tolist() == [0.25, 0.5, 0.25]


def test_a_weight_that_is_not_used_is_told_with_the_way_to_a_weighted_mean() -> None:
    weighed = FRAME.assign(weight=np.where(FRAME.sick == 1, 3.0, 0.5))
    with pytest.warns(UserWarning, match=r"not weighted.*Mean\('x \* weight'\) by Mean\('weight'\)"):
        gate = tacit.statistics(
            weighed, tacit.Schema.parse(f'[weight]\ncolumn = "weight"\nmaximum = 3\n{COLUMNS}'), epsilon=np.inf
        )
    with gate:
        assert gate.ask(tacit.Mean("z")).value == pytest.approx(FRAME.z.mean(), abs=1e-9)
    schema = tacit.Schema.parse(f'{COLUMNS}[columns.weight]\ntype = "numeric"\nlower = 0\nupper = 3\n')
    with tacit.statistics(weighed, schema, epsilon=np.inf, queries=2) as gate:
        product, whole = gate.ask(tacit.Mean("z * weight")), gate.ask(tacit.Mean("weight"))
    assert product.value / whole.value == pytest.approx(np.average(FRAME.z, weights=weighed.weight), abs=1e-9)
