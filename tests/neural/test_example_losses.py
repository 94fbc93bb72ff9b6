"""Losses of single examples: one number each, and none where there is no label."""

import pytest
import torch

from tacit.errors import SettingError
from tacit.neural.example_losses import LOSSES, cross_entropy, huber, named_loss, squared


def test_losses_are_those_of_torch_without_a_mean() -> None:
    outputs, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    expected = torch.nn.functional.cross_entropy(outputs, labels, reduction="none")
    torch.testing.assert_close(cross_entropy(outputs, labels), expected)
    one, wanted = torch.randn(5, 1), torch.randn(5)
    torch.testing.assert_close(squared(one, wanted), (one[:, 0] - wanted) ** 2 / 2)
    torch.testing.assert_close(huber(one, wanted), torch.nn.functional.huber_loss(one[:, 0], wanted, reduction="none"))


def test_a_label_that_is_no_class_has_no_gradient() -> None:
    outputs = torch.randn(3, 2, requires_grad=True)
    cross_entropy(outputs, torch.tensor([0, 7, -1])).sum().backward()
    assert outputs.grad is not None
    assert bool(outputs.grad[0].any())
    assert not outputs.grad[1:].any()


def test_own_losses_have_a_name_and_others_are_refused() -> None:
    assert named_loss(squared).stated.name == "own: squared"
    assert {named_loss(name).of_examples for name in LOSSES} == {cross_entropy, squared, huber}
    for wrong in ("absolute", 3):
        with pytest.raises(SettingError, match="loss"):
            named_loss(wrong)  # type: ignore[arg-type]
