"""Records that are prepared only once bounds are found are those that bounds would have made."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.design.attached_columns import AttachedColumns, Offset, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary, Continuous, Response
from tacit.errors import DataError, SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.sources.opening import open_source
from tacit.rows.storage import store as store_module
from tacit.rows.storage.record_store import ScratchStore
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import to_rows

RNG = np.random.default_rng(31)
NAMES = ["x0", "x1", "x2"]
ROWS = 300
X = RNG.normal(0, 1, (ROWS, 3)) * [1.0, 1e-3, 50.0] + [1e6, 0.0, -7.0]
Y = RNG.normal(100, 20, ROWS)
BOUNDS = (np.array([1e6 - 2, -1e-3, -100.0]), np.array([1e6 + 1, 2e-3, 60.0]))
BESIDE = AttachedColumns(Weighting("w", 2.0), Offset("t", -1.0, 1.0))
OPEN, KNOWN = Continuous.opened("y"), Continuous.of("y", 80.0, 130.0)


def design(
    bounds: Any, response: Response, *, intercept: bool = True, attached: AttachedColumns | None = None
) -> Design:
    plain = matrix_design(NAMES, response, bounds=bounds, row_norm=None, intercept=intercept)
    return replace(plain, attached=attached or AttachedColumns())


def records(store: Store) -> NDArray[Any]:
    blocks = np.concatenate([store.block(index) for index in range(store.block_count)])
    return to_rows(blocks, store.length)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_result_is_what_admission_with_these_bounds_stores(dtype: Any, intercept: bool, weighted: bool) -> None:
    attached = BESIDE if weighted else None
    columns = {"w": RNG.random(ROWS) * 3, "t": RNG.normal(size=ROWS)} if weighted else None
    known = Continuous.of("y", 80.0, 130.0, centred=intercept)
    found = design(BOUNDS, known, intercept=intercept, attached=attached)
    direct = admit(open_source(X, Y, attached=columns), found, dtype=dtype)
    for response in (OPEN, known):
        opened = design("private", response, intercept=intercept, attached=attached)
        store = admit(open_source(X, Y, attached=columns), opened, dtype=np.float32)
        assert store.opened == opened
        assert store.layout.dtype == np.float64
        image = rescale(store, found, dtype)
        assert image.opened is None
        assert image.layout.dtype == dtype
        assert records(image).tobytes() == records(direct).tobytes()
        with pytest.raises(DataError, match="given up"):
            store.block(0)


def test_an_open_response_beside_declared_columns() -> None:
    opened, found = design(BOUNDS, OPEN), design(BOUNDS, KNOWN)
    image = rescale(admit(open_source(X, Y), opened), found)
    direct = admit(open_source(X, Y), found)
    assert records(image).tobytes() == records(direct).tobytes()


def test_records_are_kept_as_they_came() -> None:
    store = admit(open_source(X, Y), design("private", OPEN))
    kept = records(store)
    assert (kept[:, :3] == X).all()
    assert (kept[:, 3] == 1).all()
    assert (kept[:, 4] == Y).all()


def test_t40_invalid_records_are_marked_and_become_rows_of_zeros() -> None:
    X_bad, y_bad = X.copy(), Y.copy()
    X_bad[3, 1], X_bad[70, 0], y_bad[130] = np.nan, np.inf, np.nan
    opened, found = design("private", OPEN), design(BOUNDS, KNOWN)
    store = admit(open_source(X_bad, y_bad), opened, invalid_rows="zero")
    kept = records(store)
    assert np.flatnonzero(np.isnan(kept).all(axis=1)).tolist() == [3, 70, 130]
    assert np.isfinite(np.delete(kept, [3, 70, 130], axis=0)).all()
    image = records(rescale(store, found))
    direct = records(admit(open_source(X_bad, y_bad), found, invalid_rows="zero"))
    assert image.tobytes() == direct.tobytes()
    assert not image[[3, 70, 130]].any()
    with pytest.raises(DataError, match="invalid"):
        admit(open_source(X_bad, y_bad), opened)


def test_a_table_on_disk_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BLOCK_BYTES", 1 << 15)
    path = tmp_path / "table.csv"
    many = RNG.normal(size=(3000, 2))
    text = "\n".join(f"{a!r},{b!r},{int(a > 0)}" for a, b in many.tolist())
    path.write_text("x0,x1,y\n" + text + "\n")
    label = Binary("y", (0, 1))
    opened, found = (
        matrix_design(["x0", "x1"], label, bounds=bounds, row_norm=None, intercept=True)
        for bounds in ("private", (-2, 2))
    )
    store = admit(open_source(path), opened, memory_limit=1 << 12)
    assert isinstance(store, ScratchStore)
    assert store.block_count > 1
    image = rescale(store, found)
    assert isinstance(image, ScratchStore)
    direct = admit(open_source(path), found)
    assert records(image).tobytes() == records(direct).tobytes()
    image.close()


def test_t10_another_design_is_refused() -> None:
    opened, found = design("private", OPEN), design(BOUNDS, KNOWN)
    others = [
        opened,
        replace(found, feature_norm=9.0),
        replace(found, columns=found.columns[:2]),
        replace(found, columns=(found.columns[1], found.columns[0], found.columns[2])),
        replace(found, intercept=False),
        replace(found, attached=BESIDE),
    ]
    for other in others:
        store = admit(open_source(X, Y), opened)
        with pytest.raises(SettingError, match="own design"):
            rescale(store, other)
    declared = design("private", KNOWN)
    with pytest.raises(SettingError, match="own design"):
        rescale(admit(open_source(X, Y), declared), design(BOUNDS, Continuous.of("y", 0, 1)))
    with pytest.raises(SettingError, match="own design"):
        rescale(admit(open_source(X, Y), found), found)
