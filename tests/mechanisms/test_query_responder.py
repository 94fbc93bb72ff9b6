"""The responder: coordinates, shapes, fresh noise, and closing."""

import numpy as np
import pytest

from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import KIND_OF, ColumnCounts, GradientSum, Query, ResidualSize, SecondMoments, Weights
from tacit.contract.sensitivity import Price
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import DataError, SettingError
from tacit.mechanisms.grouped_responder import GROUPED_MECHANISMS
from tacit.mechanisms.query_responder import MECHANISMS, Responder
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.record_store import MemoryStore
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(13)
PRICE = Price(2**36, 0)


def store() -> MemoryStore:
    values = RNG.uniform(-1, 1, (150, 4))
    values[:, 3] = RNG.random(150) < 0.5
    return memory_store(values)


def test_gradient_in_other_coordinates_is_the_gradient_of_the_mapped_rows() -> None:
    rows = store()
    matrix, theta = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    with Responder(rows, private=False, seed=None) as responder:
        plain = responder.answer(GradientSum(matrix @ theta, 100.0), PRICE).value
        mapped = responder.answer(GradientSum(theta, 100.0, matrix), PRICE).value
        again = responder.answer(GradientSum(theta, 100.0, matrix), PRICE).value
    np.testing.assert_allclose(mapped, matrix.T @ plain, atol=1e-6)
    assert (mapped == again).all()


@pytest.mark.parametrize(
    "query",
    [
        GradientSum(np.zeros(2), 1.0),
        GradientSum(np.zeros(3), 1.0, np.eye(2)),
        SecondMoments(1.0, np.eye(4)),
        SecondMoments(1.0, None, np.zeros(5), Weights.CURVATURE),
    ],
)
def test_queries_of_another_width_are_refused(query: Query) -> None:
    responder = Responder(store(), private=True, seed=None)
    with responder, pytest.raises(SettingError):
        responder.answer(query, Price(2**20, 20))


def test_t14_noise_is_fresh_in_every_answer() -> None:
    with Responder(store(), private=True, seed=7) as responder:
        query = GradientSum(np.zeros(3), 1.0)
        answers = [responder.answer(query, Price(2**20, 30)).value for _ in range(50)]
    assert len({value for answer in answers for value in answer.tolist()}) == 150


def test_t15_only_a_seed_repeats() -> None:
    query = GradientSum(np.zeros(3), 1.0)
    rows = store()

    def first(seed: int | None) -> list[float]:
        responder = Responder(rows, private=True, seed=seed)
        return responder.answer(query, Price(2**20, 40)).value.tolist()  # type: ignore[no-any-return]

    assert first(3) == first(3)
    assert first(None) != first(None)


def test_rows_are_given_up_on_leaving() -> None:
    rows = store()
    with Responder(rows, private=False, seed=None):
        pass
    with pytest.raises(DataError):
        rows.block(0)


def test_every_query_has_a_mechanism() -> None:
    assert set(MECHANISMS).isdisjoint(GROUPED_MECHANISMS)
    # Examples of a network have a responder of their own.
    assert {*MECHANISMS, *GROUPED_MECHANISMS, NetworkGradient} == set(KIND_OF)


def test_residuals_are_those_of_the_working_coordinates_and_settle_them() -> None:
    rows = store()
    matrix, theta = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    with Responder(rows, private=False, seed=None) as responder:
        plain = responder.answer(ResidualSize(matrix @ theta, 2.0), PRICE).value
        mapped = responder.answer(ResidualSize(theta, 2.0, matrix), PRICE).value
        np.testing.assert_allclose(mapped, plain, atol=1e-6)
        with pytest.raises(SettingError, match="settled"):
            responder.answer(ResidualSize(theta, 2.0), PRICE)
        with pytest.raises(SettingError, match="entries"):
            responder.answer(ResidualSize(np.zeros(2), 2.0), PRICE)


def test_columns_are_counted_before_coordinates_are_settled() -> None:
    query = ColumnCounts((0, 3), np.zeros(2), np.ones(2))
    with Responder(store(), private=False, seed=None) as responder:
        assert (responder.answer(query, PRICE).value > 0).all()
        responder.answer(GradientSum(np.zeros(3), 1.0, np.eye(3)), PRICE)
        with pytest.raises(SettingError, match="settled"):
            responder.answer(query, PRICE)


def test_records_without_bounds_answer_counts_alone_until_they_are_prepared() -> None:
    X, y = RNG.normal(50, 9, (150, 2)), RNG.integers(0, 2, 150)
    design = matrix_design(["x0", "x1"], Binary("y", (0, 1)), bounds="private", row_norm=None, intercept=True)
    found = matrix_design(["x0", "x1"], Binary("y", (0, 1)), bounds=(20, 80), row_norm=None, intercept=True)
    counts = ColumnCounts((0,), np.array([45.0]), np.array([50.0]))
    gradient = GradientSum(np.zeros(3), 10.0)
    with Responder(admit(open_source(X, y), design), private=False, seed=None) as responder:
        inside = ((X[:, 0] > 45) & (X[:, 0] <= 50)).sum()
        assert responder.answer(counts, PRICE).value.tolist() == [inside]
        for query in (gradient, SecondMoments(1.0), ResidualSize(np.zeros(3), 1.0)):
            with pytest.raises(SettingError, match="bounds"):
                responder.answer(query, PRICE)
        responder.prepare_with(found)
        value = responder.answer(gradient, PRICE).value
    prepared = admit(open_source(X, y), found, dtype=np.float64)
    with Responder(prepared, private=False, seed=None) as direct:
        assert (direct.answer(gradient, PRICE).value == value).all()
        with pytest.raises(SettingError, match="own design"):
            direct.prepare_with(found)
