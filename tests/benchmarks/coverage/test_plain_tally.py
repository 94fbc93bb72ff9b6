"""Counts: of one row, of sums, and as lines of a file."""

import json
import math
from typing import Any

import pytest

from benchmarks.coverage.plain_tally import Tally, summed

ROW: dict[str, Any] = {
    "population": "half50",
    "d": 3,
    "seconds": 0.5,
    "label": ["nominal", "nominal", "withheld"],
    "lower": [-1.0, 0.1, None],
    "upper": [1.0, 0.3, None],
    "estimate": [0.0, 0.2, 0.5],
    "plain": [0.5, 0.2, None],
    "target": [0.0, 0.0, 0.0],
    "pvalue": [1.0, 0.01, None],
    "hc0": [1.0, 0.1, None],
    "joint": 0.04,
    "joint_label": "nominal",
    "joint_df": 2,
}
OTHER = {**ROW, "label": ["conservative"] * 3, "lower": [-1.0] * 3, "upper": [1.0] * 3}
OTHER = {**OTHER, "pvalue": [0.5] * 3, "joint": None, "joint_label": "withheld"}


def test_one_row_is_counted() -> None:
    tally = Tally.of(ROW)
    nominal = tally.labels["nominal"]
    assert nominal.cases == [1, 1, 0]
    assert nominal.covered == [1, 0, 0]
    # The intercept is no null; x1 has no test.
    assert (nominal.null_cases, nominal.null_rejected) == (1, 1)
    assert tally.labels["withheld"].covered == [0, 0, 0]
    assert tally.joint == {"nominal": [1, 1]}
    assert tally.share("withheld") == pytest.approx(1 / 3)
    assert tally.share("conservative") == 0
    assert tally.width == pytest.approx(2, rel=0.01)
    assert tally.mean_distances[:2] == pytest.approx([0.5 * 3.92, 0], rel=1e-4)
    assert math.isnan(tally.mean_distances[2])


def test_sums_are_those_of_the_rows_and_survive_a_file() -> None:
    tally = summed([Tally.of(ROW), Tally.of(OTHER), Tally.of(ROW)])
    assert tally.replications == 3
    assert tally.labels["nominal"].cases == [2, 2, 0]
    assert tally.labels["conservative"].coverage == 1
    assert tally.joint == {"nominal": [2, 2]}
    assert tally.compared == [3, 3, 0]
    again = Tally.read(json.loads(json.dumps(tally.kept())))
    assert again.labels == tally.labels
    assert again.width == tally.width
    assert again.distance == pytest.approx(tally.distance, rel=1e-4)


def test_dependent_intervals_count_less() -> None:
    """Fits whose intervals all cover, or all miss, tell as much as one interval each."""
    missed = {**OTHER, "target": [5.0] * 3}
    together = summed(Tally.of(row) for row in [OTHER] * 90 + [missed] * 10)
    count = together.labels["conservative"]
    assert count.total == 300
    assert count.effective == pytest.approx(100)
    apart = [{**OTHER, "target": [5.0 if j == k % 3 else 0.0 for j in range(3)]} for k in range(99)]
    assert summed(map(Tally.of, apart)).labels["conservative"].effective == 297


def test_nothing_has_no_numbers() -> None:
    assert math.isnan(Tally().width)
    assert math.isnan(Tally().distance)
    assert Tally().share("nominal") == 0
