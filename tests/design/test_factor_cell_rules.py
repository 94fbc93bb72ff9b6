import json
import math

import pytest

from tacit.design.factor import Cell, LabelCell, NumericCell
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.errors import BoundsError


@pytest.mark.parametrize(
    "cell", [NumericCell(0.0, 1.0), NumericCell(-1.5, 1.0, -1.5), LabelCell(), LabelCell("a"), LabelCell(None, "b")]
)
def test_json_round_trip(cell: Cell) -> None:
    assert from_plain(type(cell), json.loads(json.dumps(to_plain(cell))), "a cell") == cell


@pytest.mark.parametrize(
    "numbers", [(1.0, 0.0), (0.0, 0.0), (0.0, math.inf), (math.nan, 1.0), (0.0, 1.0, 2.0), (0, 1, math.nan)]
)
def test_t36_t37_bounds_and_constants_that_bound_nothing_are_refused(numbers: tuple[float, ...]) -> None:
    with pytest.raises(BoundsError):
        NumericCell(*numbers)
