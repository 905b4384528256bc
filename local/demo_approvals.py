"""Demo of approvals: an ERP is refused, a supervisor grants, and the same request passes once."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from local.demo_access import ApiCaller
from local.demo_places import ORIGIN, RECEIVING_BIN
from local.demo_session import Demo


def run_approvals_demo(demo: Demo, run: str, http: httpx.Client, slug: str) -> None:
    """Receive more than ordered with the approval of a new user, who is deleted in the end.

    Args:
        demo: The demo, as a client with all scopes.
        run: Id of this run, part of every new name.
        http: Client for the requests of the supervisor.
        slug: The tenant.
    """
    path, goods = _started_receipt(demo, run)
    refusal = demo.step(
        "The ERP receives 1000 of 10 ordered bolts: that needs an approval",
        demo.send("POST", path, json=goods), 409,
        lambda body: f"{body['error']['code']}, approval {body['error']['approval_id']}",
    )  # fmt: skip
    approval = f"/approvals/{refusal['error']['approval_id']}"
    with _supervisor(demo, ApiCaller(http, demo.stowage.base_url), run, slug) as caller:
        demo.step(
            "The supervisor reads it",
            caller("GET", approval), 200, lambda body: body["data"]["message"],
        )  # fmt: skip
        demo.step(
            "The supervisor grants it",
            caller("POST", f"{approval}/grant", {"comment": "Goes to the next truck"}), 200,
            lambda body: f"{body['data']['status']} by {body['data']['decided_by']['name']}",
        )  # fmt: skip
    demo.step(
        "The ERP repeats the same request: it passes",
        demo.send("POST", path, json=goods), 200,
        lambda body: f"{len(body['data']['approvals'])} approval on the receipt",
    )  # fmt: skip
    demo.step(
        "Once more needs another approval",
        demo.send("POST", path, json=goods), 409,
        lambda body: f"{body['error']['code']}, approval {body['error']['approval_id']}",
    )  # fmt: skip
    demo.step(
        "The first approval is used",
        demo.send("GET", approval), 200, lambda body: body["data"]["status"],
    )  # fmt: skip


def _started_receipt(demo: Demo, run: str) -> tuple[str, dict[str, object]]:
    """Order 10 bolts; return the path of the lines of their receipt, and a line of 1000."""
    code = f"DEMO-{run}-BOLT"
    demo.call("POST", "/products", {"item_code": code, "name": "Bolt, demo"})
    order = {
        "external_ref": f"PO-A-{run}",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-100",
        "warehouse_code": ORIGIN,
        "lines": [{"item_code": code, "qty": 10}],
    }
    document = demo.call("POST", "/entry-documents", order)
    receipt = demo.call("POST", "/receipts", {"document_id": document["id"]})
    demo.call("POST", f"/receipts/{receipt['id']}/start")
    goods = {"item_code": code, "qty": 1000, "bin_code": RECEIVING_BIN}
    return f"/receipts/{receipt['id']}/lines", goods


class _Supervisor:
    """Sends requests as the supervisor."""

    def __init__(self, api: ApiCaller, token: str) -> None:
        self._api = api
        self._token = token

    def __call__(self, method: str, path: str, body: object = None) -> httpx.Response:
        return self._api.send(self._token, method, path, body)


@contextmanager
def _supervisor(demo: Demo, api: ApiCaller, run: str, slug: str) -> Iterator[_Supervisor]:
    """Create a user who may grant approvals and sign in; delete the user in the end."""
    role = demo.call(
        "POST", "/roles", {"name": f"Supervisor {run}", "permissions": ["approvals.grant"]}
    )
    wanted = {"username": f"sue-{run}", "name": "Sue", "roles": [role["id"]]}
    user = demo.call("POST", "/users", wanted)
    login = {
        "grant_type": "password",
        "username": f"{user['username']}@{slug}",
        "password": user["password"],
    }
    signed_in = demo.step(
        "A supervisor signs in", api.request_token(login), 200, lambda _: user["username"]
    )
    yield _Supervisor(api, signed_in["access_token"])
    demo.call("DELETE", f"/users/{user['id']}")
    demo.call("DELETE", f"/roles/{role['id']}")
