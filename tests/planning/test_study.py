"""A study plans and forecasts one model at any n and ε."""

import pytest

import tacit
from tacit import LogisticRegression
from tacit.errors import SettingError
from tacit.planning.targets import Target


def test_other_sizes_and_budgets_are_planned_anew() -> None:
    study = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1)).study(5000, 2)
    assert study.at(n=50_000).plan.records == 50_000
    assert study.at(epsilon=3.0).plan.guarantee().epsilon > 2.9
    rows = study.grid([1000, 5000], [1.0])
    assert [one.plan.records for row in rows for one in row if one] == [1000, 5000]


def test_one_target_is_asked_for() -> None:
    study = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1)).study(5000, 2)
    with pytest.raises(SettingError, match="one target"):
        study.required("n", half_width=0.1, error=0.1)


COLUMNS = {
    "age": {"type": "numeric", "lower": 20, "upper": 90},
    "region": {"type": "factor", "levels": ["N", "S", "E"]},
    "years": {"type": "numeric", "lower": 0.1, "upper": 8},
    "falls": {"type": "numeric", "lower": 0, "upper": 15},
}
SCHEMA = tacit.Schema.from_mapping({"columns": COLUMNS})
FORMULA = "falls ~ ns(age, knots=[40, 55, 70]) + region + exposure(years)"


def test_a_natural_spline_with_an_exposure_has_intervals() -> None:
    found = tacit.plan(FORMULA, SCHEMA, n=30_000, family="poisson", epsilon=1.0).at()
    assert found.withheld is None
    assert all(width is not None and width < 0.5 for width in found.half_widths.values())


def test_rates_that_are_stated_decide() -> None:
    formula = "falls ~ age + region + exposure(years)"
    known = tacit.Assumptions(mean=0.2, columns={"age": (55, 20)}, levels={"region": (1, 1, 1)})
    usual, rare = (
        tacit.plan(formula, SCHEMA, n=30_000, family="poisson", epsilon=1.0, assumptions=one) for one in (None, known)
    )
    assert (
        rare.forecast.term("region[T.E]").half_width_without_privacy
        > 1.2 * usual.forecast.term("region[T.E]").half_width_without_privacy
    )
    assert "falls a mean of 0.2" in rare.forecast.assumption
    assert "labels" not in rare.forecast.assumption
    assert {guess.partition(" ")[0] for guess, _ in usual.under_other_guesses()} == {"effect", "mean", "spread"}


def test_one_of_size_and_budget_is_enough_for_a_target() -> None:
    study = tacit.plan("falls ~ age", SCHEMA, n=20_000, family="poisson")
    assert 0.001 < (study.required("epsilon", half_width=0.02, term="age").value or 0) < 10
    for act in (lambda: study.plan, lambda: study.required("n", half_width=0.02)):
        with pytest.raises(SettingError, match="epsilon"):
            act()
    sized = tacit.plan("falls ~ age", SCHEMA, epsilon=1.0, family="poisson")
    assert (sized.required("n", half_width=0.02, term="age").value or 0) > 100
    with pytest.raises(SettingError, match="least n"):
        tacit.plan("falls ~ age", SCHEMA, family="poisson")


def test_what_is_impossible_is_said_before_anything_is_simulated() -> None:
    study = tacit.plan(FORMULA, SCHEMA, n=30_000, family="poisson", epsilon=1.0)
    with pytest.raises(SettingError, match=r"asks for one of .*region"):
        study.meets(Target("half-width", 0.01))
    with pytest.raises(SettingError, match="no coefficient 'sex'"):
        study.required("n", half_width=0.1, term="sex")
    assert "forecast" not in vars(study)
