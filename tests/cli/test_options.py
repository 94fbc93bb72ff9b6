"""Groups of options: what they spell, and how a command takes them."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

from tacit.cli.options import BudgetOptions, ChargeOptions, ClusterOptions, flag, grouped
from tacit.contract.cluster import Cluster
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget


def test_each_currency() -> None:
    assert BudgetOptions(1.0, 1e-6, None, None).budget() == Budget(epsilon=1, delta=1e-6)
    assert BudgetOptions(None, None, 0.3, None).budget() == Budget(mu=0.3)
    assert BudgetOptions(None, 1e-7, None, 0.1).budget() == Budget(rho=0.1, delta=1e-7)


def test_no_budget_names_the_options() -> None:
    with pytest.raises(BudgetError, match=r"--epsilon.*--mu.*--rho"):
        BudgetOptions(None, 1e-6, None, None).budget()


@dataclass(frozen=True)
class Noise:
    sigma: Annotated[float, flag("S", "How much.")] = 1.0
    seed: Annotated[int | None, flag("N", "Which.", "--seed")] = None


def test_a_group_is_a_flag_for_each_field_and_one_parameter() -> None:
    found: list[tuple[str, Noise, bool]] = []

    @grouped
    def command(name: str, *, noise: Noise, loud: bool = False) -> None:
        found.append((name, noise, loud))

    assert list(inspect.signature(command).parameters) == ["name", "sigma", "seed", "loud"]
    command(name="a", sigma=2.0, seed=None, loud=True)
    assert found == [("a", Noise(2.0), True)]


def test_what_is_for_a_ledger_needs_one() -> None:
    for charge in (ChargeOptions(key="first"), ChargeOptions(again=True), ChargeOptions(label="")):
        with pytest.raises(SettingError, match="add --ledger FILE"):
            charge.charging()
    with ChargeOptions().charging():
        pass


def test_a_cluster_is_an_address_or_a_number_of_workers() -> None:
    assert ClusterOptions().asked() is None
    assert ClusterOptions(workers=2).asked() == Cluster(workers=2)
    tls = ClusterOptions("tls://host:1", None, Path("ca.pem"), Path("cert.pem"), Path("key.pem")).asked()
    assert tls == Cluster("tls://host:1", ca_file="ca.pem", cert_file="cert.pem", key_file="key.pem")
    for wrong, said in (
        (ClusterOptions("tcp://127.0.0.1:1", 2), "either --cluster or --workers"),
        (ClusterOptions(tls_key=Path("key.pem")), "add --cluster"),
        (ClusterOptions("tls://host:1", tls_key=Path("key.pem")), "three files"),
    ):
        with pytest.raises(SettingError, match=said):
            wrong.asked()
