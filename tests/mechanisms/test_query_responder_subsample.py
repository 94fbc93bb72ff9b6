"""Lots of the records: fresh, uniform, and never those of the noise."""

from __future__ import annotations

import numpy as np

from tacit.mechanisms.query_responder import subsample_draw
from tacit.noise.entropy import SeededEntropy


def test_every_fit_draws_fresh_lots() -> None:
    first, second = subsample_draw(None)(4096), subsample_draw(None)(4096)
    assert first.dtype == np.uint8
    assert len(first) == 4096
    assert (first != second).any()


def test_a_quarter_of_them_is_below_64() -> None:
    """Five deviations of a binomial number: a false alarm in about two million runs."""
    count = 400_000
    share = (subsample_draw(None)(count) < 64).mean()
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / count)


def test_a_seed_repeats_them_and_makes_none_of_the_noise_of_it() -> None:
    draw, again = subsample_draw(7), subsample_draw(7)
    lots = np.concatenate([draw(64), draw(13), draw(0)])
    assert (lots == np.concatenate([again(64), again(13)])).all()
    assert (lots[:64] != SeededEntropy(7).words(8).view(np.uint8)).any()
