"""TOML text is read within bounds, and what is written reads back."""

import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import SchemaError
from tacit.files import LARGEST_FILE
from tacit.schema.schema import DEEPEST_KEY, parse_toml, toml_key, toml_lines, toml_string


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", '"\\""', "a "])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "x = {{{} = 1}}", "[[{}]]"])
def test_an_endless_dotted_key_is_refused_at_once(part: str, form: str) -> None:
    # tomllib alone takes minutes for this.
    text = form.format(".".join([part] * 200_000))
    began = time.process_time()
    with pytest.raises(SchemaError, match=f"dotted key of more than {DEEPEST_KEY} parts"):
        parse_toml(text)
    assert time.process_time() - began < 1.0


def test_keys_and_values_of_the_usual_depth_are_read() -> None:
    deepest = ".".join(["a"] * DEEPEST_KEY)
    assert parse_toml(f"{deepest} = 1") == tomllib.loads(f"{deepest} = 1")
    numbers = ", ".join(f"{number}.5" for number in range(1000))
    assert len(parse_toml(f"levels = [{numbers}]")["levels"]) == 1000


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "{a = " * 100_000, "x"])
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="not valid TOML"):
        parse_toml(text)


def test_a_text_beyond_the_bound_is_refused() -> None:
    with pytest.raises(SchemaError, match="more than"):
        parse_toml("#" * (LARGEST_FILE + 1))


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(min_size=1))
def test_texts_and_keys_read_back(value: str, key: str) -> None:
    key = key.encode("utf-8", "ignore").decode() or "a"
    assert tomllib.loads(f"{toml_key(key)} = {toml_string(value)}") == {key: value}


def test_lines_of_facts_read_back() -> None:
    facts = {"a": 1, "b": True, "c": (1.5, 2.0), "d": "x", "e": None, "f g": [False]}
    read = tomllib.loads("\n".join(toml_lines(facts)))
    assert read == {"a": 1, "b": True, "c": [1.5, 2.0], "d": "x", "f g": [False]}
