"""Sums over batches: what one record can change, what they estimate, and that no batch is drawn twice."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from tacit.accounting import compose
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.query import BatchGradientSum, GradientSum, QueryKind
from tacit.contract.sensitivity import Price, events_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.losses import regression
from tacit.mechanisms import batch_gradient
from tacit.mechanisms.batch_gradient import answer_batch_gradient, drawn
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.keystream import Keystream
from tacit.privacy.event import Repeated
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.batch_store import BatchStore
from tacit.rows.storage.record_store import ScratchStore
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(21)
WIDTH = 5
THETA = RNG.normal(size=WIDTH)
BOUND = 2**30


def table(rows: int) -> NDArray[np.float64]:
    values = RNG.uniform(-1, 1, (rows, WIDTH + 1))
    values[:, WIDTH] = RNG.random(rows) < 0.5
    return values


def batches_of(sampling: Sampling, rows: int) -> Batches:
    return Batches(sampling, 1, 4) if sampling is Sampling.POISSON else Batches(sampling, rows // 4, rows)


def price_of(sampling: Sampling, rows: int, bits: int = 0) -> BatchPrice:
    return BatchPrice(BOUND, bits, batches_of(sampling, rows))


QUERY = BatchGradientSum(THETA, clip=0.7)


@pytest.mark.parametrize("sampling", list(Sampling))
def test_the_answer_is_the_sum_over_the_drawn_records_over_the_rate(sampling: Sampling) -> None:
    values = table(300)
    price = price_of(sampling, 300)
    members = drawn(price.batches, 300, SeededEntropy(3)).members(0, 300)
    answer = answer_batch_gradient(QUERY, price, memory_store(values, 64), SeededEntropy(3))
    plain = GradientSum(THETA, clip=0.7)
    exact = answer_gradient(plain, Price(BOUND, 0), memory_store(values[members]), None).value
    np.testing.assert_allclose(answer.value * float(price.batches.rate), exact, atol=1e-7)
    assert answer.noise_scale == pytest.approx(1 / BOUND * 0.7 / float(price.batches.rate), rel=1e-6)


@pytest.mark.parametrize("sampling", list(Sampling))
def test_any_storage_and_block_size_has_the_same_answer(sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 3000
    X = RNG.uniform(-1, 1, (rows, WIDTH - 1)) * (RNG.random((rows, WIDTH - 1)) < 0.4)
    y = RNG.integers(0, 2, rows)

    def admitted(matrix: Any) -> Any:
        source = open_source(matrix, y)
        design = matrix_design(
            source.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True, shifted=False
        )
        return admit(source, design)

    price = price_of(sampling, rows)
    dense, sparse = admitted(X), admitted(sp.csr_matrix(X))
    reference = answer_batch_gradient(QUERY, price, dense, SeededEntropy(5)).value
    assert (answer_batch_gradient(QUERY, price, sparse, SeededEntropy(5)).value == reference).all()
    from tacit.rows.storage.tiles import to_rows

    table_of = to_rows(dense.block(0), rows)
    for threads, block_rows in (("1", 64), ("3", 64), ("2", 640), ("2", 2048)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        cut = memory_store(table_of, block_rows)
        assert (answer_batch_gradient(QUERY, price, cut, SeededEntropy(5)).value == reference).all()
        with ScratchStore(cut.layout) as scratch:
            for index in range(cut.block_count):
                scratch.append(cut.block(index))
            assert (answer_batch_gradient(QUERY, price, scratch, SeededEntropy(5)).value == reference).all()


@pytest.mark.parametrize("clip", [0.7, 1e-3])
def test_one_record_of_a_batch_moves_the_sum_by_the_bound(clip: float) -> None:
    """Removed from a Poisson batch by at most S, replaced in a fixed one by at most 2S; also where all are clipped."""
    values = table(100)
    query = BatchGradientSum(THETA, clip=clip)
    members = np.arange(0, 100, 3)

    def total(rows: NDArray[np.float64]) -> NDArray[np.int64]:
        return integer_gradient_sum(query, BOUND, BatchStore(memory_store(rows), lambda *_: members))

    whole = total(values)
    for number in members[:10]:
        removed, replaced = values.copy(), values.copy()
        removed[number] = 0.0
        replaced[number] = table(1)[0]
        assert sum(int(v) ** 2 for v in whole - total(removed)) <= BOUND**2
        assert sum(int(v) ** 2 for v in whole - total(replaced)) <= 4 * BOUND**2
    outside = values.copy()
    outside[1] = table(1)[0]
    assert (total(outside) == whole).all()


@pytest.mark.parametrize("sampling", list(Sampling))
def test_t29_the_divisor_is_public_so_the_answers_are_unbiased(sampling: Sampling) -> None:
    """600 batches; means of bounded terms are within 6 standard errors but with probability below 1e-7."""
    values = table(120)
    price = price_of(sampling, 120)
    store, entropy = memory_store(values), SystemEntropy()
    answers = np.array([answer_batch_gradient(QUERY, price, store, entropy).value for _ in range(600)])
    exact = answer_gradient(GradientSum(THETA, clip=0.7), Price(BOUND, 0), store, None).value
    error = np.std(answers, axis=0) / math.sqrt(600)
    assert (np.abs(answers.mean(axis=0) - exact) < 6 * error).all()


def test_t30_empty_batches_and_tables_are_answered() -> None:
    rare = BatchPrice(BOUND, 20, Batches(Sampling.POISSON, 1, 1 << 32))
    for rows in (table(50), np.zeros((0, WIDTH + 1)), np.zeros((3, WIDTH + 1))):
        answer = answer_batch_gradient(QUERY, rare, memory_store(rows), SystemEntropy())
        assert np.isfinite(answer.value).all()
        assert answer.noise_scale > 0


def test_t13_t14_every_answer_draws_with_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []
    start = Keystream.__init__

    def spy(self: Keystream, entropy: Entropy) -> None:
        start(self, entropy)
        keys.append(self._key.tobytes())

    monkeypatch.setattr(Keystream, "__init__", spy)
    store = memory_store(table(64))
    for _ in range(3):
        # As three fits with fresh entropy would.
        entropy = SystemEntropy()
        for _ in range(40):
            answer_batch_gradient(QUERY, price_of(Sampling.POISSON, 64), store, entropy)
    assert len(keys) == len(set(keys)) == 120


@pytest.mark.parametrize("sampling", list(Sampling))
def test_membership_does_not_see_the_records(sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words draw the same running numbers from any table: sorted, of equal records, or of zeros."""
    found: list[list[int]] = []
    original = batch_gradient.drawn

    def spy(batches: Batches, length: int, entropy: Entropy) -> Any:
        batch = original(batches, length, entropy)
        found.append(batch.members(0, length).tolist())
        return batch

    monkeypatch.setattr(batch_gradient, "drawn", spy)
    values = table(200)
    for rows in (values, values[np.argsort(values[:, 0])], np.repeat(values[:1], 200, axis=0), np.zeros_like(values)):
        answer_batch_gradient(QUERY, price_of(sampling, 200), memory_store(rows, 64), SeededEntropy(8))
    assert found[0]
    assert found == [found[0]] * 4


