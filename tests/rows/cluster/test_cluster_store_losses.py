"""Workers are lost in the very round of a sum: what fills up tiles is subtracted as it was added, and rounds end.

Files are cut so that records which fill up tiles are many, and change with who reads what.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import ColumnCounts, GradientSum, Measure, ResidualSize
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import ClusterLost, SettingError
from tacit.losses import classification
from tacit.mechanisms.counts import integer_counts, integer_measures
from tacit.mechanisms.deviance import integer_deviances
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.rows.admission.admit_rows import admit
from tacit.rows.cluster.cluster_store import _recast
from tacit.rows.sources.opening import open_source
from tests.rows.cluster.connections import ScriptedConnection, scripted_store

BOUND = 1 << 20
DESIGN = matrix_design(["x0"], Binary("y", (0, 1)), bounds=(-1.0, 1.0), row_norm=2.0, intercept=True)
THETA = np.array([0.3, -0.1])
SUMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "deviance": (integer_deviances, DevianceSum(THETA, 4.0, classification.LOGISTIC)),
    "counts": (integer_counts, ColumnCounts((0,), np.array([-2.0]), np.array([2.0]))),
    "residuals": (integer_measures, ResidualSize(THETA, 2.0, measure=Measure.WITHIN, start=-1.0)),
    "gradient": (integer_gradient_sum, GradientSum(THETA, 1.0, loss=classification.LOGISTIC)),
}
LOSSES: dict[str, tuple[str, set[tuple[int, str]], dict[int, str]]] = {
    "nobody": ("ABC", set(), {}),
    "one": ("ABC", {(1, "B")}, {}),
    "two at once": ("ABC", {(1, "A"), (1, "B")}, {}),
    "another while its parts are read": ("ABC", {(1, "B"), (2, "A")}, {}),
    "one after the other": ("ABCD", {(1, "B"), (2, "A"), (3, "C")}, {}),
    "another, and one joins": ("ABCD", {(1, "B"), (2, "A")}, {2: "E"}),
}


def files(folder: Path, sizes: Sequence[int]) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"part{part}.csv" for part in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        path.write_text("x0,y\n" + "".join(f"0.5,{row % 2}\n" for row in range(size)))
    return paths


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("asked", SUMS)
def test_a_sum_in_whose_round_workers_are_lost_is_that_of_one_machine(tmp_path: Path, asked: str, loss: str) -> None:
    integers, query = SUMS[asked]
    workers, lost, joining = LOSSES[loss]
    # Neighbours by add-remove, on either side of a tile: a wrong number of zero records shows as many bounds.
    for case, sizes in enumerate(([64, 64, 32, 32, 64, 64], [64, 64, 33, 32, 64, 64], [32] * 8, [33] + [32] * 7)):
        paths = files(tmp_path / str(case), sizes)
        connection = ScriptedConnection(workers, lost, joining)
        with scripted_store(paths, DESIGN, connection) as spread:
            found = integers(query, BOUND, spread)
            held = sorted(part for each in spread._assignments.values() for part in each.parts)
        with admit(open_source([str(path) for path in paths], fewest=0), DESIGN, invalid_rows="zero") as local:
            assert np.array_equal(found, integers(query, BOUND, local))
        assert held == list(range(len(sizes)))
        assert connection.rounds == 1 + len({when for when, _ in lost})


def test_where_nobody_is_left_the_sum_ends(tmp_path: Path) -> None:
    integers, query = SUMS["counts"]
    connection = ScriptedConnection("ABC", {(1, "B"), (2, "A"), (2, "C")})
    store = scripted_store(files(tmp_path / "parts", [64, 33, 32]), DESIGN, connection)
    with store, pytest.raises(ClusterLost):
        integers(query, BOUND, store)


def test_what_fills_up_tiles_is_not_told_apart_from_a_sum(tmp_path: Path) -> None:
    connection = ScriptedConnection("AB")
    with scripted_store(files(tmp_path / "parts", [33, 32]), DESIGN, connection) as store:
        with pytest.raises(SettingError, match="together with a sum"):
            _ = store.padding
        batch = store.batch(lambda first, count: np.arange(count))
        with pytest.raises(SettingError, match="not counted"):
            SUMS["counts"][0](SUMS["counts"][1], BOUND, batch)


def test_a_worker_that_began_anew_reads_its_records_again_before_a_step(tmp_path: Path) -> None:
    paths, (integers, query) = files(tmp_path / "parts", [64, 33, 32]), SUMS["gradient"]
    connection, matrix = ScriptedConnection("AB"), np.triu(np.ones((2, 2)))
    with scripted_store(paths, DESIGN, connection) as spread:
        connection.actors["A"].close()
        found = integers(query, BOUND, spread.applied(_recast, matrix))
    with admit(open_source([str(path) for path in paths], fewest=0), DESIGN, invalid_rows="zero") as local:
        assert np.array_equal(found, integers(query, BOUND, local.recast(matrix)))
