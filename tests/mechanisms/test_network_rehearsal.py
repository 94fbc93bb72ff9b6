"""The rehearsal: modules that mix examples are refused by name or by what they do, before a record is read."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tacit.contract.network_query import Network
from tacit.errors import SettingError
from tacit.mechanisms.network_rehearsal import rehearsed, require_separate
from tacit.neural.example_losses import cross_entropy
from tests.mechanisms.network_modules import BY_HAND, CASES, CLASSES, made

CHUNK = 32
LABEL = (torch.int64,)


def shape_of(name: str) -> tuple[object, ...]:
    case = CASES[name]
    return (*case.shape, torch.int64 if case.tokens else torch.float32)


@pytest.mark.parametrize("name", CASES)
def test_modules_whose_examples_keep_to_themselves_pass(name: str) -> None:
    found = rehearsed(replace(made(name), by_hand=True), shape_of(name), LABEL, CHUNK)
    assert found.by_hand == (name in BY_HAND)


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(6), nn.SyncBatchNorm(6), nn.LazyBatchNorm1d()])
def test_batch_norm_is_refused_by_name_with_its_replacement(layer: nn.Module) -> None:
    with pytest.raises(SettingError, match=r"BatchNorm\w* \(1\) mixes.*GroupNorm"):
        require_separate(nn.Sequential(nn.Linear(6, 6), layer))


def test_random_numbers_that_depend_on_other_examples_are_refused() -> None:
    with pytest.raises(SettingError, match=r"RReLU \(1\) mixes.*LeakyReLU"):
        require_separate(nn.Sequential(nn.Linear(6, 6), nn.RReLU()))
    torch.manual_seed(0)
    inputs = torch.randn(64, 6)
    layer, found = nn.RReLU(), []
    for first in (inputs[0], inputs[0].abs()):
        torch.manual_seed(0)
        found.append(layer(torch.cat([first[None], inputs[1:]])))
    # That is why: numbers of the first example change what the others get.
    assert not torch.equal(found[0][1:], found[1][1:])


def test_statistics_that_are_kept_are_refused() -> None:
    with pytest.raises(SettingError, match="track_running_stats"):
        require_separate(nn.Sequential(nn.InstanceNorm1d(6, track_running_stats=True)))


def test_bags_of_tokens_are_refused_with_what_to_use() -> None:
    with pytest.raises(SettingError, match=r"EmbeddingBag \(0\).*Use nn.Embedding and then a mean"):
        require_separate(nn.Sequential(nn.EmbeddingBag(9, 4), nn.Linear(4, CLASSES)))


@pytest.mark.parametrize(
    "loss",
    [
        lambda outputs, labels: cross_entropy(outputs.detach(), labels),
        lambda outputs, labels: (outputs.argmax(1) - labels).abs().float(),
        lambda outputs, labels: cross_entropy(torch.zeros(len(outputs), CLASSES, requires_grad=True), labels),
    ],
)
def test_losses_without_a_gradient_are_refused(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    with pytest.raises(SettingError, match=r"no gradient in the trained parameters.*without detach"):
        rehearsed(Network(nn.Linear(6, CLASSES), loss, "own"), (6, torch.float32), LABEL, CHUNK)


class Viewed(nn.Module):
    """Views what a convolution returns as rows, which torch does in its default layout alone."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x)
        return found.view(len(found), -1)[:, :CLASSES]


@pytest.mark.parametrize("channels", [1, 3])
def test_modules_that_need_the_default_layout_keep_it(channels: int) -> None:
    layer, shape = nn.Conv2d(channels, 2, 3), (channels, 7, 7, torch.float32)
    viewed = rehearsed(Network(Viewed(layer), cross_entropy, "viewed"), shape, LABEL, CHUNK)
    plain = rehearsed(Network(nn.Sequential(layer, nn.Flatten()), cross_entropy, "plain"), shape, LABEL, CHUNK)
    assert (viewed.by_hand, viewed.channels_last, plain.by_hand, plain.channels_last) == (True, False, True, True)


class Centred(nn.Module):
    """Subtracts the mean of the batch: no name tells."""

    def __init__(self, rate: float = 1.0) -> None:
        super().__init__()
        self.out, self.rate = nn.Linear(6, CLASSES), rate

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(x - self.rate * x.mean(0, keepdim=True))
        return found


def contrastive(outputs: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(outputs, labels) + outputs.sum() ** 2


@pytest.mark.parametrize(
    "network",
    [
        Network(Centred(), cross_entropy, "mean"),
        Network(Centred(1e-6), cross_entropy, "a little of the mean"),
        Network(nn.Linear(6, CLASSES), contrastive, "loss"),
    ],
    ids=["module", "a little", "loss"],
)
def test_mixing_without_a_name_is_found(network: Network) -> None:
    with pytest.raises(SettingError, match="mixes the examples"):
        rehearsed(network, (6, torch.float32), LABEL, CHUNK)


def test_a_module_that_does_not_fit_is_refused_in_words() -> None:
    with pytest.raises(SettingError, match="could not be run"):
        rehearsed(Network(nn.Linear(5, 3), cross_entropy, "five"), (6, torch.float32), LABEL, CHUNK)
