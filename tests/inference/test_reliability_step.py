"""What is said of intervals after one step: words by thresholds, notes, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.contract.purpose import Purpose
from tacit.contract.release import Release
from tacit.design.attached_columns import AttachedColumns, Weighting
from tacit.errors import SettingError
from tacit.inference import reliability
from tacit.inference.reliability import StepJudgement, judge
from tacit.inference.results import Results
from tacit.solvers.interval_rules import RELIABILITY

NAMES = ("Intercept", "x0", "x1", "x2")
HIDING = {"visible": 0.1}
"""Hides the first coefficient, whose curvature is 0.05, and no other."""


def judged(release: Release) -> StepJudgement:
    assert release.sandwich is not None
    found = judge(release, release.sandwich)
    assert isinstance(found, StepJudgement)
    return found


def words(release: Release) -> tuple[str, ...]:
    return judged(release).of(NAMES, np.eye(4))


def test_nominal_where_nothing_is_in_the_way(make_stepped: Any) -> None:
    release = make_stepped()
    assert words(release) == ("nominal",) * 4
    assert judged(release).notes(NAMES) == []
    assert Results(release).summary().statement == "nominal"


def test_less_signal_is_conservative(make_stepped: Any) -> None:
    low = make_stepped(RELIABILITY.signal - 1)
    assert words(low) == ("conservative",) * 4
    (note,) = judged(low).notes(NAMES)
    assert note.startswith("Conservative (Intercept, x0, x1, x2): n·μ/d is 99, below 100")
    assert words(make_stepped(RELIABILITY.signal + 1)) == ("nominal",) * 4


def crossing(make_stepped: Any, altered: Any, model: str, size: Any, numbers: Any) -> list[str]:
    """Words of the first coefficient with a number just below and above its two limits."""
    found = []
    for limit in (0, 1):
        for side in (0.97, 1.03):
            low, high = 1e-12, 1e6
            for _ in range(200):
                middle = (low * high) ** 0.5
                release = altered(make_stepped(model=model), **numbers(middle))
                target = side * size(None)[limit]
                low, high = (middle, high) if size(judged(release)) < target else (low, middle)
            found.append(words(altered(make_stepped(model=model), **numbers(low)))[0])
    return found


CAUSES = {
    "bias": (
        "gaussian",
        lambda j: RELIABILITY.bias if j is None else j.covariance.errors(np.eye(4)).bias[0],
        lambda value: {"bias": value},
    ),
    "curvature": (
        "gaussian",
        lambda j: (
            (RELIABILITY.curvature, RELIABILITY.curvature_most)
            if j is None
            else j.covariance.errors(np.eye(4)).curvature[0]
        ),
        lambda value: {"curvature_noise": value},
    ),
    "hidden": (
        "gaussian",
        lambda j: RELIABILITY.hidden if j is None else j.covariance.errors(np.eye(4)).hidden[0],
        lambda value: {**HIDING, "hidden_size": value},
    ),
    "second order": (
        "poisson",
        lambda j: (
            (RELIABILITY.second_order, RELIABILITY.second_order_most)
            if j is None
            else j.covariance.errors(np.eye(4)).second_order
        ),
        lambda value: {"pilot_error": value},
    ),
    "far": (
        "poisson",
        lambda j: (RELIABILITY.far, RELIABILITY.far_most) if j is None else j.covariance.errors(np.eye(4)).far,
        # Without curvature of the errors' law a long step has no second-order bias.
        lambda value: {"pilot_error": value, "step_noise": 1e6, "curvature_noise": 1e-9},
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_words_change_at_the_thresholds_of_the_rules(make_stepped: Any, altered: Any, cause: str) -> None:
    model, size, numbers = CAUSES[cause]
    assert crossing(make_stepped, altered, model, size, numbers) == [
        "nominal",
        "conservative",
        "conservative",
        "withheld",
    ]


def test_only_what_has_a_share_in_a_hidden_direction_is_withheld(make_stepped: Any, altered: Any) -> None:
    release = altered(make_stepped(), **HIDING)
    assert words(release) == ("withheld", "nominal", "nominal", "nominal")
    ways = np.array([[1.0, 1.0, 0, 0], [0, 1.0, -1.0, 0], [1e-9, 1.0, 0, 0]])
    assert judged(release).of(NAMES, ways) == ("withheld", "nominal", "nominal")
    (note,) = judged(release).notes(NAMES)
    assert note == f"Withheld (Intercept): {reliability.HIDDEN}."


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ({"capped": True}, reliability.CUT),
        ({"flat": True}, reliability.FLAT),
        ({"visible": 10.0}, reliability.NOTHING),
        ({"bias": 1.0}, reliability.CLIPPED),
        ({"curvature_noise": 10.0}, reliability.NOISY),
        ({"pilot_error": 9.0, "asymmetry": 1.0}, reliability.FAR),
        ({"pilot_error": 9.0, "asymmetry": 1.0}, reliability.RARE),
    ],
)
def test_what_concerns_all_withholds_all_and_is_told(
    make_stepped: Any, altered: Any, numbers: dict[str, Any], why: str
) -> None:
    release = altered(make_stepped(), **numbers)
    assert words(release) == ("withheld",) * 4
    (note,) = judged(release).notes(NAMES)
    assert note.startswith("Withheld (Intercept, x0, x1, x2): ")
    assert why in note
    assert Results(release).summary().statement == "withheld"


@pytest.mark.parametrize(("model", "case"), [("binomial", True), ("poisson", False)])
def test_a_level_that_is_hardly_seen_lacks_cases_only_where_there_are_labels(
    make_stepped: Any, altered: Any, model: str, case: bool
) -> None:
    numbers = {"curvature": np.diag([0.003, 0.15, 0.2, 0.25]), "visible": 1e-3, "asymmetry": 1.0}
    why = judged(altered(make_stepped(model=model), **numbers)).why(np.eye(4))
    assert (reliability.FAINT in why, reliability.FAINT_NUMBERS in why) == (case, not case)


def test_notes_name_four_and_count_the_rest() -> None:
    assert reliability._listed([f"x{i}" for i in range(4)]) == "x0, x1, x2, x3"
    assert reliability._listed([f"x{i}" for i in range(9)]) == "x0, x1, x2, x3 and 5 more"


def test_each_word_has_its_own_note(make_stepped: Any, altered: Any) -> None:
    release = altered(make_stepped(RELIABILITY.signal - 1), **HIDING)
    withheld, conservative = judged(release).notes(NAMES)
    assert withheld.startswith("Withheld (Intercept): noise hides")
    assert "n·μ/d" not in withheld
    assert conservative.startswith("Conservative (x0, x1, x2): n·μ/d is 99")


def test_a_hidden_direction_is_named_by_the_coefficients_that_have_most_of_it(make_stepped: Any, altered: Any) -> None:
    hidden = altered(make_stepped(), visible=1.0)
    withheld = judged(hidden).notes(NAMES)[0]
    most = judged(hidden).covariance.errors(np.eye(4)).hidden
    assert f"(most of it lies along {NAMES[int(np.argmax(most))]}" in withheld
    assert withheld.count("noise hides a direction") == 1


def test_a_weighted_fit_says_what_a_large_maximum_does(make_stepped: Any, altered: Any) -> None:
    release = altered(make_stepped(), **HIDING)
    weighed = replace(release.plan.design, attached=AttachedColumns(Weighting("w", 20.0)))
    weighed_release = replace(release, plan=replace(release.plan, design=weighed))
    assert "weighted up to 20" in judged(weighed_release).notes(NAMES)[-1]
    assert not any("weighted up to" in note for note in judged(release).notes(NAMES))


def test_withheld_intervals_are_the_whole_line(make_stepped: Any, altered: Any) -> None:
    results = Results(altered(make_stepped(), **HIDING))
    ends = results.conf_int().to_numpy()
    assert ends[0].tolist() == [-np.inf, np.inf]
    assert np.isfinite(ends[1:]).all()
    assert results.bse["Intercept"] == np.inf
    assert results.pvalues["Intercept"] == 1.0
    for asked in ("sampling", "total"):
        for simultaneous in (False, "bonferroni", "scheffe"):
            found = results.conf_int(which=asked, simultaneous=simultaneous).to_numpy()
            assert not np.isnan(found).any()
            assert np.isinf(found[0]).all()
    assert results.terms()[0] == ["Intercept", results.params["Intercept"], None, None, None]
    assert all(value is not None for value in results.terms()[1])


def test_tests_of_withheld_combinations_are_refused(make_stepped: Any, altered: Any) -> None:
    results = Results(altered(make_stepped(), **HIDING))
    for asked in ("Intercept", ["x0", "Intercept"], "x0 - Intercept, x1"):
        with pytest.raises(SettingError, match=r"withheld .*all at once: noise hides"):
            results.wald_test(asked)
    assert results.wald_test(["x0", "x1"]).statement == "nominal"
    # One by one they say nothing, and do not fail.
    alone = results.t_test("Intercept = 0, x0 = 0")
    assert alone.statements == ("withheld", "nominal")
    assert alone.pvalues[0] == 1.0
    assert alone.pvalues[1] < 1.0


def test_joint_tests_have_the_weakest_word_and_a_simulated_law(make_stepped: Any) -> None:
    results = Results(make_stepped(RELIABILITY.signal - 1))
    near = {name: value + 0.05 for name, value in results.params.items()}
    asked = ", ".join(f"{name} = {near[name]}" for name in ("x0", "x1", "x2"))
    found = results.wald_test(asked)
    assert found.statement == "conservative"
    draws = RELIABILITY.draws + 1
    assert 2 / draws < found.pvalue < 1.0
    assert found.pvalue * draws == pytest.approx(round(found.pvalue * draws))
    # Beyond all draws it is the tail of the F law, and no longer a multiple.
    assert results.wald_test(["x0", "x1", "x2"]).pvalue <= 1 / draws


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {**HIDING, "hidden_size": 0.05},
        {"pilot_error": 0.5, "asymmetry": 0.2},
        {"score_noise": 0.5},
        {"bias": 0.003},
    ],
)
def test_a_test_of_one_combination_agrees_with_its_interval(
    make_stepped: Any, altered: Any, numbers: dict[str, Any]
) -> None:
    """Regression: what widens an interval did not enter the test of the same number."""
    results = Results(altered(make_stepped(), **numbers))
    for asked in ("Intercept = 0.1", "x0 - x1 = 0.3"):
        if "withheld" in results.t_test(asked).statements:
            continue
        alone, wald = results.t_test(asked), results.wald_test(asked)
        assert wald.statistic == pytest.approx(alone.statistics[0] ** 2)
        assert wald.pvalue == pytest.approx(alone.pvalues[0])


def test_words_are_a_function_of_what_was_released(make_stepped: Any) -> None:
    """The same release, the same words: nothing is drawn and nothing asked for."""
    first, again = Results(make_stepped()), Results(make_stepped())
    assert first.summary() == again.summary()
    assert first.wald_test(["x0", "x1"]) == again.wald_test(["x0", "x1"])


def test_labels_that_are_hardly_seen_withhold_all(make_stepped: Any, altered: Any) -> None:
    plan = make_stepped().plan
    noise = plan.step(Purpose.LABEL_SHARE).noise_share(plan.count)
    most, least = RELIABILITY.seen
    for deviations, word in ((1.03 * most, "nominal"), (0.97 * most, "conservative"), (1.03 * least, "conservative")):
        assert words(altered(make_stepped(), level=deviations * noise, level_noise=noise)) == (word,) * 4
    unseen = altered(make_stepped(), level=0.97 * least * noise, level_noise=noise)
    assert words(unseen) == ("withheld",) * 4
    assert reliability.UNSEEN in judged(unseen).notes(NAMES)[0]
    # Numbers and counts have no labels.
    assert words(altered(make_stepped(model="gaussian"), level=1e-9)) == ("nominal",) * 4


def test_with_little_signal_every_direction_must_be_seen(make_stepped: Any, altered: Any) -> None:
    assert words(altered(make_stepped(RELIABILITY.signal - 1), lifted=True)) == ("withheld",) * 4
    assert words(altered(make_stepped(RELIABILITY.signal + 1), lifted=True)) == ("nominal",) * 4


def test_joint_tests_of_least_squares_with_little_signal_allow_for_a_bias_of_all(
    make_stepped: Any, altered: Any
) -> None:
    below, above = RELIABILITY.joint_signal - 1, RELIABILITY.joint_signal + 1
    asked = ["x0", "x1"]

    def joint(signal: float, model: str = "gaussian", bias: float = 1e-4) -> tuple[str, float]:
        release = altered(make_stepped(signal, model=model), bias=bias)
        found = Results(release).wald_test(asked)
        return found.statement, float(judged(release).covariance.joint(np.eye(4)[1:3])[0, 0])

    assert joint(above)[0] == "nominal"
    assert joint(below)[0] == "conservative"
    assert joint(below)[1] > 1.02 * joint(above)[1]
    assert joint(below, bias=0.0)[0] == joint(below, "poisson")[0] == "nominal"
    region = Results(altered(make_stepped(below, model="gaussian"), bias=1e-4)).confidence_region(asked, 0.95)
    assert region.statement == "conservative"
