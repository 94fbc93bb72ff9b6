"""The walk of a fit counts files, functions and returns."""

from tacit.privacy.budget import Budget
from tools.trace import Walk, walk


def test_a_return_is_a_visit_to_a_package_that_was_left() -> None:
    straight = Walk(files=["estimators/base.py", "estimators/fit.py", "engine/table.py"])
    assert straight.returns == 0
    crooked = Walk(files=["a/1.py", "b/1.py", "a/2.py", "a/3.py", "b/2.py", "c.py", "a/4.py"])
    assert crooked.returns == 3


def test_a_call_is_followed_into_the_sources_alone() -> None:
    found = walk(lambda: Budget(epsilon=1))
    assert found.files == ["privacy/budget.py"]
    assert ("privacy/budget.py", "Budget.__post_init__") in found.functions
