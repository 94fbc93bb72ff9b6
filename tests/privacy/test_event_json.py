import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import CertificateError, SettingError
from tacit.privacy import event_json
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonRuns,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    SoftmaxPerturbation,
    Votes,
)
from tacit.privacy.event_json import from_json, to_json

SETTINGS = settings(max_examples=100, deadline=None)

EVENTS: tuple[Event, ...] = (
    Gaussian(1, Fraction(3, 2), "gradient"),
    Laplace(Fraction(1, 3), 2),
    Pure(Fraction(1, 10)),
    Approximate(1, Fraction(1, 10**6)),
    BoundedRange(2),
    DiscreteGaussian(3, 10, coordinates=4),
    ObjectivePerturbation(1, 16, Fraction(1, 40), 2),
    SoftmaxPerturbation(2, 16, Fraction(1, 40), 5),
    Votes(1600, queries=3),
    PoissonSampled(Gaussian(1, 1), Fraction(1, 100)),
    SampledWithoutReplacement(Gaussian(4, 1), 10, 1000),
    SampledWithReplacement(Gaussian(4, 1), 10, 1000),
    RandomStopping(Gaussian(1, 100), NegativeBinomial(Fraction(-1, 2), Fraction(1, 10))),
    RandomStopping(Pure(1), PoissonRuns(Fraction(7, 2))),
    Composed((Gaussian(1, 1), Repeated(Pure(1), 3))),
    Repeated(Composed(()), 2),
)
events = st.recursive(
    st.sampled_from(EVENTS),
    lambda inner: st.one_of(
        st.builds(Repeated, inner, st.integers(1, 10**20)),
        st.builds(lambda parts: Composed(tuple(parts)), st.lists(inner, max_size=3)),
        st.builds(PoissonSampled, inner, st.fractions(0, 1)),
    ),
    max_leaves=6,
)


@SETTINGS
@given(events)
def test_every_event_survives_json(event: Event) -> None:
    document = json.loads(json.dumps(to_json(event)))
    assert from_json(document) == event
    assert to_json(from_json(document)) == document


def test_every_kind_has_a_tag() -> None:
    assert {type(event) for event in EVENTS} == set(event_json._KINDS["event"].values())


def test_the_format_is_pinned() -> None:
    sampled = PoissonSampled(Gaussian(1, 4), Fraction(1, 100))
    assert to_json(RandomStopping(sampled, NegativeBinomial(1, Fraction(1, 10)))) == {
        "event": "random-stopping",
        "inner": {
            "event": "poisson-sampled",
            "inner": {"event": "gaussian", "squared_sensitivity": "1", "variance": "4", "label": ""},
            "rate": "1/100",
        },
        "law": {"law": "negative-binomial", "shape": "1", "gamma": "1/10"},
    }


@pytest.mark.parametrize("event", EVENTS)
def test_a_field_more_or_less_is_refused(event: Event) -> None:
    document = to_json(event)
    with pytest.raises(CertificateError):
        from_json({**document, "extra": "1"})
    for name in document:
        with pytest.raises(CertificateError):
            from_json({key: value for key, value in document.items() if key != name})


@pytest.mark.parametrize(
    "change",
    [
        {"rate": "2"},
        {"rate": "-1/2"},
        {"rate": "2/4"},
        {"rate": 0.5},
        {"rate": "0.5"},
        {"rate": "nan"},
        {"inner": None},
        {"inner": []},
    ],
)
def test_bad_fields_of_a_sampled_event_are_refused(change: Mapping[str, Any]) -> None:
    document = to_json(PoissonSampled(Gaussian(1, 1), Fraction(1, 2)))
    with pytest.raises(CertificateError):
        from_json({**document, **change})


@pytest.mark.parametrize(
    "law", [None, "poisson", {"law": "fixed", "mean": "3"}, {"law": "poisson"}, {"law": "poisson", "mean": "0"}]
)
def test_unknown_laws_are_refused(law: object) -> None:
    document = to_json(RandomStopping(Pure(1), PoissonRuns(3)))
    with pytest.raises(CertificateError):
        from_json({**document, "law": law})


def test_unknown_events_are_refused_by_name() -> None:
    with pytest.raises(CertificateError, match="gaussian-v2"):
        from_json({"event": "gaussian-v2"})
    with pytest.raises(SettingError, match="Mystery"):
        to_json(type("Mystery", (Event,), {})())
