"""Feature maps: settings, names, norm bounds, storage."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.errors import CertificateError, SettingError


@pytest.mark.parametrize("feature_map", [Polynomial(3, True), RandomFourier(4, 0.5, 2**62)])
def test_json_round_trip(feature_map: FeatureMap) -> None:
    plain = json.loads(json.dumps(to_plain(feature_map)))
    assert from_plain(type(feature_map), plain, "a map") == feature_map


def test_a_custom_map_comes_back_without_its_function() -> None:
    plain = json.loads(json.dumps(to_plain(Custom(math.fsum, 2, 3))))
    assert plain == {"kind": "custom", "row_norm": 2.0, "features": 3, "label": "fsum"}
    assert from_plain(Custom, plain, "a map") == Custom(None, 2.0, 3, "fsum")


def test_another_kind_is_refused() -> None:
    with pytest.raises(CertificateError, match="another kind"):
        from_plain(Polynomial, {**to_plain(Polynomial(2)), "kind": "wavelet"}, "a map")


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        (Polynomial, {"degree": 0}, "degree"),
        (Polynomial, {"degree": 21}, "degree"),
        (Polynomial, {"degree": 2.0}, "degree"),
        (Polynomial, {"degree": True}, "degree"),
        (Polynomial, {"degree": 2, "interaction_only": 1}, "interaction_only"),
        (RandomFourier, {"count": 0}, "count"),
        (RandomFourier, {"count": 10**9}, "count"),
        (RandomFourier, {"count": 3, "scale": 0.0}, "scale"),
        (RandomFourier, {"count": 3, "scale": math.nan}, "scale"),
        (RandomFourier, {"count": 3, "scale": "1"}, "scale"),
        (RandomFourier, {"count": 3, "seed": -1}, "seed"),
        (RandomFourier, {"count": 3, "seed": 2**63}, "seed"),
        (RandomFourier, {"count": 3, "seed": None}, "seed"),
        (Custom, {"function": 3, "row_norm": 1.0}, "callable"),
        (Custom, {"function": abs, "row_norm": 0.0}, "row_norm"),
        (Custom, {"function": abs, "row_norm": math.inf}, "row_norm"),
        (Custom, {"function": abs, "row_norm": None}, "row_norm"),
        (Custom, {"function": abs, "row_norm": 1.0, "features": 0}, "features"),
        (Custom, {"function": abs, "row_norm": 1.0, "label": 3}, "label"),
    ],
)
def test_wrong_settings_are_refused(kind: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        kind(**settings)


def test_numpys_numbers_are_numbers() -> None:
    found = RandomFourier(np.int64(3), np.float32(0.5), np.uint8(7))  # type: ignore[arg-type]
    assert found == RandomFourier(3, 0.5, 7)
    assert [type(value) for value in (found.count, found.scale, found.seed)] == [int, float, int]


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_number_of_products_is_counted_without_listing_them(degree: int, interaction_only: bool) -> None:
    subject = Polynomial(degree, interaction_only)
    for width in (1, 2, 5):
        monomials = subject.monomials(width)
        assert len(monomials) == len(set(monomials)) == subject.outputs(width)
        assert len(list(subject.names([f"x{j}" for j in range(width)]))) == len(monomials)


@pytest.mark.parametrize("input_norm", [0.3, 1.0, 1.5, math.sqrt(3)])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_the_norm_bound_of_a_polynomial_holds(degree: int, input_norm: float) -> None:
    for interaction_only in (False, True):
        subject = Polynomial(degree, interaction_only)
        _, bound = subject.bounds(3, input_norm)
        for point in itertools.product(np.linspace(-1, 1, 9), repeat=3):
            u = np.array(point) * min(1.0, input_norm / max(math.hypot(*point), 1e-9))
            squares = [np.prod(u[list(m)]) ** 2 for m in subject.monomials(3)]
            assert math.sqrt(sum(squares)) <= bound * (1 + 1e-12)


def test_too_many_products_are_refused() -> None:
    with pytest.raises(SettingError, match="RandomFourier"):
        Polynomial(5).monomials(1000)


def test_a_custom_map_is_measured_on_a_public_row() -> None:
    seen: list[list[float]] = []

    def function(row: Any) -> Any:
        seen.append(row.tolist())
        return [*row, 1.0]

    public = np.array([0.5, 2.0])
    measured = Custom(function, 1.0).measured(public)
    assert (measured.features, seen) == (3, [[0.5, 2.0]])
    assert measured.measured(public) is measured
    assert measured.label is not None
    assert measured.label.endswith("function")


@pytest.mark.parametrize("function", [lambda row: row / "a", lambda _: 3.0, lambda _: [], lambda _: [[1.0]]])
def test_a_function_that_fails_on_a_public_row_is_refused(function: Any) -> None:
    with pytest.raises(SettingError, match="function"):
        Custom(function, 1.0).measured(np.zeros(2))


def test_a_custom_map_of_unknown_length_says_so() -> None:
    with pytest.raises(SettingError, match="features="):
        Custom(None, 1.0).outputs(3)
