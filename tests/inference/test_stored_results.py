"""A fit that was kept says what it said before."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError, UnavailableError
from tacit.estimators.fit import Fit
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table

FORMER = Path(__file__).parents[1] / "fixtures" / "0.1.0"


def fitted(records: int, formula: str = CLINIC_FORMULA, **settings: Any) -> Fit:
    table = pd.DataFrame(clinic_table(records))
    return tacit.glm(formula, table, tacit.Schema.parse(CLINIC_SCHEMA), **settings)


def kept(fit: Fit, folder: Path) -> Fit:
    fit.save(folder / "fit.json")
    back = tacit.load(folder / "fit.json")
    assert back.release is None
    return back


@pytest.mark.parametrize("epsilon", [4.0, 0.9, float("inf")])
def test_summaries_and_intervals_are_those_of_the_fit(tmp_path: Path, epsilon: float) -> None:
    fit = fitted(3001, epsilon=epsilon)
    back = kept(fit, tmp_path)
    assert back.summary() == fit.summary()
    assert str(back.summary()) == str(fit.summary())
    for asked in (
        {"level": 0.8},
        {"level": 0.99, "which": "sampling", "exponentiate": True},
        {"simultaneous": "scheffe", "stars": True},
        {"simultaneous": True},
    ):
        assert back.summary(**asked) == fit.summary(**asked)
    assert back.cov_params().tobytes() == fit.cov_params().tobytes()
    assert back.conf_int(0.7).to_numpy().tobytes() == fit.conf_int(0.7).to_numpy().tobytes()
    for name in ("params", "bse", "tvalues", "zvalues", "pvalues"):
        assert getattr(back, name).equals(getattr(fit, name))
    assert back.summary_frame().equals(fit.summary_frame())


def test_doubts_are_kept(tmp_path: Path) -> None:
    fit = fitted(3002, epsilon=0.32, formula="readmit ~ age + bmi", random_state=1)
    assert fit.summary().statement != "nominal"
    back = kept(fit, tmp_path)
    assert back.summary().notes == fit.summary().notes
    assert "Conservative (" in str(back.summary())


def with_a_rare_level(records: int, **settings: Any) -> Fit:
    """A level that some twenty of 4000 records have, which noise hides."""
    rng = np.random.default_rng(1)
    level = np.where(rng.random(records) < 0.005, "rare", rng.choice(["a", "b"], records))
    table = pd.DataFrame({"x": rng.uniform(-1, 1, records), "level": level})
    table["y"] = rng.random(records) < 1 / (1 + np.exp(-table["x"]))
    schema = tacit.Schema.parse(
        '[columns.x]\ntype = "numeric"\nlower = -1\nupper = 1\n'
        '[columns.level]\ntype = "factor"\nlevels = ["a", "b", "rare"]\n'
        '[columns.y]\ntype = "binary"\n'
    )
    return tacit.glm("y ~ x + C(level)", table, schema, **settings)


def test_withheld_terms_keep_their_words_notes_covariance_and_degrees(tmp_path: Path) -> None:
    """At a few epsilons, until some terms are withheld and some are not."""
    for seed in range(20):
        fit = with_a_rare_level(4000, epsilon=1.5 - seed / 20)
        words = [line.statement for line in fit.summary().lines]
        if "withheld" in words and len(set(words)) > 1:
            break
    assert "withheld" in words
    assert len(set(words)) > 1
    back = kept(fit, tmp_path)
    assert back.summary() == fit.summary()
    assert [line.statement for line in back.summary().lines] == words
    assert back.summary().notes == fit.summary().notes
    assert back.summary().notes[0].startswith("Withheld (")
    assert back.cov_params().tobytes() == fit.cov_params().tobytes()
    for asked in ({"level": 0.8}, {"which": "sampling"}, {"simultaneous": "scheffe"}):
        assert back.conf_int(**asked).to_numpy().tobytes() == fit.conf_int(**asked).to_numpy().tobytes()
    assert back.pvalues.equals(fit.pvalues)
    assert back.bse.equals(fit.bse)
    document = json.loads((tmp_path / "fit.json").read_text(encoding="utf-8"))
    for term, word in zip(document["terms"], words, strict=True):
        empty = [term[name] is None for name in ("std_err", "lower", "upper")]
        assert empty == [word == "withheld"] * 3


def test_why_no_intervals_are_offered_is_kept(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Intervals will not be offered"):
        fit = fitted(700, epsilon=0.5)
    back = kept(fit, tmp_path)
    assert back.summary() == fit.summary()
    assert not back.summary().offered
    with pytest.raises(SettingError, match="Intervals are not offered: n·μ/d"):
        back.conf_int()


def test_what_was_not_paid_for_is_refused(tmp_path: Path) -> None:
    back = kept(fitted(800, epsilon=3.0, inference=False), tmp_path)
    assert back.summary().lines[0].std_err is None
    for ask in (back.conf_int, back.cov_params, lambda: back.pvalues):
        with pytest.raises(SettingError, match="did not pay for intervals"):
            ask()


@pytest.mark.parametrize("epsilon", [4.0, float("inf")])
def test_tests_regions_contrasts_and_predictions_are_those_of_the_fit(tmp_path: Path, epsilon: float) -> None:
    fit = fitted(3003, epsilon=epsilon)
    back = kept(fit, tmp_path)
    assert str(back.t_test(["age - bmi = 0", "2*age = 1"])) == str(fit.t_test(["age - bmi = 0", "2*age = 1"]))
    assert back.wald_test(["age", "bmi"]) == fit.wald_test(["age", "bmi"])
    for region in ("center", "matrix"):
        first, second = (getattr(each.confidence_region(["age", "bmi"]), region) for each in (back, fit))
        np.testing.assert_array_equal(first, second)
    ends, again = (each.contrasts("ward").conf_int(0.9, simultaneous=True) for each in (back, fit))
    np.testing.assert_array_equal(ends, again)
    assert back.cov_params("sampling").tobytes() == fit.cov_params("sampling").tobytes()
    new = pd.DataFrame(clinic_table(5))
    assert back.get_prediction(new).summary_frame().equals(fit.get_prediction(new).summary_frame())


def test_several_classes_are_tested_too(tmp_path: Path) -> None:
    schema = tacit.Schema.parse(
        '[columns.x]\ntype = "numeric"\nlower = -1\nupper = 1\n[columns.y]\ntype = "factor"\nlevels = ["a", "b", "c"]\n'
    )
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(-1, 1, 3000), "y": rng.choice(["a", "b", "c"], 3000)})
    fit = tacit.glm("y ~ x", table, schema, family="multinomial", epsilon=4.0)
    back = kept(fit, tmp_path)
    assert str(back.t_test("b: x - a: x")) == str(fit.t_test("b: x - a: x"))


def test_what_a_file_does_not_keep_is_refused(tmp_path: Path) -> None:
    back = kept(fitted(3004, epsilon=4.0), tmp_path)
    without = Fit(replace(back.stored, further={}))
    for ask in (without.t_test, without.wald_test):
        with pytest.raises(UnavailableError, match="before it is kept"):
            ask("age - bmi")
    with pytest.raises(SettingError, match="level"):
        back.summary(1.5)


def test_a_fit_of_the_former_format_has_its_intervals_and_no_more() -> None:
    back = tacit.load(FORMER / "fit-binomial.json")
    text = str(back.summary())
    assert "[0.025" in text
    assert "P>|z|" not in text
    assert "older format" in text
    asks = (back.conf_int, lambda: back.summary(0.9), lambda: back.summary(stars=True))
    for ask in asks:
        with pytest.raises(SettingError, match="95% intervals only"):
            ask()
    assert all(line.std_err is not None for line in back.summary().lines)
