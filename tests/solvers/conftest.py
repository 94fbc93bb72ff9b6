"""A mechanism that must not be asked."""

from typing import Any

import pytest

from tacit.mechanisms.query_responder import Responder


@pytest.fixture
def nothing_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test as soon as any mechanism is asked for an answer."""

    def refuse(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("A mechanism ran.")

    monkeypatch.setattr(Responder, "answer", refuse)
