"""Whether a module holds a program that is neither torch's nor Tacit's."""

from __future__ import annotations

from torch import nn

KNOWN = ("torch.nn.", "tacit.neural.")
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def is_foreign(module: nn.Module) -> bool:
    """Whether a layer is of another library's or a user's class, or has hooks or a `forward` of its own.

    Such a program may fail, print or wait because of one record. In a ledger only a curator trains it.
    """
    for layer in module.modules():
        hooked = any(getattr(layer, name, None) for name in HOOKS)
        if hooked or "forward" in vars(layer) or not type(layer).__module__.startswith(KNOWN):
            return True
    return False
