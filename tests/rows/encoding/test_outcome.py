import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from tacit.design.attached_columns import AttachedColumns, Offset, Weighting
from tacit.design.design import Column, Design
from tacit.design.factor import Numeric
from tacit.design.response import Absent, Binary, Classes, Continuous, Count, Positive, Response
from tacit.errors import SettingError
from tacit.rows.encoding.outcome import OutcomeEncoder
from tacit.rows.encoding.transforms import logarithm
from tacit.rows.sources.opening import open_source

NAN, INF = math.nan, math.inf


def encoded(encoder: OutcomeEncoder, **columns: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    frame = pd.DataFrame(columns)
    source = open_source(frame, fewest=0)
    batch = next(source.batches(len(frame), numeric=encoder.numbers, labels=encoder.labels))
    return encoder.encode(batch)


def responses(response: Response, cells: Any) -> list[float | None]:
    """Prepared responses, None for invalid records."""
    numbers, valid = encoded(OutcomeEncoder(response), out=cells)
    assert numbers.shape == (len(cells), 1)
    return [float(y) if ok else None for y, ok in zip(numbers[:, 0], valid, strict=True)]


def weights(weighting: Weighting, cells: Any, out: Any = None) -> list[float | None]:
    response: Response = Absent() if out is None else Classes("out", ("a", "b", "c"))
    out = ["a"] * len(cells) if out is None else out
    numbers, valid = encoded(OutcomeEncoder(response, weighting), out=out, w=cells)
    return [float(w) if ok else None for w, ok in zip(numbers[:, 1], valid, strict=True)]


def offsets(offset: Offset, cells: Any) -> list[float | None]:
    numbers, valid = encoded(OutcomeEncoder(Absent(), offset=offset), t=cells)
    return [float(t) if ok else None for t, ok in zip(numbers[:, -1], valid, strict=True)]


def test_t37_classes_are_coded_in_the_declared_order() -> None:
    assert responses(Binary("out", ("no", "yes")), ["yes", "no", "maybe", None]) == [1, 0, None, None]
    three = Classes.of("out", ["c", "a", "b"])
    assert responses(three, ["a", "b", "c", "d", None]) == [1, 2, 0, None, None]
    assert responses(Classes.of("out", [0, 1, 7]), [7.0, 1.0, 0.5, NAN]) == [2, 1, None, None]


def test_continuous_is_clipped_and_mapped() -> None:
    response = Continuous.of("out", 10, 20)
    found = responses(response, [10.0, 15.0, 17.5, 20.0, 1e6, -1e308])
    assert found == [-1.0, 0.0, 0.5, 1.0, 1.0, -1.0]
    assert responses(response, [NAN, INF, -INF, 10.0]) == [None, None, None, -1.0]
    scaled = Continuous.of("out", -5, 20, centred=False)
    assert responses(scaled, [-5.0, 20.0, 0.0, -1e9]) == [-0.25, 1.0, 0.0, -0.25]
    assert responses(response, [True, False]) == [-1.0, -1.0]


def test_t02_a_continuous_response_never_leaves_the_unit_interval() -> None:
    rng = np.random.default_rng(8)
    for lower, width in zip(rng.normal(0, 1e3, 300), rng.lognormal(0, 5, 300), strict=True):
        response = Continuous.of("out", lower, lower + width)
        low, high = responses(response, [-1e300, 1e300])
        assert low is not None
        assert high is not None
        assert -1 <= low < high <= 1


def test_a_response_without_bounds_stays_finite_in_every_type() -> None:
    response = Continuous("out", -INF, INF, 0.0, 1.0)
    found = responses(response, [1e308, -1e308, 12345.0, INF])
    assert found == [1e30, -1e30, 12345.0, None]


def test_counts_and_rates_are_numbers_from_zero() -> None:
    found = responses(Count("out", 5), [0, 1, 5, 6, 1e300, -1, 0.5, NAN, INF, -INF])
    assert found == [0, 1, 5, 5, 5, None, 0.5, None, None, None]
    assert responses(Count("out", 5), [True, False]) == [1, 0]


def test_positive_numbers_are_clipped_and_others_are_invalid() -> None:
    found = responses(Positive("out", 0.5, 5.0), [0.1, 0.5, 2.5, 6, 1e300, 0, -1, NAN, INF, -INF])
    assert found == [0.5, 0.5, 2.5, 5, 5, None, None, None, None, None]
    assert OutcomeEncoder(Positive("out", 0.0, 5.0)).demands == ("Responses of a gamma model must be numbers > 0.",)


def test_an_absent_response_is_zero_and_reads_no_column() -> None:
    encoder = OutcomeEncoder(Absent())
    assert (encoder.numbers, encoder.labels, encoder.count) == ((), (), 1)
    assert responses(Absent(), [NAN, 1.0]) == [0.0, 0.0]


def test_t11_weights_are_capped_and_divided_by_the_largest() -> None:
    weighting = Weighting("w", 4.0)
    assert weights(weighting, [0.0, 1.0, 4.0, 4.5, 1e308]) == [0.0, 0.25, 1.0, 1.0, 1.0]
    assert weights(weighting, [-1e-300, -1.0, NAN, INF, -INF]) == [None] * 5


def test_t11_class_weights_multiply_and_stay_below_one() -> None:
    weighting = Weighting("w", 2.0, by_class=(1.0, 4.0, 0.0))
    found = weights(weighting, [2.0, 2.0, 2.0, 1.0, 9.0, 2.0], ["a", "b", "c", "b", "b", "d"])
    assert found == [0.25, 1.0, 0.0, 0.5, 1.0, None]
    alone = Weighting(by_class=(1.0, 4.0, 2.0))
    numbers, valid = encoded(OutcomeEncoder(Classes("out", ("a", "b", "c")), alone), out=["a", "b", "c", None])
    assert numbers[valid].tolist() == [[0.0, 0.25], [1.0, 1.0], [2.0, 0.5]]


@pytest.mark.parametrize("maximum", [5e-324, 1e-300, 0.1, 3.0, 1e308])
@pytest.mark.parametrize("by_class", [None, (1e308, 1e307, 3.0), (5e-324, 0.0, 1e-310)])
def test_t11_no_cell_raises_a_weight_above_one(maximum: float, by_class: Any) -> None:
    weighting = Weighting("w", maximum, by_class)
    rng = np.random.default_rng(2)
    cells = [*(maximum * rng.uniform(0, 1.7, 200)), 5e-324, 1e308, maximum, 0.0]
    found = weights(weighting, cells, np.resize(["a", "b", "c"], len(cells)))
    assert all(w is not None and 0 <= w <= 1 for w in found)
    assert max(w for w in found if w is not None) == 1
    assert all(np.float32(w) <= 1 for w in found)


def test_t11_class_weights_need_one_for_each_class() -> None:
    column = Column("x", (Numeric("x"),), 0.0, 1.0, 0.0, 1.0)
    for response in (Binary("out", (0, 1)), Continuous.of("out", 0, 1), Absent()):
        attached = AttachedColumns(Weighting(by_class=(1.0, 2.0, 3.0)))
        with pytest.raises(SettingError, match="one weight for each"):
            OutcomeEncoder.of(Design((column,), response, 1.0, attached=attached))


def test_t02_offsets_are_clipped() -> None:
    assert offsets(Offset("t", -2.0, 3.0), [-2.0, 0.5, 1e6, -1e308]) == [-2.0, 0.5, 3.0, -2.0]
    assert offsets(Offset("t", -2.0, 3.0), [NAN, INF, -INF]) == [None, None, None]


def test_exposures_are_logarithms() -> None:
    cells = [1.0, 2.0, 0.5, 1e300, 5e-324]
    logs = logarithm(np.array(cells)).tolist()
    offset = Offset("t", -2.0, 3.0, exposure=True)
    assert offsets(offset, cells) == [0.0, logs[1], logs[2], 3.0, -2.0]
    assert offsets(offset, [0.0, -0.0, -1.0, NAN, INF]) == [None] * 5


def test_all_three_stand_in_order() -> None:
    encoder = OutcomeEncoder(Count("out", 9.0), Weighting("w", 2.0), Offset("t", -1.0, 1.0))
    assert encoder.count == 3
    assert (encoder.numbers, encoder.labels) == (("out", "w", "t"), ())
    numbers, valid = encoded(encoder, out=[3, 4, -1], w=[1.0, NAN, 1.0], t=[0.5, 0.5, 9.0])
    assert numbers[0].tolist() == [3.0, 0.5, 0.5]
    assert valid.tolist() == [True, False, False]


def test_one_column_may_serve_twice() -> None:
    encoder = OutcomeEncoder(Count("t", 9.0), offset=Offset("t", 0.0, 9.0))
    assert encoder.numbers == ("t",)
    assert encoded(encoder, t=[3, 4])[0].tolist() == [[3.0, 3.0], [4.0, 4.0]]


def test_demands_are_said_of_declared_columns_only() -> None:
    assert OutcomeEncoder(Binary("out", (0, 1)), Weighting(by_class=(1, 2))).demands == ()
    assert OutcomeEncoder(Continuous.of("out", 0, 1), offset=Offset("t", 0.0, 1.0)).demands == ()
    full = OutcomeEncoder(Count("out", 9.0), Weighting("w"), Offset("t", 0.0, 1.0, exposure=True))
    assert full.demands == (
        "Counts must be numbers >= 0.",
        "Weights must be numbers >= 0.",
        "Exposures must be numbers > 0.",
    )


RECORDS = 203


@pytest.mark.parametrize(
    "response",
    [
        Binary("out", (0, 1)),
        Classes("out", (0, 1, 2, 3)),
        Continuous.of("out", 0.1, 3.3),
        Count("out", 2.0),
        Positive("out", 0.1, 2.0),
        Absent(),
    ],
)
def test_t08_numbers_depend_on_their_record_alone(response: Response) -> None:
    rng = np.random.default_rng(4)
    by_class = tuple(range(1, len(response.classes) + 1)) or None
    encoder = OutcomeEncoder(response, Weighting("w", 3.0, by_class), Offset("t", -1.7, 2.3, exposure=True))
    frame = pd.DataFrame(
        {"out": rng.integers(-1, 5, RECORDS), "w": rng.normal(2, 2, RECORDS), "t": rng.normal(1, 2, RECORDS)}
    )

    def bits(rows: Any) -> list[bytes]:
        part = frame.iloc[rows]
        numbers, valid = encoded(encoder, **{name: part[name].to_numpy() for name in part})
        return [row.tobytes() if ok else b"" for row, ok in zip(numbers, valid, strict=True)]

    whole = bits(slice(None))
    assert b"" in whole
    assert len(set(whole)) > 20
    order = rng.permutation(RECORDS)
    assert bits(order) == [whole[i] for i in order]
    assert bits(slice(1, None)) == whole[1:]
    assert [bits([i])[0] for i in range(RECORDS)] == whole


def test_t41_no_cell_raises_or_warns() -> None:
    signalling = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)[0]
    cells = [0.0, -0.0, 5e-324, 1e308, -1e308, INF, -INF, NAN, signalling]
    for response in (Continuous.of("out", 1e-140, 3e-140), Count("out", 1e9)):
        for exposure in (True, False):
            encoder = OutcomeEncoder(response, Weighting("w", 1e-300), Offset("t", -1e6, 1e6, exposure=exposure))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                numbers, valid = encoded(encoder, out=cells, w=cells[::-1], t=cells)
            assert np.isfinite(numbers[valid]).all()
