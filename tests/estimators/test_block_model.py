"""What estimators on blocks share: rows as the user has them, invented rows, refusals before anything is spent."""

import numpy as np
import pytest

import tacit
from tacit import PATE, Budget, Ledger, SubsampleAggregate
from tacit.errors import SettingError
from tacit.estimators.block_model import invented_rows, output_design, pickled
from tacit.estimators.vote_student import VoteStudent

MODEL = SubsampleAggregate(estimator=VoteStudent(), epsilon=1.0, output_bounds=(-1, 1), blocks=4)


def test_columns_are_stored_without_rounding() -> None:
    design = MODEL.plan(100, 2).design
    assert [column.scale for column in design.columns] == [1.0, 1.0]
    bounded = SubsampleAggregate(
        estimator=VoteStudent(), epsilon=1.0, output_bounds=(-1, 1), blocks=4, bounds=(0, 10), y_bounds=(-3, 5)
    )
    design = bounded.plan(100, 2).design
    assert [column.scale for column in design.columns] == [16.0, 16.0]
    assert (design.response.lower, design.response.scale) == (-3.0, 8.0)  # type: ignore[union-attr]


def test_invented_rows_are_within_the_bounds_and_have_every_class() -> None:
    bounded = SubsampleAggregate(
        estimator=VoteStudent(), epsilon=1.0, output_bounds=(-1, 1), blocks=4, bounds=(3, 4), classes=["a", "b", "c"]
    )
    design = bounded.plan(1000, 2).design
    X, y = invented_rows(design, 10)
    assert X.shape == (10, 2)
    assert ((X >= 3) & (X <= 4)).all()
    assert set(y.tolist()) == {0.0, 1.0, 2.0}
    free, response = invented_rows(MODEL.plan(100, 2).design, 1)
    assert len(free) == len(response) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"blocks": 1}, "blocks"),
        ({"blocks": 60}, "fewer than the 3 numbers"),
        ({"estimator": VoteStudent}, "an object with fit"),
        ({"output_bounds": None}, "output_bounds must be two numbers"),
        ({"output_bounds": (1, -1)}, "each lower one below"),
        ({"statistic": len}, "outputs=… must say"),
        ({"aggregator": "mode"}, "aggregator"),
        ({"seconds": -1}, "seconds"),
        ({"bounds": "private"}, "declared bounds or none"),
    ],
)
def test_bad_settings_are_refused_and_nothing_is_spent(given: dict[str, object], said: str) -> None:
    X, y = np.zeros((100, 2)), np.zeros(100)
    with Ledger(budget=Budget(epsilon=5.0, delta=1e-5)) as ledger:
        settings = {**MODEL.get_params(deep=False), "delta": 1e-6, **given}
        with pytest.raises(SettingError, match=said):
            SubsampleAggregate(**settings).fit(X, y)
        assert ledger.charges() == ()


def test_fewer_than_two_teachers_are_refused_and_nothing_is_spent() -> None:

    X, y = np.zeros((100, 2)), np.arange(100) % 2
    with Ledger(budget=Budget(epsilon=5.0, delta=1e-5)) as ledger:
        model = PATE(epsilon=1.0, delta=1e-6, teacher=VoteStudent(), teachers=1, classes=[0, 1])
        with pytest.raises(SettingError, match="teachers"):
            model.fit(X, y, tacit.public(X[:5]))
        with pytest.raises(SettingError, match=r"tacit\.public"):
            model.fit(X, y, X[:5])
        assert ledger.charges() == ()


def test_what_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(SettingError, match="cannot be sent"):
        pickled(x for x in range(1))


def test_released_numbers_are_between_their_bounds() -> None:
    design = output_design(["a"], [2.0], [6.0])
    assert (design.to_user() @ [0.5] + design.shift()).tolist() == [5.0]
