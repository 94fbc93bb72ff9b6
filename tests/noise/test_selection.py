"""Draws of an index by its score. Oracle: exp in floats, and the closed law of permute-and-flip over all orders."""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.errors import SettingError
from tacit.noise import selection
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.selection import exponential_choice, permute_and_flip

FALSE_ALARM = 1e-6
DRAWS = 20_000
RATE = Fraction(3, 7)
SCORES = np.array([5, 2, 2, 9, 3], dtype=np.int64)
Selector = Callable[[NDArray[np.int64], Fraction, Entropy], int]


def exponential_law(scores: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    weights = np.exp(-float(rate) * (scores - scores.min()))
    return np.asarray(weights / weights.sum())


def permute_and_flip_law(scores: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    """Over every order of the candidates: the first whose coin shows heads."""
    heads = np.exp(-float(rate) * (scores - scores.min()))
    law = np.zeros(scores.size)
    for order in itertools.permutations(range(scores.size)):
        reached = 1.0 / math.factorial(scores.size)
        for index in order:
            law[index] += reached * heads[index]
            reached *= 1.0 - heads[index]
    return law


LAWS = [(exponential_choice, exponential_law), (permute_and_flip, permute_and_flip_law)]


def p_value(select: Selector, law: NDArray[np.float64], scores: NDArray[np.int64], rate: Fraction, seed: int) -> float:
    entropy = SeededEntropy(seed)
    drawn = np.bincount([select(scores, rate, entropy) for _ in range(DRAWS)], minlength=scores.size)
    kept = law * DRAWS > 5
    assert drawn[~kept].sum() < 100
    expected = law[kept] * (drawn[kept].sum() / law[kept].sum())
    return float(stats.chisquare(drawn[kept], expected).pvalue)


@pytest.mark.parametrize(("select", "law"), LAWS)
@pytest.mark.parametrize("scores", [SCORES, SCORES - 2**62, np.array([0, 1], dtype=np.int64)])
def test_law(
    select: Selector, law: Callable[[NDArray[np.int64], Fraction], NDArray[np.float64]], scores: NDArray[np.int64]
) -> None:
    """n = 20 000; chi-square at 1e-6."""
    assert p_value(select, law(scores, RATE), scores, RATE, 1) > FALSE_ALARM


@pytest.mark.parametrize(("select", "law"), LAWS)
@pytest.mark.parametrize("fault", ["inverted rate", "half rate", "sign", "shared weights"])
def test_t18_the_check_rejects_broken_selections(
    select: Selector, law: Callable[[NDArray[np.int64], Fraction], NDArray[np.float64]], fault: str
) -> None:
    """n = 20 000, the size at which the true selections pass."""
    rate = {"inverted rate": 1 / RATE, "half rate": RATE / 2}.get(fault, RATE)
    scores = {"sign": -SCORES, "shared weights": SCORES // 2 * 2}.get(fault, SCORES)
    broken = p_value(lambda _, __, entropy: select(scores, rate, entropy), law(SCORES, RATE), SCORES, RATE, 2)
    assert broken < FALSE_ALARM


def test_the_two_laws_differ_and_permute_and_flip_is_never_worse() -> None:
    """n = 20 000: the draws of one do not pass as the other's."""
    crossed = p_value(permute_and_flip, exponential_law(SCORES, RATE), SCORES, RATE, 3)
    assert crossed < FALSE_ALARM
    means = [law(SCORES, RATE) @ SCORES for _, law in LAWS]
    assert means[1] <= means[0]


def test_many_candidates_have_the_law_too() -> None:
    """2000 candidates in 20 groups of scores: n = 20 000 draws by group, chi-square at 1e-6."""
    scores = np.repeat(np.arange(20, dtype=np.int64), 100)
    law = exponential_law(scores, Fraction(1, 4)).reshape(20, 100).sum(axis=1)
    entropy = SeededEntropy(4)
    drawn = np.bincount(
        [exponential_choice(scores, Fraction(1, 4), entropy) // 100 for _ in range(DRAWS)], minlength=20
    )
    assert stats.chisquare(drawn, law * DRAWS).pvalue > FALSE_ALARM


@dataclass(frozen=True)
class Script:
    """Hands out scripted words, then those of a stream."""

    script: list[int]
    stream: SeededEntropy
    secure: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        handed_out, self.script[:] = self.script[:count], self.script[count:]
        rest = self.stream.words(count - len(handed_out))
        return np.concatenate([np.array(handed_out, dtype=np.uint64), rest])


@pytest.mark.parametrize(
    ("far", "coin", "expected"), [(40, 2**40, 0), (40, 2**63, 1), (10**6, 2**40, 1), (2**62, 0, 1)]
)
def test_a_weight_far_below_the_floats_is_not_rounded(far: int, coin: int, expected: int) -> None:
    """A hopeless candidate has the integer weight 2, is proposed, and is taken if U < 2^44 exp(-far) / 2 = 2^-14.7."""
    scores = np.array([far - 2**61, -(2**61)], dtype=np.int64)
    proposed, other = [2**18, 0, coin], [2**63, 0, 0]
    script = Script([*proposed, *other], SeededEntropy(5))
    assert exponential_choice(scores, 1, script) == expected
    assert len(script.script) == (3 if expected == 0 else 0)


@pytest.mark.parametrize("rate", [Fraction(1, 2**52), Fraction(1, 3), Fraction(2**52)])
def test_float_weights_are_within_the_stated_error(rate: Fraction) -> None:
    scores = np.array([-(2**63), -(2**63) + 1, 0, 12345, 2**40, 2**63 - 1], dtype=np.int64)
    excess, exact = selection._checked(scores, rate)
    weights = selection._weigh(excess, exact)
    for found, over in zip(weights, excess, strict=True):
        exponent = -int(over) * float(rate)
        assert abs(found - (math.exp(exponent) if exponent > -700 else 0.0)) < 2.0**-46


@pytest.mark.parametrize("select", [exponential_choice, permute_and_flip])
def test_1e5_candidates_take_under_a_fifth_of_a_second(select: Selector) -> None:
    """The work is the same for equal scores and for scores far apart."""
    spread = np.arange(10**5, dtype=np.int64)
    for scores in (spread, spread * 0, spread * 2**40):
        select(scores, RATE, SystemEntropy())
        started = time.perf_counter()
        select(scores, RATE, SystemEntropy())
        assert time.perf_counter() - started < 0.2


@pytest.mark.parametrize("select", [exponential_choice, permute_and_flip])
def test_seeded_draws_repeat_and_others_do_not(select: Selector) -> None:
    """Coincidence of 8 draws among 10^4 equal candidates: 1e-32."""
    scores = np.zeros(10**4, dtype=np.int64)

    def eight(entropy: Entropy) -> list[int]:
        return [select(scores, RATE, entropy) for _ in range(8)]

    assert eight(SeededEntropy(6)) == eight(SeededEntropy(6))
    assert eight(SystemEntropy()) != eight(SystemEntropy())


@pytest.mark.parametrize("select", [exponential_choice, permute_and_flip])
def test_bad_input_is_refused(select: Selector) -> None:
    for rate in (0, -1, 0.5, 2**53, Fraction(1, 2**53)):
        with pytest.raises(SettingError, match="rate"):
            select(SCORES, rate, SystemEntropy())  # type: ignore[arg-type]
    wrong: list[NDArray[Any]] = [SCORES[:0], SCORES.astype(float), SCORES.reshape(1, -1), SCORES.astype(np.int32)]
    for scores in wrong:
        with pytest.raises(SettingError, match="scores"):
            select(scores, RATE, SystemEntropy())
    assert select(SCORES[:1], RATE, SystemEntropy()) == 0
