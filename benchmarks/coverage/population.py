"""What a population of the plain study is: records, a formula, public bounds and the true law.

A population draws tables for `tacit.glm` and, beside them, the same rows as a matrix, so that the
model can be fitted without privacy by a few lines of numpy that share nothing with the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from tacit import Schema

Family = Literal["gaussian", "binomial", "poisson", "multinomial", "gamma", "negative-binomial", "probit", "cloglog"]
Matrix = NDArray[np.float64]
Columns = Mapping[str, NDArray[Any]]
Generator = np.random.Generator

RESPONSE, PERSON, INTERCEPT = "y", "person", "Intercept"


@dataclass(frozen=True)
class Term:
    """A term of a formula: the names of its coefficients, and its columns of the matrix."""

    text: str
    names: tuple[str, ...]
    values: Callable[[Columns], Matrix]


def number(name: str) -> Term:
    """A numeric column as it is."""
    return Term(name, (name,), lambda table: table[name][:, None])


def power(name: str, exponent: int) -> Term:
    """A raw power."""
    text = f"I({name} ** {exponent})"
    return Term(text, (text,), lambda table: table[name][:, None] ** exponent)


def logarithm(name: str) -> Term:
    """A logarithm."""
    text = f"log({name})"
    return Term(text, (text,), lambda table: np.log(table[name])[:, None])


def factor(name: str, levels: Sequence[str]) -> Term:
    """Indicators of all levels but the first."""

    def values(table: Columns) -> Matrix:
        return np.column_stack([table[name] == level for level in levels[1:]]).astype(float)

    return Term(f"C({name})", tuple(f"C({name})[T.{level}]" for level in levels[1:]), values)


def product(left: Term, right: Term) -> Term:
    """Products of the columns of two terms that the formula also holds by themselves."""
    names = tuple(f"{first}:{second}" for first in left.names for second in right.names)

    def values(table: Columns) -> Matrix:
        first, second = left.values(table), right.values(table)
        return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)

    return Term(f"{left.text}:{right.text}", names, values)


def spline(name: str, knots: Sequence[float], ends: tuple[float, float]) -> Term:
    """A cubic B-spline between declared ends, without its first function."""
    text = f"bs({name}, knots={list(knots)})"
    basis = np.array([ends[0]] * 4 + list(knots) + [ends[1]] * 4)
    count = len(knots) + 4

    def values(table: Columns) -> Matrix:
        found = BSpline(basis, np.eye(count), 3)(table[name])
        return np.asarray(found[:, 1:], dtype=float)

    return Term(text, tuple(f"{text}[{k}]" for k in range(1, count)), values)


@dataclass(frozen=True)
class Draw:
    """Records of a population.

    `mean` is the expected response given the predictors, where it is known: with it in place of the
    response the population's value is found with less noise.
    """

    table: dict[str, NDArray[Any]]
    mean: Matrix | None = None

    @property
    def response(self) -> Matrix:
        """The responses as numbers."""
        return np.asarray(self.table[RESPONSE], dtype=float)

    @property
    def persons(self) -> NDArray[np.int64] | None:
        """Whose record each is; None where each person has one."""
        return self.table.get(PERSON)


@dataclass(frozen=True)
class Population:
    """A law of records, a model for them and what is publicly known.

    Parameters
    ----------
    name, about
        The name by which it is asked for, and a line about what is special.
    family
        Of `tacit.glm`; the plain target is that family's population value.
    terms
        Of the formula, the intercept apart.
    columns
        The schema's columns, the response "y" among them.
    sample
        Draws so many records (persons, where these are the unit).
    truth
        Coefficients by name where the model's mean is right; None where they must be computed.
        An infinite one has no finite interval that covers it.
    nulls
        Names of slopes that are truly zero.
    exposure
        Column of exposures.
    largest_person
        The most records of a person; persons are the unit where this is given.
    clean
        Whether the design is a clean one, for which intervals have to be offered.
    classes
        Labels where there are three or more, which are their places: "0", "1", ….
    """

    name: str
    about: str
    family: Family
    terms: tuple[Term, ...]
    columns: Mapping[str, Mapping[str, Any]]
    sample: Callable[[int, Generator], Draw]
    truth: Mapping[str, float] | None = None
    nulls: tuple[str, ...] = ()
    exposure: str | None = None
    largest_person: int | None = None
    clean: bool = field(default=False, kw_only=True)
    classes: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def formula(self) -> str:
        """The formula of `tacit.glm`."""
        texts = [term.text for term in self.terms]
        if self.exposure:
            texts.append(f"exposure({self.exposure})")
        return f"{RESPONSE} ~ {' + '.join(texts)}"

    @cached_property
    def schema(self) -> Schema:
        """Public bounds and levels."""
        facts: dict[str, Any] = {"columns": {k: dict(v) for k, v in self.columns.items()}}
        if self.largest_person:
            facts["unit"] = {"column": PERSON, "max_rows": self.largest_person}
        return Schema.from_mapping(facts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept first; class after class where several."""
        own = (INTERCEPT, *(name for term in self.terms for name in term.names))
        return tuple(f"{label}: {name}" for label in self.classes for name in own) if self.classes else own

    @property
    def slopes(self) -> tuple[str, ...]:
        """Names of the coefficients but the intercept; those of the last class follow from the others."""
        if not self.classes:
            return self.names[1:]
        each = self.d // len(self.classes)
        return tuple(name for place, name in enumerate(self.names[:-each]) if place % each)

    @property
    def d(self) -> int:
        """Number of coefficients."""
        return len(self.names)

    def rows(self, draw: Draw) -> Matrix:
        """The matrix of the model, the constant first."""
        parts = [term.values(draw.table) for term in self.terms]
        return np.column_stack([np.ones(len(draw.response)), *parts]).astype(float)

    def offset(self, draw: Draw) -> Matrix | float:
        """What is added to the linear predictor."""
        return np.log(draw.table[self.exposure]) if self.exposure else 0.0


