"""The network that begins at wavelets: what its first weights are, and that images keep to themselves."""

import numpy as np
import pytest
import torch

from tacit.contract.network_query import Network
from tacit.engine.network_examples import rehearse
from tacit.mechanisms.example_gradients import example_parts, is_by_hand
from tacit.mechanisms.network_rehearsal import formed
from tacit.neural.example_losses import cross_entropy
from tacit.neural.foreign_code import is_foreign
from tacit.neural.wavelet_networks import COLOURS, SIZE, WaveletNetwork, wavelets

IMAGES = torch.from_numpy(np.random.default_rng(4).uniform(-1, 1, (64, 3, 16, 16)).astype(np.float32))
LABELS = torch.arange(64) % 5


def network() -> WaveletNetwork:
    module = WaveletNetwork(16, 5, hidden=6)
    with torch.no_grad():
        module.last.weight.normal_(generator=torch.Generator().manual_seed(1))
    return module


def test_waves_do_not_see_a_plain_surface_and_bells_see_its_colour() -> None:
    kernels, waves = wavelets()
    assert kernels.shape == (2 * waves + len(COLOURS), 3, SIZE, SIZE)
    assert np.abs(kernels[: 2 * waves].sum(axis=(2, 3))).max() < 1e-6
    answers = kernels.sum(axis=(2, 3))[2 * waves :] @ np.ones(3)
    np.testing.assert_allclose(answers, [1.5, 0.0, 0.0], atol=1e-6)


def test_a_wave_answers_to_its_own_direction_wherever_the_stripes_are() -> None:
    kernels, waves = wavelets()
    columns = np.arange(SIZE)
    for shift in np.linspace(0, np.pi, 5):
        stripes = np.broadcast_to(np.cos(1.1 * columns + shift), (3, SIZE, SIZE))
        found = np.tensordot(kernels, stripes, 3)
        sizes = np.hypot(found[:waves], found[waves : 2 * waves])
        # Of the eight longer waves in grey, the one along the columns, and by far more than the one across.
        assert sizes[8:16].argmax() == 0
        assert sizes[8] > 5 * sizes[12]


def test_it_begins_without_opinion_in_every_program_alike() -> None:
    before = torch.get_rng_state()
    one = WaveletNetwork(32, 10)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    other = WaveletNetwork(32, 10)
    assert sum(value.numel() for value in one.parameters()) == 56_683
    assert not one(torch.rand(2, 3, 32, 32)).any()
    for mine, its in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, its)


def test_its_gradients_are_derived_by_hand() -> None:
    module = network()
    assert is_by_hand(module)
    assert not is_foreign(module)
    plain = Network(module, cross_entropy, "small", by_hand=False)
    held = rehearse(Network(module, cross_entropy, "small"), (3, 16, 16, torch.float32), (torch.int64,), 32)
    assert held.by_hand
    expected = example_parts(plain, IMAGES[:6], LABELS[:6])
    for name, part in example_parts(held, IMAGES[:6], LABELS[:6]).items():
        torch.testing.assert_close(formed(part), formed(expected[name]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("blank", [0.0, 1e30, float("nan")])
def test_blanking_one_image_leaves_all_others_equal_to_the_bit(blank: float) -> None:
    held = Network(network(), cross_entropy, "small")
    before, changed = example_parts(held, IMAGES, LABELS), IMAGES.clone()
    changed[9] = blank
    after = example_parts(held, changed, LABELS)
    others = [row for row in range(64) if row != 9]
    for name, part in before.items():
        for old, new in zip(part, after[name], strict=True):
            if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
                assert torch.equal(
                    old[others].contiguous().view(torch.int32), new[others].contiguous().view(torch.int32)
                )


def test_plain_images_have_finite_gradients() -> None:
    parts = example_parts(Network(network(), cross_entropy, "small"), torch.zeros(2, 3, 16, 16), LABELS[:2])
    assert all(torch.isfinite(formed(part)).all() for part in parts.values())
