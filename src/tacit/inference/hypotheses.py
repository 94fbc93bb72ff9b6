"""Tests of linear combinations of coefficients, read from text or made of the levels of a factor.

In "x1 - x2 = 0" or "2 * age, smoker = 1" a name is the longest known one that fits, so that
"C(ward)[T.b]" needs no quotes; one that reads like a number or an operator may stand in backquotes.
Only names and numbers are read: nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from tacit.design.design import Design
from tacit.design.factor import Indicator
from tacit.design.response import Classes
from tacit.display import Displayed
from tacit.documents.canonical_json import quoted
from tacit.errors import SettingError
from tacit.inference.covariance import Covariance, correlation_axes
from tacit.inference.estimates import tail_probability
from tacit.inference.step_covariance import StepCovariance
from tacit.solvers.coordinates import Matrix, Vector

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD = re.compile(r"[^\s+*/(),=-]+")
_SIGNS = "+-*/(),="
DEEPEST = 50
"""Brackets inside one another; more are refused before they exhaust the stack."""
LISTED = 40
"""So many names are listed in an error."""
MOST_CONTRASTS = 1000
"""Of a factor; of more levels one reference is asked for."""
WEAKEST_FIRST = ("withheld", "approximate", "conservative")


@dataclass(frozen=True)
class Combinations:
    """Rows of weights on coefficients, the values they are tested against, and their labels."""

    weights: Matrix
    values: Vector
    labels: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class WaldTest(Displayed):
    """Wald's statistic, its law and what follows.

    `statistic` is F with (`df_num`, `df_denom`) degrees of freedom, or χ² with `df_num` where
    nothing is private and `df_denom` is infinite. `statement` says what may be said of its level.
    """

    statistic: float
    df_num: int
    df_denom: float
    pvalue: float
    statement: str
    labels: tuple[str, ...]

    @property
    def distribution(self) -> str:
        """Law of the statistic where the hypothesis holds: "F" or "chi2"."""
        return "chi2" if np.isinf(self.df_denom) else "F"

    def __str__(self) -> str:
        """The test in one line."""
        law = f"chi2({self.df_num})"
        if self.distribution == "F":
            law = f"F({self.df_num}, {self.df_denom:.1f})"
        hypothesis = ", ".join(self.labels)
        return f"Wald test of {hypothesis}: {law} = {self.statistic:.4g}, p = {self.pvalue:.4g}"


def wald_test(
    covariance: Covariance | StepCovariance,
    estimates: Vector,
    asked: Combinations,
    statements: tuple[str, ...],
    why: str = "summary() says why",
) -> WaldTest:
    """Test all combinations at once: W = r'V⁻¹r, r the estimates less the values.

    The denominator's degrees of freedom are those of the joint law. `why` are the reasons where
    some of the combinations are withheld.
    """
    weights = asked.weights
    require_joint(asked, statements, why)
    joint = joint_law(covariance, weights)
    statistic, degrees = joint.distance(weights @ estimates - asked.values), joint.degrees
    count = len(weights)
    tail = tail_probability(statistic, count, degrees)
    if isinstance(covariance, StepCovariance) and count > 1:
        tail = covariance.simulated_tail(weights, statistic, tail)
    return WaldTest(
        statistic=statistic if np.isinf(degrees) else statistic / count,
        df_num=count,
        df_denom=degrees,
        pvalue=tail,
        statement=joint_statement(covariance, weights, statements),
        labels=asked.labels,
    )


@dataclass(frozen=True)
class JointLaw:
    """Covariance of combinations, and the fewest degrees of freedom among them and its axes."""

    covariance: Matrix
    degrees: float

    def distance(self, away: Vector) -> float:
        """Squared distance r'V⁻¹r of a vector r from zero."""
        scale, values, axes = correlation_axes(self.covariance)
        return float(np.sum((axes.T @ (away / scale)) ** 2 / values))


def joint_law(covariance: Covariance | StepCovariance, weights: Matrix) -> JointLaw:
    """Joint law of combinations: the noise in the least certain direction decides its degrees."""
    matrix = covariance.joint(weights)
    scale, _, axes = correlation_axes(matrix)
    directions = np.vstack([weights, (axes / scale[:, None]).T @ weights])
    return JointLaw(matrix, float(covariance.scatter(directions).degrees.min()))


def require_joint(asked: Combinations, statements: tuple[str, ...], why: str) -> None:
    """Refuse combinations that follow from one another, and those of withheld directions."""
    if np.linalg.matrix_rank(asked.weights) < len(asked.weights):
        raise SettingError("Some of the combinations follow from the others; leave them out.")
    withheld = [label for label, word in zip(asked.labels, statements, strict=True) if word == "withheld"]
    if withheld:
        raise SettingError(
            f"The intervals of some of these combinations are withheld ({_listed(withheld)}), and "
            f"so is what is said of all at once: {why}."
        )


