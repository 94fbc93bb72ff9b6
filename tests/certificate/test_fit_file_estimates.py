"""Estimates as they are kept."""

import math
from typing import Any

import pytest

from tacit.certificate.fit_file import LARGEST_COVARIANCE, Estimates, Reliability, Scatter, Term, triangle_of
from tacit.errors import CertificateError

TERMS = (Term("a", 1.0, 0.5, -math.inf, 2.0), Term("b", 2.0))
WHOLE = Estimates(
    TERMS,
    Scatter((1.0, 2.0), (0.0, 0.5), (math.inf, 9.0)),
    ((1.0,), (0.25, 2.5)),
    Reliability(True, "conservative", ("conservative", "approximate"), ("Why.",)),
)


# Rounding may leave a variance a last bit below 0; that must not cost the fit.
ROUNDED = Estimates(TERMS, Scatter((1.0, 2.0), (-1e-20, 0.5), (4.0, 9.0)))


@pytest.mark.parametrize("estimates", [WHOLE, ROUNDED, Estimates(TERMS)])
def test_what_is_written_is_read(estimates: Estimates) -> None:
    assert Estimates.read(estimates.document()) == estimates


@pytest.mark.parametrize(
    "change",
    [
        {"scatter": {"sampling": [1.0], "privacy": [0.0], "degrees": [1.0]}},
        {"scatter": {"sampling": [1.0, 1], "privacy": [0.0, 0.0], "degrees": [1.0, 1.0]}},
        {"scatter": {"sampling": [1.0, "nan"], "privacy": [0.0, 0.0], "degrees": [1.0, 1.0]}},
        {"scatter": {"sampling": [1.0, 1.0]}},
        {"scatter": []},
        {"covariance": [[1.0], [1.0]]},
        {"covariance": [[1.0], ["inf", 1.0]]},
        {"covariance": [1.0, [1.0, 1.0]]},
        {"covariance": []},
        {"reliability": {"offered": True, "statement": None, "terms": ["x"], "notes": []}},
        {"reliability": {"offered": True, "statement": None, "terms": [1, 2], "notes": []}},
        {"reliability": {"offered": 1, "statement": None, "terms": None, "notes": []}},
        {"terms": [{}, {}]},
        {"terms": [1, 2]},
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        Estimates.read({**WHOLE.document(), **change})


def test_a_covariance_is_kept_where_it_is_finite_and_not_too_large() -> None:
    assert triangle_of([[1.0, 2.0], [2.0, 5.0]]) == ((1.0,), (2.0, 5.0))
    assert triangle_of([[1.0, 2.0], [math.nan, 5.0]]) is None
    row = [0.0] * (LARGEST_COVARIANCE + 1)
    assert triangle_of([row] * len(row)) is None
