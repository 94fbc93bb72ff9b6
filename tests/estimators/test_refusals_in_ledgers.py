"""Inside a ledger the content of a record decides nothing but the noisy answer.

For every estimator and family, tables that differ in the validity of one record have the same
outcome, the same messages, the same public facts and the same charge.
"""

import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tacit
from tacit import (
    Covariance,
    GaussianMean,
    GaussianNB,
    HuberRegressor,
    Ledger,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from tacit.errors import DataError, SettingError

N = 240
RNG = np.random.default_rng(7)
X = RNG.uniform(0, 10, (N, 2))
LABELS = RNG.integers(0, 2, N)
KINDS = np.array(["healthy", "flu", "hiv"])
NUMBERS = RNG.uniform(-1, 1, N)
COUNTS = RNG.integers(0, 9, N)
BUDGET = tacit.Budget(epsilon=3, delta=1e-6)
COMMON: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "bounds": (0, 10)}

NO_NUMBERS: tuple[Any, ...] = (np.nan, np.inf, -np.inf, None, "text", "", "1e999", pd.NA, b"7", object())
"""Cells that are no number, or none that a column of this kind may have."""


def logistic(**settings: Any) -> Any:
    return LogisticRegression(**COMMON, classes=[0, 1], **settings)


def three(**settings: Any) -> Any:
    return LogisticRegression(**COMMON, classes=["healthy", "flu"], **settings)


ESTIMATORS: dict[str, tuple[Callable[..., Any], Any]] = {
    "logistic": (logistic, LABELS),
    "labels": (three, KINDS[LABELS]),
    "svm": (lambda **s: LinearSVC(**COMMON, classes=[0, 1], **s), LABELS),
    "linear": (lambda **s: LinearRegression(**COMMON, y_bounds=(-1, 1), **s), NUMBERS),
    "ridge": (lambda **s: Ridge(**COMMON, y_bounds=(-1, 1), **s), NUMBERS),
    "huber": (lambda **s: HuberRegressor(**COMMON, y_bounds=(-1, 1), **s), NUMBERS),
    "quantile": (lambda **s: QuantileRegressor(**COMMON, y_bounds=(-1, 1), **s), NUMBERS),
    "poisson": (lambda **s: PoissonRegressor(**COMMON, y_max=8, **s), COUNTS),
    "mean": (lambda **s: GaussianMean(**COMMON, **s), None),
    "covariance": (lambda **s: Covariance(**COMMON, **s), None),
    "naive bayes": (lambda **s: GaussianNB(**COMMON, classes=[0, 1], **s), LABELS),
    "adassp": (lambda **s: LinearRegression(**{**COMMON, **s, "y_bounds": (-1, 1), "solver": "adassp"}), NUMBERS),
}


def spoilt(column: Any, place: int, cell: Any) -> list[Any]:
    """A column as a list, with another cell in one record."""
    cells = list(column)
    cells[place] = cell
    return cells


def tables(response: Any) -> Iterator[tuple[Any, Any]]:
    """Sixty tables that differ in one record."""
    places = itertools.cycle((0, 17, N - 1))
    for column, cell in itertools.product((0, 1), NO_NUMBERS):
        features = X.astype(object)
        features[next(places), column] = cell
        yield features, response
    for cell in NO_NUMBERS:
        frame = pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1]}).astype({"x1": object})
        frame.loc[next(places), "x1"] = cell
        yield frame, response
    for cell in (np.nan, np.inf, -np.inf, 1e308, -1e308):
        features = X.copy()
        features[next(places)] = cell
        yield features, response
        yield sparse.csr_array(features), response
    for cell in (*NO_NUMBERS, "hiv", 2, -1, 0.5, 1e308, "2", True, (), {}, 10**400):
        yield X, None if response is None else spoilt(response, next(places), cell)


def outcome(fit: Callable[[], Any], ledger: Ledger) -> tuple[Any, ...]:
    """All that somebody without the table sees of a fit, but for its noisy numbers."""
    with ledger, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            fitted, message = fit(), None
        except Exception as error:  # noqa: BLE001 (a message is what is compared)
            fitted, message = None, (type(error), str(error))
    texts = [str(warning.message) for warning in warned]
    charges = [(charge.events, charge.label) for charge in ledger.charges()]
    certificate = getattr(fitted, "certificate_", None) or getattr(fitted, "certificate", None)
    facts = None if certificate is None else certificate.document["public"]
    return message, texts, charges, facts, getattr(fitted, "n_features_in_", None)


