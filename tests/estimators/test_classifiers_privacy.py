"""Pitfalls of whole fits: what a record may change, what is charged, what a model may hold."""

import gc
import types
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import LogisticRegression
from tacit.accounting.composition import compose
from tacit.contract.query import (
    KIND_OF,
    Answer,
    ColumnCounts,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Query,
    ResidualSize,
)
from tacit.contract.sensitivity import Price, event_of
from tacit.errors import BoundsError, DataError, SettingError
from tacit.mechanisms.query_responder import Responder

SEEDED: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 7}
ATTRIBUTES = {"n_features_in_", "release_", "plan_", "classes_", "intercept_", "coef_"}
"""All that a fitted model adds to its parameters."""


ROUTES: dict[str, dict[str, Any]] = {"whitened": {}, "plain": {"solver": "gradient"}, "intervals": {"inference": True}}
"""The ways to a fit; none may break a promise."""


def bits(model: LogisticRegression) -> bytes:
    return bytes(model.coef_.tobytes() + model.intercept_.tobytes())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("far", [1e6, -1e300, 11.0])
def test_t02_a_row_outside_the_bounds_equals_the_clipped_row(
    simulated: Any, fit_intercept: bool, route: str, far: float
) -> None:
    X, clipped = np.array(simulated.X), np.array(simulated.X)
    X[5, 1] = far
    clipped[5, 1] = np.clip(far, 0, 10)
    settings: dict[str, Any] = {**SEEDED, "fit_intercept": fit_intercept, **ROUTES[route]}
    fits = [LogisticRegression(**settings).fit(table, simulated.y) for table in (X, clipped)]
    assert bits(fits[0]) == bits(fits[1])


def test_t02_a_row_beyond_the_norm_equals_the_shrunken_row(simulated: Any) -> None:
    X, shrunk = np.array(simulated.X), np.array(simulated.X)
    X[9] = [3e8, 4e8, 0.0]
    shrunk[9] = [6.0, 8.0, 0.0]
    settings: dict[str, Any] = {"epsilon": 1.0, "row_norm": 10.0, "random_state": 0}
    fits = [LogisticRegression(**settings).fit(table, simulated.y) for table in (X, shrunk)]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-5)


@pytest.mark.parametrize("d", [1, 5, 50])
@pytest.mark.parametrize(
    ("route", "relation"),
    [
        (route, relation)
        for route in ROUTES
        for relation in ("replace-one", "zero-out", "add-remove")
        # Plain descent needs a public n.
        if (route, relation) != ("plain", "add-remove")
    ],
)
@pytest.mark.filterwarnings("ignore:Intervals will not")
def test_t03_the_charge_is_the_sum_over_all_answers(
    monkeypatch: pytest.MonkeyPatch, d: int, route: str, relation: str
) -> None:
    """Every answer that any mechanism gives during a fit is in the certificate, and no other."""
    charged: list[Fraction] = []
    answer = Responder.answer
    model = LogisticRegression(
        epsilon=1.0, bounds=(0, 1), relation=relation, n_at_least=600, max_passes=40, **ROUTES[route]
    )

    def spy(self: Responder, query: Query, price: Price) -> Answer:
        size = getattr(query, "size", 1)
        event = event_of(KIND_OF[type(query)], price, model.plan(600, d).relation, size)
        charged.append(Fraction(event.mu_squared))
        return answer(self, query, price)

    monkeypatch.setattr(Responder, "answer", spy)
    rng = np.random.default_rng(d)
    model.fit(rng.uniform(size=(600, d)), rng.integers(0, 2, 600))
    total = sum(charged, Fraction(0))
    assert total == compose(model.plan_.events()).mu_squared
    assert total == Fraction(model.certificate_.document["total"]["mu_squared"])
    assert len(charged) == model.plan_.queries
    assert model.plan_.guarantee().epsilon <= 1.0


def test_t13_two_fits_never_share_their_noise(simulated: Any) -> None:
    settings: dict[str, Any] = {**SEEDED, "random_state": None}
    fits = [LogisticRegression(**settings).fit(simulated.X, simulated.y) for _ in range(3)]
    assert len({bits(model) for model in fits}) == 3


