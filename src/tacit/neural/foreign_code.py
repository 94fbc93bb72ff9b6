"""Whether a module holds a program that is neither torch's nor Tacit's."""

from __future__ import annotations

import torch
from torch import nn

KNOWN = ("torch.nn.", "tacit.neural.")
TENSORS = (torch.Tensor, nn.Parameter)
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def is_foreign(module: nn.Module) -> bool:
    """Whether a layer is of another library's or a user's class, or has hooks, functions or tensors that are.

    Such a program may fail, print or wait because of one record. In a ledger only a curator trains it.
    """
    for layer in module.modules():
        hooked = any(getattr(layer, name, None) for name in HOOKS)
        held = (*layer.parameters(recurse=False), *layer.buffers(recurse=False))
        owned = any(type(tensor) not in TENSORS for tensor in held) or any(_is_own(layer, name) for name in vars(layer))
        if hooked or owned or not type(layer).__module__.startswith(KNOWN):
            return True
    return False


def _is_own(layer: nn.Module, name: str) -> bool:
    """Whether an attribute is a method that was replaced, or a function that is not torch's, as an activation."""
    value = vars(layer)[name]
    replaced = callable(getattr(type(layer), name, None))
    return callable(value) and (replaced or str(getattr(value, "__module__", "")).partition(".")[0] != "torch")
