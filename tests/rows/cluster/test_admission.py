"""Bad input on a cluster: clear refusals, in the words of one machine where these are public, and nothing spent."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import tacit
from tacit.errors import ClusterError, DataError, FileError, InputError, SchemaError
from tacit.rows.cluster import admission
from tests.rows.cluster.clusters import FORMULA, coefficients, schema, table, where, write


def refused(data: Any, error: type[Exception], said: str, cluster: Any, ledger: tacit.Ledger, **more: Any) -> None:
    given = {"epsilon": 1.0, "formula": FORMULA, "schema": schema(), **more}
    with ledger, pytest.raises(error, match=said):
        tacit.glm(data=data, cluster=where(cluster), **given)
    assert ledger.charges() == ()


@pytest.fixture
def ledger(tmp_path: Path) -> tacit.Ledger:
    return tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=1e-6))


def test_partitions_with_other_columns_or_types_are_refused(cluster: Any, tmp_path: Path, ledger: tacit.Ledger) -> None:
    folder = write(tmp_path / "parts", table(300), [], "parquet")
    parquet.write_table(table(50).drop_columns(["x0"]), folder / "z.parquet")
    refused(folder, FileError, "different columns: 'x0'", cluster, ledger)
    whole = table(50)
    parquet.write_table(whole.set_column(0, "x0", whole["x0"].cast(pa.string())), folder / "z.parquet")
    refused(folder, FileError, "a column has one type", cluster, ledger)


def test_a_worker_without_the_file_is_a_refusal(
    cluster: Any, tmp_path: Path, ledger: tacit.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "parts", table(300), [100], "parquet")
    real = vars(admission)["split"]

    def then_gone(source: Any) -> Any:
        found = real(source)
        Path(found[-1].path).unlink()
        return found

    monkeypatch.setattr(admission, "split", then_gone)
    refused(folder, FileError, "every worker needs the files", cluster, ledger)


def test_invalid_records_are_refused_in_the_words_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    rows = table(300)
    holed = rows.set_column(0, "x0", pa.array([None, *rows["x0"].to_pylist()[1:]]))
    folder = write(tmp_path / "parts", holed, [100], "parquet")
    said = []
    for at in (None, where(cluster)):
        with pytest.raises(DataError) as refusal:
            tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=at)
        said.append(str(refusal.value))
        assert refusal.value.__cause__ is None
    assert said[0] == said[1]
    given: dict[str, Any] = {"epsilon": 4.0, "random_state": 1, "invalid_rows": "zero", "schema": schema()}
    local, spread = (tacit.glm(FORMULA, folder, **given, cluster=at) for at in (None, where(cluster)))
    assert coefficients(local) == coefficients(spread)


def test_too_few_records_are_refused(cluster: Any, tmp_path: Path, ledger: tacit.Ledger) -> None:
    refused(
        write(tmp_path / "a", table(30).slice(0, 1), [], "csv"), InputError, "fewer than 2 records", cluster, ledger
    )
    folder = write(tmp_path / "b", table(30).slice(0, 1), [], "csv")
    refused(folder, DataError, "fewer than 2 persons", cluster, ledger, schema=schema(unit=True))


def test_what_is_no_sum_is_refused_by_name(cluster: Any, tmp_path: Path, ledger: tacit.Ledger) -> None:
    folder = write(tmp_path / "parts", table(3000), [100], "csv")
    for solver in ("aggregate", "exponential"):
        refused(folder, InputError, solver, cluster, ledger, solver=solver)
    with pytest.raises(InputError, match="batches of units"):
        tacit.glm(FORMULA, folder, schema(unit=True), epsilon=1.0, solver="stochastic", cluster=where(cluster))
    refused(table(300), DataError, "is in memory", cluster, ledger)
    refused(folder, SchemaError, "x9", cluster, ledger, formula="y ~ x9", schema=schema_of_nine())


def schema_of_nine() -> tacit.Schema:
    return tacit.Schema.parse('[columns.x9]\ntype = "numeric"\nlower = 0\nupper = 1\n[columns.y]\ntype = "binary"\n')


def test_one_machine_without_dask_says_what_to_install(
    tmp_path: Path, ledger: tacit.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    folder = write(tmp_path / "parts", table(300), [100], "csv")
    with ledger, pytest.raises(ClusterError, match=r"tacit\[cluster\]"):
        tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=2)
    assert ledger.charges() == ()
