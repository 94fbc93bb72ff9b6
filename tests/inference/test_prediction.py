"""Mean predictions with intervals: statsmodels' without noise, and sensible with it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import tacit
from tacit.errors import SettingError
from tacit.inference.results import Results
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table


def test_they_are_those_of_statsmodels(twins: Any) -> None:
    found = twins.ours.get_prediction(twins.rows)
    known = twins.theirs.get_prediction(sm.add_constant(twins.rows)).summary_frame(alpha=0.1)
    frame = found.summary_frame(level=0.9)
    for name in ("mean", "mean_se", "mean_ci_lower", "mean_ci_upper"):
        np.testing.assert_allclose(frame[name], known[name], rtol=2e-6)
    np.testing.assert_allclose(found.conf_int(0.9), frame[["mean_ci_lower", "mean_ci_upper"]])


def test_they_are_the_predictions_of_the_estimator(twins: Any) -> None:
    mean = twins.ours.get_prediction(twins.rows).predicted_mean
    expected = (
        twins.ours.predict_proba(twins.rows)[:, 1]
        if hasattr(twins.ours, "predict_proba")
        else twins.ours.predict(twins.rows)
    )
    np.testing.assert_allclose(mean, expected, rtol=1e-12)


@pytest.fixture(scope="module")
def fit() -> tacit.Fit:
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    table = pd.DataFrame(clinic_table(3000))
    return tacit.glm(CLINIC_FORMULA, table, schema, epsilon=4.0, random_state=1)


def test_of_a_formula_new_records_are_read_as_the_old_ones_were(fit: tacit.Fit) -> None:
    new = pd.DataFrame(clinic_table(40)).astype({"age": float})
    new.loc[3, "age"] = np.nan
    found = fit.get_prediction(new)
    np.testing.assert_allclose(found.predicted_mean, fit.predict(new), rtol=1e-12)
    ends = found.conf_int()
    assert np.isnan(ends[3]).all()
    known = np.delete(np.arange(40), 3)
    assert ((ends[known, 0] > 0) & (ends[known, 0] < found.predicted_mean[known])).all()
    assert ((found.predicted_mean[known] < ends[known, 1]) & (ends[known, 1] < 1)).all()
    assert fit.get_prediction(new.iloc[:0]).conf_int().shape == (0, 2)


def test_kinds_of_intervals(fit: tacit.Fit) -> None:
    found = fit.get_prediction(pd.DataFrame(clinic_table(5)))
    total, sampling = found.conf_int(), found.conf_int(which="sampling")
    assert ((total[:, 0] < sampling[:, 0]) & (total[:, 1] > sampling[:, 1])).all()
    together = found.conf_int(simultaneous=True)
    assert (together[:, 0] < total[:, 0]).all()
    linear = found.conf_int(transform=False)
    np.testing.assert_allclose(1 / (1 + np.exp(-linear)), total)


def test_a_prediction_is_the_test_of_its_row(fit: tacit.Fit) -> None:
    row = np.array([1.0, 50.0, 120.0, 25.0, 1.0, 2.0, 0.0, 1.0])
    assert fit.release is not None
    results = Results(fit.release)
    found = results.get_prediction(row[None], lambda margins: margins)
    np.testing.assert_allclose(found.conf_int(), results.t_test(row).conf_int())


def test_without_intervals_there_is_none(fit: tacit.Fit) -> None:
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    table = pd.DataFrame(clinic_table(500))
    plain = tacit.glm(CLINIC_FORMULA, table, schema, epsilon=np.inf, inference=False)
    with pytest.raises(SettingError, match="inference=True"):
        plain.get_prediction(table)


def test_what_is_withheld_is_blank_in_the_table(make_release: Any, altered: Any) -> None:
    release = altered(make_release(model="gaussian"), step=np.zeros(4), visible=0.21, hidden_size=50.0)
    found = Results(release).get_prediction(np.eye(4), lambda margins: np.clip(margins, -1, 1))
    withheld = np.array([word == "withheld" for word in found.linear.statements])
    assert withheld.any()
    assert found.response_int()[withheld].tolist() == [[-1.0, 1.0]] * int(withheld.sum())
    # In one way everywhere: there is no error and no interval.
    assert np.isnan(found.se_mean[withheld]).all()
    assert np.isnan(found.conf_int()[withheld]).all()
    assert np.isfinite(found.conf_int()[~withheld]).all()
    frame = found.summary_frame()
    for name in ("mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"):
        assert np.isnan(frame[name][withheld]).all()
    assert np.isfinite(frame["mean"]).all()
    with pytest.raises(SettingError, match="between 0 and 1"):
        found.response_int(95)


def test_without_a_release_there_is_no_law(make_release: Any) -> None:
    found = Results(make_release()).get_prediction(np.eye(4), lambda margins: margins)
    with pytest.raises(SettingError, match="Nothing is known"):
        replace(found, find_law=None).response_int()
