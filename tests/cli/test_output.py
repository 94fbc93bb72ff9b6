"""The screen: drawn, piped or for programs; and its bar."""

import io
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tacit.cli.output import Screen
from tacit.text_table import Table

TABLE = Table(("term", "coef"), (("C(ward)[T.b]", "0.5"), ("[red]x[/red]", "-1.0")))


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def on_terminal() -> Iterator[Terminal]:
    """Stand in for both streams; a fixture could not, as pytest takes them back for the test."""
    stream = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "80")
        patch.delenv("NO_COLOR", raising=False)
        yield stream


def speak(screen: Screen) -> None:
    screen.heading("Heading")
    screen.table(TABLE)
    screen.say("word " * 40, "label")
    screen.detail("a detail")
    screen.plain("as it is")
    screen.result({"x": 1})


def test_piped_output_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    speak(Screen())
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert "  C(ward)[T.b]   0.5\n  [red]x[/red]  -1.0\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\n            word" in out


def test_a_terminal_is_drawn_on() -> None:
    with on_terminal() as terminal:
        speak(Screen())
    text = terminal.getvalue()
    assert "\x1b[1mHeading" in text
    assert "───" in text
    assert "C(ward)[T.b]" in text
    assert "[red]x[/red]" in text


def test_json_is_the_only_document(capsys: pytest.CaptureFixture[str]) -> None:
    speak(Screen(as_json=True))
    assert json.loads(capsys.readouterr().out) == {"x": 1}


def test_json_on_a_terminal_too() -> None:
    with on_terminal() as terminal:
        speak(Screen(as_json=True))
    assert json.loads(terminal.getvalue()) == {"x": 1}


def test_quiet_leaves_out_details(capsys: pytest.CaptureFixture[str]) -> None:
    speak(Screen(quiet=True))
    out = capsys.readouterr().out
    assert "a detail" not in out
    assert "as it is" in out


def test_warnings_are_told_even_where_they_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    with screen.work():
        warnings.warn("the budget is small", stacklevel=1)
    assert screen.warned == ["the budget is small"]
    assert capsys.readouterr() == ("", "warning: the budget is small\n")
    with pytest.raises(UserWarning):
        warnings.warn("outside", stacklevel=1)


def test_no_bar_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with Screen().work() as progress:
        progress(1, 2, "gradient descent")
    assert capsys.readouterr() == ("", "")


def test_a_quiet_terminal_has_no_bar() -> None:
    with on_terminal() as terminal, Screen(quiet=True).work() as progress:
        progress(1, 2, "gradient descent")
    assert terminal.getvalue() == ""


def test_infinity_never_becomes_bad_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Screen(as_json=True).result({"x": float("inf")})
