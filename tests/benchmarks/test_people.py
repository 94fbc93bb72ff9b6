"""The benchmark of patients: encoding by hand-written facts, and a split by patient."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.people import DRUGS, Encounters, chapter, encode, epsilon_of_rows, fitted, split


def frame(rows: int = 6) -> pd.DataFrame:
    constant = {
        **dict.fromkeys(DRUGS, "No"),
        "encounter_id": range(rows),
        "patient_nbr": np.arange(rows) // 2,
        "time_in_hospital": 3,
        "num_lab_procedures": 40,
        "num_procedures": 1,
        "number_diagnoses": 9,
        "num_medications": 10,
        "number_outpatient": 0,
        "number_emergency": 0,
        "number_inpatient": 50,
        "race": "Asian",
        "gender": "Male",
        "age": "[50-60)",
        "admission_type_id": 1,
        "discharge_disposition_id": 2,
        "admission_source_id": 3,
        "max_glu_serum": "None",
        "A1Cresult": ">7",
        "payer_code": "?",
        "change": "Ch",
        "diabetesMed": "Yes",
        "diag_1": "250.83",
        "diag_2": "V45",
        "diag_3": "486",
        "readmitted": ["NO", ">30", "<30"] * (rows // 3),
    }
    return pd.DataFrame(constant)


@pytest.mark.parametrize(
    ("code", "expected"), [("250.6", "diabetes"), ("428", "circulation"), ("V57", "V"), ("E888", "E"), ("?", "?")]
)
def test_diagnoses_are_gathered_by_chapter(code: str, expected: str) -> None:
    assert chapter(code) == expected


def test_rows_keep_their_public_norm_bound() -> None:
    encounters = encode(frame())
    assert encounters.y.tolist() == [0, 1, 1, 0, 1, 1]
    norms = np.linalg.norm(encounters.X, axis=1)
    assert (norms <= encounters.row_norm * (1 + 1e-6)).all()
    # One indicator of each of the 22 categories is set, beside eight numbers.
    assert (encounters.X[0, 8:] == 1).sum() == 22


def test_no_patient_is_in_both_parts() -> None:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 100, 1000)
    encounters = Encounters(np.ones((1000, 2)), 2.0, np.ones(1000), who, np.arange(1000))
    train, test = split(encounters)
    assert not set(train.patient) & set(test.patient)
    assert len(train.y) + len(test.y) == 1000


def test_fits_protect_what_they_say() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2000, 2))
    y = rng.integers(0, 2, 2000).astype(float)
    train = Encounters(X, 1.5, y, np.arange(2000) // 4, np.arange(2000))
    assert fitted(train, 3, 4.0, 0).plan_.records == 500
    assert fitted(train, None, 4.0, 0).plan_.records == 2000


def test_a_guarantee_for_rows_is_weaker_for_many_of_them() -> None:
    one, three = (epsilon_of_rows(50_000, 20, count) for count in (1, 3))
    assert one <= 1.0 + 1e-9
    assert three > 3.0
