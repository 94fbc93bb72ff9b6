"""Programs that are neither torch's nor Tacit's are known, and refused in ledgers of others than curators."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import tacit
from tacit.errors import LedgerError
from tacit.neural import DPTrainer, cnn, mlp
from tacit.neural.foreign_code import is_foreign

X, Y = np.linspace(-1, 1, 400).reshape(200, 2).astype(np.float32), np.arange(200) % 2


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.linear(inputs))


def hooked() -> nn.Module:
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda *_: None)
    return layer


def patched() -> nn.Module:
    layer = nn.Linear(2, 2)
    vars(layer)["forward"] = torch.relu
    return layer


class Watching(torch.Tensor):
    """Its `__torch_function__` would see whatever is multiplied with it."""


def watched() -> nn.Module:
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(torch.zeros(2, 2).as_subclass(Watching))
    return layer


def convolved() -> nn.Module:
    layer = nn.Conv2d(1, 1, 3)
    vars(layer)["_conv_forward"] = lambda *given: given[0]
    return layer


def test_own_classes_hooks_and_methods_are_foreign() -> None:
    some = [nn.TransformerEncoderLayer(2, 1, 2, batch_first=True, activation=it) for it in ("gelu", torch.relu)]
    assert not any(map(is_foreign, (mlp(2, 2), cnn(), nn.Sequential(nn.Linear(2, 2), nn.ReLU()), *some)))
    assert all(map(is_foreign, (Own(), nn.Sequential(Own()), hooked(), patched())))


def test_functions_and_tensors_inside_of_a_layer_of_torch_may_be_foreign() -> None:
    def own(inputs: torch.Tensor) -> torch.Tensor:
        return inputs.relu()

    transformer = nn.TransformerEncoderLayer(2, 1, 2, batch_first=True, activation=own)
    assert all(map(is_foreign, (transformer, watched(), convolved())))


@pytest.mark.parametrize("own", ["module", "loss"])
def test_in_a_ledger_only_a_curator_trains_them(tmp_path: Path, own: str) -> None:
    def loss(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return ((outputs[:, 0] - labels) ** 2).flatten()

    module, stated = (Own(), "cross-entropy") if own == "module" else (nn.Linear(2, 2), loss)
    budget = tacit.Budget(epsilon=3, delta=1e-5)
    for refusals in ("never", "curator"):
        with tacit.Ledger(tmp_path / f"{refusals}.db", budget=budget, law="rdp", refusals=refusals) as ledger:
            trainer = DPTrainer(module=module, loss=stated, epsilon=1, delta=1e-6, batch_size=50, steps=2)
            if refusals == "never":
                with pytest.raises(LedgerError, match="only a curator may train it"):
                    trainer.fit(X, Y)
                assert not ledger.charges()
            else:
                trainer.fit(X, Y)
