"""Every population against the library without noise: same names, same estimates, same errors."""

import math
import warnings

import numpy as np
import pyarrow as pa
import pytest

import tacit
from benchmarks.coverage.plain_fit import plain_fit
from benchmarks.coverage.plain_targets import block_of, read_targets
from benchmarks.coverage.population import RESPONSE
from benchmarks.coverage.populations import INVENTED, POPULATIONS, chosen
from benchmarks.coverage.populations_binary import SHARES_OF_ONES, SKEWED_STARTS

NAMED = [
    "gamma_cost",
    "lpm",
    "likert",
    "semicont",
    "exp_err",
    "logn_het",
    "het_t25",
    "contam",
    "lin4",
    "lin8",
    "lin10",
    "lin20",
    "corr_lin",
    "null_lin",
    "poly2_lin",
    "poly3_lin",
    "poly3_big",
    "factor8_lin",
    "mixed_lin",
    "mixed_logit",
    "logit4",
    "logit8",
    "logit10",
    "logit20",
    "corr_logit",
    "skew_logit",
    "strong_logit",
    "spline_logit",
    "log_logit",
    "null_logit",
    "misspec_logit",
    "rare03",
    "rare1",
    "rare3",
    "rare5",
    "rare10",
    "half50",
    "pos3_logit",
    "pos10_logit",
    "pois4",
    "pois8",
    "pois20",
    "null_pois",
    "negbin",
    "zip",
    "pois_expo",
    "pois_mean40",
    "wrong_link_lin",
    "wrong_link_logit",
    "wrong_link_pois",
]


def test_all_are_there_and_can_be_chosen() -> None:
    assert set(NAMED) <= set(POPULATIONS)
    assert [each.name for each in chosen(["lpm", "poly3_lin", "lpm"])] == ["lpm", "poly3_lin"]
    assert len(chosen(["all"])) == len(POPULATIONS)
    assert {each.family for each in chosen(["poisson"])} == {"poisson"}
    assert all(each.clean for each in chosen(["clean"]))
    assert {each.name for each in chosen(["invented"])} == INVENTED
    with pytest.raises(ValueError, match="no population 'nobody'"):
        chosen(["nobody"])


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_library_without_noise_agrees(name: str) -> None:
    population = POPULATIONS[name]
    draw = population.sample(3000, np.random.default_rng(3))
    table = pa.table(draw.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = tacit.glm(population.formula, table, population.schema, population.family, epsilon=math.inf)
    assert set(fit.params.index) == set(population.names)
    plain = plain_fit(population, draw)
    known = np.isfinite(plain.errors) & (plain.errors > 0)
    if name.startswith("const"):
        assert not known.any()
        return
    endless = not np.isfinite(list((population.truth or {"": 0.0}).values())).all()
    assert known.sum() == population.d - endless
    values = np.array([fit.params[each] for each in population.names])
    errors = np.array([fit.bse[each] for each in population.names])
    assert np.abs(values - plain.values)[known] / plain.errors[known] == pytest.approx(0, abs=1e-5)
    assert (errors / plain.errors)[known] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", POPULATIONS)
def test_public_bounds_hold_and_means_are_means(name: str) -> None:
    population = POPULATIONS[name]
    draw = block_of(population, 1000, 20_000)
    for column, facts in population.columns.items():
        if facts["type"] == "numeric":
            values = draw.table[column]
            assert facts["lower"] <= values.min(), column
            assert values.max() <= facts["upper"], column
    assert draw.mean is not None
    response, mean = draw.table[RESPONSE], draw.mean
    if population.classes:
        rests = [(response == label) - mean[:, place] for place, label in enumerate(population.classes)]
    else:
        rests = [response - mean]
    for rest in rests:
        scores = population.rows(draw) * rest[:, None]
        scale = np.sqrt((scores**2).sum(axis=0))
        # Each of some 400 standard normal numbers beyond 5.5: a false alarm in 60,000 draws.
        assert np.abs(scores.sum(axis=0) / np.where(scale > 0, scale, 1.0)).max() < 5.5


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_truth_is_where_the_score_vanishes(name: str) -> None:
    population = POPULATIONS[name]
    if population.truth is None:
        assert name in read_targets()
        assert len(read_targets()[name]) == population.d
        return
    draw = block_of(population, 1001, 20_000)
    plain = plain_fit(population, draw)
    truth = np.array([population.truth[each] for each in population.names])
    known = np.isfinite(plain.errors) & (plain.errors > 0)
    # Standard normal but for the tails of skewed errors.
    assert np.abs((plain.values - truth)[known] / plain.errors[known]).max(initial=0) < 5.5


def test_shares_of_ones_are_as_said() -> None:
    wanted = {**SHARES_OF_ONES, "pos3_logit": 0.03, "pos10_logit": 0.10}
    assert set(SKEWED_STARTS) < set(wanted)
    for name, share in wanted.items():
        mean = block_of(POPULATIONS[name], 0).mean
        assert mean is not None
        assert float(mean.mean()) == pytest.approx(share, rel=0.03)
