"""No rule of the planner and no released number changes unseen; `make golden` shows changes."""

import math

import pytest

from tools.golden import compare, fits
from tools.golden.__main__ import present

SHOWN = 20


@pytest.mark.parametrize("name", ["plans", "fits", "runs", "statements"])
def test_plans_and_fits_are_those_that_are_stored(name: str) -> None:
    stored = compare.read(name)
    exact = stored.get("machine") == fits.machine()
    now = present(name)
    for table in (stored, now):
        table.pop("machine", None)
    found = list(compare.differences(stored, now, exact=exact))
    assert not found, "\n".join([f"{len(found)} differences (make golden)", *found[:SHOWN]])


def test_a_difference_is_told_in_words() -> None:
    stored = {"a": {"steps": [1, 2.0], "bits": "x"}, "b": {}}
    now = {"a": {"steps": [1, 2.0 + 1e-12], "bits": "y"}, "c": {}}
    assert list(compare.differences(stored, now)) == [
        'a: bits was "x" and is "y"',
        "a: steps[1] was 2.0 and is 2.000000000001",
        "b: is gone",
        "c: is new",
    ]
    assert list(compare.differences(stored, now, exact=False)) == ["b: is gone", "c: is new"]


def test_rounding_of_another_machine_is_no_difference() -> None:
    stored = {
        "a": {
            "bound": 10**12,
            "event": "30000000000000000001",
            "size": math.nan,
            "answers": [{"norm": 1e12}, {"norm": 9.0}],
        }
    }
    now = {
        "a": {
            "bound": 10**12 + 1,
            "event": "30000000000000000002",
            "size": math.nan,
            "answers": [{"norm": 1e12}, {"norm": 8.0}],
        }
    }
    assert not list(compare.differences(stored, now, exact=False))
    assert len(list(compare.differences(stored, now))) == 3
    now["a"]["bound"] += 10**6
    assert len(list(compare.differences(stored, now, exact=False))) == 1


def test_small_whole_numbers_and_words_differ_on_every_machine() -> None:
    stored, now = {"a": {"times": 7, "label": "step"}}, {"a": {"times": 8, "label": "steps"}}
    assert len(list(compare.differences(stored, now, exact=False))) == 2
