"""Plan before rows: bad settings are reported as such, before a record of a bad table is read."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import tacit
from tacit.constraints import Box
from tacit.engine import table as engine
from tacit.errors import (
    BoundsError,
    BudgetError,
    DataError,
    FileError,
    FormulaError,
    InputError,
    LedgerError,
    SchemaError,
    SettingError,
)
from tacit.planning.demo_table import CLINIC_SCHEMA

N = 400
RNG = np.random.default_rng(0)
FEATURES = RNG.uniform(0, 10, (N, 2))
FEATURES[7, 1] = np.nan
LABELS = RNG.integers(0, 2, N)
UNITS = np.arange(N) // 2

GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10)}
TABLES = {"dense": FEATURES, "frame": pd.DataFrame(FEATURES, columns=["a", "b"]), "sparse": sp.csr_array(FEATURES)}
BAD: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "no epsilon": ({"epsilon": None}, BudgetError, "epsilon"),
    "epsilon": ({"epsilon": -1.0}, BudgetError, "epsilon"),
    "delta": ({"delta": 2.0}, BudgetError, "delta"),
    "unknown solver": ({"solver": "simplex"}, SettingError, "solver"),
    "solver of another loss": ({"solver": "moments"}, SettingError, "moments"),
    "inference with l2": ({"inference": True, "l2": 1.0}, SettingError, "Intervals"),
    "too few passes": ({"max_passes": 2, "solver": "newton"}, SettingError, "max_passes"),
    **{
        f"intervals of {solver}": ({"inference": True, "solver": solver}, SettingError, 'solver="auto".*inference')
        for solver in ("gradient", "whitened-gradient", "newton", "majorised-newton", "objective-perturbation")
    },
    "passes and iterations": ({"iterations": 50, "max_passes": 5, "solver": "gradient"}, SettingError, "max_passes"),
    "batch beyond the table": ({"batch_size": 10**10, "solver": "stochastic"}, SettingError, "batch_size"),
    "rate of no price": ({"sample_rate": 1.5, "solver": "stochastic"}, SettingError, "sample_rate"),
    "sampling of no price": (
        {"sampling": "without-replacement", "solver": "stochastic", "relation": "zero-out"},
        SettingError,
        "no price under zero-out",
    ),
    "no bounds": ({"bounds": None}, BoundsError, "never read off the data"),
    "bounds": ({"bounds": (10, 0)}, BoundsError, "lower"),
    "row norm": ({"row_norm": -1.0}, BoundsError, "row_norm"),
    "relation": ({"relation": "swap"}, SchemaError, "relation"),
    "private n": ({"relation": "add-remove"}, SettingError, "n_at_least"),
    "n_at_least": ({"n_at_least": 1}, SettingError, "n_at_least"),
    "rows per unit": ({"max_rows_per_unit": 0}, SettingError, "max_rows_per_unit"),
    "weights": ({"max_weight": -1}, SettingError, "max_weight"),
    "constraint and radius": ({"constraint": Box(0, 1), "radius": 1.0}, SettingError, "not both"),
    "output": ({"output": "best"}, SettingError, "output"),
    "prior mean": ({"prior_mean": [1.0, 2.0, 3.0], "l2": 1.0}, SettingError, "prior_mean"),
    "class weight": ({"class_weight": "balanced"}, SettingError, "class_weight"),
    "invalid rows": ({"invalid_rows": "drop"}, SettingError, "invalid_rows"),
    "seed": ({"random_state": -1}, SettingError, "random_state"),
}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which of the engine's two ways to read records were taken."""
    found: list[str] = []
    for name in ("admit", "read_classes"):
        original = getattr(engine, name)

        def counted(*given: Any, _original: Any = original, _name: str = name, **more: Any) -> Any:
            found.append(_name)
            return _original(*given, **more)

        monkeypatch.setattr(engine, name, counted)
    return found


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("case", BAD)
def test_estimators_refuse_settings_before_records(case: str, kind: str, declared: bool, reads: list[str]) -> None:
    settings, error, words = BAD[case]
    classes = [0, 1] if declared else None
    model = tacit.LogisticRegression(**{**GOOD, "classes": classes, **settings})
    units = UNITS if case == "rows per unit" else None
    with pytest.raises(error, match=words):
        model.fit(TABLES[kind], LABELS, units=units)
    assert reads == []


