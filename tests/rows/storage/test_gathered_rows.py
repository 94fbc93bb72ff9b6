"""All records of a store as one array, each with its unit."""

import numpy as np
import pytest
import scipy.sparse

from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.gathered_rows import gather

X = np.arange(300.0).reshape(150, 2) / 300
Y = (np.arange(150) % 2).astype(np.int64)


def design(unit: Unit | None = None, *, shifted: bool = True) -> Design:
    made = matrix_design(
        ["x0", "x1"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True, shifted=shifted
    )
    return made if unit is None else Design(**{**vars(made), "attached": AttachedColumns(None, None, unit)})


@pytest.mark.parametrize("sparse", [False, True])
def test_records_come_back_as_they_are(sparse: bool) -> None:
    data = scipy.sparse.csr_matrix(X) if sparse else X
    found = gather(admit(open_source(data, Y), design(shifted=not sparse), dtype=np.float64))
    assert found.units.tolist() == list(range(150))
    np.testing.assert_allclose(found.rows[:, 0], X[:, 0] if sparse else 2 * X[:, 0] - 1)
    assert found.rows[:, -1].tolist() == Y.tolist()


def test_all_records_of_a_unit_have_its_number() -> None:
    owners = np.arange(150) // 3
    source = open_source(X, Y, attached={"units": owners})
    found = gather(admit(source, design(Unit("units", 2)), dtype=np.float64))
    counts = np.bincount(found.units)
    assert len(counts) == 50
    assert (counts == 2).all()
    # Rows of one owner are next to each other in the table, and far from all others.
    spread = [np.ptp(found.rows[found.units == unit, 0]) for unit in range(50)]
    assert max(spread) < 0.05
