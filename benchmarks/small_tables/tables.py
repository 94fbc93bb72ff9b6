"""Tables that were chosen for being small, for a rare class, for near separation or for a response with many zeros.

None of them is a table of `benchmarks.accuracy`: where a file is shared, the response is another one. Every bound and
level is written by hand. Rules may be chosen on the tables that are `seen`; the others are for testing such rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn import datasets

from benchmarks.accuracy.bundled import encode
from benchmarks.accuracy.encoding import Encoder
from benchmarks.accuracy.folder import folder, read
from benchmarks.accuracy.held_out import categories, examined, numbers
from benchmarks.accuracy.table import Table, split

MOST, LITTLE = 10_000, 3000
"""Rows of a table, drawn at random where there are more; of those that were added after the rules were chosen."""
Levels = dict[str, tuple[object, ...]]
Trait = Literal["small", "rare class", "near separation", "many zeros"]


def heart() -> Table:
    """Heart disease of 303 patients of Cleveland."""
    frame, encoder = read("heart_cleveland"), Encoder()
    ends = {
        "age": (20.0, 90.0),
        "trestbps": (80.0, 220.0),
        "chol": (100.0, 600.0),
        "thalach": (60.0, 220.0),
        "oldpeak": (0.0, 7.0),
        "ca": (0.0, 3.0),
    }
    numbers(encoder, frame, ends)
    levels: Levels = {
        "sex": ("1.0",),
        "cp": ("1.0", "2.0", "3.0", "4.0"),
        "fbs": ("1.0",),
        "restecg": ("0.0", "1.0", "2.0"),
    }
    levels |= {"exang": ("1.0",), "slope": ("1.0", "2.0", "3.0"), "thal": ("3.0", "6.0", "7.0")}
    categories(encoder, frame, levels)
    y = frame["num"].to_numpy() > 0
    return split("heart", "classification", "held out", encoder.rows(), y)


def iris_virginica() -> Table:
    """One of three species of iris, 150 flowers."""
    X, y = datasets.load_iris(return_X_y=True)
    return split(
        "iris_virginica", "classification", "bundled", encode(X, ((4, 8), (2, 5), (0, 8), (0, 3))).rows(), y == 2
    )


def couple(frame: Any) -> Encoder:
    """What a survey of 1991 knows of a married woman and her husband."""
    encoder = Encoder()
    ends = {"age": (15.0, 70.0), "educ": (0.0, 20.0), "exper": (0.0, 60.0), "expersq": (0.0, 3600.0)}
    ends |= {"husage": (15.0, 90.0), "huseduc": (0.0, 20.0), "hushrs": (0.0, 99.0), "husearns": (0.0, 3000.0)}
    numbers(encoder, frame, ends)
    numbers(encoder, frame, {"nwifeinc": (0.0, 200.0)}, log=True)
    names = ("black", "hispanic", "husblck", "hushisp", "kidge6", "kidlt6")
    categories(encoder, frame, dict.fromkeys(names, ("1",)))
    return encoder


def women_work() -> Table:
    """Whether a married woman is in the labour force."""
    frame = read("wooldridge_cps91")
    return split("women_work", "classification", "held out", couple(frame).rows(), frame["inlf"].to_numpy())


def women_wage() -> Table:
    """Logarithm of the hourly wage of married women who work."""
    frame = read("wooldridge_cps91")
    frame = frame[frame["lwage"].notna()]
    y = frame["lwage"].to_numpy(dtype=float)
    return split("women_wage", "regression", "held out", couple(frame).rows(), y, (-1.0, 5.0))


def women_earnings() -> Table:
    """Weekly earnings of married women, in hundreds; half of them have none."""
    frame = read("wooldridge_cps91")
    y = np.nan_to_num(frame["earns"].to_numpy(dtype=float)) / 100.0
    return split("women_earnings", "regression", "held out", couple(frame).rows(), y, (0.0, 20.0))


def resident(frame: Any) -> Encoder:
    """What a census excerpt knows of a person."""
    encoder = Encoder()
    numbers(encoder, frame, {"AGEP": (0.0, 100.0), "EDU": (0.0, 12.0), "POVPIP": (0.0, 501.0), "NPF": (0.0, 12.0)})
    numbers(encoder, frame, {"DENSITY": (0.0, 50_000.0)}, log=True)
    levels: Levels = {"SEX": (1, 2), "MSP": tuple("123456"), "RAC1P": tuple(range(1, 10))}
    levels |= {"HISP": (0, 1, 2, 3, 4), "OWN_RENT": (0, 1, 2), "INDP_CAT": tuple(map(str, range(19)))}
    categories(encoder, frame, levels)
    return encoder


def census_excerpt() -> Any:
    """Residents of the excerpts, at most `MOST`."""
    frame = read("acs2019_nist_excerpts")
    return frame.iloc[np.random.RandomState(7).permutation(len(frame))[:MOST]]


def hard_of_hearing() -> Table:
    """Whether a person is hard of hearing."""
    frame = census_excerpt()
    y = (frame["DEAR"].astype(str) == "1").to_numpy()
    return split("hard_of_hearing", "classification", "held out", resident(frame).rows(), y)


def personal_income() -> Table:
    """Personal income in ten thousands; skewed, with many zeros."""
    frame = census_excerpt()
    encoder = resident(frame)
    y = np.nan_to_num(np.asarray(frame["PINCP"].replace("N", "0"), dtype=float)) / 1e4
    return split("personal_income", "regression", "held out", encoder.rows(), y, (0.0, 40.0))


def adults() -> Any:
    """Adults of a health survey, at most `MOST`."""
    frame = read("nhanes_2009_2012")
    frame = frame[frame["Age"] >= 18]
    return frame.iloc[np.random.RandomState(7).permutation(len(frame))[:MOST]]


def poor_health() -> Table:
    """Whether an adult calls his health poor."""
    frame = adults()
    frame = frame[frame["HealthGen"].notna()]
    y = (frame["HealthGen"] == "Poor").to_numpy()
    encoder = Encoder()
    ends = {"Age": (0.0, 80.0), "BMI": (10.0, 90.0), "Pulse": (30.0, 200.0), "TotChol": (0.0, 15.0)}
    numbers(encoder, frame, ends | {"Poverty": (0.0, 5.0), "DaysPhysHlthBad": (0.0, 30.0)})
    levels: Levels = {"Gender": ("female", "male"), "Work": ("Working", "NotWorking", "Looking"), "Diabetes": ("Yes",)}
    categories(encoder, frame, levels | {"PhysActive": ("Yes", "No"), "Smoke100": ("Yes", "No")})
    return split("poor_health", "classification", "held out", encoder.rows(), y)


def bad_days() -> Table:
    """Days of bad mental health in a month, of adults; most have none."""
    frame = adults()
    frame = frame[frame["DaysMentHlthBad"].notna()]
    y = frame["DaysMentHlthBad"].to_numpy(dtype=float)
    return split("bad_days", "regression", "held out", examined(frame).rows(), y, (0.0, 30.0))


def cancelled_flights() -> Table:
    """Whether a flight from New York was cancelled."""
    frame = read("nycflights13_flights")
    frame = frame.iloc[np.random.RandomState(7).permutation(len(frame))[:MOST]]
    encoder = Encoder()
    numbers(encoder, frame, {"hour": (0.0, 24.0), "distance": (0.0, 5000.0), "day": (1.0, 31.0)})
    carriers = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
    levels: Levels = {
        "origin": ("EWR", "JFK", "LGA"),
        "month": tuple(map(str, range(1, 13))),
        "carrier": tuple(carriers),
    }
    categories(encoder, frame, levels)
    y = frame["dep_time"].isna().to_numpy()
    return split("cancelled_flights", "classification", "held out", encoder.rows(), y)


def digit_zero() -> Table:
    """The digit 0 among ten, from 8 × 8 pixels."""
    X, y = datasets.load_digits(return_X_y=True)
    return split("digit_zero", "classification", "bundled", encode(X, ((0, 16),) * 64).rows(), y == 0)


def trousers() -> Table:
    """Trousers among ten kinds of clothes, from 7 × 7 means of pixels."""
    stored = np.load(folder() / "fashion_mnist.npz")
    kept = np.random.RandomState(7).permutation(len(stored["y_train"]))[:MOST]
    pixels = stored["x_train"][kept].reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49)
    return split(
        "trousers", "classification", "held out", encode(pixels, ((0, 255),) * 49).rows(), stored["y_train"][kept] == 1
    )


def thinned(frame: Any) -> Any:
    """At most `LITTLE` rows, drawn at random."""
    return frame.iloc[np.random.RandomState(7).permutation(len(frame))[:LITTLE]]


def retirement_account() -> Table:
    """Whether a household has a retirement account of its own; 600 households."""
    frame = thinned(read("wooldridge_401ksubs")).iloc[:600]
    encoder = Encoder()
    numbers(encoder, frame, {"inc": (0.0, 200.0)}, log=True)
    numbers(encoder, frame, {"age": (20.0, 70.0), "fsize": (1.0, 13.0)})
    categories(encoder, frame, dict.fromkeys(("marr", "male", "e401k"), ("1",)))
    return split("retirement_account", "classification", "held out", encoder.rows(), frame["pira"].to_numpy())


def fair_diamonds() -> Table:
    """Whether a diamond has a fair cut, the lowest."""
    frame = thinned(read("diamonds"))
    encoder = Encoder()
    numbers(encoder, frame, {"depth": (40.0, 80.0), "table": (40.0, 100.0)})
    numbers(encoder, frame, {"carat": (0.0, 6.0), "price": (0.0, 20_000.0)}, log=True)
    levels: Levels = {"color": tuple("DEFGHIJ"), "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")}
    categories(encoder, frame, levels)
    y = (frame["cut"] == "Fair").to_numpy()
    return split("fair_diamonds", "classification", "held out", encoder.rows(), y)


def digit_one() -> Table:
    """The digit 1 among ten, from 7 × 7 means of pixels of handwriting."""
    stored = np.load(folder() / "mnist.npz")
    kept = np.random.RandomState(7).permutation(len(stored["y_train"]))[:LITTLE]
    pixels = stored["x_train"][kept].reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49)
    return split(
        "digit_one", "classification", "held out", encode(pixels, ((0, 255),) * 49).rows(), stored["y_train"][kept] == 1
    )


def earlier_contacts() -> Table:
    """How often a bank's client was called in earlier campaigns; most never were."""
    frame = thinned(read("bank_additional_full"))
    encoder = Encoder()
    numbers(encoder, frame, {"age": (15.0, 100.0), "euribor3m": (0.0, 6.0), "campaign": (0.0, 60.0)})
    levels: Levels = {"marital": ("married", "single", "divorced"), "contact": ("cellular", "telephone")}
    categories(encoder, frame, levels | {"default": ("no", "unknown"), "housing": ("yes", "no")})
    return split(
        "earlier_contacts",
        "regression",
        "held out",
        encoder.rows(),
        frame["previous"].to_numpy(dtype=float),
        (0.0, 7.0),
    )


