"""The progress bar comes, goes and comes again."""

import io
import sys

import pytest

from tacit.cli.output import Bar


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    bar = Bar()
    bar.clear()
    assert stream.getvalue() == ""
    for label in ("second moments", "gradient descent"):
        bar(1, 2, label)
        assert bar.drawn
        bar(2, 2, label)
        bar.clear()
        assert not bar.drawn
        assert label in stream.getvalue()
    # The last thing a transient bar does is to erase its line.
    assert stream.getvalue().endswith("\x1b[1A\x1b[2K")


def test_unwanted_bars_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    Bar(wanted=False)(1, 2, "gradient descent")
    assert stream.getvalue() == ""
