"""`tacit fit`: what it prints, what it keeps, and when."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.certificate.certificate import Certificate
from tacit.errors import FileError

Command = Callable[..., Any]
FIT = ("fit", "clinic.csv", "readmit ~ age + C(ward)", "--schema", "clinic.toml")


def test_fit_prints_plan_coefficients_and_guarantee(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 8)
    assert done.code == 0
    for text in ("Plan", "share of budget", "Coefficients", "C(ward)[T.surgery]", "Guarantee"):
        assert text in done.out
    said = "(ε = 8, δ = 1e-05), replace-one, per patient (assuming each has at most one record)"
    assert said in " ".join(done.out.split())
    for text in ("std err", "P>|t|", "[0.025", "privacy", "sampling and privacy noise together"):
        assert text in done.out
    assert done.err == ""
    assert "\x1b" not in done.out


def test_intervals_can_be_declined(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 2, "--no-inference", "--json")
    assert [term["std_err"] for term in done.document["terms"]] == [None] * 4
    assert "std err" not in command(*FIT, "--epsilon", 2, "--no-inference").out


def test_quiet_leaves_out_the_plan(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 2, "--quiet")
    assert done.code == 0
    assert "Plan" not in done.out
    assert "Coefficients" in done.out


def test_json_has_the_documented_fields(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 8, "--delta", 1e-6, "--json")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert [term["name"] for term in document["terms"]] == [
        "Intercept",
        "age",
        "C(ward)[T.surgery]",
        "C(ward)[T.cardiology]",
    ]
    for term in document["terms"]:
        assert list(term)[:5] == ["name", "coef", "std_err", "lower", "upper"]
        assert 0 <= term["pvalue"] <= 1
        assert term["lower"] <= term["sampling_lower"] < term["sampling_upper"] <= term["upper"]
        assert 0 < term["privacy_share"] < 1
        assert term["statement"] in {"nominal", "conservative", "approximate"}
        assert math.isfinite(term["coef"])
        assert term["std_err"] > 0
        assert term["lower"] < term["coef"] < term["upper"]
    assert 7.9 < document["epsilon"] <= 8
    assert document["delta"] == 1e-6
    assert document["mu"] > 0
    assert document["relation"] == "replace-one"
    assert document["unit"] == "patient"
    assert document["private"] is True
    assert document["intervals"]["offered"] is True
    assert document["intervals"]["signal"] > 25
    assert document["warnings"] == []
    assert document["files"] == {}
    Certificate.from_json(json.dumps(document["certificate"])).check()


def test_infinite_epsilon_is_written_inf(clinic: Path, command: Command) -> None:
    document = command(*FIT, "--epsilon", "inf", "--json").document
    assert (document["epsilon"], document["mu"], document["delta"]) == ("inf", "inf", 1.0)
    assert document["private"] is False
    shown = command(*FIT, "--epsilon", "inf")
    assert shown.code == 0
    assert "no guarantee (ε = ∞)" in shown.out
    assert "Do not publish" in shown.out


@pytest.mark.parametrize(("currency", "amount"), [("--mu", 0.6), ("--rho", 0.2)])
def test_other_currencies(clinic: Path, command: Command, currency: str, amount: float) -> None:
    document = command(*FIT, currency, amount, "--json").document
    mu = amount if currency == "--mu" else math.sqrt(2 * amount)
    assert mu * 0.99 < document["mu"] <= mu * (1 + 1e-12)


def test_a_seed_is_not_private(clinic: Path, command: Command) -> None:
    seeded = (*FIT, "--epsilon", 2, "--random-state", 1, "--json")
    first, second = command(*seeded).document, command(*seeded).document
    assert first["terms"] == second["terms"]
    assert first["private"] is False
    assert first["epsilon"] == "inf"
    unseeded = (*FIT, "--epsilon", 2, "--json")
    assert command(*unseeded).document["terms"] != command(*unseeded).document["terms"]


def test_fit_and_certificate_are_kept(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 2, "--output", "fit.json", "--certificate", "c.json")
    assert done.code == 0
    assert "The fit is in fit.json" in done.out
    assert "The certificate is in c.json" in done.out
    kept = tacit.load("fit.json")
    kept_certificate = Certificate.from_json(Path("c.json").read_bytes())
    assert kept.certificate.digest == kept_certificate.digest
    shown = next(line.split() for line in done.out.splitlines() if line.split()[:1] == ["age"])
    assert float(shown[1]) == pytest.approx(kept.params["age"], abs=6e-3)


def test_existing_output_is_refused_unless_forced(clinic: Path, command: Command) -> None:
    Path("fit.json").write_text("mine", encoding="utf-8")
    refused = command(*FIT, "--epsilon", 2, "-o", "fit.json")
    assert refused.code == 3
    assert "--force" in refused.err
    assert Path("fit.json").read_text(encoding="utf-8") == "mine"
    assert command(*FIT, "--epsilon", 2, "-o", "fit.json", "--force").code == 0
    assert tacit.load("fit.json").terms


def test_outputs_are_refused_before_anything_is_spent(
    clinic: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spend(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("tacit.estimators.glm.glm", spend)
    for output in ("nowhere/fit.json", ".", "clinic.csv", "clinic.toml"):
        done = command(*FIT, "--epsilon", 2, "--output", output, "--force")
        assert done.code == 3
    twice = ("--output", "same.json", "--certificate", "./same.json")
    assert command(*FIT, "--epsilon", 2, *twice).code == 3


def test_a_fit_that_cannot_be_kept_is_still_shown(
    clinic: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise FileError("the disk is full")

    monkeypatch.setattr(tacit.Fit, "save", fail)
    done = command(*FIT, "--epsilon", 2, "-o", "fit.json")
    assert done.code == 3
    assert "Coefficients" in done.out
    assert "the disk is full" in done.err
    done = command(*FIT, "--epsilon", 2, "-o", "fit.json", "--json")
    assert done.code == 3
    assert done.document["terms"]
    assert done.document["error"] == {"kind": "FileError", "message": "the disk is full"}


def test_signed_fits_verify(clinic: Path, command: Command) -> None:
    public = command("key", "key.pem", "--json").document["public"]
    done = command(*FIT, "--epsilon", 2, "--sign", "key.pem", "-o", "fit.json", "--json")
    assert done.code == 0
    assert done.document["certificate"]["signature"]["public_key"] == public
    assert tacit.load("fit.json").certificate.check(public).signed


@pytest.mark.parametrize("content", [None, "no key"])
def test_a_bad_key_costs_nothing(
    clinic: Path, command: Command, content: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spend(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("tacit.engine.table.Table.run", spend)
    if content is not None:
        Path("key.pem").write_text(content, encoding="utf-8")
    done = command(*FIT, "--epsilon", 2, "--sign", "key.pem", "-o", "fit.json")
    assert done.code == 3
    assert not Path("fit.json").exists()


def test_warnings_are_one_line_on_standard_error(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 0.01, "--json")
    assert done.code == 0
    small, without = done.document["warnings"]
    assert "budget is small" in small
    assert "Intervals will not be offered" in without
    assert done.err == f"warning: {small}\nwarning: {without}\n"


def test_what_is_not_offered_is_said_and_null(clinic: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 0.2)
    assert done.code == 0
    assert "Intervals are not offered: n·μ/d is" in done.out
    assert "std err" not in done.out
    document = command(*FIT, "--epsilon", 0.2, "--json").document
    assert document["intervals"]["offered"] is False
    assert {term["std_err"] for term in document["terms"]} == {None}


def test_settings_reach_the_plan(clinic: Path, command: Command) -> None:
    settings = ("--solver", "gradient", "--iterations", 7, "--step-size", 0.5)
    done = command(*FIT, "--epsilon", 2, *settings, "--l2", 0.1, "--radius", 3, "--row-norm", 1.5)
    assert done.code == 0
    assert "gradient on 800 records, 4 coefficients, 7 passes" in done.out
    (entry,) = command(*FIT, "--epsilon", 2, *settings, "--json").document["certificate"]["events"]
    assert entry["times"] == 7


def test_invalid_rows_may_add_nothing(clinic: Path, command: Command) -> None:
    with Path("clinic.csv").open("a", encoding="utf-8") as stream:
        stream.write(",120,25.0,no,1,general,1\n30,120,25.0,no,1,elsewhere,1\n")
    refused = command(*FIT, "--epsilon", 2)
    assert refused.code == 3
    assert command(*FIT, "--epsilon", 2, "--invalid-rows", "zero").code == 0
    wrong = command(*FIT, "--epsilon", 2, "--invalid-rows", "drop")
    assert wrong.code == 2
