"""Files in place of arrays: the same bits as in memory, names of columns beside them, and clear refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import tacit
from tacit.errors import ClusterLost, DataError, InputError, SchemaError, SettingError
from tacit.rows.cluster import cluster_store
from tests.rows.cluster.clusters import where, workers

BOUNDS = {"a": (-3, 3), "b": (-3, 3)}
CODES: dict[str, Any] = {"epsilon": 1.0, "bounds": BOUNDS, "classes": [0, 1], "random_state": 3}


def rows(n: int = 2400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, n))
    own = {"k": rng.poisson(2, n).astype(float), "w": rng.uniform(0, 2, n), "who": rng.integers(0, n // 3, n)}
    chance = 1 / (1 + np.exp(b - a))
    return pd.DataFrame({"a": a, "y": (rng.random(n) < chance).astype(int), "b": b, "t": rng.uniform(1, 2, n), **own})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    table = pa.Table.from_pandas(rows(), preserve_index=False)
    for part in range(3):
        parquet.write_table(table.slice(part * 800, 800), tmp_path / f"{part}.parquet", row_group_size=300)
    return tmp_path


MODELS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "labels": (lambda: tacit.LogisticRegression(**CODES), {"y": "y"}),
    "numbers": (
        lambda: tacit.LinearRegression(epsilon=1.0, bounds=BOUNDS, y_bounds=(0, 10), random_state=3),
        {"y": "k"},
    ),
    "rates": (
        lambda: tacit.PoissonRegressor(
            epsilon=1.0, bounds=BOUNDS, y_max=10, exposure_bounds=(1, 2), max_weight=2.0, random_state=3
        ),
        {"y": "k", "exposure": "t", "sample_weight": "w"},
    ),
    "persons": (
        lambda: tacit.LogisticRegression(**CODES, max_rows_per_unit=3),
        {"y": "y", "units": "who", "order": "t"},
    ),
    "naive Bayes": (lambda: tacit.GaussianNB(**CODES), {"y": "y"}),
}


def bits(model: Any) -> bytes:
    return bytes(np.asarray(model.release_.coefficients()).tobytes())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:Weights above")
def test_files_in_memory_and_on_a_cluster_have_the_same_bits(name: str, files: Path) -> None:
    make, columns = MODELS[name]
    table = rows()
    near = make().fit(table[["a", "b"]], **{word: table[column] for word, column in columns.items()})
    stored = make().fit(files, **columns)
    assert bits(stored) == bits(near)
    assert stored.feature_names_in_.tolist() == ["a", "b"]
    with workers(2) as cluster:
        spread = make().fit(sorted(files.glob("*.parquet")), **columns, cluster=where(cluster))
    assert bits(spread) == bits(near)
    assert spread.certificate_.digest == stored.certificate_.digest
    np.testing.assert_array_equal(stored.predict(table[["a", "b"]]), spread.predict(table[["a", "b"]]))


def test_a_dask_dataframe_holds_its_response_too(files: Path) -> None:
    frame = dask.dataframe.from_pandas(rows(), npartitions=3)
    near = tacit.LogisticRegression(**CODES).fit(files, "y")
    assert bits(tacit.LogisticRegression(**CODES).fit(frame, "y")) == bits(near)
    with pytest.raises(DataError, match="A cluster reads"):
        tacit.LogisticRegression(**CODES).fit(frame, "y", cluster=2)


def test_without_bounds_by_name_all_other_columns_are_features(files: Path) -> None:
    settings = {**CODES, "bounds": (0, 1000), "max_rows_per_unit": 3}
    model = tacit.LogisticRegression(**settings).fit(str(files), "y", units="who")
    assert model.feature_names_in_.tolist() == ["a", "b", "t", "k", "w"]
    assert model.plan_.unit == "who"


def test_classes_are_read_off_files_but_not_by_a_coordinator(files: Path, tmp_path: Path) -> None:
    settings = {**CODES, "classes": None}
    assert tacit.LogisticRegression(**settings).fit(files, "y").classes_.tolist() == [0, 1]
    with pytest.raises(SettingError, match=r"classes=\[…\]"):
        tacit.LogisticRegression(**settings).fit(files, "y", cluster=2)
    with (
        tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=2.0, delta=1e-6)),
        pytest.raises(SettingError, match="Inside a ledger"),
    ):
        tacit.LogisticRegression(**{**settings, "random_state": None}).fit(files, "y")


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"y": [0, 1]}, DataError, "names of the columns"),
        ({"y": None}, DataError, "requires y"),
        ({"y": "z"}, SchemaError, "no column 'z'"),
        ({"y": "y", "units": [1, 2]}, DataError, "names of the columns"),
        ({"y": "y", "units": "nobody"}, SchemaError, "no column 'nobody'"),
        ({"y": "y", "cluster": 0}, InputError, "workers"),
    ],
)
def test_what_files_cannot_have_beside_them_is_refused(
    files: Path, given: dict[str, Any], kind: type[Exception], words: str
) -> None:
    settings = {**CODES, "max_rows_per_unit": 3} if "units" in given else CODES
    with pytest.raises(kind, match=words):
        tacit.LogisticRegression(**settings).fit(files, **given)


def test_rows_in_memory_take_no_names_and_no_cluster(files: Path) -> None:
    table = rows()
    for X, y, more in (
        (table[["a", "b"]], "y", {}),
        (table[["a", "b"]], table["y"], {"sample_weight": "w"}),
        (table[["a", "b"]], table["y"], {"cluster": 2}),
    ):
        settings = {**CODES, "max_weight": 1.0} if "sample_weight" in more else CODES
        with pytest.raises(DataError):
            tacit.LogisticRegression(**settings).fit(X, y, **more)
    with pytest.raises(DataError, match="files X and the name"):
        tacit.TukeyRegressor(epsilon=1.0, bounds=BOUNDS).fit(files, "y")


def test_a_lost_cluster_goes_on_to_a_fitted_model(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler is lost after some answers: the same model is fitted under the same charge."""
    near = tacit.LogisticRegression(**CODES).fit(files, "y")
    asked = cluster_store.ClusterStore.padded_total
    left = [4]

    def lose(*given: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise ClusterLost("The scheduler of the cluster was lost.")
        return asked(*given)

    monkeypatch.setattr(cluster_store.ClusterStore, "padded_total", lose)
    model = tacit.LogisticRegression(**CODES)
    with workers(2) as cluster:
        with pytest.raises(ClusterLost) as lost:
            model.fit(files, "y", cluster=where(cluster))
        assert not hasattr(model, "release_")
        assert lost.value.run_again is not None
        assert lost.value.run_again(where(cluster)) is model
    assert bits(model) == bits(near)
