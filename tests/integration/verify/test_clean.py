"""A table that production code has written has no drift."""

from operations.verify import verify_tenant
from tests.integration.verify.planting import Table


def test_company_with_every_kind_of_data_has_no_drift(table: Table) -> None:
    before = table.contents()
    found = verify_tenant("acme", repair=True)
    assert found.listed == []
    assert found.unsettled == []
    assert {"items", "stock", "positions", "work", "counters"} == found.checked.keys()
    assert table.contents() == before
