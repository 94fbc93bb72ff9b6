"""TOML text of a schema: read within bounds, and written so that it reads back the same."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from tacit.errors import SchemaError
from tacit.files import LARGEST_FILE

DEEPEST_KEY = 100
"""Parts of a dotted key. The time that tomllib takes grows with the square of their number."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST_KEY}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML text of bounded size and depth, or refuse it with `SchemaError`."""
    if len(text) > LARGEST_FILE:
        raise SchemaError(f"The schema has more than {LARGEST_FILE} characters.")
    if _DEEP_KEY.search(text):
        raise SchemaError(
            f"The schema has a dotted key of more than {DEEPEST_KEY} parts; a column name with "
            'dots needs quotes: [columns."blood.pressure"].'
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(
            f"The schema is not valid TOML: {error}. Text needs quotes, and so does a column "
            'name with spaces or dots: [columns."blood pressure"].'
        ) from error


def toml_string(text: str) -> str:
    """Text as a TOML basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A column's name as a TOML key, quoted where it has to be."""
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)


def toml_lines(facts: Mapping[str, Any]) -> list[str]:
    """One line for each fact; None, which stands for nothing declared, has no line."""
    declared = {key: value for key, value in facts.items() if value is not None}
    return [f"{toml_key(key)} = {_toml_value(value)}" for key, value in declared.items()]


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, str):
        return toml_string(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)
