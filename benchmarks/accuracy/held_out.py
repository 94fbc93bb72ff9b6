"""Tables that played no part in the choice of any rule, encoded as a codebook would have it.

Every bound and level is written by hand from what is known of the survey.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy.encoding import Encoder
from benchmarks.accuracy.folder import read
from benchmarks.accuracy.table import Table, split


def words(text: str) -> tuple[str, ...]:
    """Levels from a line of them."""
    return tuple(text.split(","))


STATES = words(
    "Alabama,Alaska,Arizona,Arkansas,California,Colorado,Connecticut,Delaware,"
    "District of Columbia,Florida,Georgia,Hawaii,Idaho,Illinois,Indiana,Iowa,Kansas,Kentucky,"
    "Louisiana,Maine,Maryland,Massachusetts,Michigan,Minnesota,Mississippi,Missouri,Montana,"
    "Nebraska,Nevada,New Hampshire,New Jersey,New Mexico,New York,North Carolina,North Dakota,"
    "Ohio,Oklahoma,Oregon,Pennsylvania,Rhode Island,South Carolina,South Dakota,Tennessee,Texas,"
    "Utah,Vermont,Virginia,Washington,West Virginia,Wisconsin,Wyoming"
)
SCHOOLING = ("8th Grade", "9 - 11th Grade", "High School", "Some College", "College Grad")
MARITAL = ("Married", "NeverMarried", "Divorced", "Widowed", "LivePartner", "Separated")
HEALTH = ("Excellent", "Vgood", "Good", "Fair", "Poor")
RACES = ("White", "Black", "Mexican", "Hispanic", "Other")


def numbers(encoder: Encoder, frame: Any, bounds: dict[str, tuple[float, float]], *, log: bool = False) -> None:
    """Add numeric columns of a frame within their bounds."""
    for column, (lower, upper) in bounds.items():
        values = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float)
        encoder.number(values, lower, upper, log=log)


def categories(encoder: Encoder, frame: Any, levels: dict[str, tuple[object, ...]]) -> None:
    """Add columns of a frame as indicators of the listed levels."""
    for column, listed in levels.items():
        encoder.category([str(value) for value in frame[column]], listed)


def bank() -> Table:
    """Whether a customer of a bank subscribes; the length of the call would give it away."""
    frame, encoder = read("bank_additional_full"), Encoder()
    numbers(
        encoder,
        frame,
        {
            "age": (0, 100),
            "pdays": (0, 999),
            "emp.var.rate": (-5, 5),
            "cons.price.idx": (90, 100),
            "cons.conf.idx": (-60, 0),
            "euribor3m": (-1, 6),
            "nr.employed": (4800, 5400),
        },
    )
    numbers(encoder, frame, {"campaign": (1, 60), "previous": (0, 10)}, log=True)
    jobs = (
        "admin.,blue-collar,technician,services,management,retired,entrepreneur,self-employed,"
        "housemaid,unemployed,student,unknown"
    )
    schools = "university.degree,high.school,basic.9y,professional.course,basic.4y,basic.6y,unknown,illiterate"
    answers = ("yes", "no", "unknown")
    categories(
        encoder,
        frame,
        {
            "job": words(jobs),
            "marital": ("married", "single", "divorced", "unknown"),
            "education": words(schools),
            "default": answers,
            "housing": answers,
            "loan": answers,
            "contact": ("cellular", "telephone"),
            "month": words("jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec"),
            "day_of_week": ("mon", "tue", "wed", "thu", "fri"),
            "poutcome": ("nonexistent", "failure", "success"),
        },
    )
    y = (frame["y"] == "yes").to_numpy()
    return split("bank", "classification", "held out", encoder.rows(), y)


def examined(frame: Any) -> Encoder:
    """What a health survey knows of a person, other than diabetes and blood pressure."""
    encoder = Encoder()
    numbers(
        encoder,
        frame,
        {
            "Age": (0, 80),
            "BMI": (10, 90),
            "Weight": (0, 250),
            "Height": (50, 220),
            "Pulse": (30, 200),
            "TotChol": (0, 15),
            "DirectChol": (0, 5),
            "Poverty": (0, 5),
            "HomeRooms": (1, 13),
        },
    )
    categories(
        encoder,
        frame,
        {
            "Gender": ("female", "male"),
            "Race1": RACES,
            "SurveyYr": ("2009_10", "2011_12"),
            "Education": SCHOOLING,
            "MaritalStatus": MARITAL,
            "HomeOwn": ("Own", "Rent", "Other"),
            "Work": ("Working", "NotWorking", "Looking"),
            "HealthGen": HEALTH,
            "PhysActive": ("Yes", "No"),
            "Smoke100": ("Yes", "No"),
        },
    )
    return encoder


def nhanes_diabetes() -> Table:
    """Whether a person was told to have diabetes."""
    frame = read("nhanes_2009_2012")
    frame = frame[frame["Diabetes"].notna()]
    encoder = examined(frame)
    numbers(encoder, frame, {"BPSysAve": (60, 260), "BPDiaAve": (0, 150)})
    y = (frame["Diabetes"] == "Yes").to_numpy()
    return split("nhanes_diabetes", "classification", "held out", encoder.rows(), y)


def nhanes_pressure() -> Table:
    """Systolic blood pressure."""
    frame = read("nhanes_2009_2012")
    frame = frame[frame["BPSysAve"].notna()]
    encoder = examined(frame)
    categories(encoder, frame, {"Diabetes": ("Yes", "No")})
    y = frame["BPSysAve"].to_numpy(dtype=float)
    return split("nhanes_pressure", "regression", "held out", encoder.rows(), y, (60.0, 260.0))


def household(frame: Any) -> Encoder:
    """Income, age and family of a household."""
    encoder = Encoder()
    bounds = {
        "inc": (0.0, 200.0),
        "incsq": (0.0, 40_000.0),
        "age": (18.0, 70.0),
        "agesq": (324.0, 4900.0),
        "fsize": (1.0, 15.0),
    }
    numbers(encoder, frame, bounds)
    categories(encoder, frame, {"marr": (1,), "male": (1,), "pira": (1,)})
    return encoder


def pension_plan() -> Table:
    """Whether a household takes part in a 401(k) plan; eligibility would give it away."""
    frame = read("wooldridge_401ksubs")
    y = frame["p401k"].to_numpy()
    return split("pension_plan", "classification", "held out", household(frame).rows(), y)


def pension_assets() -> Table:
    """Net financial assets of a household, in thousands; heavy tails."""
    frame = read("wooldridge_401ksubs")
    encoder = household(frame)
    categories(encoder, frame, {"e401k": (1,), "p401k": (1,)})
    y = frame["nettfa"].to_numpy(dtype=float)
    return split("pension_assets", "regression", "held out", encoder.rows(), y, (-500.0, 1500.0))


def census2000() -> Table:
    """Logarithm of the weekly income."""
    frame, encoder = read("wooldridge_census2000"), Encoder()
    numbers(encoder, frame, {"educ": (0, 20), "exper": (0, 60), "expersq": (0, 3600)})
    categories(encoder, frame, {"state": STATES})
    y = frame["lweekinc"].to_numpy(dtype=float)
    return split("census2000", "regression", "held out", encoder.rows(), y, (-2.0, 12.0))


def refuse() -> Table:
    """Thousands of tons of refuse that a district of New York has collected in a month."""
    frame, encoder = read("dsny_monthly_tonnage"), Encoder()
    columns = ["BOROUGH", "PAPERTONSCOLLECTED", "MGPTONSCOLLECTED", "REFUSETONSCOLLECTED"]
    frame = frame[frame["MONTH"] <= "2022 / 07"][columns].dropna()
    numbers(encoder, frame, {"PAPERTONSCOLLECTED": (0.0, 2500.0), "MGPTONSCOLLECTED": (0.0, 1500.0)})
    boroughs = ("Bronx", "Brooklyn", "Manhattan", "Queens", "Staten Island")
    categories(encoder, frame, {"BOROUGH": boroughs})
    y = frame["REFUSETONSCOLLECTED"].to_numpy(dtype=float) / 1000.0
    return split("refuse", "regression", "held out", encoder.rows(), np.asarray(y), (0.0, 10.0))