@pytest.mark.parametrize(
    ("name", "relation"),
    [*((name, "replace-one") for name in ESTIMATORS), ("logistic", "add-remove"), ("poisson", "zero-out")],
)
def test_t37_one_invalid_record_changes_nothing_but_the_noisy_answer(name: str, relation: str) -> None:
    make, response = ESTIMATORS[name]
    chosen = {"relation": relation, "n_at_least": 200, "solver": "auto"}
    seen: dict[str, tuple[Any, ...]] = {}
    several = 0
    for features, labels in tables(response):
        several += 1
        # Whether a list or an array is given is the caller's doing, and no record's.
        kind = f"{type(features).__name__} {type(labels).__name__}"
        found = outcome(partial(make(**chosen).fit, features, labels), Ledger(budget=BUDGET))
        assert found == seen.setdefault(kind, found), f"{kind} {several}"
        assert found[0] is None
    assert several == 60


@pytest.mark.parametrize("attached", ["sample_weight", "units", "order", "exposure"])
def test_t37_cells_beside_the_table_change_nothing_but_the_noisy_answer(attached: str) -> None:
    """Every person has two records: one that names nobody leaves the number of persons alone."""
    given: dict[str, Any] = {
        "sample_weight": list(RNG.uniform(0, 2, N)),
        "units": [f"person {number // 2}" for number in range(N)],
        "order": list(range(N)),
        "exposure": list(RNG.uniform(1, 2, N)),
    }
    declared: dict[str, Any] = {
        "max_weight": 2.0,
        "max_rows_per_unit": 2,
        "exposure_bounds": (1, 2),
        "relation": "add-remove",
        "n_at_least": 100,
    }
    seen = []
    for place, cell in enumerate((given[attached][0], *NO_NUMBERS, -1, 0, 1e308)):
        columns = {**given, attached: spoilt(given[attached], 16 * place, cell)}
        model = PoissonRegressor(**COMMON, y_max=8, **declared)
        seen.append(outcome(partial(model.fit, X, COUNTS, **columns), Ledger(budget=BUDGET)))
        assert seen[-1][0] is None
        assert seen[-1] == seen[0]


FAMILIES = {"binomial": "label", "gaussian": "number", "poisson": "count", "multinomial": "kind"}
SCHEMA = tacit.Schema.parse(
    """
    unit = "patient"
    [columns.a]
    type = "numeric"
    lower = 0
    upper = 10
    [columns.ward]
    type = "factor"
    levels = ["north", "south"]
    [columns.label]
    type = "binary"
    [columns.number]
    type = "numeric"
    lower = -1
    upper = 1
    [columns.count]
    type = "numeric"
    lower = 0
    upper = 8
    [columns.kind]
    type = "factor"
    levels = ["healthy", "flu", "cold"]
    """
)


def clinic() -> pd.DataFrame:
    named = {
        "a": X[:, 0],
        "ward": np.array(["north", "south"])[LABELS],
        "label": LABELS,
        "number": NUMBERS,
        "count": COUNTS,
        "kind": np.array(["healthy", "flu", "cold"])[COUNTS % 3],
    }
    return pd.DataFrame(named).astype(object)


@pytest.mark.parametrize("family", FAMILIES)
def test_t37_one_invalid_record_changes_nothing_in_a_formula(family: str, tmp_path: Any) -> None:
    formula = f"{FAMILIES[family]} ~ a + C(ward)"
    cells = (np.nan, np.inf, None, "hiv", "", -1e308, 0.5, pd.NA, True, "north")
    columns = ("a", "ward", FAMILIES[family])
    chosen: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "inference": False}
    seen: dict[str, tuple[Any, ...]] = {}
    for number, (column, cell) in enumerate(itertools.product(columns, cells)):
        table = clinic()
        table.loc[(number * 37) % N, column] = cell
        file = tmp_path / "table.csv"
        table.to_csv(file, index=False)
        for data in (table, file):
            found = outcome(partial(tacit.glm, formula, data, SCHEMA, family, **chosen), Ledger(budget=BUDGET))
            assert found == seen.setdefault(type(data).__name__, found)
            assert found[0] is None