def joint_statement(covariance: Covariance | StepCovariance, weights: Matrix, statements: Sequence[str]) -> str:
    """The weakest word of combinations, and not nominal where the clip may bias them all at once."""
    biased = isinstance(covariance, StepCovariance) and covariance.biased(weights)
    return weakest([*statements, "conservative"] if biased else statements)


def weakest(statements: Sequence[str]) -> str:
    """The weakest word of several."""
    return next((word for word in WEAKEST_FIRST if word in statements), "nominal")


def combinations_of(asked: Any, names: Sequence[str]) -> Combinations:
    """Read text, several texts, or a matrix of weights with one row a combination."""
    texts = [asked] if isinstance(asked, str) else asked
    if isinstance(texts, Sequence) and texts and all(isinstance(text, str) for text in texts):
        rows = [row for text in texts for row in _Reader(text, tuple(names)).read()]
        weights = np.array([side[:-1] for _, side in rows])
        values = np.array([0.0 - side[-1] for _, side in rows])
        found = Combinations(weights, values, tuple(label for label, _ in rows))
    else:
        found = _from_matrix(asked, names)
    if not (np.abs(found.weights).max(axis=1) > 0).all():
        raise SettingError("A combination without a coefficient cannot be tested.")
    return found


def between_classes(asked: Combinations, classes: int) -> Combinations:
    """Take from the weights of several classes what all have in common: that part is 0 by convention."""
    if classes == 1:
        return asked
    each = asked.weights.reshape(len(asked.weights), classes, -1)
    weights = (each - each.mean(axis=1, keepdims=True)).reshape(asked.weights.shape)
    if (np.abs(weights).max(axis=1) <= 1e-12 * np.abs(asked.weights).max(axis=1)).any():
        raise SettingError("A combination that weighs all classes alike is 0 by convention and cannot be tested.")
    return Combinations(weights, asked.values, asked.labels)


def _from_matrix(asked: Any, names: Sequence[str]) -> Combinations:
    try:
        weights = np.atleast_2d(np.asarray(asked, dtype=np.float64))
    except (TypeError, ValueError):
        weights = np.empty((0, 0, 0))
    fits = weights.ndim == 2 and len(weights) > 0 and weights.shape[1] == len(names)
    if not fits or not np.isfinite(weights).all():
        raise SettingError(
            f'Expected text such as "x1 - x2 = 0", or rows of {len(names)} numbers, one for each of {_listed(names)}.'
        )
    labels = tuple(f"c{place}" for place in range(len(weights)))
    return Combinations(weights, np.zeros(len(weights)), labels)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"


def factor_contrasts(design: Design, factor: str, reference: str | None = None) -> Combinations:
    """All differences of two levels, or of each level from one; labels say which.

    Guarantee
    ---------
    - Each is the difference of two linear predictors that differ in this factor alone; where the
      factor has interactions, with the other columns of these at zero or their first level.
    """
    places = _places(design, factor)
    levels = design.levels[factor]
    pairs: Sequence[tuple[str, str]] = [(b, a) for a, b in combinations(levels, 2)]
    if reference is not None:
        if reference not in levels:
            raise SettingError(
                f"{quoted(reference)} is no level of {quoted(factor)}; the levels are {', '.join(levels[:40])}."
            )
        pairs = [(level, reference) for level in levels if level != reference]
    if len(pairs) > MOST_CONTRASTS:
        raise SettingError(
            f"{quoted(factor)} has {len(levels)} levels, too many for all differences; name one level as reference."
        )
    weights = np.zeros((len(pairs), len(design.names)))
    for row, (first, second) in zip(weights, pairs, strict=True):
        for level, sign in ((first, 1.0), (second, -1.0)):
            if level in places:
                row[places[level]] += sign
    labels = tuple(f"{factor}: {first} - {second}" for first, second in pairs)
    if isinstance(design.response, Classes):
        labels = tuple(f"{label}: {pair}" for label in design.response.classes for pair in labels)
    each = np.asarray(np.kron(np.eye(design.outputs), weights), dtype=np.float64)
    return Combinations(each, np.zeros(len(labels)), labels)


def _coded(design: Design, factor: str) -> dict[str, int]:
    first = int(design.reports_intercept)
    return {
        column.factors[0].level: place
        for place, column in enumerate(design.columns, first)
        if len(column.factors) == 1 and isinstance(column.factors[0], Indicator) and column.factors[0].column == factor
    }


def _places(design: Design, factor: str) -> dict[str, int]:
    """Places of the coefficients of a factor's levels; the reference level has none."""
    found = _coded(design, factor)
    if factor not in design.levels or not found:
        known = ", ".join(map(quoted, design.levels)) or "none"
        raise SettingError(
            f"{quoted(str(factor))} is no factor with coefficients of its own in this model; its factors: {known}."
        )
    return found


