"""Checkpoints: every step is counted once, also after a resume; nothing is repeated for free."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import tacit
from tacit.errors import FileError, SettingError
from tacit.neural import DPTrainer, mlp
from tacit.neural.checkpoints import JOURNAL, TrainingFolder
from tacit.solvers.network_descent import NetworkState
from tests.neural.small_table import table

X, Y = table()
INPUTS = X.astype(np.float32)
STEPS, STOP = 9, 5


class StoppedError(Exception):
    """A program that ends early."""


def stopping(state: NetworkState) -> None:
    if state.done == STOP:
        raise StoppedError


def trainer(folder: Path, **settings: Any) -> DPTrainer:
    usual: dict[str, Any] = {
        "module": mlp(3, 2, (4,)),
        "epsilon": 4.0,
        "delta": 1e-5,
        "batch_size": 150,
        "steps": STEPS,
        "checkpoints": folder,
        "checkpoint_every": 3,
    }
    return DPTrainer(**{**usual, **settings})


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A folder of a training that ended after five of nine steps."""
    with pytest.raises(StoppedError):
        trainer(tmp_path / "run", observer=stopping).fit(INPUTS, Y)
    return tmp_path / "run"


def counted(model: DPTrainer) -> int:
    entries = model.certificate_.parsed["events"]
    assert model.certificate_.check().consistent
    return sum(int(entry["times"]) for entry in entries)


def test_a_whole_run_leaves_its_checkpoints_and_costs_its_plan(tmp_path: Path) -> None:
    model = trainer(tmp_path / "run").fit(INPUTS, Y)
    assert sorted(file.name for file in (tmp_path / "run").glob("step-*")) == [
        f"step-{step:08d}.npz" for step in (3, 6, 9)
    ]
    assert counted(model) == STEPS == TrainingFolder(tmp_path / "run").taken
    assert model.plan_.guarantee().epsilon <= 4.0


def test_a_resumed_run_costs_as_much_as_one_in_one_piece(stopped: Path) -> None:
    model = trainer(stopped).resume(INPUTS, Y)
    assert counted(model) == STEPS == TrainingFolder(stopped).taken
    assert model.plan_.guarantee().epsilon <= 4.0
    assert model.state_.done == STEPS


def test_a_checkpoint_resumes_once_and_a_second_time_costs_the_repeated_steps(stopped: Path) -> None:
    first = trainer(stopped).resume(INPUTS, Y)
    with pytest.raises(SettingError, match=r"4 steps were taken already.*repeat=True.*Nothing was spent"):
        trainer(stopped).resume(INPUTS, Y, step=STOP)
    assert TrainingFolder(stopped).taken == STEPS
    again = trainer(stopped).resume(INPUTS, Y, step=STOP, repeat=True)
    assert counted(again) == STEPS + 4 == TrainingFolder(stopped).taken
    assert again.plan_.guarantee().epsilon > 4.0
    # Fresh noise: the same steps from the same checkpoint lead elsewhere.
    assert (first.state_.theta != again.state_.theta).all()


def test_an_older_checkpoint_repeats_and_pays(stopped: Path) -> None:
    model = trainer(stopped).resume(INPUTS, Y, step=3, repeat=True)
    assert counted(model) == STEPS + 2


def test_a_step_that_began_and_was_not_answered_counts(stopped: Path) -> None:
    TrainingFolder(stopped).note_step(STOP + 1)
    with pytest.raises(SettingError, match="1 steps were taken already"):
        trainer(stopped).resume(INPUTS, Y)
    with (stopped / JOURNAL).open("a") as stream:
        stream.write('{"st')
    assert TrainingFolder(stopped).taken == STOP + 2
    # What was cut off stays a line of its own, so that journal and certificate say the same.
    model = trainer(stopped).resume(INPUTS, Y, repeat=True)
    assert counted(model) == STEPS + 2 == TrainingFolder(stopped).taken
    assert trainer(stopped).resume(INPUTS, Y, step=8, repeat=True).state_.done == STEPS