def numeric(lower: float, upper: float) -> dict[str, Any]:
    """A numeric column of a schema."""
    return {"type": "numeric", "lower": lower, "upper": upper}


def levels_of(levels: Sequence[str]) -> dict[str, Any]:
    """A factor of a schema."""
    return {"type": "factor", "levels": list(levels)}


BINARY: dict[str, Any] = {"type": "binary"}


def features(X: Matrix) -> dict[str, NDArray[Any]]:
    """Columns x0, x1, … of a matrix."""
    return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}


def feature_terms(count: int) -> tuple[Term, ...]:
    """Terms x0, x1, …."""
    return tuple(number(f"x{j}") for j in range(count))


def truth_of(terms: Sequence[Term], values: Iterable[float]) -> dict[str, float]:
    """True coefficients by name, the intercept first."""
    names = [INTERCEPT, *(name for term in terms for name in term.names)]
    return dict(zip(names, map(float, values), strict=True))


Features = Callable[[int, int, Generator], Matrix]
Outcome = Callable[[Matrix, Generator], tuple[Matrix, Matrix]]
"""Responses and their means, given features."""


def plain_population(
    name: str,
    about: str,
    family: Family,
    count: int,
    outcome: Outcome,
    *,
    response: Mapping[str, Any],
    draw: Features,
    bounds: tuple[float, float] = (-10.0, 10.0),
    truth: Sequence[float] | None = None,
    clean: bool = False,
) -> Population:
    """A population whose terms are numeric features x0, x1, … as they are.

    Slopes of 0 in `truth` are the true nulls.
    """
    terms = feature_terms(count)

    def sample(n: int, generator: Generator) -> Draw:
        X = draw(n, count, generator)
        y, mean = outcome(X, generator)
        return Draw({**features(X), RESPONSE: y}, mean)

    known = None if truth is None else truth_of(terms, truth)
    return Population(
        name,
        about,
        family,
        terms,
        {**{term.text: numeric(*bounds) for term in terms}, RESPONSE: response},
        sample,
        known,
        tuple(key for key, value in (known or {}).items() if value == 0.0 and key != INTERCEPT),
        clean=clean,
    )


def normal(n: int, count: int, generator: Generator) -> Matrix:
    """Independent features with mean 0 and deviation 1."""
    return generator.standard_normal((n, count))


def correlated(n: int, count: int, generator: Generator) -> Matrix:
    """Features with mean 0, deviation 1 and correlations .8."""
    shared = generator.standard_normal((n, 1))
    own = generator.standard_normal((n, count))
    return np.asarray(np.sqrt(0.8) * shared + np.sqrt(0.2) * own)


def lognormal(n: int, count: int, generator: Generator) -> Matrix:
    """Features with a long right tail: exponentials of normal ones."""
    return np.asarray(np.exp(generator.standard_normal((n, count))))


def heavy(n: int, count: int, generator: Generator) -> Matrix:
    """Features with the t law of 4 degrees of freedom."""
    return generator.standard_t(4, (n, count))


def expit(values: Matrix) -> Matrix:
    """The logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -700, 700))))
