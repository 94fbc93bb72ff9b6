"""The one spelling of a document and its digest."""

import math

import numpy as np
import pytest

from tacit.documents.canonical_json import canonical, digest_of, parse_document, plain
from tacit.privacy.relation import Relation


def test_the_canonical_spelling_is_fixed() -> None:
    document = {"b": [1, 1.0, 1e-6], "a": "ε", "digest": "x", "signature": None}
    assert canonical(document) == ('{"a":"\\u03b5","b":[1,1.0,1e-06],"digest":"x","signature":null}')
    # Computed with sha256sum.
    assert digest_of(document) == "sha256:80e2423c674b86ca8e8c2e0b6ac76e082d5b684867e48ebf31d814c75dfdbf11"
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical({"a": math.inf})


def test_facts_of_any_type_become_plain() -> None:
    values = [np.int64(3), np.bool_(True), math.nan, 2 + 1j, {"ward": (1, -np.inf)}, "\ud800", None]
    expected = [3, True, "nan", "(2+1j)", {"ward": [1, "-inf"]}, "\\ud800", None]
    assert plain(values) == expected
    assert [type(value) for value in plain(values)] == [type(value) for value in expected]
    assert plain(np.array([[0.5, np.inf]])) == [[0.5, "inf"]]
    assert type(plain(Relation.ZERO_OUT)) is str
    assert parse_document(canonical({"facts": plain(values)})) == {"facts": expected}
