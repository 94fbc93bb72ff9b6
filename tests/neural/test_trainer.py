"""`DPTrainer`: what it learns, what it states, and what it refuses before anything is spent."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tacit
from tacit.errors import BudgetError, DataError, LedgerError, SettingError, TacitError
from tacit.neural import DPTrainer, mlp
from tests.neural.small_table import table

X, Y = table()
INPUTS = X.astype(np.float32)


def trainer(**settings: Any) -> DPTrainer:
    usual: dict[str, Any] = {
        "module": mlp(3, 2, (8,)),
        "epsilon": 8.0,
        "delta": 1e-5,
        "batch_size": 150,
        "steps": 8,
        "step_size": 1.0,
    }
    return DPTrainer(**{**usual, **settings})


@pytest.mark.parametrize(
    "settings",
    [{}, {"optimiser": "adam", "step_size": 0.05}, {"physical_batch": 32, "weights": "last"}, {"schedule": "cosine"}],
    ids=["sgd", "adam", "small chunks", "cosine"],
)
def test_a_border_is_learned_at_the_stated_price(settings: dict[str, Any]) -> None:
    seeded = trainer(steps=60, epsilon=20.0, random_state=1, **settings).fit(INPUTS, Y)
    assert (seeded.predict(INPUTS).argmax(axis=1) == Y).mean() > 0.8
    model = trainer(steps=60, epsilon=20.0, **settings).fit(INPUTS, Y)
    assert model.certificate_.check().consistent
    total = model.certificate_.parsed["total"]
    assert 19.9 < total["epsilon"] <= 20.0
    (entry,) = model.certificate_.parsed["events"]
    assert (entry["times"], entry["arithmetic"], entry["query"]) == (60, "bounded-float", "network-gradient")


def test_both_weights_are_kept_and_the_module_is_left_alone() -> None:
    module = mlp(3, 2, (8,))
    before = [value.clone() for value in module.parameters()]
    model = trainer(module=module).fit(INPUTS, Y)
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    np.testing.assert_array_equal(model.release_.theta, model.state_.average)
    assert not np.array_equal(model.state_.average, model.state_.theta)
    assert model.state_.done == 8


def test_two_trainings_share_no_noise_and_a_seed_is_not_private() -> None:
    one, other = (trainer(steps=1, weights="last").fit(INPUTS, Y).release_.theta for _ in range(2))
    assert (one != other).all()
    seeded = [trainer(random_state=4).fit(INPUTS, Y) for _ in range(2)]
    np.testing.assert_array_equal(seeded[0].release_.theta, seeded[1].release_.theta)
    assert seeded[0].certificate_.private is False


def test_an_example_with_a_loss_that_is_no_number_does_not_stop_the_run() -> None:
    bad = INPUTS.copy()
    bad[5, 1], bad[6, 0] = np.nan, np.inf
    assert np.isfinite(trainer().fit(bad, Y).release_.theta).all()


class Doubled(nn.Module):
    """A sum that is changed in place, which hides a layer's output."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(self.first(x).mul_(2.0).tanh_())
        return found


def test_modules_that_change_numbers_in_place_are_trained() -> None:
    for module in (Doubled(), nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))):
        assert np.isfinite(trainer(module=module).fit(INPUTS, Y).release_.theta).all()


def test_frozen_parameters_stay_as_they_are() -> None:
    module = mlp(3, 2, (8,))
    frozen: Any = module[0]
    frozen.weight.requires_grad_(False)
    model = trainer(module=module).fit(INPUTS, Y)
    trained: Any = model.module_
    assert torch.equal(trained[0].weight, frozen.weight)
    assert model.release_.theta.size == 8 + 16 + 2


