import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.rows.encoding.transforms import logarithm

LARGEST = float(np.finfo(np.float64).max)


def error(cell: float) -> float:
    """Distance from the true logarithm in units in the last place."""
    found = float(logarithm(np.array([cell]))[0])
    with mpmath.workdps(60):
        true = mpmath.log(mpmath.mpf(cell))
        if true == 0:
            return 0.0 if found == 0 else np.inf
        return float(abs(mpmath.mpf(found) - true) / np.spacing(abs(float(true))))


@given(st.floats(min_value=5e-324, max_value=LARGEST))
def test_below_two_units_in_the_last_place(cell: float) -> None:
    assert error(cell) < 2


@given(st.integers(-(2**20), 2**20))
def test_also_near_one(steps: int) -> None:
    assert error(1.0 + steps * 2.0**-52) < 2


def test_at_the_edges() -> None:
    root = np.sqrt(0.5)
    for cell in (5e-324, 2.0**-1022, np.nextafter(root, 0), root, 0.5, 1.0, 2.0, np.e, LARGEST):
        assert error(float(cell)) < 2
    assert logarithm(np.array([1.0])).tolist() == [0.0]


def test_bits_do_not_depend_on_place_or_stride() -> None:
    cells = np.random.default_rng(1).lognormal(0, 5, 1003)
    reference = logarithm(cells)
    alone = np.array([logarithm(cells[i : i + 1])[0] for i in range(len(cells))])
    assert alone.tobytes() == reference.tobytes()
    wide = np.ones((1003, 3))
    wide[:, 1] = cells
    assert logarithm(wide[:, 1]).tobytes() == reference.tobytes()
    assert logarithm(cells[::-1])[::-1].tobytes() == reference.tobytes()
    assert logarithm(cells[1:]).tobytes() == reference[1:].tobytes()