@pytest.mark.parametrize("kind", TABLES)
def test_the_table_itself_is_refused_where_the_settings_are_good(kind: str, reads: list[str]) -> None:
    with pytest.raises(DataError, match="invalid"):
        tacit.LogisticRegression(**GOOD).fit(TABLES[kind], LABELS)
    assert reads == ["read_classes", "admit"]


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("LinearRegression", {"y_bounds": (1, -1)}, BoundsError, "y_bounds"),
        ("LinearRegression", {"y_bounds": "public"}, BoundsError, "y_bounds"),
        ("HuberRegressor", {"y_bounds": (-9, 9), "threshold": 0}, SettingError, "threshold"),
        ("QuantileRegressor", {"y_bounds": (-9, 9), "quantile": 1.5}, SettingError, "quantile"),
        ("QuantileRegressor", {"y_bounds": (-9, 9), "inference": True}, SettingError, "intervals"),
        ("PoissonRegressor", {"y_max": -2}, SettingError, "count"),
        ("PoissonRegressor", {}, BoundsError, "largest count"),
        ("LinearSVC", {"inference": True}, SettingError, "intervals"),
        ("LinearSVC", {"classes": [0, 1, 2]}, SettingError, "two classes"),
        ("GaussianMean", {"solver": "simplex"}, SettingError, "solver"),
    ],
)
def test_so_does_every_estimator(
    name: str, settings: dict[str, Any], error: type[InputError], words: str, reads: list[str]
) -> None:
    with pytest.raises(error, match=words):
        getattr(tacit, name)(**GOOD, **settings).fit(FEATURES, LABELS)
    assert reads == []


def test_what_depends_on_the_classes_waits_for_them(reads: list[str]) -> None:
    """The form of 2012 is for two classes: with three that are not declared y is read."""
    model = tacit.LogisticRegression(**GOOD, solver="objective-perturbation-kst")
    with pytest.raises(SettingError, match="one linear predictor"):
        model.fit(FEATURES, np.arange(N) % 3)
    assert reads == ["read_classes"]


def test_what_depends_on_the_number_of_units_waits_for_it(reads: list[str]) -> None:
    settings: dict[str, Any] = {**GOOD, "max_rows_per_unit": 2, "classes": [0, 1]}
    good = np.nan_to_num(FEATURES)
    tacit.LogisticRegression(**settings).fit(good, LABELS, units=UNITS)
    model = tacit.LogisticRegression(**settings, solver="double-noise-newton")
    with pytest.raises(SettingError, match="solver"):
        model.fit(FEATURES, LABELS, units=UNITS)
    assert reads == ["admit"]


OF_SCHEMAS = {"bounds", "relation", "n_at_least", "max_rows_per_unit", "max_weight", "class_weight"}
"""Parameters of estimators that `glm` has from the schema."""
BAD_OF_GLM: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    **{
        case: BAD[case]
        for case in BAD
        if not {"bounds", "relation", "n_at_least", "max_rows_per_unit", "max_weight", "class_weight"}
        & set(BAD[case][0])
    },
    "threshold": ({"threshold": 0.0}, SettingError, "threshold"),
    "quantile": ({"quantile": 2.0}, SettingError, "quantile"),
    "family": ({"family": "tweedie"}, SettingError, "family"),
    "family of another response": ({"family": "gaussian"}, FormulaError, "numeric"),
}


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "no file"])
@pytest.mark.parametrize("case", BAD_OF_GLM)
def test_glm_refuses_settings_before_a_file_is_opened(
    case: str, kind: str, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, error, words = BAD_OF_GLM[case]
    opened: list[Any] = []
    if kind != "frame":
        monkeypatch.setattr(engine, "open_source", lambda *given, **_: opened.append(given))
    data = _clinic(kind, tmp_path)
    with pytest.raises(error, match=words):
        tacit.glm("readmit ~ age + smoker", data, tacit.Schema.parse(CLINIC_SCHEMA), **{"epsilon": 1.0, **settings})
    assert (reads, opened) == ([], [])


def test_glm_reports_the_table_where_the_settings_are_good(tmp_path: Path) -> None:
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    for kind, error in (("frame", DataError), ("csv", DataError), ("no file", FileError)):
        with pytest.raises(error):
            tacit.glm("readmit ~ age", _clinic(kind, tmp_path), schema, epsilon=1.0)


@pytest.mark.parametrize("solver", ["stochastic", "objective-perturbation"])
def test_a_ledger_that_has_no_price_for_a_solver_refuses_before_a_file_is_opened(solver: str, tmp_path: Path) -> None:
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    told: dict[str, Any] = {"epsilon": 0.1, "delta": 1e-6, "inference": False}
    with tacit.Ledger(budget=tacit.Budget(mu=1.0)) as ledger:
        with pytest.raises(LedgerError, match='law="rdp"'):
            tacit.glm("readmit ~ age", _clinic("no file", tmp_path), schema, solver=solver, **told)
        with pytest.raises(FileError):
            tacit.glm("readmit ~ age", _clinic("no file", tmp_path), schema, **told)
    assert not ledger.charges()


def _clinic(kind: str, folder: Path) -> Any:
    frame = pd.DataFrame({"age": [30.0, np.nan] * 200, "smoker": ["yes", "no"] * 200, "readmit": [0, 1] * 200})
    if kind == "frame":
        return frame
    path = folder / {"csv": "table.csv", "parquet": "table.parquet"}.get(kind, "none.csv")
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    return path
