"""The command: what runs, what is said where the data are missing, what is refused."""

import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks_main
from benchmarks.accuracy import command, folder
from benchmarks.accuracy.cells import Store
from benchmarks.rivals.foreign_library import EnvironmentFailedError
from benchmarks.rivals.registry import methods


@pytest.fixture
def no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "nowhere"))


@pytest.mark.usefixtures("no_folder")
def test_without_the_folder_the_bundled_tables_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.chosen_tables(None) == ["breast_cancer", "digits", "wine", "diabetes"]
    said = capsys.readouterr().out
    assert "nowhere" in said
    assert folder.VARIABLE in said
    assert command.chosen_tables(["adult", "wine"]) == ["wine"]


def test_groups_stand_for_their_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codebook.py").write_text("", encoding="utf-8")
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    found = command.chosen_tables(["held-out", "adult"])
    assert found[0] == "adult"
    assert "bank" in found
    assert "covertype" not in found


def test_the_codebook_is_read_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codebook.py").write_text(
        "import numpy as np\n"
        "def load(name):\n"
        "    X, y = np.ones((3, 2)), np.zeros(3)\n"
        "    return dict(Xtr=X, ytr=y, Xte=X, yte=y, R=2.0, yb=np.array([0.0, 5.0]))\n",
        encoding="utf-8",
    )
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    table = folder.load("california", "regression")
    assert (table.row_norm, table.y_bounds, table.features.shape) == (2.0, (0.0, 5.0), (3, 1))
    assert table.feature_norm == pytest.approx(3**0.5)


@pytest.mark.usefixtures("no_folder")
def test_a_fresh_run_runs_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tables", "diabetes", "--methods", "adassp", "--epsilons", "1", "--repetitions"]
    where = ["--results", str(tmp_path)]
    command.main([*options, "2", *where])
    rows = tmp_path / command.ROWS
    first = rows.read_text(encoding="utf-8")
    assert len(Store(rows)) == 2
    command.main([*options, "2", *where])
    assert rows.read_text(encoding="utf-8") == first
    command.main([*options, "1", *where, "--fresh"])
    assert "2 rows forgotten" in capsys.readouterr().out
    assert len(Store(rows)) == 1


@pytest.mark.usefixtures("no_folder")
def test_a_rival_that_cannot_be_installed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise EnvironmentFailedError("no network")

    monkeypatch.setattr("benchmarks.rivals.foreign_library.Workers.of", fails)
    options = ["--methods", "diffprivlib", "adassp", "--epsilons", "1", "--repetitions", "1"]
    command.main(["--tables", "diabetes", *options, "--results", str(tmp_path)])
    assert "diffprivlib left out: no network" in capsys.readouterr().err
    assert [cell.method for cell in Store(tmp_path / command.ROWS)] == ["adassp"]


@pytest.mark.parametrize("arguments", [["--tables", "nothing"], ["--methods", "nothing"], ["--epsilons", "many"]])
def test_what_is_not_known_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)


@pytest.mark.parametrize("arguments", [["noise", "--page"], ["accuracy", "noise", "--page"], ["nothing"], ["--page"]])
def test_options_go_to_one_topic_that_takes_them(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    assert benchmarks_main.main() == 2


def test_every_method_has_a_name_of_its_own_and_words() -> None:
    for name, method in methods().items():
        assert method.name == name
        assert method.label
        assert method.version
