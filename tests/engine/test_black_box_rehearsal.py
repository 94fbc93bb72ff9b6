"""A black box is tried on invented rows before anything is read or spent."""

import pickle

import numpy as np
import pytest

from tacit.contract.block_query import BlackBox
from tacit.engine import black_box_rehearsal as rehearsal
from tacit.engine.black_box_rehearsal import rehearse
from tacit.errors import SettingError

X, Y = np.zeros((4, 2)), np.arange(4.0)


class Processes:
    """In the place of processes: what a program returned."""

    answers: list[float]

    def __init__(self, function: BlackBox) -> None:
        self.function = function

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.array(self.answers or self.function.default)


def test_numbers_pass_and_a_default_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "BlockProcesses", Processes)
    function = BlackBox(pickle.dumps(len), (0.0, 0.0), (), ())
    Processes.answers = [0.0, 0.0]
    rehearse(function, X, Y)
    # Numbers that happen to be the default of the fit are numbers all the same.
    Processes.answers = []
    with pytest.raises(SettingError, match=r"did not return 2 finite numbers .* Nothing was spent"):
        rehearse(function, X, Y)
