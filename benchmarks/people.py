"""Patients with several encounters: what a guarantee for patients costs, against one for rows.

The table is diabetes130 with all encounters. Patients, not encounters, are split into training and
test; the score is the area under the curve over all encounters of test patients.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.accuracy.encoding import Encoder
from benchmarks.accuracy.folder import folder, is_there
from benchmarks.accuracy.held_out import categories, numbers, words
from benchmarks.accuracy.table import SPLIT_SEED, TEST_SHARE, Matrix
from benchmarks.record import Figure, write
from tacit import LogisticRegression
from tacit.accounting import gaussian

EPSILON, TRIALS = 1.0, 5
MOST_ENCOUNTERS = (1, 3, 10)
CHAPTERS = (
    ("infections", 1, 140),
    ("neoplasms", 140, 240),
    ("endocrine", 240, 280),
    ("blood", 280, 290),
    ("mental", 290, 320),
    ("nerves", 320, 390),
    ("circulation", 390, 460),
    ("breathing", 460, 520),
    ("digestion", 520, 580),
    ("kidneys", 580, 630),
    ("pregnancy", 630, 680),
    ("skin", 680, 710),
    ("muscles", 710, 740),
    ("congenital", 740, 780),
    ("symptoms", 780, 800),
    ("injuries", 800, 1000),
)
"""Chapters of the ninth classification of diseases; diabetes itself is apart."""
DIAGNOSES = ("diabetes", *(name for name, _, _ in CHAPTERS), "E", "V", "?")
DRUGS = words("metformin,repaglinide,glimepiride,glipizide,glyburide,pioglitazone,rosiglitazone,insulin")


@dataclass(frozen=True)
class Encounters:
    """Encoded encounters, the constant left out, with their norm bound; whose they are and when."""

    X: Matrix
    row_norm: float
    y: Matrix
    patient: Any
    encounter: Any

    def of(self, patients: Any) -> Encounters:
        """The encounters of these patients."""
        there = np.isin(self.patient, patients)
        own = self.y[there], self.patient[there], self.encounter[there]
        return Encounters(self.X[there], self.row_norm, *own)


def chapter(code: str) -> str:
    """Chapter of a diagnosis by its public classification."""
    if code[:1] in "EV?":
        return code[:1]
    if code.startswith("250"):
        return "diabetes"
    number = float(code)
    return next((name for name, low, high in CHAPTERS if low <= number < high), "?")


def encode(frame: Any) -> Encounters:
    """Rows in [-1, 1] and indicators, by bounds and levels that are written here."""
    encoder = Encoder()
    numbers(
        encoder,
        frame,
        {
            "time_in_hospital": (1, 14),
            "num_lab_procedures": (0, 150),
            "num_procedures": (0, 6),
            "number_diagnoses": (0, 16),
        },
    )
    visits = ("number_outpatient", "number_emergency", "number_inpatient")
    numbers(encoder, frame, {"num_medications": (0, 100)}, log=True)
    numbers(encoder, frame, dict.fromkeys(visits, (0, 50)), log=True)
    categories(
        encoder,
        frame,
        {
            "race": words("Caucasian,AfricanAmerican,?,Hispanic,Other,Asian"),
            "gender": ("Female", "Male"),
            "age": tuple(f"[{age}-{age + 10})" for age in range(0, 100, 10)),
            "admission_type_id": tuple(range(1, 9)),
            "discharge_disposition_id": tuple(range(1, 30)),
            "admission_source_id": tuple(range(1, 27)),
            "max_glu_serum": ("None", "Norm", ">200", ">300"),
            "A1Cresult": ("None", "Norm", ">7", ">8"),
            "payer_code": words("?,MC,HM,SP,BC,MD,CP,UN,CM,OG,PO,DM,CH,WC,OT,MP,SI,FR"),
            "change": ("No", "Ch"),
            "diabetesMed": ("Yes", "No"),
        },
    )
    categories(encoder, frame, dict.fromkeys(DRUGS, ("No", "Steady", "Up", "Down")))
    for column in ("diag_1", "diag_2", "diag_3"):
        encoder.category([chapter(str(code)) for code in frame[column]], DIAGNOSES)
    rows, norm = encoder.rows()
    return Encounters(
        rows[:, :-1],
        math.sqrt(norm**2 - 1.0),
        (frame["readmitted"] != "NO").to_numpy(dtype=np.float32),
        frame["patient_nbr"].to_numpy(),
        frame["encounter_id"].to_numpy(),
    )


def split(encounters: Encounters) -> tuple[Encounters, Encounters]:
    """Training and test patients, with a fixed seed."""
    patients = np.unique(encounters.patient)
    order = np.random.RandomState(SPLIT_SEED).permutation(len(patients))
    first = len(patients) // TEST_SHARE
    return encounters.of(patients[order[first:]]), encounters.of(patients[order[:first]])


def fitted(train: Encounters, most: int | None, epsilon: float, seed: int) -> LogisticRegression:
    """A fit that protects patients with so many encounters, or encounters (None)."""
    model = LogisticRegression(
        epsilon=epsilon,
        bounds=(-1, 1),
        row_norm=train.row_norm,
        max_rows_per_unit=most,
        inference=False,
        random_state=seed,
    )
    if most is None:
        return model.fit(train.X, train.y)
    return model.fit(train.X, train.y, units=train.patient, order=train.encounter)


def score(train: Encounters, test: Encounters, most: int | None, epsilon: float) -> float:
    """Mean area under the curve over the trials; one trial is enough without noise."""
    trials = 1 if math.isinf(epsilon) else TRIALS
    models = (fitted(train, most, epsilon, seed) for seed in range(trials))
    return statistics.fmean(float(roc_auc_score(test.y, model.decision_function(test.X))) for model in models)


def epsilon_of_rows(rows: int, columns: int, encounters: int) -> float:
    """What a fit that protects rows promises a patient with so many of them: μ adds up."""
    plan = LogisticRegression(epsilon=EPSILON, bounds=(-1, 1), inference=False).plan(rows, columns)
    guarantee = plan.guarantee()
    if guarantee.mu is None:
        return math.inf
    return gaussian.epsilon(encounters * guarantee.mu, guarantee.delta)


def run() -> None:
    """Measure and record."""
    if not is_there():
        print("  the table is not here; set TACIT_DATA to the folder that holds it")
        return
    frame = pd.read_csv(folder() / "diabetes130.csv.gz", keep_default_na=False, low_memory=False)
    train, test = split(encode(frame))
    exact = {most: score(train, test, most, math.inf) for most in (None, *MOST_ENCOUNTERS)}
    private = {most: score(train, test, most, EPSILON) for most in (None, *MOST_ENCOUNTERS)}
    figures = [
        Figure(
            f"AUC, patients protected at ε = 1, at most {most} encounters kept",
            private[most],
            "",
            f"within 0.02 of {exact[most]:.3f}, without noise",
            private[most] > exact[most] - 0.02,
        )
        for most in MOST_ENCOUNTERS
    ]
    figures.append(
        Figure(
            "AUC, rows protected at ε = 1 as if each were a patient: no guarantee for patients",
            private[None],
            "",
            f"within 0.02 of {exact[None]:.3f}, without noise",
            private[None] > exact[None] - 0.02,
        )
    )
    write(
        "people",
        figures,
        {
            "patients": len(np.unique(train.patient)),
            "encounters": len(train.y),
            "trials": TRIALS,
            "without noise": {str(most): found for most, found in exact.items()},
            "epsilon of the fit to rows, for a patient with so many encounters": {
                str(count): epsilon_of_rows(len(train.y), train.X.shape[1], count) for count in (1, 3, 10)
            },
        },
    )
