"""Copies from the block of a ledger are charged there or refused: searches and image fits too."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tacit
from tacit.errors import PlanViolation
from tacit.ledger import Ledger, current_ledger

MODEL: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "classes": [False, True]}
PROGRAM = """
import pickle, sys
import numpy as np
from tacit.errors import LedgerError
X = np.linspace(-1, 1, 100).reshape(-1, 1)
for estimator in pickle.load(open(sys.argv[1], "rb")):
    try:
        estimator.fit(X, X[:, 0] > 0)
    except LedgerError as error:
        print(type(estimator).__name__, "pickled within a block" in str(error))
"""


def test_pickles_of_a_block_are_refused_in_another_program(tmp_path: Path) -> None:
    """The fault: a search, or a classifier of images, ran there without a charge."""
    made = [
        tacit.LogisticRegression(**MODEL),
        tacit.PrivateSearchCV(tacit.LogisticRegression(**MODEL), {"l2": [0.1]}),
        tacit.ImageClassifier(epsilon=1.0, delta=1e-6),
        tacit.PrivateWhitener(epsilon=1.0, delta=1e-6, bounds=(-1, 1)),
    ]
    with Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=8, delta=1e-5), law="rdp") as ledger:
        (tmp_path / "pickled").write_bytes(pickle.dumps(made))
        # A clone, and one that is made in the block, belong to it.
        assert vars(clone(made[2]))[current_ledger.MARK]
        assert vars(tacit.ImageClassifier(epsilon=1.0))[current_ledger.MARK]
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "pickled")]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.split("\n")[:-1] == [f"{type(each).__name__} True" for each in made]
    assert not ledger.charges()


def test_a_holdout_is_neither_copied_nor_pickled() -> None:
    schema = tacit.Schema.parse('[columns.a]\ntype = "numeric"\nlower = 0\nupper = 1\n')
    holdout = tacit.ReusableHoldout(pd.DataFrame({"a": np.linspace(0, 1, 100)}), schema, epsilon=1.0)
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(PlanViolation, match="make it where it is opened"):
            copied(holdout)
