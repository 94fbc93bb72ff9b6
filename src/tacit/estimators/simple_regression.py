"""Simple regression from four statistical queries, written against the public gate.

The lecture notes decompose the least squares line into the means of x and y and the averages S_xx/n and S_xy/n. The
means are asked for first. The products are then asked for about the released means, so that the error of a mean enters
them by its square alone. (A mean's noise has sensitivity (upper - lower)/n where a record is replaced, not half of it.)
"""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.certificate.certificate import Certificate
from tacit.contract.query import Progress
from tacit.display import Displayed
from tacit.errors import FormulaError
from tacit.estimators.statistics_gate import Mean, statistics
from tacit.privacy.budget import Budget
from tacit.schema.schema import Schema

LONGEST = 4000
"""Characters of a formula: its sides are asked for together, with numbers between them."""
LEAST_SPREAD = 2.0
"""Noise deviations that the variance of x is at least taken to be: without it a flat x would have any slope."""


@dataclass(frozen=True)
class Line(Displayed):
    """A released line y = intercept + slope·x.

    Attributes
    ----------
    slope_noise, intercept_noise
        Standard deviations of what the privacy noise adds, to first order.
    certificate
        What was guaranteed, and why it is true.
    """

    slope: float
    intercept: float
    slope_noise: float
    intercept_noise: float
    certificate: Certificate

    def predict(self, x: ArrayLike) -> NDArray[np.float64]:
        """Values of the line."""
        return np.asarray(self.intercept + self.slope * np.asarray(x, dtype=np.float64))


def simple_regression(
    formula: str,
    data: Any,
    schema: Schema | str | os.PathLike[str],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Line:
    """Fit a line to two expressions of the records under differential privacy, by four statistical queries.

    Guarantee: as for `statistics`; it is post-processing of four means.

    Parameters
    ----------
    formula
        "y ~ x", where either side is an expression: "log(income) ~ age".
    data, schema, epsilon, delta, budget, invalid_rows, random_state, progress
        As in `statistics`.

    Examples
    --------
    >>> import numpy as np, pyarrow, tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.x]
    ... type = "numeric"
    ... lower = 0
    ... upper = 1
    ... [columns.y]
    ... type = "numeric"
    ... lower = 0
    ... upper = 4
    ... ''')
    >>> x = np.linspace(0, 1, 20_000)
    >>> table = pyarrow.table({"x": x, "y": 1 + 2 * x})
    >>> line = tacit.simple_regression("y ~ x", table, schema, epsilon=1.0)
    >>> bool(abs(line.slope - 2) < 0.3)
    True
    """
    left, tilde, right = formula.partition("~") if isinstance(formula, str) else ("", "", "")
    if not tilde or "~" in right:
        raise FormulaError("The formula of a line has two expressions: 'y ~ x'.")
    if len(formula) > LONGEST:
        raise FormulaError(f"The formula of a line has at most {LONGEST} characters.")
    y, x = left.strip(), right.strip()
    gate = statistics(
        data,
        schema,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        queries=[Mean(x, y), 2],
        invalid_rows=invalid_rows,
        random_state=random_state,
        progress=progress,
    )
    # Whatever the means will be, what is asked about them must have intervals: at their ends these are the widest, in
    # the middle the narrowest.
    places = ((it.interval.lower, it.interval.center, it.interval.upper) for it in gate.read(Mean(x, y)).statistics)
    for mean_x, mean_y in itertools.product(*places):
        gate.read(_products(x, y, mean_x, mean_y))
    with gate:
        means = gate.ask(Mean(x, y))
        mean_x, mean_y = means.clipped.tolist()
        products = gate.ask(_products(x, y, mean_x, mean_y))
    (square, product), (square_noise, product_noise) = products.value, products.noise_scale
    spread = max(float(square), LEAST_SPREAD * float(square_noise), 1e-300)
    slope = float(product) / spread
    slope_noise = math.hypot(product_noise, slope * square_noise) / spread
    noise = math.hypot(means.noise_scale[1], slope * means.noise_scale[0])
    return Line(
        slope=slope,
        intercept=mean_y - slope * mean_x,
        slope_noise=slope_noise,
        intercept_noise=math.hypot(noise, slope_noise * mean_x),
        certificate=gate.certificate,
    )


def _products(x: str, y: str, mean_x: float, mean_y: float) -> Mean:
    """The square of x, and its product with y, about two numbers."""
    return Mean(f"(({x}) - {mean_x!r})**2", f"(({x}) - {mean_x!r}) * (({y}) - {mean_y!r})")