def test_t15_a_seed_marks_the_result_not_private(simulated: Any) -> None:
    seeded = LogisticRegression(**SEEDED).fit(simulated.X, simulated.y)
    again = LogisticRegression(**SEEDED).fit(simulated.X, simulated.y)
    assert bits(seeded) == bits(again)
    assert not seeded.release_.private
    assert not seeded.certificate_.private
    assert "seed" in seeded.certificate_.document["why_not_private"]
    free = LogisticRegression(**{**SEEDED, "random_state": None}).fit(simulated.X, simulated.y)
    assert free.certificate_.private
    assert free.certificate_.document["why_not_private"] is None
    open_fit = LogisticRegression(epsilon=np.inf, bounds=(0, 10)).fit(simulated.X, simulated.y)
    assert not open_fit.certificate_.private


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("n", [2, 3, 63, 64, 65, 1999, 2000])
@pytest.mark.filterwarnings("ignore:The budget is small", "ignore:There are more coef", "ignore:Intervals will not")
@pytest.mark.filterwarnings("ignore:Only the level")
def test_t08_t20_the_order_of_the_records_changes_no_bit(simulated: Any, route: str, n: int) -> None:
    order = np.random.default_rng(n).permutation(n)
    settings: dict[str, Any] = {**SEEDED, **ROUTES[route], "classes": [0, 1]}
    straight = LogisticRegression(**settings).fit(simulated.X[:n], simulated.y[:n])
    mixed = LogisticRegression(**settings).fit(simulated.X[:n][order], simulated.y[:n][order])
    assert bits(straight) == bits(mixed)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("block_bytes", [1, 1 << 15])
def test_t20_threads_and_blocks_change_no_bit(
    monkeypatch: pytest.MonkeyPatch, simulated: Any, threads: str, block_bytes: int
) -> None:
    expected = LogisticRegression(**SEEDED).fit(simulated.X, simulated.y)
    monkeypatch.setenv("TACIT_THREADS", threads)
    monkeypatch.setattr("tacit.rows.storage.store.BLOCK_BYTES", block_bytes)
    assert bits(LogisticRegression(**SEEDED).fit(simulated.X, simulated.y)) == bits(expected)


def test_t36_missing_bounds_are_an_error_for_any_table(simulated: Any) -> None:
    for X in (simulated.X, simulated.X / 10, simulated.X * 0):
        with pytest.raises(BoundsError, match="never read off the data"):
            LogisticRegression(epsilon=1.0).fit(X, simulated.y)


def test_t37_classes_are_declared_or_listed_as_assumed(simulated: Any) -> None:
    for classes, source in ((None, "assumed"), ([0, 1], "declared")):
        model = LogisticRegression(**SEEDED, classes=classes).fit(simulated.X, simulated.y)
        facts = {fact["name"]: fact for fact in model.certificate_.document["public"]}
        assert facts["classes"]["source"] == source
        assert facts["bounds"]["source"] == "declared"
        assert facts["columns"]["source"] == "assumed"


