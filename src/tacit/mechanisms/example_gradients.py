"""Gradients of single examples of a torch module, layer by layer. Private: inputs, labels and all that is returned.

One forward pass, and one backward pass to the outputs of the layers. What a layer's parameters have as gradient for one
example follows from its input a and from the gradient g at its output:

    Linear a → W a + b        g a', kept as the pair (g, a); over several positions Σ_t g_t a_t'
    Conv2d                    Σ over positions of g a', a the patch under the kernel
    Embedding                 g_t at the row of token t, equal tokens added up
    GroupNorm, LayerNorm      Σ over positions of g x̂ and of g

Other modules go to `torch.func`; where it has no rule for many examples, each is passed on its own. Proof:
proofs/mechanisms/example_gradients.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from tacit.contract.network_query import BLOCK, Network

BY_HAND = (nn.Linear, nn.Conv2d, nn.Embedding, nn.GroupNorm, nn.LayerNorm)
"""Layers whose gradients are derived here; subclasses may compute something else and are not taken for them."""


class Dense(NamedTuple):
    """A gradient for each example (example, size)."""

    rows: Tensor


class Outer(NamedTuple):
    """The gradients left_i right_i' of each example, without forming them."""

    left: Tensor
    right: Tensor


class Scattered(NamedTuple):
    """Rows (example, position, size) of a table of `height` rows, at `places`; an example's rows are at distinct ones.

    A position whose token came before has zeros.
    """

    rows: Tensor
    places: Tensor
    height: int


Part: TypeAlias = Dense | Outer | Scattered


def parameters_of(module: nn.Module) -> dict[str, nn.Parameter]:
    """Parameters that are trained, by name, in the order of their vector; a shared one once."""
    return {name: value for name, value in module.named_parameters() if value.requires_grad}


def example_parts(network: Network, inputs: Tensor, labels: Tensor) -> dict[str, Part]:
    """Gradients of the loss of each example, by parameter.

    An example with a token that an embedding has not is no number there, and so is its loss where that is used.
    """
    with _known_tokens(network.module):
        if network.by_hand:
            laid = _channels_last(inputs) if network.channels_last and inputs.ndim == 4 else inputs
            return _by_layer(network.module, network.loss, laid, labels)
        return _by_functions(network.module, network.loss, inputs, labels, one_by_one=network.one_by_one)


