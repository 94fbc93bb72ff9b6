"""Feature maps of rows, against scikit-learn, numpy and plain loops."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures

from tacit.design.design import Design, matrix_design
from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.design.response import Binary
from tacit.errors import DataError, SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.encoding.transforms import FeatureMapper, frequencies_in_turns
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.tiles import to_rows

GENERATOR = np.random.default_rng(9)
X = GENERATOR.uniform(-3, 7, size=(300, 3))
X[:20] *= 1e6
BOUNDS = ([-2, 0, 1], [2, 4, 9])


def design_of(feature_map: FeatureMap, **facts: Any) -> Design:
    given = {"bounds": BOUNDS, "row_norm": None, "intercept": True, **facts}
    names = ["a", "b", "c"]
    return matrix_design(names, Binary("y", (0, 1)), feature_map=feature_map, **given)


def features(design: Design, rows: NDArray[np.float64] = X) -> NDArray[np.float64]:
    return FeatureMapper.of(design).features(rows, np.ones(len(rows), dtype=np.bool_))


def unit_rows() -> NDArray[np.float64]:
    lower, upper = np.array(BOUNDS, dtype=float)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    mapped: NDArray[np.float64] = (np.clip(X, lower, upper) - middle) / half
    return mapped


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_polynomials_are_scikit_learns(degree: int, interaction_only: bool) -> None:
    design = design_of(Polynomial(degree, interaction_only))
    twin = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False)
    expected = twin.fit_transform(unit_rows())
    np.testing.assert_allclose(features(design), expected, rtol=1e-13)
    names = tuple(twin.get_feature_names_out(["a", "b", "c"]))
    assert tuple(column.name for column in design.columns) == names


@pytest.mark.parametrize("row_norm", [None, 0.5, 1.2])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_t02_polynomials_stay_within_their_norm(degree: int, row_norm: float | None) -> None:
    design = design_of(Polynomial(degree), row_norm=row_norm)
    corners = np.array(np.meshgrid([-1e9, 1e9], [-1e9, 1e9], [-1e9, 1e9])).reshape(3, -1).T
    found = features(design, np.vstack([X, corners]))
    assert np.linalg.norm(found, axis=1).max() <= design.feature_norm * (1 + 1e-12)
    if row_norm is None:
        # At a corner the bound is met.
        assert np.linalg.norm(found, axis=1).max() == pytest.approx(design.feature_norm, rel=1e-12)


def test_fourier_features_are_cosines_and_sines() -> None:
    design = design_of(RandomFourier(50, 0.7, 3))
    phases = unit_rows() @ (2 * math.pi * frequencies_in_turns(3, 3, 50, 0.7))
    expected = np.hstack([np.cos(phases), np.sin(phases)]) / math.sqrt(50)
    found = features(design)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-14)


def test_fourier_features_approach_the_gaussian_kernel() -> None:
    # 20 000 fixed frequencies: the error of each entry has standard deviation below 0.006.
    found = features(design_of(RandomFourier(20_000, 1.5, 1)))[20:60]
    rows = unit_rows()[20:60]
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found @ found.T, np.exp(-distances / (2 * 1.5**2)), atol=0.04)


@pytest.mark.parametrize("facts", [{}, {"bounds": None, "row_norm": 5.0}, {"row_norm": 0.3}])
def test_t02_t40_fourier_features_have_norm_one_whatever_the_record(facts: dict[str, Any]) -> None:
    wild = np.array([[1e308, -1e308, 0], [1e-320, 5e-324, 0], [1e16, 1e17, 1e18], [0, 0, 0]])
    found = features(design_of(RandomFourier(30, 1e-6), **facts), wild)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-13)


MAPS: list[FeatureMap] = [Polynomial(3), RandomFourier(17, 0.2, 5), Custom(np.tanh, 1.0)]


@pytest.mark.parametrize("feature_map", MAPS)
def test_t08_features_do_not_depend_on_place_or_neighbours(feature_map: FeatureMap) -> None:
    design = design_of(feature_map)
    whole = features(design)
    alone = np.vstack([features(design, X[i : i + 1]) for i in range(len(X))])
    assert whole.tobytes() == alone.tobytes() == features(design, X[::-1])[::-1].tobytes()


def test_a_custom_function_sees_one_clipped_row_and_is_shrunk() -> None:
    seen: list[tuple[int, ...]] = []

    def double(row: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append(row.shape)
        row *= 2.0
        return row

    design = design_of(Custom(double, 3.0))
    table = X.copy()
    found = features(design, table)
    np.testing.assert_array_equal(table, X)
    assert set(seen) == {(3,)}
    expected = 2 * np.clip(X, *np.array(BOUNDS, dtype=float))
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected * np.minimum(1, 3.0 / norms), rtol=1e-13)


def test_t08_a_custom_function_is_never_called_twice_at_once() -> None:
    # A function with a buffer of its own, which two calls at once would share.
    buffer = np.zeros(3)

    def slowly(row: NDArray[np.float64]) -> NDArray[np.float64]:
        buffer[:] = row
        time.sleep(1e-6)
        return buffer.copy()

    mapper = FeatureMapper.of(design_of(Custom(slowly, 100.0)))
    parts = np.array_split(X, 4)
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(mapper.features, part, np.ones(len(part), np.bool_)) for part in parts]
        found = np.vstack([each.result() for each in work])
    np.testing.assert_array_equal(found, np.clip(X, *np.array(BOUNDS, dtype=float)))


def refuse(row: NDArray[np.float64]) -> Any:
    raise ValueError(f"secret {row[0]}")


@pytest.mark.parametrize(
    "fault",
    [
        refuse,
        lambda row: row[:1],
        lambda row: row * math.nan,
        lambda _row: "text",
        lambda row: row.reshape(1, -1),
        lambda _row: 1 / 0,
    ],
)
def test_t40_t41_a_custom_function_that_fails_leaves_an_invalid_record(fault: Callable[[Any], Any]) -> None:
    def mostly(row: NDArray[np.float64]) -> Any:
        return fault(row) if row[0] > 1 else row

    feature_map = Custom(mostly, 2.0, features=3)
    table = np.array([[0.5, 1, 2], [1.5, 1, 2], [-1, 1, 2]])
    source = open_source(table, response=[0, 1, 0])
    design = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=BOUNDS, row_norm=None, intercept=True, feature_map=feature_map
    )
    rows = to_rows(admit(source, design, invalid_rows="zero").block(0), 3)
    assert (rows[1] == 0).all()
    assert (rows[[0, 2], 3] == 1).all()
    with pytest.raises(DataError) as caught:
        admit(source, design)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("length", [1e200, 1e-200])
def test_t40_custom_results_of_any_size_are_shrunk(length: float) -> None:
    design = design_of(Custom(lambda row: np.sign(row) * length, 2.0))
    found = features(design, np.array([[2.0, 4.0, 9.0]]))
    assert np.isfinite(found).all()
    assert np.linalg.norm(found) == pytest.approx(min(2.0, length * math.sqrt(3)), rel=1e-12)


def test_a_stored_custom_map_says_that_it_lost_its_function() -> None:
    design = Design.from_json(design_of(Custom(np.tanh, 1.0)).to_json())
    with pytest.raises(SettingError, match="not stored"):
        FeatureMapper.of(design)


@pytest.mark.parametrize("feature_map", MAPS)
def test_prepared_rows_obey_the_norm_and_missing_cells_are_invalid(feature_map: FeatureMap) -> None:
    table = X.copy()
    table[5, 1] = math.nan
    source = open_source(table, response=np.arange(len(X)) % 2)
    design = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=BOUNDS, row_norm=None, intercept=True, feature_map=feature_map
    )
    reader = FeatureReader.of(design)
    assert reader.numeric == source.names
    store = admit(source, design, invalid_rows="zero", dtype=np.float64)
    rows = to_rows(store.block(0), len(X))
    assert (rows[5] == 0).all()
    norms = np.linalg.norm(rows[:, : len(design.columns)], axis=1)
    assert norms.max() <= design.feature_norm * (1 + 2.0**-40)
    assert norms.max() > 0.5 * design.feature_norm


def test_what_a_function_warns_of_is_not_passed_on() -> None:
    def careful(row: NDArray[np.float64]) -> NDArray[np.float64]:
        if row[0] > 1.0:
            warnings.warn(f"the row {row} is special", RuntimeWarning, stacklevel=2)
        return row

    mapper = FeatureMapper.of(design_of(Custom(careful, 100.0, features=3)))
    valid = np.ones(len(X), dtype=np.bool_)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mapper.features(X, valid)
    assert (X[:, 0] > 1.0).any()
    assert valid.all()
    assert caught == []
