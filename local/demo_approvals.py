"""Demo of approvals: an ERP is refused, a supervisor grants, and the same request passes once."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from local.demo_access import ApiCaller
from local.demo_places import ORIGIN, RECEIVING_BIN
from local.demo_session import Demo
from operations.scenarios import create_order, order_of, start_receipt


def run_approvals_demo(demo: Demo, run: str, http: httpx.Client, slug: str) -> None:
    """Receive more than ordered with the approval of a new user, who is deleted in the end.

    Args:
        demo: The demo, as a client with all scopes.
        run: Id of this run, part of every new name.
        http: Client for the requests of the supervisor.
        slug: The tenant.
    """
    path, goods = _started_receipt(demo, run)
    refused = "{error[code]}, approval {error[approval_id]}"
    refusal = demo.post(
        "The ERP receives 1000 of 10 ordered bolts: that needs an approval",
        path, goods, refused, expected=409,
    )  # fmt: skip
    approval = f"/approvals/{refusal['error']['approval_id']}"
    with _supervisor(demo, ApiCaller(http, demo.stowage.base_url), run, slug) as caller:
        demo.step("The supervisor reads it", caller("GET", approval), 200, "{data[message]}")
        demo.step(
            "The supervisor grants it",
            caller("POST", f"{approval}/grant", {"comment": "Goes to the next truck"}), 200,
            "{data[status]} by {data[decided_by][name]}",
        )  # fmt: skip
    demo.post(
        "The ERP repeats the same request: it passes", path, goods,
        lambda body: f"{len(body['data']['approvals'])} approval on the receipt",
    )  # fmt: skip
    demo.post("Once more needs another approval", path, goods, refused, expected=409)
    demo.step("The first approval is used", demo.send("GET", approval), 200, "{data[status]}")


def _started_receipt(demo: Demo, run: str) -> tuple[str, dict[str, object]]:
    """Order 10 bolts; return the path of the lines of their receipt, and a line of 1000."""
    code = f"DEMO-{run}-BOLT"
    demo.call("/products", {"item_code": code, "name": "Bolt, demo"})
    order = order_of("purchase_order", f"PO-A-{run}", ORIGIN, [{"item_code": code, "qty": 10}])
    receipt = start_receipt(demo.call, create_order(demo.call, order)["id"])
    return f"{receipt}/lines", {"item_code": code, "qty": 1000, "bin_code": RECEIVING_BIN}


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
    wanted_role = {"name": f"Supervisor {run}", "permissions": ["approvals.grant"]}
    role = demo.call("/roles", wanted_role)
    wanted = {"username": f"sue-{run}", "name": "Sue", "roles": [role["id"]]}
    user = demo.call("/users", wanted)
    login = {
        "grant_type": "password",
        "username": f"{user['username']}@{slug}",
        "password": user["password"],
    }
    signed_in = demo.step(
        "A supervisor signs in", api.request_token(login), 200, lambda _: user["username"]
    )
    yield _Supervisor(api, signed_in["access_token"])
    demo.call(f"/users/{user['id']}", method="DELETE")
    demo.call(f"/roles/{role['id']}", method="DELETE")
