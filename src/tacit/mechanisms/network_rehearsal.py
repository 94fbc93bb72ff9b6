"""A rehearsal of a module on made-up inputs, before anything is charged: whether its examples keep to themselves.

No record is read. Proof: proofs/mechanisms/network_rehearsal.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tacit.contract.network_query import Network
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import require_plain_torch
from tacit.mechanisms.example_gradients import Dense, Outer, Part, Scattered, example_parts, is_by_hand, parameters_of

MIXING = {
    nn.modules.batchnorm._BatchNorm: "nn.GroupNorm",  # noqa: SLF001 - the base of all its kinds
    nn.SyncBatchNorm: "nn.GroupNorm",
    # It draws a random number for each negative one: those of the examples behind depend on how many there are.
    nn.RReLU: "nn.LeakyReLU",
}
"""Layers that mix the examples of a batch, and what to use in their place."""
GOLDEN = (math.sqrt(5) - 1) / 2
HUGE = 1e30
T = TypeVar("T")
COMPARED = 4
"""Examples whose gradients are compared with those of torch.func."""
TOLERANCE = 1e-3
FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a module or a loss that does not fit raises on made-up inputs."""


def require_separate(module: nn.Module) -> None:
    """Refuse layers that mix examples, or keep statistics of them, by name."""
    for name, layer in module.named_modules():
        kind = type(layer).__name__
        where = f"{kind} ({name})" if name else kind
        for mixing, instead in MIXING.items():
            if isinstance(layer, mixing):
                raise SettingError(
                    f"{where} mixes the examples of a batch, so that no clip bounds what one of them changes. "
                    f"Use {instead} in its place. Nothing was spent."
                )
        if getattr(layer, "max_norm", None) is not None and isinstance(layer, nn.Embedding | nn.EmbeddingBag):
            raise SettingError(
                f"{where} shortens the weights of the tokens that it meets, which nobody pays for. Set max_norm=None. "
                "Nothing was spent."
            )
        if isinstance(layer, nn.EmbeddingBag):
            raise SettingError(
                f"{where} has no check of single tokens here: a record with a token that it has not would end the "
                "training. Use nn.Embedding and then a mean over the tokens, x.mean(1). Nothing was spent."
            )
        if getattr(layer, "track_running_stats", False):
            raise SettingError(
                f"{where} keeps statistics of the examples, which nobody pays for. Set track_running_stats=False. "
                "Nothing was spent."
            )


