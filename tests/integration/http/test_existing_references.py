"""What a client learns from repeating the reference of somebody else's document or order."""

from collections.abc import Mapping
from typing import Any

import pytest

from shared.identity.auth.scopes import SCOPES
from tests.gateway import Erp, Response
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.openapi import complaints
from tests.stack import Stack

_READ_SCOPES = {
    f"POST {path}": operations()[f"GET {path}/{{id}}"].scope
    for path in ("/entry-documents", "/exit-documents", "/transfer-orders")
}


@pytest.mark.parametrize("route", _READ_SCOPES)
def test_client_without_the_scope_to_read_learns_the_id_only(route: str, stack: Stack) -> None:
    example, path = EXAMPLES[route], route.partition(" ")[2]
    owner = stack.erp()
    values = example.prepared(owner)
    body = example.filled(values)
    assert isinstance(body, Mapping)
    body = {**body, "external_ref": "PO-7"}
    made = owner.post(path, body, key="k0").ok(201)
    number = made["id"]
    # The reference is looked up before the data is checked.
    other = {**body, "lines": [{"item_code": "UNKNOWN", "qty": 99}]}

    def sent(erp: Erp, different: Mapping[str, Any], key: str) -> Response:
        answer = erp.post(path, different, key=key)
        assert answer.status == 200, answer.text
        return answer

    writer = stack.erp(client="shop", scopes=SCOPES.keys() - {_READ_SCOPES[route]})
    assert writer.get(f"{path}/{number}").code == "missing_scope"
    for key in ("k1", "k1"):
        refused = sent(writer, other, key)
        assert refused.json()["data"] == {"id": number}
        assert refused.json()["warning"].endswith(
            " PO-7 exists already and was not changed. The request differs from it."
        )
        assert not refused.headers.keys() & {"ETag", "Location"}
        assert not complaints("POST", path, refused)
    assert sent(writer, body, "k2").json() == {"data": {"id": number}}

    for reader in (owner, Erp(stack.gateway, stack.user_token(permissions=_permission(route)))):
        shown = sent(reader, other, "k3")
        assert shown.data == made
        assert "The request differs in: lines" in shown.json()["warning"]
        assert shown.headers["ETag"]


def _permission(route: str) -> str:
    return operations()[route].permission or ""