class Canned:
    """Answers that do not depend on any record."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def answer(self, query: Query, price: Price) -> Answer:
        del price
        if isinstance(query, GradientSum):
            return Answer(self.rng.normal(size=len(query.theta)), 1.0)
        if isinstance(query, ColumnCounts | ResidualSize | GradientNorm):
            return Answer(self.rng.uniform(size=getattr(query, "size", 1)), 1.0)
        if isinstance(query, CurvatureAndScore):
            return Answer(np.stack([np.diag(self.rng.uniform(50, 60, size=4))] * 2), 1.0)
        return Answer(np.diag(self.rng.uniform(50, 60, size=4)), 1.0)


@pytest.mark.parametrize("route", ROUTES)
def test_t38_a_model_is_a_function_of_the_answers_and_public_facts(
    monkeypatch: pytest.MonkeyPatch, simulated: Any, route: str
) -> None:
    """With the answers held fixed, two tables that share no record give the same model."""
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "classes": [0, 1], **ROUTES[route]}
    models = []
    for X, y in ((simulated.X, simulated.y), (np.full((2000, 3), 1e9), np.ones(2000))):
        canned = Canned()
        monkeypatch.setattr(Responder, "answer", canned.answer)
        models.append(LogisticRegression(**settings).fit(X, y))
    first, second = models
    assert bits(first) == bits(second)
    assert first.certificate_.text == second.certificate_.text
    assert str(first.plan_) == str(second.plan_)
    assert first.plan_ == second.plan_


def reachable(root: object) -> Iterator[object]:
    """Everything that can be reached from an object, but for classes, code and modules."""
    skipped = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, skipped):
            continue
        seen.add(id(item))
        yield item
        waiting.extend(gc.get_referents(item))
        base = getattr(item, "base", None)
        if isinstance(item, np.ndarray) and base is not None:
            waiting.append(base)


def test_t38_t41_a_fitted_model_holds_no_record(simulated: Any) -> None:
    model = LogisticRegression(epsilon=1.0, bounds=(0, 10)).fit(simulated.X, simulated.y)
    assert set(vars(model)) - set(model.get_params()) == ATTRIBUTES
    n = len(simulated.X)
    found = list(reachable(vars(model)))
    assert any(item is model.coef_ for item in found)
    for item in found:
        if isinstance(item, np.ndarray):
            assert item.size < n // 10
        elif isinstance(item, bytes | list | tuple | dict | set):
            assert len(item) < n // 10


def degenerate() -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    rng = np.random.default_rng(0)
    n = 500
    X, y = rng.uniform(0, 10, (n, 3)), rng.integers(0, 2, n)
    twin = np.column_stack([X[:, 0], X[:, 0], X[:, 0]])
    return {
        "zero rows": (np.zeros((n, 3)), y),
        "constant columns": (np.full((n, 3), 10.0), y),
        "one constant column": (np.column_stack([X[:, :2], np.full(n, 5.0)]), y),
        "collinear": (twin, y),
        "one class": (X, np.zeros(n, dtype=int)),
        "other class": (X, np.ones(n, dtype=int)),
        "separable": (X, (X[:, 0] > 5).astype(int)),
        "far outside": (X * 1e200, y),
        "subnormal": (X * 5e-324, y),
        "all invalid": (np.full((n, 3), np.nan), y),
        "all labels unknown": (X, np.full(n, 9)),
        "two records": (X[:2], y[:2]),
    }


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", degenerate())
@pytest.mark.filterwarnings("ignore:The budget is small", "ignore:There are more coef", "ignore:Intervals will not")
def test_t40_degenerate_tables_have_outputs_of_the_same_shape(case: str, route: str) -> None:
    """Also with the system's noise: nothing that a table holds can make a fit fail."""
    X, y = degenerate()[case]
    for epsilon in (0.01, 100.0):
        model = LogisticRegression(
            epsilon=epsilon, bounds=(0, 10), classes=[0, 1], **ROUTES[route], invalid_rows="zero", max_passes=40
        ).fit(X, y)
        assert model.coef_.shape == (1, 3)
        assert model.intercept_.shape == (1,)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        assert model.certificate_.private
        if route == "intervals" and len(X) * (model.plan_.guarantee().mu or 0.0) < 25 * 4:
            with pytest.raises(SettingError, match="not offered"):
                model.conf_int()
        elif route == "intervals":
            intervals = model.conf_int().to_numpy()
            assert intervals.shape == (4, 2)
            assert (intervals[:, 0] < intervals[:, 1]).all()


def test_t40_invalid_rows_contribute_nothing(simulated: Any) -> None:
    """A record with a missing value moves the fit like a record of zeros, whatever else it held."""
    X, other = np.array(simulated.X), np.array(simulated.X)
    X[3], other[3] = [np.nan, 1.0, 2.0], [9.0, np.inf, np.nan]
    settings: dict[str, Any] = {**SEEDED, "invalid_rows": "zero"}
    first = LogisticRegression(**settings).fit(X, simulated.y)
    assert bits(first) == bits(LogisticRegression(**settings).fit(other, 1 * simulated.y))


def test_t29_t38_under_add_remove_the_number_of_records_leaves_no_trace(simulated: Any) -> None:
    """With n private, a table with one record more has the same plan and the same facts."""
    settings: dict[str, Any] = {**SEEDED, "relation": "add-remove", "n_at_least": 1000}
    more = LogisticRegression(**settings).fit(simulated.X, simulated.y)
    fewer = LogisticRegression(**settings).fit(simulated.X[:-1], simulated.y[:-1])
    # The number of records is known by a noised count alone, which was paid for.
    assert replace(more.plan_, total=None) == replace(fewer.plan_, total=None)
    first, second = more.certificate_.document, fewer.certificate_.document
    # Only the fingerprint of the released numbers, and with it the digest, tells the two apart.
    assert {key for key in first if first[key] != second[key]} <= {"digest", "released"}
    assert bits(more) != bits(fewer)


def test_t29_under_add_remove_no_refusal_tells_of_the_number_of_records() -> None:
    model = LogisticRegression(epsilon=1.0, bounds=(0, 1), relation="add-remove", n_at_least=10)
    said = set()
    for count in range(4):
        with pytest.raises(DataError) as caught:
            model.fit(np.zeros((count, 1)), np.zeros(count, dtype=int))
        said.add(str(caught.value))
    assert len(said) == 1
