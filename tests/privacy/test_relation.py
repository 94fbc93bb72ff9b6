import pytest

from tacit.errors import SchemaError
from tacit.privacy.relation import Relation


def test_three_words_and_no_more() -> None:
    assert [relation.value for relation in Relation] == ["replace-one", "zero-out", "add-remove"]


@pytest.mark.parametrize("relation", list(Relation))
def test_parse_accepts_words_and_relations(relation: Relation) -> None:
    assert Relation.parse(relation) is relation
    assert Relation.parse(relation.value) is relation


def test_n_is_private_under_add_remove_only() -> None:
    private = [relation for relation in Relation if not relation.n_is_public]
    assert private == [Relation.ADD_REMOVE]


@pytest.mark.parametrize("wrong", ["replace", "zero_out", "REPLACE_ONE", "", None, 1, ["zero-out"]])
def test_anything_else_is_refused_with_the_three_words(wrong: object) -> None:
    with pytest.raises(SchemaError) as caught:
        Relation.parse(wrong)
    for word in ("replace-one", "zero-out", "add-remove"):
        assert word in str(caught.value)
