"""Linear combinations of coefficients as text: "x1 - x2 = 0", "2 * age, smoker = 1".

A name is the longest known one that fits, so that "C(ward)[T.b]" needs no quotes; one that reads
like a number or an operator may stand in backquotes. Only names and numbers are read: nothing is
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD = re.compile(r"[^\s+*/(),=-]+")
_SIGNS = "+-*/(),="
DEEPEST = 50
"""Brackets inside one another; more are refused before they exhaust the stack."""
LISTED = 40
"""So many names are listed in an error."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Combinations:
    """Rows of weights on coefficients, the values they are tested against, and their labels."""

    weights: NDArray[np.float64]
    values: Vector
    labels: tuple[str, ...]


@dataclass(frozen=True)
class _Linear:
    """Weights on the coefficients and a constant."""

    weights: Vector
    constant: float

    @property
    def is_number(self) -> bool:
        return not self.weights.any()


def combinations_of(asked: Any, names: Sequence[str]) -> Combinations:
    """Read text, several texts, or a matrix of weights with one row a combination.

    Examples
    --------
    >>> combinations_of("a - 2 * b = 1", ["a", "b"]).weights.tolist()
    [[1.0, -2.0]]
    """
    texts = [asked] if isinstance(asked, str) else asked
    if isinstance(texts, Sequence) and texts and all(isinstance(text, str) for text in texts):
        rows = [row for text in texts for row in _Reader(text, tuple(names)).read()]
        weights = np.array([line.weights for _, line in rows])
        values = np.array([0.0 - line.constant for _, line in rows])
        found = Combinations(weights, values, tuple(label for label, _ in rows))
    else:
        found = _from_matrix(asked, names)
    if not (np.abs(found.weights).max(axis=1) > 0).all():
        raise SettingError("A combination without a coefficient cannot be tested.")
    return found


def _from_matrix(asked: Any, names: Sequence[str]) -> Combinations:
    try:
        weights = np.atleast_2d(np.asarray(asked, dtype=np.float64))
    except (TypeError, ValueError):
        weights = np.empty((0, 0, 0))
    fits = weights.ndim == 2 and len(weights) > 0 and weights.shape[1] == len(names)
    if not fits or not np.isfinite(weights).all():
        raise SettingError(
            f'Expected text such as "x1 - x2 = 0", or rows of {len(names)} numbers, one for each '
            f"of {listed(names)}."
        )
    labels = tuple(f"c{place}" for place in range(len(weights)))
    return Combinations(weights, np.zeros(len(weights)), labels)


def listed(names: Sequence[str]) -> str:
    """Names in a row, for an error."""
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"


class _Reader:
    """One text, read from left to right."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self._text, self._names = text, names
        self._longest_first = sorted(names, key=len, reverse=True)
        self._place = self._depth = 0

    def read(self) -> list[tuple[str, _Linear]]:
        """Combinations less their values; "a = b = c" are two, "a" is "a = 0"."""
        rows: list[tuple[str, _Linear]] = []
        while True:
            sides = [self._side()]
            while self._take("="):
                sides.append(self._side())
            if len(sides) == 1:
                rows.append(sides[0])
            for (left, first), (right, second) in pairwise(sides):
                rows.append((f"{left} = {right}", _added(first, second, -1.0)))
            if not self._take(","):
                break
        if self._peek():
            raise self._lost()
        return rows

    def _side(self) -> tuple[str, _Linear]:
        start = self._place
        found = self._sum()
        return self._text[start : self._place].strip(), found

    def _sum(self) -> _Linear:
        total = self._product()
        while sign := self._take("+", "-"):
            total = _added(total, self._product(), 1.0 if sign == "+" else -1.0)
        return total

    def _product(self) -> _Linear:
        left = self._factor()
        while sign := self._take("*", "/"):
            right = self._factor()
            if sign == "/":
                if not right.is_number or right.constant == 0.0:
                    raise SettingError("A combination may be divided by a number other than 0.")
                right = _Linear(right.weights, 1.0 / right.constant)
            if right.is_number:
                left = _Linear(left.weights * right.constant, left.constant * right.constant)
            elif left.is_number:
                left = _Linear(right.weights * left.constant, right.constant * left.constant)
            else:
                raise SettingError("A combination must be linear: two coefficients are multiplied.")
        return left

    def _factor(self) -> _Linear:
        self._depth += 1
        if self._depth > DEEPEST:
            raise SettingError("A combination has too many brackets or signs inside one another.")
        found = self._unsigned()
        self._depth -= 1
        return found

    def _unsigned(self) -> _Linear:
        name = self._take_name()
        if name is not None:
            weights = np.zeros(len(self._names))
            weights[self._names.index(name)] = 1.0
            return _Linear(weights, 0.0)
        if self._take("-"):
            inner = self._factor()
            return _Linear(-inner.weights, -inner.constant)
        if self._take("+"):
            return self._factor()
        if self._take("("):
            inner = self._sum()
            if not self._take(")"):
                raise SettingError("A bracket of the combination is not closed.")
            return inner
        number = _NUMBER.match(self._text, self._place)
        if number is None:
            raise self._lost()
        self._place = number.end()
        return _Linear(np.zeros(len(self._names)), float(number.group()))

    def _take_name(self) -> str | None:
        """The longest name that begins here and ends at the end of a word."""
        self._peek()
        for name in self._longest_first:
            if self._text.startswith(f"`{name}`", self._place):
                self._place += len(name) + 2
                return name
        for name in self._longest_first:
            end = self._place + len(name)
            follows = self._text[end : end + 1]
            whole = not follows or follows.isspace() or follows in _SIGNS
            fits = self._text.startswith(name, self._place) and whole
            if fits and name and not _NUMBER.fullmatch(name):
                self._place = end
                return name
        return None

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
        return SettingError(
            f"There is no coefficient {what[:60]!r}; the names are {listed(self._names)}."
        )


def _added(left: _Linear, right: _Linear, sign: float) -> _Linear:
    return _Linear(left.weights + sign * right.weights, left.constant + sign * right.constant)
