"""A synthetic clinic: a public table whose truth is known, for the demo and for documentation.

Readmission follows a logistic model with the coefficients of `CLINIC_TRUTH`. No person is in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

CLINIC_SEED = 20_240_607
"""Seed of the published table. It makes the records, never the noise of a release."""
CLINIC_FORMULA = "readmit ~ age + blood_pressure + bmi + smoker + visits + C(ward)"

_TERMS = (
    ("age", 0.03, 10.0, "age, 10 years"),
    ("blood_pressure", 0.012, 10.0, "blood pressure, 10 mmHg"),
    ("bmi", 0.05, 5.0, "body mass index, 5 kg/m²"),
    ("smoker[T.yes]", 0.6, 1.0, "smoker"),
    ("visits", 0.3, 1.0, "one earlier visit"),
    ("C(ward)[T.surgery]", -0.5, 1.0, "surgery, not general ward"),
    ("C(ward)[T.cardiology]", 0.8, 1.0, "cardiology, not general ward"),
)
CLINIC_TRUTH: Mapping[str, float] = {"Intercept": -6.5, **{name: true for name, true, _, _ in _TERMS}}
CLINIC_UNITS: Mapping[str, tuple[float, str]] = {name: (multiple, words) for name, _, multiple, words in _TERMS}
"""Multiple of each term that a picture shows, and its words: effects of comparable size."""

_FACTS = (
    ("age", "numeric", "lower = 0\nupper = 110"),
    ("blood_pressure", "numeric", "lower = 60\nupper = 240"),
    ("bmi", "numeric", "lower = 10\nupper = 70"),
    ("smoker", "binary", 'levels = ["no", "yes"]'),
    ("visits", "numeric", "lower = 0\nupper = 20"),
    ("ward", "factor", 'levels = ["general", "surgery", "cardiology"]'),
    ("readmit", "binary", "levels = [0, 1]"),
)
CLINIC_SCHEMA = """\
# Public facts about the clinic's table, known without looking at a record: what the forms and
# the instruments can show. Values outside the bounds are clipped to them.

relation = "replace-one"
unit = "patient"
""" + "".join(f'\n[columns.{name}]\ntype = "{kind}"\n{facts}\n' for name, kind, facts in _FACTS)

Columns = dict[str, NDArray[np.generic]]


def clinic_table(n: int = 20_000, seed: int = CLINIC_SEED) -> Columns:
    """Simulate n patients; the same n and seed give the same table.

    P[readmit = 1] is the logistic function of `clinic_margins`, under the rounded columns.

    Examples
    --------
    >>> list(clinic_table(3))
    ['age', 'blood_pressure', 'bmi', 'smoker', 'visits', 'ward', 'readmit']
    """
    rng = np.random.default_rng(seed)
    age = np.clip(np.round(rng.normal(56, 18, n)), 18, 104)
    pressure = np.clip(np.round(110 + 0.35 * age + rng.normal(0, 17, n)), 75, 225)
    table: Columns = {
        "age": age.astype(np.int64),
        "blood_pressure": pressure.astype(np.int64),
        "bmi": np.round(np.clip(rng.normal(27, 5, n), 14, 60), 1),
        "smoker": np.where(rng.random(n) < 0.22, "yes", "no"),
        "visits": rng.poisson(1.4, n),
        "ward": rng.choice(["general", "surgery", "cardiology"], size=n, p=[0.5, 0.3, 0.2]),
    }
    chance = 1.0 / (1.0 + np.exp(-clinic_margins(table)))
    return {**table, "readmit": (rng.random(n) < chance).astype(np.int64)}


def clinic_margins(table: Columns, coefficients: Mapping[str, float] = CLINIC_TRUTH) -> NDArray[np.float64]:
    """Linear predictor of every patient under some coefficients, by default the true ones."""
    margins = np.full(len(table["age"]), coefficients["Intercept"])
    for name in ("age", "blood_pressure", "bmi", "visits"):
        margins += coefficients[name] * table[name].astype(np.float64)
    margins += coefficients["smoker[T.yes]"] * (table["smoker"] == "yes")
    for ward in ("surgery", "cardiology"):
        margins += coefficients[f"C(ward)[T.{ward}]"] * (table["ward"] == ward)
    return margins


def clinic_loss(table: Columns, coefficients: Mapping[str, float]) -> float:
    """Mean logistic loss of some coefficients on the public table."""
    signs = 2.0 * table["readmit"].astype(np.float64) - 1.0
    return float(np.logaddexp(0.0, -signs * clinic_margins(table, coefficients)).mean())


def clinic_csv(table: Columns) -> str:
    """Return the table as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return text.getvalue()