@contextmanager
def _known_tokens(module: nn.Module) -> Iterator[None]:
    """Look up a token that an embedding has not as its first, with no numbers as what is found."""
    unknown: dict[int, list[Tensor]] = {}

    def looked_up(layer: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        tokens, *others = given
        wrong = (tokens < 0) | (tokens >= layer.num_embeddings)
        unknown.setdefault(id(layer), []).append(wrong)
        return torch.where(wrong, 0, tokens), *others

    def found(layer: nn.Module, _given: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return torch.where(unknown[id(layer)].pop()[..., None], math.nan, output)

    embeddings = [layer for layer in module.modules() if isinstance(layer, nn.Embedding)]
    hooks = [layer.register_forward_pre_hook(looked_up) for layer in embeddings]
    hooks += [layer.register_forward_hook(found) for layer in embeddings]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def is_by_hand(module: nn.Module) -> bool:
    """Whether every trained parameter belongs to one layer whose gradients are derived here."""
    held = [value for _, layer in layers_of(module) for value in layer.parameters(recurse=False)]
    plain = all(_is_plain(layer) for _, layer in layers_of(module))
    return plain and {id(value) for value in held} == {id(v) for v in parameters_of(module).values()}


def layers_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Layers derived by hand, with names, that have a trained parameter."""
    return [
        (name, layer)
        for name, layer in module.named_modules()
        if type(layer) in BY_HAND and any(value.requires_grad for value in layer.parameters(recurse=False))
    ]


def _is_plain(layer: nn.Module) -> bool:
    """Whether all options of a layer are those that are derived here."""
    if any(not value.requires_grad for value in layer.parameters(recurse=False)):
        return False
    if isinstance(layer, nn.Conv2d):
        return layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
    if isinstance(layer, nn.Embedding):
        return layer.max_norm is None and not layer.scale_grad_by_freq and not layer.sparse
    return True


def _channels_last(inputs: Tensor) -> Tensor:
    """The same numbers with the channels of a pixel side by side, where torch pools and convolves faster.

    Strides are stated also for a single channel: torch decides by them, and passes the layout on.
    """
    _, channels, high, wide = inputs.shape
    moved = inputs.permute(0, 2, 3, 1).contiguous()
    return moved.as_strided(inputs.shape, (channels * high * wide, 1, channels * wide, channels))


def _by_layer(
    module: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], inputs: Tensor, labels: Tensor
) -> dict[str, Part]:
    layers = layers_of(module)
    passed: dict[int, tuple[Tensor, Tensor]] = {}

    def note(layer: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        if id(layer) in passed:
            raise ValueError("a layer is used twice")
        passed[id(layer)] = given[0].detach(), output

    hooks = [layer.register_forward_hook(note) for _, layer in layers]
    try:
        total = loss(module(inputs), labels).sum()
    finally:
        for hook in hooks:
            hook.remove()
    used = [(name, layer) for name, layer in layers if id(layer) in passed]
    gradients = torch.autograd.grad(total, [passed[id(layer)][1] for _, layer in used])
    found: dict[str, Part] = {}
    with torch.no_grad():
        for (name, layer), gradient in zip(used, gradients, strict=True):
            prefix = f"{name}." if name else ""
            for parameter, part in _parts(layer, passed[id(layer)][0], gradient):
                found[prefix + parameter] = part
    return found


def _parts(layer: Any, given: Tensor, gradient: Tensor) -> Iterator[tuple[str, Part]]:
    """The gradients of a layer's parameters, from its input and from the gradient at its output."""
    count = len(given)
    if isinstance(layer, nn.Embedding):
        yield "weight", _of_tokens(layer, given.reshape(count, -1), gradient.reshape(count, -1, layer.embedding_dim))
        return
    if isinstance(layer, nn.Linear):
        if given.ndim == 2:
            yield "weight", Outer(gradient, given)
            bias = gradient
        else:
            flat = gradient.reshape(count, -1, layer.out_features)
            rows = torch.bmm(flat.transpose(1, 2), given.reshape(count, -1, layer.in_features))
            yield "weight", Dense(rows.flatten(1))
            bias = flat.sum(1)
    elif isinstance(layer, nn.Conv2d):
        # (example, channel, position), where channels lie side by side.
        flat = gradient.permute(0, 2, 3, 1).flatten(1, 2).transpose(1, 2)
        yield "weight", Dense(_of_patches(layer, given, flat))
        bias = flat.sum(2)
    elif isinstance(layer, nn.GroupNorm):
        plain = functional.group_norm(given, layer.num_groups, eps=layer.eps)
        products = (gradient * plain).reshape(count, layer.num_channels, -1)
        yield "weight", Dense(products.sum(2))
        bias = gradient.reshape(count, layer.num_channels, -1).sum(2)
    else:
        plain = functional.layer_norm(given, layer.normalized_shape, eps=layer.eps)
        size = math.prod(layer.normalized_shape)
        yield "weight", Dense((gradient * plain).reshape(count, -1, size).sum(1))
        bias = gradient.reshape(count, -1, size).sum(1)
    if layer.bias is not None:
        yield "bias", Dense(bias)


def _of_patches(layer: nn.Conv2d, given: Tensor, gradient: Tensor) -> Tensor:
    """Products of the gradients at all positions with the patches there."""
    above, left = (int(size) for size in layer.padding)
    padded = functional.pad(given, (left, left, above, above)) if above or left else given
    index = _patch_index(tuple(padded.shape[1:]), layer.kernel_size, layer.stride, layer.dilation, layer.groups)
    count, groups = len(given), layer.groups
    (_, positions, entries), height = index.shape, layer.out_channels // groups
    flat, heads = padded.permute(0, 2, 3, 1).flatten(1), gradient.unflatten(1, (groups, height))
    found = torch.empty(count, groups, height, entries)
    patches = torch.empty(min(count, BLOCK), groups, positions, entries)
    # Some examples at a time: their patches are read again while they are in the cache.
    for first in range(0, count, BLOCK):
        some = patches[: min(BLOCK, count - first)]
        part = slice(first, first + BLOCK)
        torch.index_select(flat[part], 1, index.flatten(), out=some.flatten(1))
        torch.bmm(heads[part].flatten(0, 1), some.flatten(0, 1), out=found[part].flatten(0, 1))
    return found.flatten(1)


@functools.lru_cache(maxsize=64)
def _patch_index(
    shape: tuple[int, ...], kernel: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int], groups: int
) -> Tensor:
    """Where the entries of all patches stand in a flat padded input, channels last: (group, position, entry)."""
    (high, wide), (down, right), (rows, columns) = kernel, stride, dilation
    channels, *sizes = shape
    places = torch.arange(math.prod(shape)).reshape(1, *sizes, channels).permute(0, 3, 1, 2)
    windows = places.unfold(2, (high - 1) * rows + 1, down).unfold(3, (wide - 1) * columns + 1, right)
    found: Tensor = windows[..., ::rows, ::columns].unflatten(1, (groups, -1)).permute(0, 1, 3, 4, 2, 5, 6)
    return found.reshape(groups, found.shape[2] * found.shape[3], -1)


def _of_tokens(layer: nn.Embedding, tokens: Tensor, gradient: Tensor) -> Scattered:
    """Gradients at equal tokens added up, at the first of them."""
    same = tokens[:, :, None] == tokens[:, None, :]
    first = same.to(torch.float32).argmax(dim=2) == torch.arange(tokens.shape[1])
    if layer.padding_idx is not None:
        first = first & (tokens != layer.padding_idx)
    return Scattered(torch.bmm((same & first[:, :, None]).to(gradient.dtype), gradient), tokens, layer.num_embeddings)


def _by_functions(
    module: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], inputs: Tensor, labels: Tensor, *, one_by_one: bool
) -> dict[str, Part]:
    """Gradients by `torch.func`, of all parameters, formed for every example."""
    values = {name: value.detach() for name, value in module.named_parameters()}
    trained = {name: values.pop(name) for name in parameters_of(module)}
    fixed = {**values, **dict(module.named_buffers())}

    def of_one(parameters: dict[str, Tensor], given: Tensor, label: Tensor) -> Tensor:
        others = {name: value.clone() for name, value in fixed.items()} if one_by_one else fixed
        output = torch.func.functional_call(module, {**others, **parameters}, (given[None],))
        return loss(output, label[None]).sum()

    if one_by_one:
        return _one_by_one(of_one, trained, inputs, labels)
    of_all = torch.func.vmap(torch.func.grad(of_one), in_dims=(None, 0, 0), randomness="different")
    # Fused attention has no rule for batches of examples, and would be computed one by one.
    with sdpa_kernel(SDPBackend.MATH):
        return {name: Dense(rows.flatten(1)) for name, rows in of_all(trained, inputs, labels).items()}


def _one_by_one(
    of_one: Callable[[dict[str, Tensor], Tensor, Tensor], Tensor],
    trained: dict[str, Tensor],
    inputs: Tensor,
    labels: Tensor,
) -> dict[str, Part]:
    """A pass for each example; a parameter that an example does not use has zeros.

    Each has copies of all weights and buffers of its own, so that no example finds what another one left there.
    """
    found = {name: Dense(torch.zeros(len(inputs), value.numel())) for name, value in trained.items()}
    for row in range(len(inputs)):
        with torch.enable_grad():
            leaves = {name: value.clone().requires_grad_() for name, value in trained.items()}
            value = of_one(leaves, inputs[row].clone(), labels[row].clone())
        gradients = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
        for name, gradient in zip(leaves, gradients, strict=True):
            if gradient is not None:
                found[name].rows[row] = gradient.flatten()
    return dict(found)
