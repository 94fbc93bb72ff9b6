"""Natural cubic splines with public knots: B-splines whose second derivative is 0 at both bounds, in R's basis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tacit.design.factor import SplineSum

DEGREE = 3


def natural_basis(column: str, knots: Sequence[float]) -> tuple[SplineSum, ...]:
    """The functions of R's ``ns(x, knots, Boundary.knots = bounds)``; `knots` begin and end with the bounds.

    A cubic Σ c_k B_k has second derivative 0 at the left bound if c_0, c_1, c_2 satisfy one equation, and at the right
    bound likewise. With c_0 = 0, which the constant stands for, the weights of all others are the null space of two
    equations. R takes the last columns of Q from the QR decomposition of these two by Householder's reflections.

    Guarantee: the functions are 0 at the left bound. A fit has R's coefficients, up to rounding.
    """
    count = len(knots) - 1 + DEGREE
    left, right = second_derivatives(knots), second_derivatives([-knot for knot in reversed(knots)])[::-1]
    first = [*_scaled(left[1:]), *[0.0] * (count - 3)]
    last = [*[0.0] * (count - 1 - len(right)), *_scaled(right)]
    reflections = [_reflection(first, 0)]
    reflections.append(_reflection(_reflected(reflections[0], last), 1))
    found = []
    for place in range(2, count - 1):
        weights = [float(k == place) for k in range(count - 1)]
        for normal in reversed(reflections):
            weights = _reflected(normal, weights)
        found.append(SplineSum(column, tuple(knots), DEGREE, (0.0, *weights)))
    return tuple(found)


def _scaled(equation: Sequence[Fraction]) -> list[float]:
    """An equation over its largest number: floats, whatever the unit of the column."""
    largest = max(map(abs, equation))
    return [float(number / largest) for number in equation]


def _reflection(vector: Sequence[float], place: int) -> list[float]:
    """Normal u, |u|² = 2, of the reflection I - u u' that takes the entries from `place` on into that place alone."""
    rest = [0.0] * place + list(vector[place:])
    size = math.copysign(math.sqrt(math.fsum(entry * entry for entry in rest)), rest[place])
    rest[place] += size
    scale = math.sqrt(abs(size * rest[place]))
    return [entry / scale for entry in rest]


def _reflected(normal: Sequence[float], vector: Sequence[float]) -> list[float]:
    along = math.fsum(one * other for one, other in zip(normal, vector, strict=True))
    return [entry - along * one for one, entry in zip(normal, vector, strict=True)]


def second_derivatives(knots: Sequence[float]) -> list[Fraction]:
    """B''_0, B''_1 and B''_2 at the first knot, up to a common factor; the other functions have none there.

    With t the knots, the first repeated: 1/h², -1/h² - 1/(h g), 1/(h g), where h = t_1 - t_0 and g = t_2 - t_0 (or h
    where there is no t_2).
    """
    exact = [Fraction(knot) for knot in knots]
    h = exact[1] - exact[0]
    g = exact[2] - exact[0] if len(exact) > 2 else h
    return [1 / (h * h), -1 / (h * h) - 1 / (h * g), 1 / (h * g)]
