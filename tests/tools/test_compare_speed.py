"""Two trees take turns, and the ratio is that of the medians' pairs."""

from typing import Any, cast

from tools.compare_speed import Tree, compare


class FakeTree:
    """Answers like a tree whose function takes a constant time."""

    def __init__(self, seconds: float, turns: list[float]) -> None:
        self.seconds, self.turns = seconds, turns

    def ask(self, line: str) -> str:
        if line.startswith("load"):
            return "a fit|another fit"
        self.turns.append(self.seconds)
        return str(self.seconds)


def test_trees_are_alternated_and_compared_by_pairs() -> None:
    turns: list[float] = []
    here, there = (cast("Tree", cast("Any", FakeTree(seconds, turns))) for seconds in (3.0, 2.0))
    found = list(compare(here, there, "topic", 4))
    assert found == [("a fit", 2.0, 3.0, 1.5), ("another fit", 2.0, 3.0, 1.5)]
    # Every other pair runs in reverse order, so that neither is always the first.
    assert turns[:8] == [2.0, 3.0, 3.0, 2.0, 2.0, 3.0, 3.0, 2.0]