@pytest.mark.parametrize("settings", [{}, {"module": mlp(3, 2, (5,))}])
def test_a_checkpoint_of_another_training_is_refused(stopped: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(StoppedError):
        trainer(tmp_path / "other", observer=stopping, **settings).fit(INPUTS, Y)
    # Its steps are counted by its own journal, not by this one.
    (stopped / "step-00000005.npz").write_bytes((tmp_path / "other" / "step-00000005.npz").read_bytes())
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp") as ledger:
        with pytest.raises(FileError, match=r"this folder's journal.*Nothing was spent"):
            trainer(stopped).resume(INPUTS, Y)
        assert not ledger.charges()
    assert TrainingFolder(stopped).taken == STOP


@pytest.mark.parametrize(
    "settings", [{"clip": 0.5}, {"module": mlp(3, 2, (5,))}, {"epsilon": 4.5}, {"steps": 10}, {"step_size": 1.0}]
)
def test_checkpoints_of_another_plan_are_refused(stopped: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=r"another plan.*Nothing was spent"):
        trainer(stopped, **settings).resume(INPUTS, Y)
    with pytest.raises(SettingError, match="another plan"):
        trainer(stopped).resume(INPUTS[:500], Y[:500])


def test_folders_are_not_written_over_and_seeds_not_resumed(stopped: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="holds a training already"):
        trainer(stopped).fit(INPUTS, Y)
    with pytest.raises(SettingError, match="repeat its noise"):
        trainer(tmp_path / "seeded", random_state=1).fit(INPUTS, Y)
    assert not (tmp_path / "seeded").exists()
    with pytest.raises(FileError, match="no training"):
        trainer(tmp_path / "nothing").resume(INPUTS, Y)
    with pytest.raises(FileError, match="no checkpoint of step 4"):
        trainer(stopped).resume(INPUTS, Y, step=4)


def test_the_end_of_a_training_is_not_resumed(tmp_path: Path) -> None:
    trainer(tmp_path / "run").fit(INPUTS, Y)
    with pytest.raises(SettingError, match="no step is left"):
        trainer(tmp_path / "run").resume(INPUTS, Y)


def test_two_programs_do_not_go_on_at_once(stopped: Path) -> None:
    with TrainingFolder(stopped).locked(), pytest.raises(SettingError, match="Another program"):
        trainer(stopped).resume(INPUTS, Y)


def test_a_program_that_ended_before_its_first_checkpoint_goes_on_from_the_first_weights(tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        trainer(tmp_path / "run", observer=stopping, checkpoint_every=9).fit(INPUTS, Y)
    # As after kill -9: the journal has five steps, and no checkpoint was written.
    (tmp_path / "run" / "step-00000005.npz").unlink()
    with pytest.raises(SettingError, match=r"\(step 0\) 5 steps were taken already.*Nothing was spent"):
        trainer(tmp_path / "run").resume(INPUTS, Y)
    model = trainer(tmp_path / "run").resume(INPUTS, Y, repeat=True)
    assert counted(model) == STEPS + 5 == TrainingFolder(tmp_path / "run").taken
    with pytest.raises(SettingError, match=r"\(step 0\) 14 steps"):
        trainer(tmp_path / "run").resume(INPUTS, Y, step=0)


def test_copies_of_a_folder_pay_for_their_own_steps_and_repeat_no_noise(stopped: Path, tmp_path: Path) -> None:
    shutil.copytree(stopped, tmp_path / "copy")
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp") as ledger:
        models = [trainer(folder).resume(INPUTS, Y) for folder in (stopped, tmp_path / "copy")]
        # Each from step 5 to 8, and to 9.
        assert len(ledger.charges()) == 4
    assert [counted(model) for model in models] == [STEPS, STEPS]
    assert (models[0].state_.theta != models[1].state_.theta).all()


def test_damaged_checkpoints_are_refused(stopped: Path) -> None:
    (stopped / "step-00000005.npz").write_bytes(b"nothing")
    with pytest.raises(FileError, match="no checkpoint of a training"):
        trainer(stopped).resume(INPUTS, Y)
    (stopped / JOURNAL).write_text("nothing\n", encoding="ascii")
    with pytest.raises(FileError, match="no journal"):
        trainer(stopped).resume(INPUTS, Y)


def test_a_ledger_is_charged_for_every_leg(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp") as ledger:
        with pytest.raises(StoppedError):
            trainer(tmp_path / "run", observer=stopping).fit(INPUTS, Y)
        assert len(ledger.charges()) == 2
        trainer(tmp_path / "run").resume(INPUTS, Y)
        # From step 5 to 8, and to 9.
        assert len(ledger.charges()) == 4


def test_refused_checkpoints_and_loaders_are_charged_for_nothing(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=50.0, delta=1e-4), law="rdp") as ledger:
        model = trainer(tmp_path / "run").fit(INPUTS, Y)
        charged, taken = len(ledger.charges()), TrainingFolder(tmp_path / "run").taken
        with pytest.raises(SettingError, match="another plan"):
            trainer(tmp_path / "run", clip=0.5).resume(INPUTS, Y)
        with pytest.raises(SettingError, match="repeat=True"):
            trainer(tmp_path / "run").resume(INPUTS, Y, step=3)
        with pytest.raises(SettingError, match="more than there are records"):
            trainer(tmp_path / "other", batch_size=len(Y) + 1).fit(INPUTS, Y)
        loader: DataLoader[Any] = DataLoader(
            TensorDataset(torch.from_numpy(INPUTS), torch.from_numpy(Y)), batch_size=100, shuffle=True
        )
        for run in (trainer(tmp_path / "run").resume, trainer(tmp_path / "other").fit):
            with pytest.raises(SettingError, match="shuffles"):
                run(loader)
        assert len(ledger.charges()) == charged
        assert TrainingFolder(tmp_path / "run").taken == taken == counted(model)


def test_states_come_back_as_they_were(tmp_path: Path) -> None:
    one, two, three, four = np.random.default_rng(1).normal(size=(4, 5))
    state = NetworkState(3, one, two, three, four, 2)
    folder = TrainingFolder(tmp_path)
    folder.save(state)
    found = folder.load()
    assert (found.done, found.averaged) == (3, 2)
    for name in ("theta", "first", "second", "total"):
        np.testing.assert_array_equal(getattr(found, name), getattr(state, name))