def named_contrast(design: Design, text: str) -> Combinations | None:
    """The difference of two levels that `contrasts` has under such a label as "ward: a - b"; None of other text."""
    label = re.sub(r"\s*=\s*0\s*$", "", text.strip())
    for factor, levels in design.levels.items():
        for level in levels if f"{factor}: " in label else ():
            if label.endswith(f" - {level}") and _coded(design, factor):
                found = factor_contrasts(design, factor, level)
                if label in found.labels:
                    row = found.labels.index(label)
                    return Combinations(found.weights[row : row + 1], np.zeros(1), (label,))
    return None


def _spelt(name: str) -> str:
    """Pattern of a name: blanks inside may be left out, as in I(x**2) for "I(x ** 2)", and quotes be of either kind."""
    pattern = r"\s*".join(map(re.escape, name.split())) if name == " ".join(name.split()) else re.escape(name)
    return re.sub("[\"']", lambda _: "[\"']", pattern)


class _Reader:
    """One text, read from left to right: a side is its weights, and its constant as the last."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self._text, self._names = text, names
        known = sorted(names, key=len, reverse=True)
        bare = [name for name in known if name and not _NUMBER.fullmatch(name)]
        either = ["|".join(map(_spelt, each)) or "(?!)" for each in (known, bare)]
        # In backquotes, or the longest that ends at the end of a word.
        self._name = re.compile("`({})`|({})(?=$|[{}\\s])".format(*either, re.escape(_SIGNS)))
        self._place = 0

    def read(self) -> list[tuple[str, Vector]]:
        """Combinations less their values; "a = b = c" are two, "a" is "a = 0"."""
        rows: list[tuple[str, Vector]] = []
        while True:
            sides = [self._side()]
            while self._take("="):
                sides.append(self._side())
            if len(sides) == 1:
                rows.append(sides[0])
            for (left, first), (right, second) in pairwise(sides):
                rows.append((f"{left} = {right}", first - second))
            if not self._take(","):
                break
        if self._peek():
            raise self._lost()
        return rows

    def _side(self) -> tuple[str, Vector]:
        start = self._place
        found = self._sum(depth=1)
        return self._text[start : self._place].strip(), found

    def _sum(self, depth: int) -> Vector:
        total = self._product(depth)
        while sign := self._take("+", "-"):
            term = self._product(depth)
            total = total + term if sign == "+" else total - term
        return total

    def _product(self, depth: int) -> Vector:
        left = self._factor(depth)
        while sign := self._take("*", "/"):
            right = self._factor(depth)
            if sign == "/":
                if right[:-1].any() or right[-1] == 0.0:
                    raise SettingError("A combination may be divided by a number other than 0.")
                left = left * (1.0 / right[-1])
            elif not right[:-1].any():
                left = left * right[-1]
            elif not left[:-1].any():
                left = right * left[-1]
            else:
                raise SettingError("A combination must be linear: two coefficients are multiplied.")
        return left

    def _factor(self, depth: int) -> Vector:
        if depth > DEEPEST:
            raise SettingError("A combination has too many brackets or signs inside one another.")
        found = np.zeros(len(self._names) + 1)
        self._peek()
        name = self._name.match(self._text, self._place)
        if name is not None:
            self._place = name.end()
            found[self._index(name[name.lastindex or 0])] = 1.0
            return found
        if sign := self._take("+", "-"):
            inner = self._factor(depth + 1)
            return inner if sign == "+" else -inner
        if self._take("("):
            inner = self._sum(depth + 1)
            if not self._take(")"):
                raise SettingError("A bracket of the combination is not closed.")
            return inner
        number = _NUMBER.match(self._text, self._place)
        if number is None:
            raise self._lost()
        self._place = number.end()
        found[-1] = float(number.group())
        return found

    def _index(self, written: str) -> int:
        if written in self._names:
            return self._names.index(written)
        return next(place for place, name in enumerate(self._names) if re.fullmatch(_spelt(name), written))

    def _peek(self) -> str:
        while self._text[self._place : self._place + 1].isspace():
            self._place += 1
        return self._text[self._place : self._place + 1]

    def _take(self, *signs: str) -> str:
        sign = self._peek()
        if sign and sign in signs:
            self._place += 1
            return sign
        return ""

    def _lost(self) -> SettingError:
        word = _WORD.match(self._text, self._place)
        if self._peek() == "":
            return SettingError("A combination ends where a coefficient or a number is expected.")
        what = word.group() if word else self._text[self._place]
        if what[0] in "<>!":
            return SettingError(f'{what[0]!r} is not tested: a hypothesis is an equation, such as "x1 - x2 = 0".')
        several = [name for name in self._names if name.endswith(f": {what}")]
        if len(several) > 1:
            example = f'"{several[1]} - {several[0]} = 0"'
            return SettingError(f"{what[:60]!r} has a coefficient in each class; test differences, such as {example}.")
        return SettingError(f"There is no coefficient {what[:60]!r}; the names are {_listed(self._names)}.")
