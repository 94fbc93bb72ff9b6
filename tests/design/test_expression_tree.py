"""Trees of expressions: their cells, places and depth."""

from tacit.design.expression_tree import Apply, Cell, Interval, Number, Power, cells_in, depth_of, with_places

A, B = Cell("a", 0, 1.0), Cell("b", 0, 1.0)
TREE = Apply("+", (Power(A, 2), Apply("*", (B, Number(2.0)))))


def test_cells_are_found_and_placed() -> None:
    assert [cell.column for cell in cells_in(TREE)] == ["a", "b"]
    placed = with_places(TREE, ("b", "a"))
    assert {cell.column: cell.place for cell in cells_in(placed)} == {"b": 0, "a": 1}
    assert with_places(Number(1.0), ()) == Number(1.0)


def test_depth_counts_functions_inside_one_another() -> None:
    assert depth_of(A) == 0
    assert depth_of(TREE) == 2


def test_an_interval_has_a_middle() -> None:
    assert (Interval(1, 3).center, Interval(1, 3).half_width, Interval(-1, 1).holds_zero) == (2, 1, True)
