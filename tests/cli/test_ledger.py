"""`tacit ledger` and `tacit fit --ledger`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import Budget, Ledger
from tacit.privacy import Gaussian

FIT = ("fit", "clinic.csv", "readmit ~ age", "--schema", "clinic.toml", "--delta", 1e-6)
BEGIN = ("ledger", "create", "clinic.db", "--epsilon", 1.5, "--delta", 1e-6, "--dataset", "clinic")


def test_fits_share_a_budget(command: Callable[..., Any], clinic: Path) -> None:
    assert command(*BEGIN).code == 0
    charged = (*FIT, "--ledger", "clinic.db", "--dataset", "clinic", "--quiet", "--json")
    for _ in range(2):
        assert command(*charged, "--epsilon", 1).code == 0
    refused = command(*charged, "--epsilon", 1)
    assert refused.code == 2
    assert refused.document["error"]["kind"] == "BudgetError"
    shown = command("ledger", "show", "clinic.db", "--json").document
    assert len(shown["charges"]) == 2
    assert shown["total"]["epsilon"] <= 1.5
    assert "of the budget" in command("ledger", "show", "clinic.db").out
    verified = command("ledger", "verify", "clinic.db", "--json")
    assert (verified.code, verified.document["charges"]) == (0, 2)


def test_a_ledger_by_rdp_takes_a_perturbed_objective(command: Callable[..., Any], clinic: Path) -> None:
    charged = (*FIT, "--ledger", "clinic.db", "--solver", "objective-perturbation", "--epsilon", 1, "--quiet", "--json")
    assert command("ledger", "create", "clinic.db", "--epsilon", 3, "--delta", 1e-6).code == 0
    refused = command(*charged)
    assert refused.code == 4
    assert "rdp" in refused.document["error"]["message"]
    Path("clinic.db").unlink()
    begun = command("ledger", "create", "clinic.db", "--epsilon", 3, "--delta", 1e-6, "--law", "rdp", "--json")
    assert (begun.document["law"], begun.document["order"]) == ("rdp", 9.0)
    assert command(*charged).code == 0
    shown = command("ledger", "show", "clinic.db")
    assert "rdp at order 9" in shown.out
    assert "more fit" in shown.out
    assert command("ledger", "verify", "clinic.db").code == 0
    assert command("ledger", "certificate", "clinic.db", "--output", "joint.json").code == 0
    assert command("verify", "joint.json").code == 0


def test_a_pure_ledger_is_begun_with_delta_zero(command: Callable[..., Any], clinic: Path) -> None:
    begun = command("ledger", "create", "clinic.db", "--epsilon", 3, "--delta", 0, "--json")
    assert begun.document["law"] == "pure"
    assert begun.document["remaining"] == {"epsilon": 3.0, "delta": 0.0}
    refused = command(*FIT, "--ledger", "clinic.db", "--epsilon", 1, "--quiet", "--json")
    assert refused.code == 4
    assert "rdp" in refused.document["error"]["message"]
    assert command("ledger", "create", "b.db", "--epsilon", 3, "--law", "renyi").code == 2
    assert "δ = 0" in command("ledger", "show", "clinic.db").out


def test_a_damaged_ledger_is_refused(command: Callable[..., Any], clinic: Path) -> None:
    command(*BEGIN)
    damaged = bytearray(Path("clinic.db").read_bytes())
    damaged[300] ^= 1
    Path("clinic.db").write_bytes(damaged)
    outcome = command("ledger", "verify", "clinic.db")
    assert outcome.code == 4
    assert "damaged from byte 101 on" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("ledger", "show", "none.db"), 3),
        (("ledger", "verify", "clinic.csv"), 4),
        (BEGIN, 3),
        (("ledger", "create", "new.db"), 2),
        ((*FIT, "--epsilon", 1, "--ledger", "none.db"), 3),
        ((*FIT, "--epsilon", 1, "--ledger", "clinic.db", "--dataset", "school"), 4),
        ((*FIT, "--epsilon", 1, "--dataset", "clinic"), 2),
        ((*FIT, "--epsilon", "inf", "--ledger", "clinic.db"), 4),
        ((*FIT, "--epsilon", 1, "--ledger", "clinic.db", "--output", "clinic.db", "--force"), 3),
    ],
)
def test_bad_input_is_refused_and_costs_nothing(
    command: Callable[..., Any], clinic: Path, arguments: tuple[object, ...], code: int
) -> None:
    command(*BEGIN)
    outcome = command(*arguments)
    assert outcome.code == code
    assert outcome.err.startswith("error: ")
    assert command("ledger", "show", "clinic.db", "--json").document["charges"] == []
    assert not Path("new.db").exists()


def test_a_ledger_of_version_one_is_upgraded(command: Callable[..., Any], clinic: Path) -> None:
    old = Path(__file__).parents[1] / "fixtures" / "ledger-0.1.db"
    assert len(command("ledger", "show", old, "--json").document["charges"]) == 3
    named = ("--ledger", old, "--dataset", "clinic 2024")
    refused = command(*FIT, "--epsilon", 1, *named)
    assert refused.code == 4
    assert "tacit ledger upgrade OLD NEW" in " ".join(refused.err.split())
    assert command("ledger", "upgrade", old, "new.ledger").code == 0
    assert command("ledger", "verify", "new.ledger", "--json").document["charges"] == 3
    assert command("ledger", "upgrade", old, "new.ledger").code == 3
    assert command("ledger", "upgrade", "new.ledger", "copy.ledger").code == 4
    assert not Path("copy.ledger").exists()


def test_the_certificate_of_a_ledger_is_verified(tmp_path: Path, command: Any) -> None:
    kept = Ledger(tmp_path / "one.db", budget=Budget(mu=1.0))
    charge = kept.reserve([Gaussian(1, 100)], relation="replace-one", unit="row")
    kept.commit(charge, "sha256:" + "a" * 64)
    file = tmp_path / "joint.json"
    file.write_text(kept.certificate().to_json(), encoding="utf-8")
    found = command("verify", file, "--json")
    assert found.code == 0
    assert found.document["consistent"]
    assert found.document["mu"] == pytest.approx(0.1)
    file.write_text(file.read_text(encoding="utf-8").replace("100", "400"), encoding="utf-8")
    assert command("verify", file).code == 4
