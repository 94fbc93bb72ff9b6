"""Dataclasses as plain data: every type round-trips, and anything else is refused."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.documents.dataclass_json import NOT_STORED, OMITTED, from_plain, stored_as, to_plain
from tacit.errors import CertificateError


@dataclass(frozen=True)
class Circle:
    radius: float
    kind: ClassVar[str] = "circle"


@dataclass(frozen=True)
class Square:
    side: float
    kind: ClassVar[str] = "square"


@dataclass(frozen=True)
class Low:
    low: float | None


@dataclass(frozen=True)
class High:
    high: float | None


@dataclass(frozen=True)
class Whole:
    name: str
    count: int
    flag: bool
    shapes: tuple[Circle | Square, ...]
    ends: Mapping[str, Low | High]
    pair: tuple[Any, Any]
    circle: Circle | None = None
    matrix: NDArray[np.float64] | float = 0.0
    function: Any = field(default=None, metadata=NOT_STORED)
    renamed: str = field(default="b", metadata=stored_as("former"))


WHOLE = Whole(
    "a",
    2,
    True,
    (Circle(1.0), Square(math.inf)),
    {"x": Low(-math.inf), "y": High(None)},
    ("no", 1),
    Circle(2.5),
    function=abs,
)


def plain_of(**change: Any) -> dict[str, Any]:
    document = json.loads(json.dumps(to_plain(WHOLE)))
    return {**document, **change}


def test_what_is_written_is_read() -> None:
    again = from_plain(Whole, plain_of(), "it")
    assert again == Whole(**{**vars(WHOLE), "function": None})
    assert "function" not in plain_of()
    assert plain_of()["former"] == "b"
    assert "renamed" not in plain_of()


def test_numpy_values_are_unwrapped_and_arrays_are_read() -> None:
    held = Whole(**{**vars(WHOLE), "count": np.int64(3), "matrix": np.array([[1.0, math.nan]])})
    document = to_plain(held)
    assert type(document["count"]) is int
    again = from_plain(Whole, {**document, "matrix": [[1, "nan"]]}, "it")
    np.testing.assert_array_equal(np.asarray(again.matrix), [[1.0, math.nan]])
    assert from_plain(Whole, {**document, "matrix": "inf"}, "it").matrix == math.inf


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 1}, "wrong type int"),
        ({"count": True}, "wrong type bool"),
        ({"count": 2.0}, "wrong type float"),
        ({"flag": 1}, "wrong type int"),
        ({"shapes": {}}, "wrong type dict"),
        ({"shapes": [{"kind": "line", "side": 1.0}]}, "unknown kind line"),
        ({"shapes": [{"side": 1.0}]}, "unknown kind"),
        ({"shapes": [{"kind": "circle", "side": 1.0}]}, "radius, side"),
        ({"shapes": [{"kind": "circle", "radius": "1.0"}]}, "not a number"),
        ({"shapes": [{"kind": "circle", "radius": True}]}, "not a number"),
        ({"shapes": [{"kind": "circle", "radius": 10**400}]}, "too large"),
        ({"shapes": [[]]}, "wrong type list"),
        ({"ends": {"x": {"middle": 1.0}}}, "unknown kind"),
        ({"ends": []}, "wrong type list"),
        ({"pair": [1]}, "wrong length 1"),
        ({"circle": {"kind": "square", "radius": 1.0}}, "another kind"),
        ({"circle": "text"}, "wrong type str"),
        ({"matrix": [["text"]]}, "not a number"),
        ({"matrix": None}, "not a number"),
        ({"more": 1}, "unknown: more"),
        ({"renamed": "b"}, "unknown: renamed"),
    ],
)
def test_anything_else_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        from_plain(Whole, plain_of(**change), "it")


def test_a_missing_field_is_refused() -> None:
    for name in plain_of():
        document = plain_of()
        del document[name]
        with pytest.raises(CertificateError, match=name):
            from_plain(Whole, document, "it")


def test_no_document_is_refused() -> None:
    nothing: list[Any] = [None, [], 1, "text"]
    for data in nothing:
        with pytest.raises(CertificateError, match="wrong type"):
            from_plain(Whole, data, "it")


@dataclass(frozen=True)
class Sparing:
    number: int
    words: tuple[str, ...] = field(default=(), metadata=OMITTED)


def test_a_default_is_left_out_and_read_back() -> None:
    assert to_plain(Sparing(1)) == {"number": 1}
    assert to_plain(Sparing(1, ("a",))) == {"number": 1, "words": ["a"]}
    for value in (Sparing(1), Sparing(1, ("a",))):
        assert from_plain(Sparing, to_plain(value), "it") == value
    with pytest.raises(CertificateError):
        from_plain(Sparing, {"words": []}, "it")
