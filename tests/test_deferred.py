import sys

import pytest

from tacit.deferred import deferred, lazy_names


def test_a_module_is_loaded_by_the_first_call() -> None:
    sys.modules.pop("json.tool", None)
    call = deferred("json", "decoder.scanstring")
    assert call('a"', 0) == ("a", 2)
    assert deferred("urllib", "parse.quote")("a b") == "a%20b"
    late = deferred("json", "tool.nothing")
    assert "json.tool" not in sys.modules
    with pytest.raises(AttributeError):
        late()
    assert "json.tool" in sys.modules


def test_names_of_a_package_are_found_and_others_are_not() -> None:
    find = lazy_names("json", {"decoder": "JSONDecoder scanstring"})
    assert find("scanstring")('b"', 0) == ("b", 2)
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'quote'"):
        find("quote")