def test_t37_a_label_of_one_record_is_not_told_for_free() -> None:
    """The attack: which classes are declared decides whether one record is refused."""
    labels = KINDS[np.concatenate([LABELS[1:], [2]])]
    assert (labels == "hiv").sum() == 1
    with pytest.raises(DataError):
        three().fit(X, labels)
    found = []
    for classes in (["healthy", "flu"], ["healthy", "cold"]):
        model = LogisticRegression(**COMMON, classes=classes)
        found.append(outcome(partial(model.fit, X, labels), Ledger(budget=BUDGET)))
    assert found[0][0] is None
    assert (found[0][0], found[0][2]) == (found[1][0], found[1][2])


class Untouchable:
    """A table that may not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read")

    def __len__(self) -> int:
        raise AssertionError("it was counted")


@pytest.mark.parametrize("make", [LogisticRegression, LinearSVC])
def test_t37_classes_are_declared_inside_a_ledger(make: Any) -> None:
    with Ledger(budget=BUDGET) as ledger:
        with pytest.raises(SettingError, match=r"classes=\[…\]"):
            make(**COMMON).fit(Untouchable(), Untouchable())
        assert ledger.charges() == ()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_about_records_are_refused_before_rows_are_touched(name: str) -> None:
    make, response = ESTIMATORS[name]
    with Ledger(budget=BUDGET), pytest.raises(SettingError, match='invalid_rows="zero"'):
        make(invalid_rows="error").fit(Untouchable(), None if response is None else Untouchable())


def test_a_formula_too_is_refused_before_its_file_is_opened() -> None:
    with Ledger(budget=BUDGET), pytest.raises(SettingError, match='refusals="curator"'):
        tacit.glm("label ~ a", "no/such/file.csv", SCHEMA, epsilon=1.0, delta=1e-6, invalid_rows="error")


def test_a_curator_may_ask_for_errors_and_each_is_logged(tmp_path: Any) -> None:
    features, table = X.copy(), clinic()
    features[3] = np.nan
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "table.csv", index=False)
    strict: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "invalid_rows": "error"}
    with Ledger(budget=BUDGET, unit="patient", refusals="curator") as ledger:
        with pytest.raises(DataError, match="Some records are invalid"):
            logistic(invalid_rows="error").fit(features, LABELS)
        assert ledger.verify().entries == 2
        with pytest.raises(DataError, match="Some records are invalid"):
            tacit.glm("label ~ a", tmp_path / "table.csv", SCHEMA, **strict)
        assert ledger.verify().entries == 3
        assert ledger.charges() == ()
        fit = tacit.glm("label ~ a", clinic(), SCHEMA, **strict)
    names = [fact["name"] for fact in fit.certificate.document["public"]]
    assert "every record is valid" in names
    assert len(ledger.charges()) == 1


@pytest.mark.parametrize("invalid_rows", [None, "error", "zero"])
def test_t37_the_certificate_lists_that_every_record_is_valid(invalid_rows: str | None) -> None:
    document = logistic(invalid_rows=invalid_rows).fit(X, LABELS).certificate_.document
    facts = [fact for fact in document["public"] if fact["name"] == "every record is valid"]
    said = [{"name": "every record is valid", "value": True, "source": "assumed"}]
    assert facts == ([] if invalid_rows == "zero" else said)


def test_units_of_their_own_need_no_premise() -> None:
    units = [f"person {number // 2}" for number in range(N)]
    model = logistic(max_rows_per_unit=2).fit(X, LABELS, units=units)
    assert "assuming" not in str(model.certificate_.rederive())
    assert "assuming" not in str(logistic().fit(X, LABELS).certificate_.rederive())


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_a_missing_cell_in_memory_has_advice_for_a_table_in_memory(kind: str) -> None:
    table = pd.DataFrame({"age": [1.0, 2.0, None, 3.0] * 5})
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 5), classes=[0, 1])
    with pytest.raises(DataError, match=r"Some records are invalid: a needed value is missing.*\.isna\(\)") as told:
        model.fit(table if kind == "frame" else table.to_numpy(), [0, 1] * 10)
    for nonsense in ("scikit-learn", "Complex", "argument", "[file]", "decimal ="):
        assert nonsense not in str(told.value)
