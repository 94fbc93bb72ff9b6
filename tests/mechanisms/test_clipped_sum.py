"""Norms, clip factors and integer sums against exact rationals, also where floats are at their worst."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from tacit.contract.network_query import BLOCK
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import (
    EXACT,
    LARGEST_NORM,
    SLACK,
    clip_factors,
    integer_sums,
    norms,
    require_plain_torch,
    unit_of,
)
from tacit.mechanisms.example_gradients import Dense, Outer, Part, Scattered
from tacit.mechanisms.network_rehearsal import formed

FILLED = torch.ones(BLOCK, dtype=torch.bool)


def exact_square(rows: torch.Tensor) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in rows.flatten()), Fraction(0))


def exact_norm_square(parts: dict[str, Part], row: int) -> Fraction:
    """Squared norm over the reals of the floats of one example."""
    total = Fraction(0)
    for part in parts.values():
        if isinstance(part, Outer):
            total += exact_square(part.left[row]) * exact_square(part.right[row])
        else:
            total += exact_square(part.rows[row])
    return total


def wild(shape: tuple[int, ...], seed: int, powers: tuple[int, int]) -> torch.Tensor:
    """Numbers of all magnitudes between two powers of ten."""
    generator = np.random.default_rng(seed)
    return torch.from_numpy(
        (generator.normal(size=shape) * 10.0 ** generator.uniform(*powers, shape)).astype(np.float32)
    )


@pytest.mark.parametrize("powers", [(-2, 2), (-30, 10), (-44, -20), (0, 17)])
def test_norms_are_never_below_the_true_ones_by_more_than_the_proof_says(powers: tuple[int, int]) -> None:
    low, high = powers
    parts: dict[str, Part] = {
        "dense": Dense(wild((BLOCK, 700), 1, powers)),
        "outer": Outer(
            wild((BLOCK, 5), 2, (low, low + 2)), wild((BLOCK, 300), 3, (0, high - low - 2 if high > 0 else 2))
        ),
    }
    found = norms(parts, 2200)
    for row in range(BLOCK):
        if math.isfinite(found[row]):
            assert Fraction(float(found[row])) ** 2 >= exact_norm_square(parts, row) * Fraction(1 - 2.0**-15) ** 2


def test_a_small_factor_beside_a_large_one_is_not_lost() -> None:
    # The squares of the left are 0 in float32, and the gradient has norm 10^5.
    part = Outer(torch.full((BLOCK, 1), 1e-24), torch.full((BLOCK, 1), 1e18))
    assert norms({"weight": part}, 1)[0] == pytest.approx(1e-6, rel=1e-3)
    part = Outer(torch.full((BLOCK, 1), 1e-13), torch.full((BLOCK, 1), 1e18))
    assert norms({"weight": part}, 1)[0] == pytest.approx(1e5, rel=1e-3)


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e30, -math.inf])
@pytest.mark.parametrize("kind", ["dense", "left", "right", "scattered"])
def test_an_example_that_is_not_finite_contributes_nothing(value: float, kind: str) -> None:
    ones = torch.ones(BLOCK, 3)
    bad = ones.clone()
    bad[5, 1] = value
    kinds: dict[str, Part] = {
        "dense": Dense(bad),
        "left": Outer(bad, ones),
        "right": Outer(torch.zeros(BLOCK, 3).index_fill(0, torch.tensor([0]), 1.0), bad),
        "scattered": Scattered(bad[:, None, :], torch.zeros(BLOCK, 1, dtype=torch.int64), 2),
    }
    part = kinds[kind]
    norm = norms({"weight": part}, 9)
    factors = clip_factors(norm, 1e9, FILLED)
    assert factors[5] == 0.0
    assert int((factors > 0).sum()) == BLOCK - 1
    total = integer_sums({"weight": part}, factors, 4.0, norm)["weight"]
    assert int(total.abs().max()) <= 4 * BLOCK


def test_a_norm_beyond_the_largest_counts_as_not_finite() -> None:
    part = Dense(torch.full((BLOCK, 1), float(LARGEST_NORM) * 1.01))
    assert bool(torch.isinf(norms({"weight": part}, 1)).all())


def test_a_blank_place_has_no_weight() -> None:
    filled = FILLED.clone()
    filled[3] = False
    assert clip_factors(torch.full((BLOCK,), 0.5, dtype=torch.float64), 1.0, filled)[3] == 0.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e4])
def test_one_example_moves_the_integers_by_at_most_the_bound(seed: int, scale: float) -> None:
    """The worst example is sought: the others cancel, so that partial sums are large and rounded."""
    bound, clip, width = 2**36, 0.1, 400
    unit = unit_of(bound, clip, width)
    rows = wild((BLOCK, width), seed, (-1, 1)) * scale
    rows[1::2] = -rows[::2]
    parts: dict[str, Part] = {"weight": Dense(rows)}
    norm = norms(parts, width)
    factors = clip_factors(norm, clip, FILLED)
    whole = integer_sums(parts, factors, unit, norm)["weight"]
    for row in range(BLOCK):
        without = factors.clone()
        without[row] = 0.0
        change = whole - integer_sums(parts, without, unit, norm)["weight"]
        assert sum(int(value) ** 2 for value in change) <= bound**2


def test_the_unit_leaves_room_for_slack_and_rounding() -> None:
    for bound, clip, width in ((2**36, 0.1, 26_010), (2**20, 3.0, 900), (33, 1.0, 1), (2**30, 1e-6, 10**7)):
        unit = Fraction(unit_of(bound, clip, width))
        moved = unit * Fraction(clip) * (1 + Fraction(SLACK)) + Fraction(math.sqrt(width)) * (1 + Fraction(2.0**-11))
        assert moved <= bound
    with pytest.raises(SettingError, match="below what rounding does"):
        unit_of(10, 1.0, 100)


@pytest.mark.parametrize("kind", ["dense", "outer", "scattered"])
def test_sums_are_those_of_the_clipped_gradients(kind: str) -> None:
    generator = torch.Generator().manual_seed(1)
    count = 4 * BLOCK
    places = torch.stack([torch.randperm(5, generator=generator)[:3] for _ in range(count)])
    kinds: dict[str, Part] = {
        "dense": Dense(torch.randn(count, 30, generator=generator)),
        "outer": Outer(torch.randn(count, 3, generator=generator), torch.randn(count, 7, generator=generator)),
        "scattered": Scattered(torch.randn(count, 3, 4, generator=generator), places, 5),
    }
    part = kinds[kind]
    full = formed(part).double()
    clip, unit = 1.5, 2.0**30
    wanted = (full * (clip / full.norm(dim=1)).clamp(max=1.0)[:, None]).sum(0)
    norm = norms({"weight": part}, full.shape[1])
    factors = clip_factors(norm, clip, torch.ones(count, dtype=torch.bool))
    found = integer_sums({"weight": part}, factors, unit, norm)["weight"].double() / unit
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_sums_of_many_blocks_lose_no_digit() -> None:
    blocks = 2 * EXACT + 3
    rows = torch.full((blocks * BLOCK, 1), 1.0 - 2.0**-24)
    rows[::BLOCK] = 2.0**-20
    unit = unit_of(2**36, 1.0, 1)
    found = integer_sums({"w": Dense(rows)}, torch.ones(len(rows)), unit, rows[:, 0].double())
    one = integer_sums({"w": Dense(rows[:BLOCK])}, torch.ones(BLOCK), unit, rows[:BLOCK, 0].double())
    assert int(found["w"]) == blocks * int(one["w"]) > 2**46


def test_products_of_fewer_bits_are_refused() -> None:
    require_plain_torch()
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with pytest.raises(SettingError, match="fewer bits"):
            require_plain_torch()
    finally:
        torch.set_float32_matmul_precision(before)
    with torch.autocast("cpu"), pytest.raises(SettingError, match="fewer bits"):
        require_plain_torch()


def test_a_mode_in_which_one_example_is_an_error_is_refused() -> None:
    with torch.autograd.set_detect_anomaly(True), pytest.raises(SettingError, match="set_detect_anomaly"):
        require_plain_torch()


def test_precision_that_is_set_for_one_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def mixed() -> str:
        raise RuntimeError("PyTorch is checking the matmul precision without a specific backend name")

    with monkeypatch.context() as patched:
        patched.setattr(torch, "get_float32_matmul_precision", mixed)
        with pytest.raises(SettingError, match="fewer bits"):
            require_plain_torch()
    monkeypatch.setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16")
    with pytest.raises(SettingError, match="fewer bits"):
        require_plain_torch()


@pytest.mark.parametrize("first", [0, 1])
def test_an_example_without_a_norm_leaves_sums_of_strided_gradients(first: int) -> None:
    """A record that is no number once made all factors lie otherwise in memory, and other blocks were rounded anew."""
    generator = torch.Generator().manual_seed(3)
    count = 8 * BLOCK
    left = torch.randn(count, 10, generator=generator)
    right = torch.randn(count, 34, generator=generator)[:, first : first + 32 : 2]
    rows = torch.randn(40, count, generator=generator).T
    sums = []
    for value in (0.0, math.nan):
        changed = left.clone(), rows.clone(memory_format=torch.preserve_format)
        for part in changed:
            part[5] = value
        parts: dict[str, Part] = {"outer": Outer(changed[0], right), "dense": Dense(changed[1])}
        norm = norms(parts, 200)
        filled = torch.ones(count, dtype=torch.bool)
        filled[5] = False
        sums.append(integer_sums(parts, clip_factors(norm, 0.5, filled), 2.0**36, norm))
    for name in sums[0]:
        assert torch.equal(sums[0][name], sums[1][name])
