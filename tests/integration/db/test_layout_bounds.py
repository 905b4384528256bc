"""What the layout of the items bounds is refused with the number of the bound."""

import random

import pytest

from shared.kernel.db import items, records
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.fields import MAX_ID
from tests.integration.db.crate_list import CRATES, Crate, CrateTable

_PART_SIZE = 30_000


def _crate(size: int) -> Crate:
    """Return a crate whose stored form has about `size` bytes; random text compresses by half."""
    name = random.Random(1).randbytes(size).hex()  # noqa: S311 - no secret
    return Crate(id=1, name=name, color="red", status="open")


def test_entity_that_fills_its_items_is_stored_and_a_larger_one_refused(
    crates: CrateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "PART_SIZE", _PART_SIZE)
    monkeypatch.setattr(records, "PART_SIZE", _PART_SIZE)
    most = MAX_PARTS * _PART_SIZE
    tx = Transaction(crates.store)
    record = CRATES.insert(tx, 1, _crate(int(most * 0.8)))
    tx.commit()
    assert record.parts == MAX_PARTS
    assert CRATES.get(crates.store, 1).entity == record.entity

    with pytest.raises(Conflict, match=rf"^Crate 1 is too large: \d+ bytes .* limit is {most}\.$"):
        CRATES.replace(Transaction(crates.store), record, _crate(most))


def test_last_id_is_given_and_no_id_beyond_it(crates: CrateTable) -> None:
    allocate_ids(crates.store, "crate", MAX_ID - 1)

    assert allocate_ids(crates.store, "crate", 1) == MAX_ID
    with pytest.raises(Conflict, match=f"end at {MAX_ID}"):
        allocate_ids(crates.store, "crate", 1)
