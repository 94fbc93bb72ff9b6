"""A design that was read from a file contradicts itself in no part."""

import math
from dataclasses import replace
from typing import Any

import pytest

from tacit.certificate.fit_file import require_design
from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Indicator, LabelCell, Numeric, NumericCell, Power
from tacit.design.feature_map import Custom, Polynomial
from tacit.design.response import Binary
from tacit.errors import CertificateError, SchemaError

BINARY = Binary("y", ("no", "yes"))
DESIGN = Design(
    (
        Column("age^2", (Power("age", 2),), 0.0, 100.0, 0.0, 100.0),
        Column("ward", (Indicator("ward", "b"),), 0.0, 1.0, 0.0, 1.0),
    ),
    BINARY,
    math.sqrt(2),
    levels={"ward": ("a", "b")},
    cells={"age": NumericCell(0.0, 10.0), "ward": LabelCell("a")},
)
FIRST, SECOND = DESIGN.columns
MAPPED = matrix_design(["a", "b"], BINARY, bounds=(0, 1), row_norm=None, intercept=True, feature_map=Polynomial(2))


@pytest.mark.parametrize("design", [DESIGN, MAPPED])
def test_a_sound_design_passes(design: Design) -> None:
    require_design(design)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"response": Binary("y", ("a", "a"))}, "not distinct"),
        ({"response": Binary("y", (math.nan, 1.0))}, "not distinct"),
        ({"response": Binary("y", (math.inf, 1.0))}, "finite number"),
        ({"response": Binary("y", ((), 1.0))}, "neither text"),
        ({"columns": (FIRST, FIRST)}, "share a name"),
        ({"feature_norm": 0.0}, "feature_norm"),
        ({"feature_norm": math.inf}, "feature_norm"),
        ({"levels": {"ward": ()}}, "no levels"),
        ({"levels": {"ward": ("b", "b")}}, "twice"),
        ({"levels": {"ward": ("a", "c")}}, "undeclared level"),
        ({"cells": {**DESIGN.cells, "ward": LabelCell(other="z")}}, "undeclared level"),
        ({"columns": (replace(FIRST, upper=0.0), SECOND)}, "usable bounds"),
        ({"columns": (replace(FIRST, scale=0.0), SECOND)}, "usable bounds"),
        ({"columns": (replace(FIRST, center=math.nan), SECOND)}, "usable bounds"),
        ({"columns": (replace(FIRST, factors=()), SECOND)}, "no factors"),
        ({"inputs": (FIRST,)}, "no feature map"),
        ({"input_norm": 1.0}, "no feature map"),
    ],
)
def test_a_contradiction_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        require_design(replace(DESIGN, **change))


@pytest.mark.parametrize(
    ("change", "words"), [({"levels": {}}, "levels of ward"), ({"cells": {"ward": LabelCell()}}, "bounds of age")]
)
def test_what_is_not_declared_makes_no_design(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        replace(DESIGN, **change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": ()}, "no inputs"),
        ({"inputs": (replace(MAPPED.inputs[0], factors=()),)}, "no inputs"),
        ({"feature_map": Polynomial(3)}, "not those of its feature map"),
        ({"feature_map": Custom(None, 1.0, 5)}, "not those of its feature map"),
        ({"columns": MAPPED.columns[:-1]}, "not those of its feature map"),
        ({"columns": (replace(MAPPED.columns[0], factors=(Numeric("a"),)),)}, "feature map"),
        ({"input_norm": None}, "norm of the inputs"),
        ({"input_norm": -1.0}, "norm of the inputs"),
    ],
)
def test_a_map_and_its_columns_fit_together(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        require_design(replace(MAPPED, **change))
