"""Hazards and their status: each follows from the certificate."""

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tacit
from tacit.documents.signature import Verification
from tacit.report.hazards import WORDS, fit_hazards, ledger_hazards

UNSIGNED = Verification(True, False, None, "consistent")
SIGNED = Verification(True, True, "ab12", "signed")


def statuses(found: Verification = UNSIGNED, units: bool = False, **settings: Any) -> dict[str, str]:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (200, 2)), rng.integers(0, 2, 200)
    given = {"epsilon": 1.0, "bounds": (-1, 1), "classes": (0, 1), **settings}
    model = tacit.LogisticRegression(**given).fit(X, y, **({"units": np.arange(200) // 2} if units else {}))
    document = model.certificate_.parsed
    table = fit_hazards(document, document["events"], model.certificate_.rederive(), found)
    return {name: status for name, status, _ in table.rows}


def test_a_usual_fit() -> None:
    found = statuses()
    assert found["Too weak a budget"] == "held off"
    assert found["Refusals that tell of a record"] == "assumed"
    assert found["The number of records"] == "assumed"
    assert found["Rounding of computers"] == "held off"
    assert found["A document that somebody altered"] == "open"
    assert found["Further releases of the same records"] == "open"
    assert "Random samples that must be secret" not in found


@pytest.mark.parametrize(
    ("settings", "hazard", "status"),
    [
        ({"epsilon": 20.0}, "Too weak a budget", "open"),
        ({"delta": 0.1}, "Too weak a budget", "open"),
        ({"invalid_rows": "zero"}, "Refusals that tell of a record", "held off"),
        ({"relation": "add-remove", "n_at_least": 100}, "The number of records", "held off"),
        ({"classes": None}, "Facts that were read off the table", "assumed"),
        ({"solver": "stochastic", "sample_rate": 0.25}, "Random samples that must be secret", "held off"),
        ({"units": True, "max_rows_per_unit": 2}, "Several records of one unit", "held off"),
        ({"found": SIGNED}, "A document that somebody altered", "held off"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_settings_change_a_status(settings: dict[str, Any], hazard: str, status: str) -> None:
    found = statuses(**settings)
    assert found[hazard] == status


def test_a_ledger_without_a_name_may_have_missed_a_release() -> None:
    for dataset, status in (("clinic", "held off"), (None, "assumed")):
        table = ledger_hazards({"dataset": dataset}, UNSIGNED, 2)
        assert table.rows[0][1] == status
        assert "There are 2" in table.rows[1][2]
    assert len(WORDS) == 3


@pytest.mark.filterwarnings("ignore:StandardScaler was fitted")
def test_preprocessing_on_the_same_records_is_a_fact_that_was_read_off() -> None:
    rng = np.random.default_rng(0)
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(-3, 3), classes=(0, 1))
    make_pipeline(StandardScaler(), model).fit(rng.uniform(-1, 1, (200, 2)), rng.integers(0, 2, 200))
    document = model.certificate_.parsed
    table = fit_hazards(document, document["events"], model.certificate_.rederive(), UNSIGNED)
    (found,) = [row for row in table.rows if row[0] == "Facts that were read off the table"]
    assert found[1] == "assumed"
    assert "preprocessing fitted on the same data" in found[2]