def audit(rate: Batches, sampled: Callable[[], NDArray[np.float64]], other: NDArray[np.float64]) -> float:
    """Largest lower bound on P(A) - e^ε P'(A) - δ(ε) over half-lines A; above 0 refutes the price.

    Clopper-Pearson bounds of 2·30·4 probabilities, each wrong with probability 1e-9: below 1e-6 in all.
    """
    event = Repeated(events_of(QueryKind.BATCH_GRADIENT, BatchPrice(BOUND, 30, rate), Relation.ADD_REMOVE)[0], 1)
    one, two = sampled(), other
    worst = -1.0
    for epsilon in (0.1, 0.3, 0.7, 1.2):
        delta = compose([event], Relation.ADD_REMOVE).delta(epsilon)
        for threshold in np.quantile(np.concatenate([one, two]), np.linspace(0.02, 0.98, 30)):
            hit, false = int((one > threshold).sum()), int((two > threshold).sum())
            low = stats.beta.ppf(1e-9, hit, len(one) - hit + 1) if hit else 0.0
            high = stats.beta.ppf(1 - 1e-9, false + 1, len(two) - false)
            worst = max(worst, low - math.exp(epsilon) * high - delta)
    return worst


def test_t29_an_audit_of_three_records_against_two() -> None:
    """20,000 answers on either table; the price stands, and that of a rarer batch is refuted."""
    rate = Batches(Sampling.POISSON, 1, 4)
    # Residuals of -1 at 0 give gradients of norm 1, the clip.
    three = np.tile([[1.0, -1.0]], (3, 1))
    query = BatchGradientSum(np.zeros(1), 1.0, loss=regression.SQUARED)

    def answers(rows: NDArray[np.float64], batches: Batches) -> NDArray[np.float64]:
        store, price, entropy = memory_store(rows), BatchPrice(BOUND, 30, batches), SystemEntropy()
        return np.array([answer_batch_gradient(query, price, store, entropy).value[0] for _ in range(20_000)])

    two = answers(three[:2], rate)
    assert audit(rate, lambda: answers(three, rate), two) < 0
    often = Batches(Sampling.POISSON, 1, 1)
    assert audit(Batches(Sampling.POISSON, 1, 16), lambda: answers(three, often), answers(three[:2], often)) > 0


def test_batches_are_for_private_fits_of_the_planned_table() -> None:
    store = memory_store(table(80))
    with pytest.raises(SettingError, match="without noise all records are read"):
        answer_batch_gradient(QUERY, price_of(Sampling.POISSON, 80), store, None)
    for sampling in (Sampling.WITHOUT_REPLACEMENT, Sampling.WITH_REPLACEMENT):
        with pytest.raises(SettingError, match="another number of records"):
            answer_batch_gradient(QUERY, price_of(sampling, 81), store, SystemEntropy())


def test_the_rate_of_the_event_is_that_of_the_draws() -> None:
    """T28: what is drawn and what is priced come from the same numbers."""
    batches = Batches(Sampling.POISSON, 5, 64)
    event: Any = batches.event(BOUND, 30, "")
    assert event.rate == Fraction(batches.numerator, 1 << 32) == Fraction(5, 64)
