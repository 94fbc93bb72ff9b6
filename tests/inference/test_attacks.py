"""Attacks on fits with intervals, kept as tests: they cost what the plan says, and show no more."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import tacit
from tacit.accounting.composition import compose
from tacit.constraints.proximal import RidgePenalty
from tacit.contract.query import KIND_OF, Answer, GradientNorm, GradientSum, Query, QueryKind, SecondMoments, Weights
from tacit.contract.release import Release
from tacit.contract.sensitivity import Price, event_of, price_for, squared_sensitivity
from tacit.documents.canonical_json import digest_of
from tacit.documents.signature import new_key, sign
from tacit.errors import CertificateError
from tacit.inference.results import Results
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.moments import answer_second_moments, integer_second_moments
from tacit.mechanisms.query_responder import Responder
from tacit.noise.entropy import SystemEntropy
from tacit.privacy.relation import Relation
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import ONE_STEP
from tacit.solvers.last_step import Pilot, take_step
from tests.rows.memory_stores import memory_store

# --- to be mended -------------------------------------------------------------------------------


def test_a_heavy_penalty_has_its_proximal_step() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        matrix, prior = rng.normal(size=(2, 3)), rng.normal(size=2)
        found = RidgePenalty(1e30, matrix, prior).proximal(rng.normal(size=3), 3.0)
        assert np.allclose(matrix @ found, prior)


class Steep:
    """A gate whose gradient asks for a step far beyond the cap."""

    def ask(self, query: Query) -> Answer:
        if isinstance(query, GradientSum):
            return Answer(np.full(4, 1e5), 1e-3)
        if isinstance(query, GradientNorm):
            return Answer(np.zeros(1), 1.0)
        return Answer(1e4 * np.stack([np.eye(4), np.eye(4)]), 1e-3)


@pytest.mark.parametrize(("epsilon", "steps"), [(1.0, 1), (5.0, 2)])
def test_a_step_that_was_cut_short_is_not_called_nominal(epsilon: float, steps: int) -> None:
    model = tacit.LogisticRegression(epsilon=epsilon, delta=1e-6, bounds=(-1, 1), inference=True)
    plan = model.plan(10_000, 3)
    pilot = Pilot(np.zeros(4), np.zeros(4), plan.loss, share=0.5)
    theta, sandwich = take_step(Steep(), plan, Coordinates(None, 4.0), pilot, 2.0, None)
    # A last step that is too long is not gone; the one before it is.
    assert np.linalg.norm(theta) == pytest.approx((steps - 1) * ONE_STEP.longest)
    judged = Results(Release(plan, theta, sandwich=sandwich))
    assert set(judged.coefficients.statements) == {"withheld"}
    assert "too long and was cut" in judged.summary().notes[0]


def test_a_signature_vouches_for_the_intervals_as_well(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = pa.table({"a": rng.uniform(-1, 1, 2000), "y": rng.integers(0, 2, 2000)})
    schema = tacit.Schema.parse('[columns.a]\ntype = "numeric"\nlower = -1\nupper = 1\n[columns.y]\ntype = "binary"\n')
    fit = tacit.glm("y ~ a", data, schema, epsilon=1.0)
    public = new_key(tmp_path / "key")
    stored = replace(fit.stored, certificate=sign(fit.certificate, tmp_path / "key"))
    document: dict[str, Any] = json.loads(stored.to_json())
    document["terms"][1] |= {"std_err": 1e-9, "lower": document["terms"][1]["coef"]}
    document["digest"] = digest_of(document)
    (tmp_path / "fit.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CertificateError):
        tacit.load(tmp_path / "fit.json").certificate.check(public)


# --- attacks that failed ------------------------------------------------------------------------


def weighted(name: str, theta: Any, bound: float = 1.0, matrix: Any = None) -> Query:
    at = np.asarray(theta, dtype=float)
    if name == "gradient":
        return GradientSum(at, bound, matrix, downweighted=True)
    return SecondMoments(bound, matrix, at, Weights(name))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", ["gradient", "curvature", "score"])
def test_neighbours_move_weighted_sums_by_no_more_than_is_paid_for(name: str, relation: Relation) -> None:
    rng = np.random.default_rng(5)
    kind = QueryKind.GRADIENT if name == "gradient" else QueryKind.SECOND_MOMENTS
    for _ in range(150):
        width = int(rng.choice([1, 2, 3, 8]))
        rows = rng.normal(size=(5, width)) * 10.0 ** rng.uniform(-12, 12, (5, 1))
        shared = np.column_stack([rows, rng.integers(0, 2, 5)]).astype(np.float32)
        other = {
            Relation.REPLACE_ONE: np.vstack([shared[:4], shared[:1] * np.float32(-3.0)]),
            Relation.ZERO_OUT: np.vstack([shared[:4], 0 * shared[:1]]),
            Relation.ADD_REMOVE: shared[:4],
        }[relation]
        query = weighted(name, rng.normal(size=width) * 10.0 ** rng.uniform(-3, 9))
        cost = Fraction(int(rng.integers(1, 10**4)), 10**4)
        price = price_for(kind, cost, relation, records=5, width=width)
        total: Any = integer_gradient_sum if kind is QueryKind.GRADIENT else integer_second_moments
        stores = [memory_store(table) for table in (shared, other)]
        change = total(query, price.bound, stores[0]) - total(query, price.bound, stores[1])
        moved = sum(int(entry) ** 2 for entry in change.ravel())
        assert moved <= squared_sensitivity(kind, price.bound, relation)


# Steep margins make slopes of 1, margin 0 the largest curvature, norm 1 the largest weight.
WORST = [
    ("gradient", [1e6, 0, 0], Relation.REPLACE_ONE, [1e-3, 1, 0, 0], [1e-3, -1, 0, 0]),
    ("gradient", [60, 0, 0], Relation.ZERO_OUT, [1, 0, 0, 0], [0, 0, 0, 0]),
    ("gradient", [60, 0, 0], Relation.ADD_REMOVE, [1, 0, 0, 0], None),
    ("curvature", [0, 0, 0], Relation.REPLACE_ONE, [5, 0, 0, 0], [0, 5, 0, 0]),
    ("curvature", [0, 0, 0], Relation.ADD_REMOVE, [5, 5, 0, 0], None),
    ("score", [60, 60, 0], Relation.REPLACE_ONE, [1, 0, 0, 0], [0, 1, 0, 0]),
    ("score", [60, 60, 0], Relation.ADD_REMOVE, [1, 0, 0, 0], None),
]


@pytest.mark.parametrize(("name", "theta", "relation", "one", "other"), WORST)
def test_worst_pairs_of_weighted_sums_show_the_mu_that_is_paid_for(
    name: str, theta: list[float], relation: Relation, one: list[float], other: list[float] | None
) -> None:
    draws = 4000
    kind = QueryKind.GRADIENT if name == "gradient" else QueryKind.SECOND_MOMENTS
    price = price_for(kind, Fraction(1), relation, records=1000, width=3)
    answer: Any = answer_gradient if kind is QueryKind.GRADIENT else answer_second_moments
    query = weighted(name, theta)
    shared = [[0.3, 0.1, 1.0, 0.0], [-0.2, 0.5, 1.0, 1.0]]
    stores = [memory_store(np.array([*shared, *([row] if row else [])], dtype=float)) for row in (one, other)]
    exact = [answer(query, price, store, None).value for store in stores]
    samples = [
        np.array(
            [np.vdot(answer(query, price, store, SystemEntropy()).value, exact[0] - exact[1]) for _ in range(draws)]
        )
        for store in stores
    ]
    spread = math.sqrt((samples[0].var() + samples[1].var()) / 2)
    measured = (samples[0].mean() - samples[1].mean()) / spread
    claimed = math.sqrt(event_of(kind, price, relation).mu_squared)
    assert abs(measured - claimed) < 5 * math.sqrt(2 / draws)


def records(seed: int, n: int, scale: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, 3)) * scale, rng.integers(0, 2, n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("relation", "settings", "length"),
    [("replace-one", {}, 500), ("zero-out", {}, 500), ("add-remove", {"n_at_least": 300}, 777)],
)
def test_a_fit_with_intervals_is_a_function_of_the_answers_it_paid_for(
    monkeypatch: pytest.MonkeyPatch, relation: str, settings: dict[str, Any], length: int
) -> None:
    """The same answers over other records give the same release, to the last bit."""
    real = Responder.answer
    asked: list[tuple[Query, Price, Answer]] = []

    def keep(self: Responder, query: Query, price: Price) -> Answer:
        asked.append((query, price, real(self, query, price)))
        return asked[-1][2]

    def fit(seed: int, n: int, scale: float) -> tacit.LogisticRegression:
        model = tacit.LogisticRegression(
            epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1), relation=relation,
            inference=True, **settings,
        )  # fmt: skip
        return model.fit(*records(seed, n, scale))

    monkeypatch.setattr(Responder, "answer", keep)
    first = fit(1, 500, 1.0)
    paid = compose(first.plan_.events()).mu_squared
    spent = [
        event_of(KIND_OF[type(query)], price, first.plan_.relation, getattr(query, "size", 1))
        for query, price, _ in asked
    ]
    assert compose(spent).mu_squared == paid
    replies = iter([answer for _, _, answer in asked])
    monkeypatch.setattr(Responder, "answer", lambda *_: next(replies))
    again = fit(2, length, 0.01)
    assert again.certificate_.text == first.certificate_.text
    assert str(again.summary()) == str(first.summary())
    assert np.array_equal(again.conf_int(), first.conf_int())
    one, other = first.release_.sandwich, again.release_.sandwich
    assert one is not None
    assert other is not None
    for name in one.__dataclass_fields__:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
