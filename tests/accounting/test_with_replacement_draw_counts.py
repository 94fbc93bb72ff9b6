import mpmath
import pytest

from tacit.accounting.with_replacement import NONE_WIDTH, copies


def weight(draws: int, population: int, number: int) -> mpmath.mpf:
    chance = mpmath.mpf(1) / population
    return mpmath.binomial(draws, number) * chance**number * (1 - chance) ** (draws - number)


@pytest.mark.parametrize(
    ("draws", "population"),
    [(1, 2), (10, 3), (1000, 10**5), (10**6, 10**8), (50, 10), (10**6, 10**6), (10**15, 10**16)],
)
def test_weights_are_bracketed_and_nothing_is_lost(draws: int, population: int) -> None:
    found = copies(draws, population)
    with mpmath.workdps(50):
        none = weight(draws, population, 0)
        assert found.none <= none <= found.none * (1 + NONE_WIDTH)
        assert 1 - none <= found.drawn <= (1 - none) * (1 + 1e-12)
        for number, upper, lower in zip(found.numbers, found.upper, found.lower, strict=True):
            exact = weight(draws, population, int(number))
            assert lower <= exact <= upper <= lower * (1 + 1e-8)
        assert sum(map(mpmath.mpf, found.upper)) + found.tail >= 1 - none
        assert found.tail < 1e-39


def test_many_numbers_are_read_as_larger_ones() -> None:
    found = copies(10**7, 10**3)
    assert found.numbers.size <= 400
    assert 1.0 <= float(found.upper.sum()) <= 1.0 + 1e-6
    mean = float((found.numbers * found.upper).sum())
    assert 10_000.0 <= mean <= 10_010.0
    with mpmath.workdps(50):
        for edge in (9_950, 10_000, 10_050):
            exact = sum(weight(10**7, 10**3, number) for number in range(9_000, edge + 1))
            # Reading numbers as larger ones leaves less below every edge.
            assert float(found.lower[found.numbers <= edge].sum()) <= exact + 1e-12


def test_the_ends() -> None:
    nothing = copies(0, 5)
    assert nothing.numbers.size == 0
    assert (nothing.none, nothing.drawn, nothing.tail) == (1.0, 0.0, 0.0)
    everything = copies(7, 1)
    assert everything.numbers[0] == pytest.approx(7.0)
    assert (everything.none, everything.drawn) == (0.0, 1.0)
    huge = copies(10**13, 10**4)
    assert huge.numbers.size == 1
    assert 1e9 < huge.numbers[0] < 1.001e9
