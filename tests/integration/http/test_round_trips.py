"""How often a request waits for AWS, in a warm function."""

import importlib

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
_OF_DETAIL = {"/warehouses/{id}": 2, "/waves/{id}": 2, "/imports/{id}/error-report": 3}
"""A warehouse shows its positions, which are a list; a wave names the pickings that it shows; an
import names its report, whose size tells how it is sent."""


def _warm(erp: Erp, path: str, aws_faults: AwsFaults) -> Recording:
    assert erp.get(path).status == 200
    with aws_faults.recorded() as seen:
        assert erp.get(path).status == 200
    return seen


@pytest.mark.parametrize("name", _DETAILS)
def test_a_detail_waits_once(name: str, stack: Stack, aws_faults: AwsFaults) -> None:
    path, erp = name.partition(" ")[2], stack.erp()
    resource = address_of(path, erp, stack.store())

    assert _warm(erp, resource, aws_faults).round_trips <= _OF_DETAIL.get(path, 1)


@pytest.mark.parametrize("name", _LISTS)
def test_a_list_waits_twice(name: str, stack: Stack, aws_faults: AwsFaults) -> None:
    path, erp = name.partition(" ")[2], stack.erp()

    assert _warm(erp, address_of(path, erp, stack.store()), aws_faults).round_trips <= 2


@pytest.mark.parametrize("route", ["POST /entry-documents", "POST /exit-documents"])
def test_a_new_document_waits_four_times(route: str, erp: Erp, aws_faults: AwsFaults) -> None:
    example = EXAMPLES[route]
    example.prepared(erp)
    path = route.partition(" ")[2]
    assert isinstance(example.body, dict)

    for turn in range(2):
        body = {**example.body, "external_ref": f"ref-{turn}"}
        with aws_faults.recorded() as seen:
            assert erp.post(path, body, key=f"key-{turn}").status == 201

    assert seen.round_trips <= 4


def test_a_warm_authorizer_calls_nobody(stack: Stack, erp: Erp, aws_faults: AwsFaults) -> None:
    authorizer = importlib.import_module("functions.authorizer.app").lambda_handler
    event = {
        "headers": {"authorization": f"Bearer {stack.token()}", "host": "api.stowage.test"},
        "methodArn": "arn:aws:execute-api:eu-west-1:123456789012:api/api/GET/v1/products",
    }
    assert erp.get("/products").status == 200

    with aws_faults.recorded() as seen:
        assert authorizer(event, None)["context"]["tenant"] == "acme"

    assert seen.calls == []


def test_the_first_request_of_a_minute_leases_and_the_next_ones_do_not(
    erp: Erp, aws_faults: AwsFaults
) -> None:
    assert erp.delete("/products").status == 405
    with aws_faults.recorded() as warm:
        assert erp.delete("/products").status == 405
    limiter.forget()

    with aws_faults.recorded() as first:
        assert erp.delete("/products").status == 405

    assert warm.calls == []
    assert first.operations == ["UpdateItem"]
