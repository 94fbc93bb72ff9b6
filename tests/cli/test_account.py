"""`tacit account`: every accountant side by side, calibration, pictures, refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.account import RunOptions

Command = Callable[..., Any]
NAMES = ["basic", "advanced", "optimal", "zcdp", "tcdp", "rdp", "gdp", "gdp-clt", "pld"]
SAMPLED = ("account", "--steps", 1000, "--delta", 1e-5, "--sample-rate", 0.01)
WHOLE = ("account", "--steps", 1, "--delta", 1e-5)


def test_a_sampled_run_by_every_accountant(command: Command) -> None:
    done = command(*SAMPLED, "--noise", 0.8, "--json")
    assert (done.code, done.err) == (0, "")
    found = done.document
    assert list(found["epsilon"]) == NAMES
    assert found["relation"] == "add-remove"
    # dp-accounting on a grid of 1e-5 says 3.141014.
    assert 3.141014 <= found["epsilon"]["pld"] <= 3.141014 * 1.001
    assert round(found["epsilon"]["gdp-clt"], 2) == 2.51
    assert found["epsilon"]["zcdp"] is None
    assert found["epsilon"]["gdp"] is None
    assert found["smallest"]["accountant"] == "pld"


def test_the_whole_table_is_exact(command: Command) -> None:
    one = command(*WHOLE, "--noise", 1 / 0.26805, "--relation", "add-remove", "--json").document
    assert one["epsilon"]["gdp"] == pytest.approx(1.0, abs=2e-5)
    # Under replace-one, the default, a clipped sum moves by two clip bounds.
    other = command(*WHOLE, "--noise", 2 / 0.26805, "--json").document
    assert other["relation"] == "replace-one"
    assert other["epsilon"]["gdp"] == pytest.approx(one["epsilon"]["gdp"], rel=1e-9)
    assert "gdp" in command(*WHOLE, "--noise", 2).out


def test_the_table_for_people(command: Command) -> None:
    done = command(*WHOLE, "--sample-rate", 0.01, "--noise", 0.8)
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert set(NAMES) <= set(lines)
    assert lines["pld"].endswith("smallest")
    assert lines["gdp-clt"].endswith("forecast")
    assert lines["gdp"].endswith("no price")
    assert "no guarantee" in lines["forecast"]
    assert "at 5% false alarms" in lines["attacker"]
    assert "fallback" not in lines


def test_a_fallback_is_told(command: Command) -> None:
    done = command("account", "--steps", 1000, "--delta", 1e-5, "--sample-rate", 1e-3, "--noise", 0.01)
    assert done.code == 0
    assert "fallback  pld is out of its numerical range" in done.out


def test_noise_is_found_for_a_budget(command: Command) -> None:
    found = command(*SAMPLED, "--epsilon", 1, "--json").document
    # dp-accounting finds 1.41463.
    assert found["noise"] == pytest.approx(1.41463, rel=5e-3)
    assert found["smallest"]["epsilon"] <= 1.0
    assert found["target"] == 1.0


def test_noise_for_the_whole_table(command: Command) -> None:
    done = command(*WHOLE, "--epsilon", 1, "--relation", "zero-out")
    # mu(1, 1e-5) = 0.26805, and the noise is rounded up.
    assert "noise     3.73064" in done.out
    assert "the least for (ε = 1, δ = 1e-05)" in done.out


def test_samples_of_fixed_size_are_under_replace_one(command: Command) -> None:
    scheme = ("--noise", 3, "--steps", 2, "--delta", 1e-5, "--json")
    fixed = ("account", "--sample-rate", "600/60000", "--sampling")
    without = command(*fixed, "without-replacement", *scheme).document
    assert (without["relation"], without["sample_rate"]) == ("replace-one", pytest.approx(0.01))
    assert without["records"] is None
    drawn = command(*fixed, "with-replacement", "--records", 500, *scheme).document
    assert drawn["records"] == 500
    assert drawn["epsilon"]["pld"] > without["epsilon"]["pld"]


def test_at_least_is_said_only_of_what_a_release_attains(command: Command) -> None:
    given = ("account", "--sample-rate", 0.01, "--noise", 2, "--steps", 100, "--delta", 1e-5)
    drawn = command(*given, "--sampling", "with-replacement", "--json").document["smallest"]
    # The strongest attack on these sums costs 0.794; the dominating pair does not say so.
    assert 0.7 < drawn["lower"] < 0.794 < drawn["epsilon"] < 0.85


@pytest.mark.parametrize(("rate", "records"), [("0.01", 100_000), ("1e-6", 10**9)])
def test_draws_with_replacement_assume_a_large_table(rate: str, records: int) -> None:
    # With few draws of a small table no record would be drawn twice, which would cost less.
    run = RunOptions(10, 1e-5, 1.0, None, rate, "with-replacement").run()
    assert run.population == records
    assert RunOptions(10, 1e-5, 1.0, None, rate, "without-replacement").run().population is None


def test_poisson_samples_under_replace_one_have_a_pair_of_their_own(command: Command) -> None:
    given = (*WHOLE, "--sample-rate", 0.1, "--noise", 1, "--json")
    one, other = (
        command(*given, "--relation", relation).document["epsilon"]["pld"] for relation in ("zero-out", "replace-one")
    )
    assert 0.0 < one < other


def test_infinity_is_a_word(command: Command) -> None:
    found = command("account", "--steps", 1, "--delta", 0, "--noise", 1, "--json").document
    assert found["epsilon"]["gdp"] == "inf"
    assert found["smallest"]["epsilon"] == "inf"


def test_nothing_sampled_costs_nothing(command: Command) -> None:
    given = ("account", "--steps", 1, "--delta", 1e-5, "--noise", 1, "--sample-rate", 0, "--json")
    assert set(command(*given).document["epsilon"].values()) == {0.0}


def test_a_picture_is_drawn_and_not_overwritten(command: Command) -> None:
    given = (*WHOLE, "--noise", 4, "--plot", "a.svg", "--picture", "tradeoff")
    assert command(*given, "--json").document["picture"] == "a.svg"
    first = Path("a.svg").read_bytes()
    refused = command(*given)
    assert (refused.code, "--force" in refused.err) == (3, True)
    assert command(*given, "--force").code == 0
    assert Path("a.svg").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--noise", -1), "noise"),
        (("--noise", 0), "noise"),
        (("--noise", "nan"), "noise"),
        (("--noise", "inf"), "noise"),
        (("--noise", "one"), "--noise"),
        (("--noise", 1, "--epsilon", 1), "together"),
        ((), "neither"),
        (("--epsilon", 0), "epsilon"),
        (("--epsilon", "nan"), "epsilon"),
        (("--epsilon", "inf"), "infinite"),
        (("--noise", 1, "--delta", 1), "delta"),
        (("--noise", 1, "--delta", -1), "delta"),
        (("--noise", 1, "--delta", "nan"), "delta"),
        (("--epsilon", 1, "--delta", 0), "delta"),
        (("--noise", 1, "--steps", 0), "steps"),
        (("--noise", 1, "--steps", -3), "steps"),
        (("--noise", 1, "--steps", 1.5), "--steps"),
        (("--noise", 1, "--sample-rate", 1.5), "--sample-rate"),
        (("--noise", 1, "--sample-rate", -0.1), "--sample-rate"),
        (("--noise", 1, "--sample-rate", "nan"), "--sample-rate"),
        (("--noise", 1, "--sample-rate", "1/0"), "--sample-rate"),
        (("--noise", 1, "--sample-rate", "1e-999999999"), "--sample-rate"),
        (("--noise", 1, "--sample-rate", 0.1, "--sampling", "shuffle"), "Shuffled"),
        (("--noise", 1, "--sampling", "poisson"), "--sample-rate"),
        (("--noise", 1, "--relation", "remove"), "relation"),
        (("--noise", 1, "--records", 10), "--records"),
        (("--noise", 1, "--plot", "a.gif"), ".png"),
        (("--noise", 1, "--plot", "a.png", "--picture", "pie"), "picture"),
        (("--noise", 1, "--picture", "loss"), "--plot"),
    ],
)
def test_bad_input_is_refused(command: Command, tmp_path: Path, arguments: tuple[object, ...], word: str) -> None:
    done = command("account", "--steps", 1, "--delta", 1e-5, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert word in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
@pytest.mark.parametrize("asked", [("--noise", 1), ("--epsilon", 1)])
def test_amplification_is_refused_under_other_relations(
    command: Command, sampling: str, relation: str, asked: tuple[object, ...]
) -> None:
    done = command(*SAMPLED, *asked, "--sampling", sampling, "--relation", relation)
    assert done.code == 2
    assert "replace-one only" in done.err


def test_errors_are_json_where_json_was_asked_for(command: Command) -> None:
    done = command(*WHOLE, "--noise", -1, "--json")
    assert (done.code, done.document["error"]["kind"]) == (2, "SettingError")
