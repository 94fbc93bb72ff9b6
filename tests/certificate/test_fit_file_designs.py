"""Stored designs of formulas and feature maps: kept to the bit, refused where contradictory."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.fit_file import StoredFit
from tacit.certificate.stated_parts import fingerprint_of
from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.sensitivity import price_for
from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Between, Indicator, LabelCell, Missing, NumericCell, Power, Spline, Transform
from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.design.response import Binary
from tacit.documents.canonical_json import canonical, digest_of
from tacit.errors import CertificateError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.gradient import Gradient
from tacit.solvers.noisy_steps import Descent

BINARY = Binary("y", ("no", "yes"))
COMPUTED = Design(
    (
        Column("a", (Power("age", 2), Indicator("ward", "b")), 0, 12100, 0, 12100),
        Column("b", (Transform("age", "log1p"), Missing("age")), 0, 5, 0, 5),
        Column("c", (Spline("age", (0.0, 30.0, 110.0), 3, 2),), 0, 1, 0, 1),
        Column("d", (Between("age", -math.inf, 30.0),), 0, 1, 0, 1),
    ),
    BINARY,
    2,
    levels={"ward": ("a", "b")},
    cells={"age": NumericCell(0.0, 110.0, 40.0), "ward": LabelCell(None, "a")},
)
MAPS: dict[str, FeatureMap] = {
    "polynomial": Polynomial(2, interaction_only=True),
    "fourier": RandomFourier(3, 0.5, 7),
    "custom": Custom(np.tanh, 2.0, 2),
}
MAPPED = {
    name: matrix_design(["a", "b"], BINARY, bounds=(0, 1), row_norm=None, intercept=True, feature_map=made)
    for name, made in MAPS.items()
}


def make_release(design: Design, epsilon: float = 1.0) -> Release:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    relation = Relation.ADD_REMOVE
    share = mu_squared_of(budget) / 5
    price = price_for(QueryKind.GRADIENT, share, relation, records=100, width=design.width)
    plan = Plan(
        solver=Gradient(Descent(20, 1.0, 0.0, None, "average")),
        loss=classification.LOGISTIC,
        design=design,
        records=100,
        relation=relation,
        unit="row",
        budget=budget,
        steps=(Step(QueryKind.GRADIENT, price, 5, Purpose.DESCENT),),
        penalty=Penalty(),
        forecast=None,
    )
    return Release(plan, np.linspace(-1.0, 2.0, design.width) / 3)


def forged(document: dict[str, Any]) -> str:
    """What a forger writes who recomputes every digest, as he can where nothing is signed."""
    certificate = {**document["certificate"]}
    if certificate:
        parts = set(document) - {"format", "certificate", "digest"}
        certificate["released"] = fingerprint_of({name: document[name] for name in parts})
        certificate["digest"] = digest_of(certificate)
    document = {**document, "certificate": certificate}
    return canonical({**document, "digest": digest_of(document)})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def with_place(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(document))
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    "design", [COMPUTED, MAPPED["polynomial"], MAPPED["fourier"]], ids=["computed", "polynomial", "fourier"]
)
def test_a_round_trip_keeps_every_bit(design: Design) -> None:
    fit = StoredFit.from_release(make_release(design))
    again = StoredFit.from_json(fit.to_json())
    assert again == fit
    assert again.design == design


def is_harmless(path: tuple[Any, ...], value: Any) -> bool:
    """Whether a value may stand at a place without contradicting anything else in the fit."""
    if path[-1] in {"missing", "other"}:
        return value is None
    if path[-1] == "label":
        return isinstance(value, str)
    return path[-1] in {"intercept", "interaction_only"} and value is True


@pytest.mark.parametrize("design", [COMPUTED, *MAPPED.values()], ids=["computed", *MAPPED])
def test_every_misplaced_type_is_found_though_the_digest_fits(design: Design) -> None:
    document = StoredFit.from_release(make_release(design)).document
    values: list[Any] = [None, True, [], "1.0"]
    for path in places({"design": document["design"]}):
        if "response" in path or "levels" in path or "beside" in path:
            continue
        for value in values:
            changed = with_place(document, path, value)
            if is_harmless(path, value) or canonical(changed) == canonical(document):
                continue
            with pytest.raises(CertificateError):
                StoredFit.from_json(forged(changed))


def test_a_custom_map_is_kept_by_its_name_alone() -> None:
    fit = StoredFit.from_release(make_release(MAPPED["custom"]))
    again = StoredFit.from_json(fit.to_json())
    assert again == fit
    assert again.design.feature_map == Custom(None, 2.0, 2, "tanh")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("columns", 0, "factors", 0, "kind"), "root"),
        (("columns", 0, "factors", 0, "exponent"), 1),
        (("columns", 0, "factors", 0, "exponent"), 21),
        (("columns", 0, "factors", 0, "column"), "weight"),
        (("columns", 1, "factors", 0, "function"), "log"),
        (("columns", 1, "factors", 0, "function"), "sin"),
        (("columns", 2, "factors", 0, "knots"), [0.0, 110.0, 30.0]),
        (("columns", 2, "factors", 0, "knots"), [0.0, 30.0, 100.0]),
        (("columns", 2, "factors", 0, "index"), 5),
        (("columns", 2, "factors", 0, "degree"), 0),
        (("columns", 3, "factors", 0, "high"), "-inf"),
        (("cells", "age", "missing"), 111.0),
        (("cells", "age", "missing"), None),
        (("cells", "age", "lower"), 200.0),
        (("cells", "ward", "other"), "z"),
        (("cells", "age"), {"missing": None, "other": None}),
        (("input_norm",), 1.0),
        (("feature_map",), {"kind": "polynomial", "degree": 2, "interaction_only": False}),
    ],
)
def test_a_design_that_contradicts_itself_is_refused(path: tuple[Any, ...], value: Any) -> None:
    document = StoredFit.from_release(make_release(COMPUTED)).document
    with pytest.raises(CertificateError):
        StoredFit.from_json(forged(with_place(document, ("design", *path), value)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("inputs",), []),
        (("inputs", 0, "factors"), []),
        (("inputs", 0, "scale"), 0.0),
        (("input_norm",), -1.0),
        (("feature_map", "degree"), 1),
        (("feature_map", "kind"), "quadratic"),
        (("feature_map",), None),
        (("columns", 0, "factors"), [{"kind": "numeric", "column": "a"}]),
    ],
)
def test_a_mapped_design_that_contradicts_itself_is_refused(path: tuple[Any, ...], value: Any) -> None:
    document = StoredFit.from_release(make_release(MAPPED["polynomial"])).document
    with pytest.raises(CertificateError):
        StoredFit.from_json(forged(with_place(document, ("design", *path), value)))
