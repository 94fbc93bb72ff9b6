"""Which way gradients are computed: by hand, by torch.func, or one example after the other; and what none may do."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tacit.contract.network_query import Network
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import norms
from tacit.mechanisms.example_gradients import example_parts, parameters_of
from tacit.mechanisms.network_rehearsal import formed, rehearsed
from tacit.neural.example_losses import cross_entropy

CLASSES, CHUNK = 3, 32
FLOATS, TOKENS, LABEL = torch.float32, torch.int64, (torch.int64,)


class Written(nn.Module):
    """Layers, and a forward pass that is written as a function of them and the inputs."""

    def __init__(self, passed: Callable[[Any, Tensor], Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self.passed = passed
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x: Tensor) -> Tensor:
        return self.passed(self, x)


def sequence_first() -> nn.Module:
    return Written(
        lambda it, x: it.out(torch.tanh(it.inner(x.transpose(0, 1))).transpose(0, 1).mean(1)),
        inner=nn.Linear(4, 8),
        out=nn.Linear(8, CLASSES),
    )


def folded() -> nn.Module:
    return Written(
        lambda it, x: it.out(torch.tanh(it.inner(x.reshape(-1, 4))).reshape(len(x), -1, 8).mean(1)),
        inner=nn.Linear(4, 8),
        out=nn.Linear(8, CLASSES),
    )


def positions() -> nn.Module:
    return Written(
        lambda it, x: it.out((it.words(x) + it.places(torch.arange(5))).mean(1)),
        words=nn.Embedding(7, 4),
        places=nn.Embedding(5, 4),
        out=nn.Linear(4, CLASSES),
    )


def tied() -> nn.Module:
    module = Written(
        lambda it, x: it.out(it.words(x).mean(1)), words=nn.Embedding(7, 4), out=nn.Linear(4, 7, bias=False)
    )
    layers: Any = module
    layers.out.weight = layers.words.weight
    return module


def recurrent() -> nn.Module:
    return Written(
        lambda it, x: it.out(it.inner(x)[0][:, -1]), inner=nn.GRU(4, 6, batch_first=True), out=nn.Linear(6, CLASSES)
    )


def branching() -> nn.Module:
    """A layer for inputs with a large sum and one for others, chosen by reading a number."""
    return Written(
        lambda it, x: it.high(x.flatten(1)) if float(x.sum().detach()) > 0 and len(x) == 1 else it.low(x.flatten(1)),
        high=nn.Linear(20, CLASSES),
        low=nn.Linear(20, CLASSES),
    )


def found(module: nn.Module, shape: tuple[Any, ...]) -> Network:
    torch.manual_seed(4)
    for value in module.parameters():
        nn.init.normal_(value, std=0.5)
    return rehearsed(Network(module, cross_entropy, "written"), shape, LABEL, CHUNK)


def made_up(shape: tuple[Any, ...], count: int = CHUNK) -> tuple[Tensor, Tensor]:
    *sizes, kind = shape
    inputs = torch.randn(count, *sizes) if kind == FLOATS else torch.randint(0, 5, (count, *sizes))
    return inputs, torch.randint(0, CLASSES, (count,))


WAYS = {
    "sequence first": (sequence_first, (5, 4, FLOATS), False),
    "as many positions as are compared": (sequence_first, (4, 4, FLOATS), False),
    "positions beside examples": (folded, (5, 4, FLOATS), False),
    "embedding of positions": (positions, (5, TOKENS), False),
    "tied weights": (tied, (5, TOKENS), False),
    "recurrent": (recurrent, (5, 4, FLOATS), True),
    "branching": (branching, (5, 4, FLOATS), True),
}


@pytest.mark.parametrize("name", WAYS)
def test_gradients_are_those_of_a_pass_of_each_example(name: str) -> None:
    make, shape, one_by_one = WAYS[name]
    network = found(make(), shape)
    assert (network.by_hand, network.one_by_one) == (False, one_by_one)
    inputs, labels = made_up(shape)
    parts = example_parts(network, inputs, labels)
    parameters = parameters_of(network.module)
    for row in range(CHUNK):
        loss = network.loss(network.module(inputs[row : row + 1]), labels[row : row + 1]).sum()
        expected = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        for key, want in zip(parameters, expected, strict=True):
            got = formed(parts[key])[row]
            torch.testing.assert_close(got, torch.zeros_like(got) if want is None else want.flatten())


@pytest.mark.parametrize("name", ["recurrent", "branching", "positions beside examples"])
def test_another_example_leaves_bits_as_they_were(name: str) -> None:
    make, shape, _ = WAYS[name]
    network = found(make(), shape)
    inputs, labels = made_up(shape)
    before, others = example_parts(network, inputs, labels), [row for row in range(CHUNK) if row != 5]
    for change in (0.0, 1e30, float("nan"), -1e30):
        changed = inputs.clone()
        changed[5] = change
        after = example_parts(network, changed, labels)
        assert all(torch.equal(formed(before[key])[others], formed(after[key])[others]) for key in before)


def _counting(x: Tensor, mean: Tensor) -> None:
    with torch.no_grad():
        mean.mul_(0.9).add_(0.1 * x.mean(0))


def running(*, used: bool) -> nn.Module:
    """A running mean of the examples, which others see, or nobody."""

    def passed(it: Any, x: Tensor) -> Tensor:
        _counting(x, it.mean)
        outputs: Tensor = it.out(x - it.mean if used else x)
        return outputs

    module = Written(passed, out=nn.Linear(6, CLASSES))
    module.register_buffer("mean", torch.zeros(6))
    return module


@pytest.mark.parametrize(
    "module",
    [
        running(used=True),
        running(used=False),
        nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4)), nn.Linear(4, CLASSES)),
    ],
    ids=["used", "kept", "spectral norm"],
)
def test_what_a_module_keeps_of_its_passes_is_refused_by_the_name_of_the_buffer(module: nn.Module) -> None:
    with pytest.raises(SettingError, match=r"changes its buffer \S*(mean|_u) .*Nothing was spent"):
        rehearsed(Network(module, cross_entropy, "keeps"), (6, FLOATS), LABEL, CHUNK)


def test_no_example_sees_what_another_one_left_in_a_weight() -> None:
    """One by one, each has copies: also a module that writes into its weights, at certain inputs only."""

    def passed(it: Any, x: Tensor) -> Tensor:
        if 100.0 < float(x.detach().max()) < 1e6:
            with torch.no_grad():
                it.out.weight.mul_(2.0)
        outputs: Tensor = it.out(x)
        return outputs

    network = found(Written(passed, out=nn.Linear(6, CLASSES)), (6, FLOATS))
    assert network.one_by_one
    inputs, labels = made_up((6, FLOATS))
    before, weight = example_parts(network, inputs, labels), parameters_of(network.module)["out.weight"].clone()
    changed = inputs.clone()
    changed[0] = 1000.0
    after = example_parts(network, changed, labels)
    assert all(torch.equal(formed(before[key])[1:], formed(after[key])[1:]) for key in before)
    assert torch.equal(weight, parameters_of(network.module)["out.weight"])


@pytest.mark.parametrize("layer", [nn.Embedding(7, 4, max_norm=1.0), nn.EmbeddingBag(7, 4, max_norm=1.0)])
def test_embeddings_that_shorten_their_weights_are_refused(layer: nn.Module) -> None:
    with pytest.raises(SettingError, match="max_norm=None"):
        rehearsed(Network(nn.Sequential(layer), cross_entropy, "short"), (5, TOKENS), LABEL, CHUNK)


@pytest.mark.parametrize("make", [positions, lambda: nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(20, 3))])
def test_a_token_that_an_embedding_has_not_leaves_out_its_example_alone(make: Callable[[], nn.Module]) -> None:
    network = found(make(), (5, TOKENS))
    inputs, labels = made_up((5, TOKENS))
    before = example_parts(network, inputs, labels)
    for token in (7, -1, 2**40, -(2**63)):
        changed = inputs.clone()
        changed[5, 2] = token
        after = example_parts(network, changed, labels)
        kept = [row for row in range(CHUNK) if row != 5]
        assert all(torch.equal(formed(before[key])[kept], formed(after[key])[kept]) for key in before)
        finite = torch.isfinite(norms(after, 100))
        assert finite.tolist() == [row != 5 for row in range(CHUNK)]
