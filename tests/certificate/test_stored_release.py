"""A release as plain data: back to the last bit, or refused."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import tacit
from tacit.certificate.stored_release import release_from_json, release_to_json, request_digest
from tacit.constraints.region import Box
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release, Sandwich
from tacit.design.feature_map import Custom
from tacit.errors import CertificateError, LedgerError
from tacit.inference.results import Results

PLAN = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), inference=True).plan(n=5000, d=2)


def released() -> Release:
    rng = np.random.default_rng(1)
    square = rng.normal(size=(3, 3))
    sandwich = Sandwich(
        curvature=square,
        score=np.array([[1.0, np.inf, 0.1], [np.nan, -0.0, 5e-324], [1 / 3, -np.inf, 1e308]]),
        to_user=np.eye(3),
        lifted=False,
        capped=True,
        step_noise=0.1,
        curvature_noise=float("inf"),
        score_noise=0.0,
        nuisance_error=rng.normal(size=3),
        privacy=square.T,
        step=rng.normal(size=3),
        visible=0.3,
        bias=1e-9,
        pilot_error=0.01,
        hidden_size=1.5,
        asymmetry=0.3,
    )
    return Release(PLAN, rng.normal(size=3), sandwich=sandwich, decrements=(0.1, float("inf")))


def test_words_of_a_step_are_those_of_the_stored_release() -> None:
    """A fit that is answered from the ledger says what it said at first."""
    kept = released().sandwich
    assert kept is not None
    sandwich = replace(
        kept,
        curvature=np.diag([0.01, 0.2, 0.25]),
        score=np.eye(3) / 5,
        curvature_noise=0.01,
        score_noise=0.01,
        capped=False,
        visible=0.05,
    )
    release = Release(PLAN, np.zeros(3), sandwich=sandwich)
    again = release_from_json(PLAN, json.loads(json.dumps(release_to_json(release))))
    assert Results(again).summary() == Results(release).summary()
    assert Results(again).coefficients.statements[0] == "withheld"


def test_every_number_comes_back_to_the_bit() -> None:
    release = released()
    document = json.loads(json.dumps(release_to_json(release), allow_nan=False))
    again = release_from_json(PLAN, document)
    assert release.sandwich is not None
    assert again.sandwich is not None
    for name, value in vars(release.sandwich).items():
        other = getattr(again.sandwich, name)
        assert type(other) is type(value)
        assert np.asarray(other).tobytes() == np.asarray(value).tobytes()
    assert again.theta.tobytes() == release.theta.tobytes()
    assert again.decrements == release.decrements
    assert again.plan == release.plan


@pytest.mark.parametrize(
    "change",
    [
        {"format": "tacit-release/9"},
        {"theta": "text"},
        {"theta": [[1.0], [1.0, 2.0]]},
        {"sandwich": {"curvature": [[1.0]]}},
        {"decrements": ["endless"]},
        {"more": 1},
    ],
)
def test_what_is_no_release_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        release_from_json(PLAN, {**release_to_json(released()), **change})


def test_requests_differ_where_plans_do() -> None:
    def plan(n: int = 5000, d: int = 2, **settings: Any) -> Plan:
        chosen = {"epsilon": 1.0, "bounds": (0, 1), "inference": True, **settings}
        return tacit.LogisticRegression(**chosen).plan(n=n, d=d)

    others = [
        plan(n=5001),
        plan(d=3),
        plan(epsilon=1.1),
        plan(delta=1e-7),
        plan(bounds=(0, 2)),
        plan(inference=False),
        plan(inference=False, l2=0.1),
        plan(relation="zero-out"),
        plan(inference=False, radius=3.0),
        PLAN.with_facts(PublicFact("classes", ["a", "b"], "declared")),
        replace(PLAN, unit="patient"),
    ]
    digests = {request_digest(other) for other in others}
    assert len(digests) == len(others)
    assert request_digest(PLAN) == request_digest(plan())
    assert request_digest(PLAN) not in digests


class Mirrored(Box):
    """A region of somebody's own; nothing in its fields says what it does."""

    def nearest(self, slopes: NDArray[np.float64]) -> NDArray[np.float64]:
        return -super().nearest(slopes)


@pytest.mark.parametrize(
    "settings", [{"feature_map": Custom(lambda row: row[:1], 1.0)}, {"constraint": Mirrored(0, 1)}]
)
def test_no_digest_stands_for_somebodys_own_code(settings: dict[str, Any]) -> None:
    chosen = {"epsilon": 1.0, "bounds": (0, 1), **settings}
    plan = tacit.LogisticRegression(**chosen).plan(n=5000, d=2)
    with pytest.raises(LedgerError, match="Nothing was spent"):
        request_digest(plan)


def test_a_box_is_told_from_one_that_differs_in_a_last_digit_or_a_middle_row() -> None:
    def digest(ends: Any) -> str:
        model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), constraint=Box(ends, 3.0))
        return request_digest(model.plan(n=5000, d=len(ends)))

    near = [digest(pd.Series([0.1234567891, number])) for number in (0.0, 1e-12)]
    far = [digest(pd.Series([0.0] * 50 + [number] + [0.0] * 49)) for number in (0.0, -3.0)]
    assert len({*near, *far}) == 4
