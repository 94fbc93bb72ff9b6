import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import CertificateError, SettingError
from tacit.privacy.event import DEEPEST_NESTING, Event, Gaussian, Repeated
from tacit.privacy.event_json import from_json, to_json

SETTINGS = settings(max_examples=150, deadline=None)

amounts = st.one_of(
    st.integers(min_value=1, max_value=2**200), st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)
)
gaussians = st.builds(
    Gaussian,
    squared_sensitivity=st.one_of(st.just(0), amounts),
    variance=amounts,
    label=st.text(max_size=20).filter(str.isprintable),
)


def repeat(inner: st.SearchStrategy[Event]) -> st.SearchStrategy[Event]:
    return st.builds(Repeated, event=inner, times=st.integers(min_value=1, max_value=10**30))


events: st.SearchStrategy[Event] = st.recursive(gaussians, repeat, max_leaves=4)
documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["event", "inner", "times", "squared_sensitivity", "variance", "label", "x"]),
            st.one_of(inner, st.sampled_from(["gaussian", "repeated", "1", "1/2", "0", "2/4"])),
            max_size=6,
        ),
    ),
    max_leaves=12,
)


def gaussian_document(**changes: object) -> dict[str, object]:
    document: dict[str, object] = {"event": "gaussian", "squared_sensitivity": "1", "variance": "4", "label": ""}
    return {**document, **changes}


def test_mu_squared_is_the_exact_ratio() -> None:
    assert Gaussian(3, 7).mu_squared == Fraction(3, 7)
    assert Gaussian(Fraction(1, 3), Fraction(2, 7)).mu_squared == Fraction(7, 6)
    assert Gaussian(0, 1).mu_squared == 0


def test_t18_more_noise_costs_less() -> None:
    assert Gaussian(4, 100).mu_squared < Gaussian(4, 50).mu_squared
    assert Gaussian(9, 50).mu_squared > Gaussian(4, 50).mu_squared


def test_events_are_frozen_and_compare_by_value() -> None:
    event = Gaussian(Fraction(4, 2), 3)
    assert event == Gaussian(2, 3)
    assert hash(event) == hash(Gaussian(np.int64(2), np.int32(3)))  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        event.variance = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Gaussian(1, 0),
        lambda: Gaussian(1, -1),
        lambda: Gaussian(-1, 1),
        lambda: Gaussian(-1.0, 1),
        lambda: Gaussian(1, float("inf")),
        lambda: Gaussian(1, "4"),  # type: ignore[arg-type]
        lambda: Gaussian(True, 1),
        lambda: Gaussian(1, float("nan")),
        lambda: Gaussian(1, 2**2000),
        lambda: Gaussian(1, 1, label="two\nlines"),
        lambda: Gaussian(1, 1, label="x" * 201),
        lambda: Gaussian(1, 1, label=3),  # type: ignore[arg-type]
        lambda: Repeated(Gaussian(1, 1), 0),
        lambda: Repeated(Gaussian(1, 1), -1),
        lambda: Repeated(Gaussian(1, 1), True),
        lambda: Repeated(Gaussian(1, 1), 2.0),  # type: ignore[arg-type]
        lambda: Repeated(Gaussian(1, 1), Fraction(3, 2)),  # type: ignore[arg-type]
        lambda: Repeated("gaussian", 2),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_fact_is_refused(build: Callable[[], Event]) -> None:
    with pytest.raises(SettingError):
        build()


def test_nesting_is_bounded() -> None:
    event: Event = Gaussian(1, 1)
    for _ in range(DEEPEST_NESTING):
        event = Repeated(event, 2)
    assert from_json(to_json(event)) == event
    with pytest.raises(SettingError, match="nested"):
        Repeated(event, 2)


@SETTINGS
@given(events)
def test_codec_round_trip_through_json_text(event: Event) -> None:
    text = json.dumps(to_json(event))
    assert from_json(json.loads(text)) == event


def test_largest_numbers_make_the_round_trip() -> None:
    event = Gaussian(Fraction(2**1536 - 1, 2**1535), Fraction(2**1535, 2**1536 - 1))
    assert from_json(to_json(event)) == event


def test_what_is_not_an_event_is_not_written() -> None:
    with pytest.raises(SettingError, match="str"):
        to_json("gaussian")  # type: ignore[arg-type]


@SETTINGS
@given(documents)
def test_any_document_is_read_in_its_one_spelling_or_refused(document: Any) -> None:
    try:
        event = from_json(document)
    except CertificateError:
        return
    assert to_json(event) == document


@pytest.mark.parametrize("field", ["squared_sensitivity", "variance"])
@pytest.mark.parametrize(
    "value",
    [
        *(1, 1.0, None, True, [], "", "1.0", "1e3", "-1", "+1", " 1", "1 ", "1\n", "01", "1/0"),
        *("0/1", "2/4", "4/1", "1/", "/1", "1/2/3", "nan", "inf", "١", "1_0", "9" * 1025),
        *("9" * 10**6, "9" * 1000, "1/" + "9" * 1000),
    ],
)
def test_malformed_numbers_are_refused(field: str, value: object) -> None:
    with pytest.raises(CertificateError):
        from_json(gaussian_document(**{field: value}))


@pytest.mark.parametrize(
    "document",
    [
        *(None, 3, "gaussian", [], [gaussian_document()], {}),
        {"event": None},
        {"event": ["gaussian"]},
        {"event": {"event": "gaussian"}},
        gaussian_document(extra="1"),
        {"event": "gaussian", 3: "4", None: "5"},
        {"event": "gaussian", "squared_sensitivity": "1", "variance": "4"},
        gaussian_document(variance="0"),
        gaussian_document(label=None),
        gaussian_document(label="\ud800"),
        {"event": "repeated", "inner": gaussian_document(), "times": "0"},
        {"event": "repeated", "inner": gaussian_document(), "times": "3/2"},
        {"event": "repeated", "inner": gaussian_document(), "times": 3},
        {"event": "repeated", "inner": None, "times": "3"},
        {"event": "repeated", "times": "3"},
    ],
)
def test_malformed_documents_are_refused(document: object) -> None:
    with pytest.raises(CertificateError):
        from_json(document)


def test_unknown_tag_is_refused_by_name() -> None:
    with pytest.raises(CertificateError, match="shuffled-epochs"):
        from_json({"event": "shuffled-epochs", "scale": "1"})


def test_deep_documents_are_refused_without_exhausting_the_stack() -> None:
    document: dict[str, object] = gaussian_document()
    for _ in range(100_000):
        document = {"event": "repeated", "inner": document, "times": "1"}
    with pytest.raises(CertificateError, match="nested"):
        from_json(document)
    # Taken apart by hand: freeing so deep a structure at once is slow in some interpreters.
    while "inner" in document:
        document = document["inner"]  # type: ignore[assignment]


def test_a_float_is_the_number_it_holds_and_keeps_it_through_json() -> None:
    event = tacit.privacy.Gaussian(1.5, 0.64)
    assert event.variance == Fraction(0.64) != Fraction(16, 25)
    assert event.mu_squared == Fraction(1.5) / Fraction(0.64)
    assert from_json(json.loads(json.dumps(to_json(event)))) == event
    assert tacit.privacy.PoissonSampled(event, 0.25).rate == Fraction(1, 4)


def test_public_packages_are_reachable_from_the_top() -> None:
    code = "import tacit; tacit.privacy.Laplace, tacit.accounting.compose, tacit.accounting.calibrate"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {"privacy", "accounting", "Budget", "Ledger", "glm"} <= set(dir(tacit))
