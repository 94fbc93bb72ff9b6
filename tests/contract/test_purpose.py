"""Purposes are words for people, and no two are alike."""

from tacit.contract.purpose import Purpose


def test_purposes_are_distinct_plain_words() -> None:
    words = [str(purpose) for purpose in Purpose]
    assert len(set(words)) == len(words)
    assert all(word == word.strip() and word.isprintable() and word for word in words)