def capital_gain() -> Table:
    """Capital gains of an adult in thousands; nine in ten have none."""
    frame = thinned(read("adult"))
    encoder = Encoder()
    numbers(encoder, frame, {"age": (15.0, 90.0), "education-num": (0.0, 16.0), "hours-per-week": (0.0, 100.0)})
    categories(encoder, frame, {"sex": ("Male", "Female"), "race": ("White", "Black")})
    y = frame["capital-gain"].to_numpy(dtype=float) / 1000.0
    return split("capital_gain", "regression", "held out", encoder.rows(), y, (0.0, 20.0))


def simulated(name: str, n: int, d: int, level: float, size: float, seed: int) -> Table:
    """Labels by a logistic model in uniform columns: `size` is the norm of the slopes, `level` the intercept."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n, d))
    slopes = rng.standard_normal(d)
    margins = level + X @ (size * slopes / np.linalg.norm(slopes))
    y = (rng.logistic(size=n) < margins).astype(float)
    return split(name, "classification", "bundled", encode(X, ((-1, 1),) * d).rows(), y)


def rare_simulated() -> Table:
    """About one positive in a hundred."""
    return simulated("rare_simulated", 10_000, 8, -5.5, 3.0, 1)


def rare_wide() -> Table:
    """About one positive in forty, of thirty columns."""
    return simulated("rare_wide", 10_000, 30, -5.0, 4.0, 2)


def parted_simulated() -> Table:
    """Two classes that a plane nearly separates."""
    return simulated("parted_simulated", 5_000, 6, 0.0, 40.0, 3)


def parted_wide() -> Table:
    """Two classes that a plane nearly separates, of twenty columns."""
    return simulated("parted_wide", 8_000, 20, 1.0, 25.0, 4)


@dataclass(frozen=True)
class Entry:
    """A table, why it was chosen, and whether rules may be chosen on it."""

    load: Callable[[], Table]
    trait: Trait
    seen: bool
    of_folder: bool = True

    @property
    def name(self) -> str:
        """The name of the function that loads it."""
        return self.load.__name__


ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(heart, "small", seen=True),
        Entry(women_wage, "small", seen=True),
        Entry(hard_of_hearing, "rare class", seen=True),
        Entry(rare_simulated, "rare class", seen=True, of_folder=False),
        Entry(digit_zero, "near separation", seen=True, of_folder=False),
        Entry(parted_simulated, "near separation", seen=True, of_folder=False),
        Entry(personal_income, "many zeros", seen=True),
        Entry(iris_virginica, "small", seen=True, of_folder=False),
        Entry(women_work, "small", seen=False),
        Entry(poor_health, "rare class", seen=True),
        Entry(cancelled_flights, "rare class", seen=False),
        Entry(rare_wide, "rare class", seen=True, of_folder=False),
        Entry(trousers, "near separation", seen=True),
        Entry(parted_wide, "near separation", seen=False, of_folder=False),
        Entry(bad_days, "many zeros", seen=True),
        Entry(women_earnings, "many zeros", seen=True),
        Entry(retirement_account, "small", seen=False),
        Entry(fair_diamonds, "rare class", seen=False),
        Entry(digit_one, "near separation", seen=False),
        Entry(earlier_contacts, "many zeros", seen=True),
        Entry(capital_gain, "many zeros", seen=False),
    )
}
