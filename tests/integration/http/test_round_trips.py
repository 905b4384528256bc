"""Round trips to AWS of a request in a warm function."""

import pytest

from shared.http.rate_limit import limiter
from tests.faults import AwsFaults, Recording
from tests.gateway import Erp
from tests.integration.entity_factories import address_of
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.stack import Stack

_LISTS = sorted(name for name, found in operations().items() if found.is_list)
_DETAILS = sorted(
    name
    for name, found in operations().items()
    if not found.writes and not found.is_list and "{id}" in found.path
)
_OTHER_ROUND_TRIPS = {
    "/warehouses/{id}": 2,
    "/waves/{id}": 2,
    "/packing-orders/{id}": 2,
    "/handling-units/{id}": 2,
    "/packing-orders/{id}/packing-slip.pdf": 2,
    "/imports/{id}/error-report": 3,
    "/pickings/{id}/goods": 2,
    "/transfers/{id}/goods": 2,
    "/transfer-orders/{id}/goods": 2,
    "/counts/{id}/goods": 2,
    "/receipts/{id}/goods": 3,
    "/packing-orders/{id}/goods": 3,
}
"""A warehouse includes its list of positions, a wave its pickings, a packing order its handling
units, and a handling unit the actions that its packing order admits. An error report takes its
import, its size and the file. The goods of a work are read after it, those of a receipt after its
document."""


def _recorded_request(erp: Erp, path: str, aws_faults: AwsFaults) -> Recording:
    assert erp.get(path).status == 200
    with aws_faults.recorded() as seen:
        assert erp.get(path).status == 200
    return seen


@pytest.mark.parametrize("name", _DETAILS)
def test_read_by_id_takes_one_round_trip(name: str, stack: Stack, aws_faults: AwsFaults) -> None:
    path, erp = name.partition(" ")[2], stack.erp()
    resource = address_of(path, erp, stack.store())

    assert _recorded_request(erp, resource, aws_faults).round_trips <= _OTHER_ROUND_TRIPS.get(
        path, 1
    )


@pytest.mark.parametrize("name", _LISTS)
def test_list_takes_two_round_trips(name: str, stack: Stack, aws_faults: AwsFaults) -> None:
    path, erp = name.partition(" ")[2], stack.erp()

    assert _recorded_request(erp, address_of(path, erp, stack.store()), aws_faults).round_trips <= 2


@pytest.mark.parametrize("route", ["POST /entry-documents", "POST /exit-documents"])
def test_new_document_takes_five_round_trips(route: str, erp: Erp, aws_faults: AwsFaults) -> None:
    example = EXAMPLES[route]
    example.prepared(erp)
    path = route.partition(" ")[2]
    assert isinstance(example.body, dict)

    for turn in range(2):
        body = {**example.body, "external_ref": f"ref-{turn}"}
        with aws_faults.recorded() as seen:
            assert erp.post(path, body, key=f"key-{turn}").status == 201

    assert seen.round_trips <= 5  # the last but one reads the levels of its products


def test_only_the_first_request_of_a_minute_takes_a_lease(erp: Erp, aws_faults: AwsFaults) -> None:
    assert erp.delete("/products").status == 405
    with aws_faults.recorded() as warm:
        assert erp.delete("/products").status == 405
    limiter.forget()

    with aws_faults.recorded() as first:
        assert erp.delete("/products").status == 405

    assert warm.calls == []
    assert first.operations == ["UpdateItem"] * 2, "of the client and of the tenant, concurrently"
