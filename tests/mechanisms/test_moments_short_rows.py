"""Products of short rows in float32: taken where they are exact, and the integers are the same in any case."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import SecondMoments
from tacit.mechanisms import moments
from tacit.mechanisms.moments import EXACT_IN_FLOAT32, SHORT_RECORDS, SHORT_ROWS, add_product, integer_second_moments
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(24)
Floats = NDArray[np.float64]


def rows_of(kind: str, width: int, count: int) -> Floats:
    """Integers (column, record) of norm at most 64√d."""
    radius = 64 * np.sqrt(width) * 0.99
    rows = np.zeros((width, count))
    if kind == "round":
        rows = RNG.standard_normal((width, count))
        rows *= radius / np.sqrt((rows**2).sum(axis=0))
    elif kind == "spikes":
        rows[RNG.integers(0, width, count), np.arange(count)] = radius
    elif kind == "one column":
        rows[0] = radius - RNG.integers(0, 3, count)
    elif kind == "opposite":
        rows[0], rows[1] = 0.7 * radius, 0.7 * radius * (-1.0) ** np.arange(count)
    else:
        rows[0] = np.sqrt(EXACT_IN_FLOAT32 / SHORT_RECORDS) * (1 + RNG.uniform(-1e-3, 1e-3))
        rows[1:] = RNG.integers(-3, 4, (width - 1, count))
    return np.asarray(np.rint(rows))


@pytest.mark.parametrize("kind", ["round", "spikes", "one column", "opposite", "just around 2^24"])
@pytest.mark.parametrize(("width", "count"), [(2, 64), (20, 1024), (131, 2048), (200, 1500)])
def test_products_are_exact_for_every_kind_of_rows(kind: str, width: int, count: int) -> None:
    for _ in range(3):
        rows = rows_of(kind, width, count)
        whole = rows.astype(np.int64)
        total = np.full((width, width), 5, dtype=np.int64)
        for first in range(0, count, SHORT_RECORDS):
            add_product(np.ascontiguousarray(rows[:, first : first + SHORT_RECORDS], dtype=np.float32), total)
        np.testing.assert_array_equal(total, whole @ whole.T + 5)


def test_the_check_refuses_what_float32_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    # Seeded fault: without the check, the sum of 1024 squares of 4095 would be rounded.
    rows = np.full((2, 1024), 4095.0)
    rows[1, ::2] = 4094.0
    exact = rows.astype(np.int64) @ rows.astype(np.int64).T
    total = np.zeros((2, 2), dtype=np.int64)
    add_product(rows.astype(np.float32), total)
    np.testing.assert_array_equal(total, exact)
    monkeypatch.setattr(moments, "EXACT_IN_FLOAT32", np.inf)
    total[:] = 0
    add_product(rows.astype(np.float32), total)
    assert (total != exact).any()


def test_a_library_that_rounds_products_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moments._float32_is_exact()
    ogrid = np.ogrid

    class Rounding:
        """numpy whose float32 arrays lose their last bits, as in products of 11 bits."""

        def __getattr__(self, name: str) -> object:
            return ogrid if name == "ogrid" else getattr(np, name)

        @staticmethod
        def array_equal(product: NDArray[np.int64], exact: NDArray[np.int64]) -> bool:
            rounded = np.float32(product).view(np.uint32) & ~np.uint32(0x1FFF)
            return bool(np.array_equal(rounded.view(np.float32).astype(np.int64), exact))

    monkeypatch.setattr(moments, "np", Rounding())
    assert not moments._float32_is_exact.__wrapped__()


def test_short_and_long_rows_have_the_integers_of_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.standard_normal((3000, 40)) / np.sqrt(40)
    store = memory_store(np.column_stack([rows, np.zeros(3000)]).astype(np.float32))
    query, bound = SecondMoments(1.5), SHORT_ROWS * 40
    fast = integer_second_moments(query, bound, store)
    monkeypatch.setattr(moments, "SHORT_ROWS", 0)
    np.testing.assert_array_equal(integer_second_moments(query, bound, store), fast)