def rehearsed(network: Network, shape: tuple[Any, ...], labels: tuple[Any, ...], chunk: int) -> Network:
    """Return the network as its gradients are to be computed, or refuse it by what was found.

    `shape` is that of one input with its torch type last, `labels` the same of one label.

    Guarantee: on the made-up inputs of a chunk, changing one example to blanks, huge numbers or none left the bits of
    all other examples' losses and gradients as they were.
    """
    require_separate(network.module)
    require_plain_torch()
    inputs, targets = _made_up(shape, chunk), _made_up(labels, chunk)
    stored = {name: value.clone() for name, value in network.module.named_buffers()}
    losses = _losses(network, inputs, targets)
    _require_gradient(network, inputs, targets)
    chosen = _chosen(network, inputs, targets)
    before = _parts(chosen, inputs, targets)
    _require_kept(network.module, stored)
    for place in (0, chunk // 2, chunk - 1):
        for change in _changes(inputs[place]):
            other = inputs.clone()
            other[place] = change
            others = [row for row in range(chunk) if row != place]
            kept = _same_bits(losses[others], _losses(network, other, targets)[others])
            if not kept or not _same_elsewhere(before, _parts(chosen, other, targets), place):
                raise SettingError(
                    "The module mixes the examples of a batch: a change of one moved gradients of others. Each example "
                    "must be computed on its own. Nothing was spent."
                )
    return chosen


def _require_kept(module: nn.Module, stored: dict[str, Tensor]) -> None:
    """Refuse buffers that a pass changes: they would keep something of the examples, or leave what was trained."""
    for name, value in module.named_buffers():
        if name not in stored or not _same_bits(stored[name], value):
            raise SettingError(
                f"The module changes its buffer {name} while it is run: what that keeps of the examples nobody pays "
                "for. Use layers without such a state (weight_norm in place of spectral_norm). Nothing was spent."
            )


def _chosen(network: Network, inputs: Tensor, targets: Tensor) -> Network:
    """How gradients are to be computed: by hand where they are torch.func's, one by one where that has no rule."""
    few = inputs[:COMPARED], targets[:COMPARED]
    by_functions = replace(network, by_hand=False)
    try:
        expected = example_parts(by_functions, *few)
    except FAILURES:
        return replace(by_functions, one_by_one=True)
    if is_by_hand(network.module):
        for channels_last in (True, False):
            by_hand = replace(network, by_hand=True, channels_last=channels_last)
            if _agrees(by_hand, expected, *few):
                return by_hand
    return by_functions


def _made_up(shape: tuple[Any, ...], count: int) -> Tensor:
    """Numbers between -1 and 1 that follow no data, or tokens 0 and 1."""
    *sizes, kind = shape
    steps = torch.arange(1, count * math.prod(sizes) + 1, dtype=torch.float64)
    spread = torch.frac(steps * GOLDEN).reshape(count, *sizes)
    return (2.0 * spread - 1.0).float() if kind == torch.float32 else (spread > 0.5).to(kind)


def _changes(example: Tensor) -> list[Tensor]:
    blank = torch.zeros_like(example)
    if not example.is_floating_point():
        return [blank, torch.ones_like(example)]
    return [blank, torch.full_like(example, HUGE), torch.full_like(example, math.nan)]


def _losses(network: Network, inputs: Tensor, targets: Tensor) -> Tensor:
    """Losses of a chunk that is computed together, as a user of the module would."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        found = _refused_if_failing(inputs, targets, lambda: network.loss(network.module(inputs), targets))
    if not isinstance(found, Tensor) or found.shape != (len(inputs),):
        raise SettingError("A loss must return one number for each example, not their mean. Nothing was spent.")
    return found


def _require_gradient(network: Network, inputs: Tensor, targets: Tensor) -> None:
    """Refuse a loss that no trained parameter moves: the training would follow noise alone."""

    def used() -> bool:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            total = network.loss(network.module(inputs), targets).sum()
            trained = list(parameters_of(network.module).values())
            if not total.requires_grad:
                return False
            return any(it is not None for it in torch.autograd.grad(total, trained, allow_unused=True))

    if not _refused_if_failing(inputs, targets, used):
        raise SettingError(
            "The loss has no gradient in the trained parameters, so that they would follow noise alone. Take it from "
            "the outputs with functions of torch, without detach(), numpy, argmax() or rounding. Nothing was spent."
        )


def _parts(network: Network, inputs: Tensor, targets: Tensor) -> dict[str, Part]:
    """Gradients of single examples with the same random numbers, if the module draws any."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return _refused_if_failing(inputs, targets, lambda: example_parts(network, inputs, targets))


def _refused_if_failing(inputs: Tensor, targets: Tensor, run: Callable[[], T]) -> T:
    try:
        return run()
    except FAILURES as error:
        given = ", ".join(f"{what} {_kind(it)}" for what, it in (("inputs", inputs), ("labels", targets)))
        raise SettingError(f"The module could not be run on made-up {given}: {error}. Nothing was spent.") from error


def _kind(tensor: Tensor) -> str:
    return f"of shape {tuple(tensor.shape)} and type {str(tensor.dtype).removeprefix('torch.')}"


def _agrees(by_hand: Network, expected: dict[str, Part], inputs: Tensor, targets: Tensor) -> bool:
    """Whether gradients derived by hand are those of torch.func."""
    try:
        derived = example_parts(by_hand, inputs, targets)
    except FAILURES:
        # A layer that is used twice, or whose output is changed in place.
        return False
    if expected.keys() != derived.keys():
        return False
    for name, part in expected.items():
        want, rows = formed(part), [len(it) for it in derived[name] if isinstance(it, Tensor)]
        # A layer's input may have something else than examples first.
        if rows != [len(want)] * len(rows):
            return False
        got = formed(derived[name])
        if not bool((want - got).norm() <= TOLERANCE * (want.norm() + TOLERANCE)):
            return False
    return True


def formed(part: Part) -> Tensor:
    """The gradients of a part as rows (example, size)."""
    match part:
        case Dense(rows):
            return rows
        case Outer(left, right):
            return torch.einsum("io,ij->ioj", left, right).flatten(1)
        case Scattered(rows, places, height):
            table = torch.zeros(len(rows), height, rows.shape[2])
            return table.scatter_add(1, places[:, :, None].expand_as(rows), rows).flatten(1)


def _same_elsewhere(before: dict[str, Part], after: dict[str, Part], place: int) -> bool:
    """Whether all rows but one have the same bits, zeros of either sign and one kind of no number included."""
    if before.keys() != after.keys():
        return False
    for name, part in before.items():
        for old, new in zip(part, after[name], strict=True):
            if not isinstance(old, Tensor) or not isinstance(new, Tensor):
                continue
            others = [row for row in range(len(old)) if row != place]
            if not _same_bits(old[others], new[others]):
                return False
    return True


def _same_bits(old: Tensor, new: Tensor) -> bool:
    if old.dtype == torch.float32:
        old, new = old.contiguous().view(torch.int32), new.contiguous().view(torch.int32)
    return torch.equal(old, new)
