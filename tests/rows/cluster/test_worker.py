"""The actor of a worker, called as the coordinator calls it: codes and sums, repeated calls change nothing."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from tacit.contract.query import GradientSum
from tacit.errors import DataError
from tacit.formula.formula import design_from_formula
from tacit.mechanisms.gradient import gradients
from tacit.rows.admission.admit_rows import admit
from tacit.rows.cluster.cluster_store import _recast
from tacit.rows.cluster.codes import Code
from tacit.rows.cluster.partitions import split
from tacit.rows.cluster.worker import Listed, PartitionHolder, Reading
from tacit.rows.sources.opening import describe, open_source
from tests.rows.cluster.clusters import FORMULA, schema, table, write

DESIGN = design_from_formula(FORMULA, schema(), family="binomial", row_norm=None)
QUERY = GradientSum(np.array([0.1, -0.2, 0.3, 0.0]), 1.0)


def test_sums_are_of_what_was_admitted_and_steps_are_applied_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(500), [200], "parquet")
    reading = Reading(describe(folder), DESIGN, "error", "float32")
    parts, matrix = split(open_source(folder)), np.triu(np.ones((4, 4)))
    holder = PartitionHolder()
    code, held = holder.admit("a", reading, parts, ())
    assert (code, held.layout.length) == (Code.DONE, 500)
    whole = admit(open_source(folder), DESIGN)
    assert np.array_equal(
        holder.total(0, gradients, QUERY, 1 << 20, {"a": None})[1]["a"].total, whole.total(gradients, QUERY, 1 << 20)
    )
    steps = [(_recast, (matrix,))]
    for _ in range(2):
        assert holder.apply(steps)[0] is Code.DONE
    mapped = whole.recast(matrix).total(gradients, QUERY, 1 << 20)
    assert np.array_equal(holder.total(1, gradients, QUERY, 1 << 20, {"a": None})[1]["a"].total, mapped)
    # A sum in coordinates that this worker does not have is not given.
    assert holder.total(0, gradients, QUERY, 1 << 20, {"a": None}) == (Code.FORGOTTEN, None)
    assert holder.admit("a", reading, parts, steps)[0] is Code.DONE
    assert np.array_equal(holder.total(1, gradients, QUERY, 1 << 20, {"a": None})[1]["a"].total, mapped)
    assert holder.close() == (Code.DONE, None)
    assert holder.total(1, gradients, QUERY, 1 << 20, {"a": None}) == (Code.FORGOTTEN, None)


def test_tiles_go_to_a_scratch_file_where_memory_is_short(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(500), [], "csv")
    reading = Reading(describe(folder), DESIGN, "error", "float32", memory_limit=0)
    holder = PartitionHolder()
    holder.admit("a", reading, split(open_source(folder)), ())
    assert type(holder._held["a"].store).__name__ == "ScratchStore"
    holder.close()


def test_a_holder_is_neither_pickled_nor_copied() -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(DataError, match="neither pickled nor copied"):
            leave(PartitionHolder())


def test_a_listed_batch_has_the_places_of_a_part() -> None:
    listed = Listed(np.array([0, 0, 3, 7, 9]))
    assert listed.members(3, 5).tolist() == [0, 4]
    assert listed.members(0, 3).tolist() == [0, 0]
