"""Natural cubic splines with public knots: B-splines whose second derivative is 0 at both bounds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tacit.design.factor import SplineSum

DEGREE = 3


def natural_basis(column: str, knots: Sequence[float]) -> tuple[SplineSum, ...]:
    """Functions that, with a constant, span the natural cubic splines; `knots` begin and end with the bounds.

    A cubic Σ c_k B_k has second derivative 0 at the left bound if c_0, c_1, c_2 satisfy one equation, and at the right
    bound likewise. These leave out two functions. As B-splines sum to 1, one more is left out for the constant.

    The first: c_1 as free, c_2 by the equation with c_0 = 0; at the right end alike. So every function is one B-spline,
    or a combination of two, with weights that depend on the knots alone.

    Guarantee: the functions are 0 at the left bound. With the constant they span what R's ``ns(x, knots, Boundary.knots
    = bounds)`` spans, so a fit has the same predictions.
    """
    count = len(knots) - 1 + DEGREE
    weights = []
    # Σ c_k B_k with c_0 = 0: of c_1, c_2 one is free, of the last three two, and all between them.
    left, right = second_derivatives(knots), second_derivatives([-knot for knot in reversed(knots)])[::-1]
    if count == DEGREE + 1:
        # Without an inner knot the natural splines are straight lines: c_k = k / 3 is one.
        return (SplineSum(column, tuple(knots), DEGREE, tuple(k / DEGREE for k in range(count))),)
    free = range(1, count - 1)
    fixed_first, fixed_last = 2, count - 1
    for k in free:
        if k == fixed_first:
            continue
        c = [Fraction(0)] * count
        c[k] = Fraction(1)
        if k == 1:
            c[fixed_first] = -left[1] / left[2]
        weights.append(c)
    found = []
    for c in weights:
        # The last weight by the equation at the right bound.
        c[fixed_last] = -(right[0] * c[count - 3] + right[1] * c[count - 2]) / right[2]
        found.append(SplineSum(column, tuple(knots), DEGREE, tuple(float(weight) for weight in c)))
    return tuple(found)


def second_derivatives(knots: Sequence[float]) -> list[Fraction]:
    """B''_0, B''_1 and B''_2 at the first knot, up to a common factor; the other functions have none there.

    With t the knots, the first repeated: 1/h², -1/h² - 1/(h g), 1/(h g), where h = t_1 - t_0 and g = t_2 - t_0 (or h
    where there is no t_2).
    """
    exact = [Fraction(knot) for knot in knots]
    h = exact[1] - exact[0]
    g = exact[2] - exact[0] if len(exact) > 2 else h
    return [1 / (h * h), -1 / (h * h) - 1 / (h * g), 1 / (h * g)]