class Pair(nn.Module):
    """Returns two outputs, as recurrent layers do."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found: torch.Tensor = self.out(x)
        return found, found


def _broken() -> nn.Module:
    module = nn.Linear(3, 2)
    nn.init.constant_(module.weight, math.nan)
    return module


def test_a_step_size_that_is_too_large_ends_in_words_and_keeps_its_charge(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=30.0, delta=1e-4), law="rdp") as ledger:
        with pytest.raises(SettingError, match=r"After step \d a weight was beyond.*smaller step_size.*stays charged"):
            trainer(step_size=1e200).fit(INPUTS, Y)
        assert len(ledger.charges()) == 1
    # In float32 these weights are infinite: no example has a gradient, and the training goes on.
    assert np.isfinite(trainer(step_size=1e45).fit(INPUTS, Y).release_.theta).all()


class Positions(nn.Module):
    """Tokens and their positions: two embeddings of different sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.out = nn.Embedding(50, 4), nn.Embedding(3, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.out((self.words(x) + self.places(torch.arange(3))).mean(1))
        return found


def test_tokens_are_those_of_their_own_embedding() -> None:
    """A table of positions is smaller than one of words: tokens beyond it are no strangers."""
    rng = np.random.default_rng(2)
    tokens = rng.integers(10, 50, (600, 3))
    labels = (tokens[:, 0] >= 30).astype(int)
    tokens[:, 1:] = tokens[:, :1]
    tokens[7, 0] = 99
    model = trainer(module=Positions(), steps=40, epsilon=50.0, step_size=2.0).fit(tokens, labels)
    known = np.arange(600) != 7
    assert (model.predict(tokens[known]).argmax(1) == labels[known]).mean() > 0.7


def _loader() -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.from_numpy(INPUTS), torch.from_numpy(Y)))


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"module": nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))}, SettingError, "BatchNorm1d.*GroupNorm"),
        ({"module": mlp(4, 2)}, SettingError, "could not be run"),
        ({"batch_size": 601}, SettingError, "more than there are records"),
        ({"relation": "replace-one"}, SettingError, "zero-out"),
        ({"relation": "add-remove"}, SettingError, "zero-out"),
        ({"epsilon": math.inf}, BudgetError, "finite epsilon"),
        ({"delta": 0.0}, BudgetError, "finite epsilon"),
        ({"loss": lambda out, y: (out[:, 0] - y).mean()}, SettingError, "one number for each example"),
        ({"module": nn.ReLU()}, SettingError, "no parameter"),
        ({"clip": 1e-9}, SettingError, "clip"),
        ({"module": Pair()}, SettingError, "could not be run"),
        ({"loss": lambda out, y: out[:, 7]}, SettingError, "could not be run"),
        ({"loss": lambda out, y: 1 // 0}, SettingError, "could not be run"),
        ({"loss": "squared", "module": mlp(3, 2)}, SettingError, "2 outputs for 1 labels"),
        ({"module": _broken()}, SettingError, "no finite number"),
        ({"module": nn.Linear(3, 2, device="meta")}, SettingError, "cannot be copied"),
        ({"steps": 10**9}, SettingError, "from 1 to 10000000"),
        ({"steps": None, "epochs": 1e300}, SettingError, "from 1 to 10000000"),
    ],
)
def test_refusals_come_before_anything_is_spent(
    settings: dict[str, Any], error: type[TacitError], says: str, tmp_path: Path
) -> None:
    terms: dict[str, Any] = {"budget": tacit.Budget(epsilon=100.0, delta=1e-4), "law": "rdp", "refusals": "curator"}
    with tacit.Ledger(tmp_path / "ledger", **terms) as ledger:
        with pytest.raises(error, match=says):
            trainer(**settings).fit(INPUTS, Y)
        assert not ledger.charges()


def test_a_loader_is_refused() -> None:
    with pytest.raises(SettingError, match="shuffles"):
        trainer().fit(_loader())


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": None},
        {"epochs": 3.0},
        {"epochs": 0.0, "steps": None},
        {"steps": 0},
        {"steps": 2.5},
        {"module": nn.LazyLinear(2)},
        {"optimiser": "lion"},
        {"schedule": "steps"},
        {"weights": "best"},
        {"momentum": 1.0},
        {"tail": 2.0},
        {"batch_size": 0},
        {"physical_batch": 0},
        {"random_state": -1},
        {"module": "cnn"},
    ],
)
def test_wrong_settings_are_refused_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        trainer(**settings)


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_record_or_one_are_refused(rows: int) -> None:
    with pytest.raises(SettingError, match="n must be"):
        trainer(batch_size=1).fit(INPUTS[:rows], Y[:rows])


def test_there_is_nothing_to_predict_with_before_a_fit() -> None:
    with pytest.raises(SettingError, match="call fit"):
        trainer().predict(INPUTS)


def with_a_cell(cell: object) -> list[Any]:
    rows: list[Any] = INPUTS.tolist()
    rows[5][0] = cell
    return rows


@pytest.mark.parametrize("cell", [0.5, "no number", None, 10**400, [1.0]])
def test_no_cell_of_a_list_makes_a_training_in_a_ledger_fail(cell: object) -> None:
    """In a list one cell decides the type of all: inside a ledger lists are refused as such, as for images."""
    said = set()
    for X, y in ((with_a_cell(cell), Y), (INPUTS, [*Y.tolist()[1:], cell]), (pd.DataFrame(with_a_cell(cell)), Y)):
        with tacit.Ledger(budget=tacit.Budget(epsilon=30.0, delta=1e-4), law="rdp") as ledger:
            with pytest.raises(DataError, match="arrays or tensors") as caught:
                trainer().fit(X, y)
            assert not ledger.charges()
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_ledger_is_charged_for_the_steps_of_a_plan(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=30.0, delta=1e-4), law="rdp") as ledger:
        model = trainer().fit(INPUTS, Y)
        (charge,) = ledger.charges()
    assert model.plan_.steps[0].times == 8
    assert "network-descent" in str(charge)
    gaussian = tacit.Ledger(tmp_path / "gdp", budget=tacit.Budget(mu=5.0))
    with gaussian, pytest.raises(LedgerError, match="rdp"):
        trainer().fit(INPUTS, Y)
