import math

import numpy as np
import pytest

from tacit.accounting.pld import GridTooLong
from tacit.accounting.pld.grid_choice import Resolution, accuracy_step, coarse_pass, resolve
from tacit.accounting.pld.pairs.bounded_loss import LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import GaussianPair
from tacit.accounting.pld.pairs.pair import Pair


def resolved(items: list[tuple[Pair, int]], accuracy: float, delta: float = 1e-5) -> Resolution:
    coarse = coarse_pass(items, "remove").without_tails(math.log(delta))
    return resolve(items, "remove", coarse, coarse.aim_at_delta(delta), accuracy)


def test_finer_accuracy_gives_finer_steps() -> None:
    items: list[tuple[Pair, int]] = [(GaussianPair(0.1), 100)]
    steps = [resolved(items, accuracy).step for accuracy in (1e-2, 1e-4, 1e-6)]
    assert steps[0] > 5 * steps[1] > 25 * steps[2]


def test_one_lattice_of_atoms_is_on_the_grid() -> None:
    chosen = resolved([(RandomisedResponse(0.3), 50)], 1e-4)
    ratio = 0.3 / chosen.step
    assert abs(ratio - round(ratio)) < 1e-6 * ratio


def test_every_atom_has_its_neighbours_on_the_grid() -> None:
    chosen = resolved([(LaplacePair(0.3), 5), (RandomisedResponse(0.123), 5)], 1e-4)
    points = chosen.grids[1].points
    assert np.min(np.abs(points - 0.123)) <= 0.5001 * chosen.step


def test_losses_beyond_floats_are_refused() -> None:
    with pytest.raises(GridTooLong, match="690"):
        resolved([(GaussianPair(60.0), 1)], 1e-4)


def test_the_step_costs_what_it_may_cost() -> None:
    coarse = coarse_pass([(GaussianPair(0.1), 100)], "remove")
    aim = coarse.aim_at_delta(1e-5)
    step = accuracy_step(aim, 100.0, 1e-4)
    assert 100.0 * (1 + aim.tilt) * step**2 / 12 == pytest.approx(1e-4 * aim.epsilon)
