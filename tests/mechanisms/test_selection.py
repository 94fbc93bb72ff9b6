"""Selections: what a record adds to a score, the law of the index, and that nothing else shows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tacit.contract.query import QueryKind
from tacit.contract.selection_price import SelectionPrice, score_range, selection_price
from tacit.contract.selection_query import CandidateChoice, SelectionLaw, StatisticChoice
from tacit.contract.sensitivity import Price
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.selection import answer_selection, scores_of, selected
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

BOUND, WIDTH = 2**20, 3
LOSSES = (
    classification.LOGISTIC,
    classification.hinge(),
    regression.huber(0.4),
    regression.pinball(0.3, 0.1),
    regression.SQUARED,
)
RNG = np.random.default_rng(5)
CANDIDATES = RNG.normal(size=(40, WIDTH)) * 3
BAD = ([1e6, 0, 0, 1], [-1e6, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1e30, -1e30, 1, 1])


def table(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, WIDTH + 1))
    values[:, WIDTH] = rng.random(rows) < 0.5
    return values


@pytest.mark.parametrize("zero_one", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_differences_of_scores_lie_in_the_stated_interval(loss: Loss, zero_one: bool) -> None:
    query = CandidateChoice(CANDIDATES, 1.3, loss, zero_one)
    values = table(9)
    base = scores_of(query, BOUND, memory_store(values))
    for bad in BAD:
        replaced, blank = values.copy(), values.copy()
        replaced[0], blank[0] = bad, 0.0
        for relation, other in (
            (Relation.REPLACE_ONE, replaced),
            (Relation.ZERO_OUT, blank),
            (Relation.ADD_REMOVE, values[1:]),
        ):
            moves = scores_of(query, BOUND, memory_store(other)) - base
            assert moves.max() - moves.min() <= score_range(QueryKind.SELECTION, BOUND, relation)


def test_the_interval_is_reached() -> None:
    """One record far on either side of both candidates: the ranges are no larger than they must be."""
    query = CandidateChoice(np.array([[1.0, 0, 0], [-1.0, 0, 0]]), 1.0, zero_one=True)
    one, other, blank = (memory_store(np.array([[x, 0, 0, 1.0]])) for x in (1.0, -1.0, 0.0))
    first, second, none = (scores_of(query, BOUND, store) for store in (one, other, blank))
    assert np.ptp(first - second) == score_range(QueryKind.SELECTION, BOUND, Relation.REPLACE_ONE) == 2 * BOUND
    assert np.ptp(first - none) == score_range(QueryKind.SELECTION, BOUND, Relation.ZERO_OUT) == BOUND


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65])
def test_scores_are_sums_of_clipped_losses(rows: int) -> None:
    """Against a plain sum; what fills up tiles adds one constant."""
    values = table(rows)
    query = CandidateChoice(CANDIDATES, 2.0)
    found = scores_of(query, BOUND, memory_store(values))
    margins = values[:, :WIDTH] @ CANDIDATES.T
    exact = np.minimum(np.logaddexp(0, margins) - values[:, [WIDTH]] * margins, 2.0).sum(axis=0) / 2.0
    gaps = found / BOUND - exact
    assert np.ptp(gaps) < 1e-3


def test_scores_have_the_same_bits_for_every_block_size_and_order() -> None:
    values = table(300)
    query = CandidateChoice(CANDIDATES, 2.0)
    whole = scores_of(query, BOUND, memory_store(values))
    assert np.array_equal(whole, scores_of(query, BOUND, memory_store(values[::-1].copy())))
    assert np.array_equal(whole, scores_of(query, BOUND, memory_store(values, block_rows=64)))


@pytest.mark.parametrize("law", list(SelectionLaw))
def test_the_law_of_the_index(law: SelectionLaw) -> None:
    """5,000 draws of 4 candidates; χ² at 1e-6. Laws: e^-rate·score, and McKenna and Sheldon's by their order."""
    scores = np.array([0, 3, 5, 1], dtype=np.int64)
    price = SelectionPrice(8, Fraction(1, 2), law)
    entropy = SeededEntropy(11)
    drawn = np.bincount([selected(scores, price, entropy) for _ in range(5_000)], minlength=4)
    weights = np.exp(-scores / 2)
    expected = weights / weights.sum()
    if law is SelectionLaw.PERMUTE_AND_FLIP:
        nodes = (np.arange(4000) + 0.5) / 4000
        none = [np.prod([1 - weights[j] * nodes for j in range(4) if j != i], axis=0).mean() for i in range(4)]
        expected = weights * np.array(none)
        assert math.isclose(expected.sum(), 1.0, abs_tol=1e-6)
    assert stats.chisquare(drawn, 5_000 * expected / expected.sum()).pvalue > 1e-6


def test_t18_a_rate_that_is_inverted_is_noticed() -> None:
    """The same check, with a rate of 2 in place of 1/2: rejected."""
    scores = np.array([0, 3, 5, 1], dtype=np.int64)
    entropy = SeededEntropy(12)
    drawn = np.bincount([selected(scores, SelectionPrice(8, Fraction(2)), entropy) for _ in range(5_000)], minlength=4)
    weights = np.exp(-scores / 2)
    assert stats.chisquare(drawn, 5_000 * weights / weights.sum()).pvalue < 1e-6


def test_t23_losses_of_permute_and_flip_span_more_than_its_epsilon() -> None:
    """Scores (0, v) and (v, 0): losses ±log(2e^x - 1), x = rate·v, within ±2x and spanning more than 2x."""
    for x in (0.1, 1.0, 3.0):
        loss = math.log(2 * math.exp(x) - 1)
        assert loss <= 2 * x < 2 * loss


def test_without_entropy_the_best_candidate_is_returned() -> None:
    query = CandidateChoice(CANDIDATES, 2.0)
    store = memory_store(table(50))
    answer = answer_selection(query, Price(BOUND, 0), store, None)
    assert int(answer.value[0]) == int(np.argmin(scores_of(query, BOUND, store)))


def test_a_selection_needs_a_rate_and_plain_records() -> None:
    query = CandidateChoice(CANDIDATES, 2.0)
    with pytest.raises(SettingError, match="priced by a rate"):
        answer_selection(query, Price(BOUND, 0), memory_store(table(5)), SeededEntropy(1))
    with pytest.raises(SettingError, match="without units"):
        scores_of(query, BOUND, person_store([table(3)[:2], table(3)[:1]], 2))
    with pytest.raises(SettingError, match="must have 3 entries"):
        scores_of(CandidateChoice(np.zeros((2, 5)), 1.0), BOUND, memory_store(table(5)))


def test_statistics_are_selected_by_their_sums() -> None:
    interval = Interval(-1.0, 1.0)
    choice = StatisticChoice(tuple(Statistic(f"c{j}", Cell(f"c{j}", j, 1.0), interval) for j in range(2)))
    values = np.array([[0.5, -0.5, 1.0, 0.0]] * 10 + [[0.0, 1.0, 1.0, 0.0]] * 3)
    scores = scores_of(choice, BOUND, memory_store(values))
    assert np.allclose(scores / BOUND, [-5.0, 2.0])
    price = selection_price(QueryKind.SIGNED_SELECTION, Fraction(50), Relation.REPLACE_ONE)
    assert int(answer_selection(choice, price, memory_store(values), SeededEntropy(3)).value[0]) == 0
