"""Population values: the truth where the model is right, else kept in a file."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import plain_targets
from benchmarks.coverage.plain_targets import PATH, population_value, read_targets, target_of
from benchmarks.coverage.populations import POPULATIONS


@pytest.mark.parametrize("name", ["lin4", "poly3_lin", "logit4", "pois_expo", "mixed_logit"])
def test_with_expected_responses_a_right_model_is_found_exactly(name: str) -> None:
    population = POPULATIONS[name]
    found = population_value(population, 8000, 2000)
    assert found == pytest.approx(target_of(population), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", read_targets())
def test_what_is_kept_is_found_again_from_fewer_records(name: str) -> None:
    population = POPULATIONS[name]
    assert population.truth is None
    found = population_value(population, 60_000, 20_000)
    kept = np.array(read_targets()[name])
    # Noise of 60,000 records with expected responses.
    assert np.abs(found - kept).max() <= 0.06 * np.abs(kept).max()


def test_a_target_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def value(population: object) -> np.ndarray:
        calls.append(population)
        return np.array([1.0, 2.0, 3.0, 4.0 / 3])

    monkeypatch.setattr(plain_targets, "population_value", value)
    path = tmp_path / "some" / "targets.json"
    population = POPULATIONS["lpm"]
    assert target_of(population, path).tolist() == target_of(population, path).tolist()
    assert calls == [population]
    assert json.loads(path.read_text(encoding="utf-8")) == {"lpm": [1.0, 2.0, 3.0, 1.33333333]}


def test_the_file_holds_what_has_no_truth_and_nothing_else() -> None:
    assert PATH.exists()
    assert set(read_targets()) == {e.name for e in POPULATIONS.values() if e.truth is None}
