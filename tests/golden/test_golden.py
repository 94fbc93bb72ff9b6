"""No rule of the planner and no released number changes unseen; `make golden` shows changes."""

import math

import pytest

from tools.golden import compare, fits
from tools.golden.__main__ import present

SHOWN = 20


@pytest.mark.timeout(1200)  # minutes of work, and more on a busy machine
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
    def table(bound: int, event: str, last: float) -> dict[str, object]:
        answers = [{"norm": 1e12}, {"norm": last}]
        return {"a": {"bound": bound, "event": event, "size": math.nan, "answers": answers}}

    stored = table(10**12, "30000000000000000001", 9.0)
    now = table(10**12 + 1, "30000000000000000002", 8.0)
    assert not list(compare.differences(stored, now, exact=False))
    assert len(list(compare.differences(stored, now))) == 3
    other = table(10**12 + 10**6, "30000000000000000001", 9.0)
    assert len(list(compare.differences(stored, other, exact=False))) == 1


def test_small_whole_numbers_and_words_differ_on_every_machine() -> None:
    stored, now = {"a": {"times": 7, "label": "step"}}, {"a": {"times": 8, "label": "steps"}}
    assert len(list(compare.differences(stored, now, exact=False))) == 2
