"""Persons' records are exchanged by a keyed hash, and stored as one machine stores them."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.formula.formula import design_from_formula
from tacit.rows.admission.admit_rows import admit
from tacit.rows.admission.contribution_bounding import Form
from tacit.rows.cluster.exchange import gathered_persons, keyed_hashes, sorted_out
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.gathered_rows import gather
from tacit.rows.storage.store import Store
from tests.rows.cluster.clusters import FORMULA, schema, table, write

FORMS = st.one_of(
    st.integers(-(10**25), 10**25), st.decimals(allow_nan=False, allow_infinity=False), st.text(min_size=1)
)


@given(FORMS, FORMS)
def test_labels_have_one_hash_exactly_where_they_are_equal(one: Form, two: Form) -> None:
    first, second = keyed_hashes([one, two], b"key")
    assert (first.tolist() == second.tolist()) == (one == two)


def test_spellings_of_a_number_and_surrogates_are_hashed() -> None:
    same: list[Form] = [10, Decimal(10), Decimal("1e1"), Decimal("10.00")]
    assert len({tuple(row) for row in keyed_hashes(same, b"key").tolist()}) == 1
    assert len({tuple(row) for row in keyed_hashes([0, Decimal("-0"), Decimal("0e5")], b"key").tolist()}) == 1
    assert keyed_hashes(["\udc80"], b"key").shape == (1, 2)
    assert keyed_hashes([], b"key").shape == (0, 2)
    assert keyed_hashes([1], b"key").tolist() != keyed_hashes([1], b"other").tolist()


def persons(store: Store) -> Counter[bytes]:
    """Records of each person as bytes, however persons are numbered."""
    found = gather(store)
    return Counter(found.rows[found.units == unit].tobytes() for unit in range(store.length))


def test_collected_persons_are_those_of_one_machine(tmp_path: Path) -> None:
    declared = schema(unit=True)
    design = design_from_formula(FORMULA, declared, family="binomial", row_norm=None)
    folder = write(tmp_path / "parts", table(900), [200, 650], "parquet")
    whole = admit(open_source(folder), design)
    files = sorted(folder.iterdir())
    pieces = [sorted_out(open_source(file), design, "error", "float32", b"key", 5, range(5)) for file in files]
    stores = [gathered_persons([piece.of(bucket) for piece in pieces], design, "float32") for bucket in range(5)]
    assert sum(store.length for store in stores) == whole.length
    assert sum(map(persons, stores), Counter[bytes]()) == persons(whole)
    assert all(0 < store.length < whole.length for store in stores)


def test_only_wanted_buckets_are_kept_and_an_empty_bucket_is_a_store(tmp_path: Path) -> None:
    design = design_from_formula(FORMULA, schema(unit=True), family="binomial", row_norm=None)
    source = open_source(write(tmp_path / "parts", table(300), [], "csv"))
    piece = sorted_out(source, design, "error", "float32", b"key", 5, [3])
    assert len(piece.of(3).valid) > 0
    assert len(piece.of(2).valid) == 0
    empty = gathered_persons([piece.of(2)], design, "float32")
    assert empty.length == 0
    assert np.asarray(empty.padding).item() == 0
