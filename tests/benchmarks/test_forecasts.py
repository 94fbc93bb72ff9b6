"""How far a forecast is off, and which columns of a table have intervals to be compared."""

import numpy as np

from benchmarks.forecasts import ASKED, Compared, independent, page


def test_a_factor_is_at_least_one() -> None:
    assert Compared("public", "t", 2.0, 1.0).factor == Compared("public", "t", 1.0, 2.0).factor == 2.0


def test_columns_that_others_determine_are_passed_over() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, 500)
    free = generator.uniform(-1, 1, (500, 3))
    X = np.column_stack([first, 1 - first, np.full(500, 0.1), free])
    assert independent(X) == [0, 3, 4, 5]


def test_the_page_has_every_case() -> None:
    rows = [Compared(group, f"case {group}", 1.0, 1.1) for group in ASKED]
    text = page(rows, {"plan": 0.01, "picture": 1.0}, 50)
    assert all(f"case {group}" in text for group in ASKED)
