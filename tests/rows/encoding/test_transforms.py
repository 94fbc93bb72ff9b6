import math
from typing import Any

import mpmath
import numpy as np
import pytest

from tacit.design.factor import FUNCTIONS
from tacit.rows.encoding.transforms import power, transform

GENERATOR = np.random.default_rng(3)
ARGUMENTS = {
    "log": np.exp(GENERATOR.uniform(-700, 700, 500)),
    "log1p": np.concatenate([GENERATOR.uniform(-0.999, 2, 300), 10.0 ** GENERATOR.uniform(-300, 300, 200), [0.0]]),
    "sqrt": np.concatenate([10.0 ** GENERATOR.uniform(-300, 300, 300), [0.0]]),
    "exp": np.concatenate([GENERATOR.uniform(-700, 700, 500), [0.0, -1e-300]]),
}


def test_every_function_has_its_arguments() -> None:
    assert set(ARGUMENTS) == set(FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_right_to_four_units_in_the_last_place(function: str) -> None:
    arguments = ARGUMENTS[function]
    with mpmath.workdps(60):
        exact: Any = getattr(mpmath, function)
        for x, y in zip(arguments.tolist(), transform(function, arguments).tolist(), strict=True):
            assert abs(mpmath.mpf(y) - exact(mpmath.mpf(x))) <= 4 * math.ulp(y)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_t08_an_image_does_not_depend_on_its_place(function: str) -> None:
    arguments = ARGUMENTS[function]
    whole = transform(function, arguments)
    alone = np.concatenate([transform(function, arguments[i : i + 1]) for i in range(len(whole))])
    strided = transform(function, np.repeat(arguments, 3)[1::3])
    assert whole.tobytes() == alone.tobytes() == strided.tobytes()


def test_t40_exponents_far_below_are_zero_and_far_above_finite_or_infinite() -> None:
    assert transform("exp", np.array([-1e300, -800.0])).tolist() == [0.0, 0.0]


def test_powers_multiply() -> None:
    cells = np.array([-2.0, 0.5, 3.0])
    assert power(cells, 1).tolist() == cells.tolist()
    assert power(cells, 3).tolist() == [-8.0, 0.125, 27.0]
