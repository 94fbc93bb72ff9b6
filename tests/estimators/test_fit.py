"""A finished fit: predictions on the user's scale, and the way to disk and back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import CertificateError, FileError, SchemaError
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, CLINIC_TRUTH, clinic_margins, clinic_table


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame(clinic_table(600))


@pytest.fixture(scope="module")
def fit(table: pd.DataFrame) -> tacit.Fit:
    return tacit.glm(CLINIC_FORMULA, table, tacit.Schema.parse(CLINIC_SCHEMA), epsilon=4.0, random_state=0)


def test_terms_and_parameters_agree(fit: tacit.Fit) -> None:
    assert list(fit.params.index) == list(CLINIC_TRUTH)
    assert [term["coef"] for term in fit.terms] == fit.params.tolist()


def test_predictions_are_those_of_the_coefficients(fit: tacit.Fit, table: pd.DataFrame) -> None:
    margins = clinic_margins(clinic_table(600), fit.params)
    np.testing.assert_allclose(fit.predict(table), 1 / (1 + np.exp(-margins)), rtol=1e-12)
    blocks = list(fit.predict_blocks(table))
    np.testing.assert_array_equal(np.concatenate(blocks), fit.predict(table))


def test_extra_columns_and_order_do_not_matter(fit: tacit.Fit, table: pd.DataFrame) -> None:
    expected = fit.predict(table)
    np.testing.assert_array_equal(fit.predict(table[table.columns[::-1]]), expected)
    without = table.drop(columns="readmit").assign(extra="anything")
    np.testing.assert_array_equal(fit.predict(without), expected)


def test_t40_bad_records_are_predicted_as_missing(fit: tacit.Fit, table: pd.DataFrame) -> None:
    odd = table.astype({"age": float, "ward": object})
    odd.loc[3, "age"] = np.nan
    odd.loc[7, "ward"] = "oncology"
    predicted = fit.predict(odd)
    assert np.flatnonzero(np.isnan(predicted)).tolist() == [3, 7]
    good = np.isfinite(predicted)
    np.testing.assert_array_equal(predicted[good], fit.predict(table)[good])


def test_a_missing_column_is_named(fit: tacit.Fit, table: pd.DataFrame) -> None:
    with pytest.raises(SchemaError, match="'bmi'"):
        fit.predict(table.drop(columns="bmi"))


def test_to_disk_and_back(fit: tacit.Fit, table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    fit.save(path)
    back = tacit.load(path)
    assert back.params.equals(fit.params)
    assert back.certificate.digest == fit.certificate.digest
    np.testing.assert_array_equal(back.predict(table), fit.predict(table))


def test_t41_the_file_holds_no_record(fit: tacit.Fit, table: pd.DataFrame, tmp_path: Path) -> None:
    """As long a file from ten times the records: nothing of length n is in it.

    A plan for more records may hold a step more. One letter for each of 5400 records would show.
    """
    path, other = tmp_path / "fit.json", tmp_path / "other.json"
    fit.save(path)
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    large = tacit.glm(CLINIC_FORMULA, pd.concat([table] * 10), schema, epsilon=4.0)
    large.save(other)
    assert abs(other.stat().st_size - path.stat().st_size) < 2000


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "tacit-fit/2"}'])
def test_what_is_no_fit_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((CertificateError, FileError)):
        tacit.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"absent\.json"):
        tacit.load(tmp_path / "absent.json")


def test_a_fit_of_another_version_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text('{"format": "tacit-fit/1"}', encoding="utf-8")
    with pytest.raises(CertificateError, match="another version"):
        tacit.load(path)
