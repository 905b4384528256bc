"""A tenant with data of every kind in one deployment, and a second deployment beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from operations import provisioning
from operations.api_clients import Credentials, create_client, revoke_client
from operations.export import export_tenant
from operations.tenant_import import ImportedTenant, Terms, import_tenant, open_export
from operations.verify import verify_tenant
from shared.identity.tenancy.directory import directory
from shared.identity.users import passwords
from shared.kernel import aws
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from tests import recorded
from tests.gateway import Erp, Gateway, Response
from tests.integration.user_grants.oauth_requests import (
    OAuthResponse,
    client_form,
    post,
    request_token,
)
from tests.integration.users.user_requests import (
    as_user,
    code_of,
    confirm_totp,
    create_user,
    enrol,
)
from tests.integration.write_users import PASSWORD
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, NAME, REGION, STACK_ID, Stack, enter_stack, set_attributes
from tests.template import Template
from tests.webhook_scenario import URL

PASSPHRASE = "a passphrase of some length"
HOST = "api.other.test"
ADDRESS = f"https://{HOST}/api/v1"
KEY = "a key of the source"
SECRET_KEY = "a key with a secret"
METADATA = {"ERP.id": "0017"}
PRODUCT = {"item_code": "MOVED-1", "name": "Cable of the move", "metadata": METADATA}
WORK_FILE = b"rows of an import"


@dataclass(slots=True)
class TwoDeployments:
    """The stack `stowage`, in which the tenant acme is, and the stack `other`."""

    source: Stack
    other: Template
    monkeypatch: pytest.MonkeyPatch
    credentials: Credentials = field(init=False)
    client_erp: Erp = field(init=False)
    webhook: dict[str, Any] = field(init=False)
    user: int = field(init=False)
    totp_secret: str = field(init=False)
    created: Response = field(init=False)
    picking: str = field(init=False)

    @property
    def target(self) -> Stack:
        """The second deployment; `enter_target` switches to it."""
        return Stack(self.other)

    @property
    def gateway(self) -> Gateway:
        """The API of the second deployment."""
        return Gateway(self.other, HOST)

    def enter_source(self) -> None:
        """Continue as the first deployment."""
        enter_stack(self.monkeypatch, self.source.template)

    def enter_target(self) -> None:
        """Continue as the second deployment."""
        enter_stack(self.monkeypatch, self.other, STACK_ID.replace(NAME, "other"))

    def populate(self) -> None:
        """Fill the tenant acme of the first deployment."""
        recorded.put(map(with_cheap_password, recorded.recorded().tables[recorded.STORY]))
        set_attributes(users={"N": "1"})  # the story has a user
        while verify_tenant("acme", repair=True).found:
            pass  # the story has the form of the previous release
        self.credentials = create_client("acme", "ERP of the move")
        revoke_client(create_client("acme", "Old shop", ["products:read"]).client_id)
        self.client_erp = Erp(self.source.gateway, self.token())
        self.created = self.client_erp.post("/products", PRODUCT, key=KEY)
        assert self.created.status == 201, self.created.text
        assert self.client_erp.post("/products", {**PRODUCT, "item_code": "MOVED-0"}).status == 201
        self._pick_an_order()
        body = {"url": URL, "events": ["product.created"]}
        self.webhook = self.client_erp.post("/webhooks", body, key=SECRET_KEY).ok(201)
        self.user = create_user(self.source.erp())
        person = as_user(self.source, self.user)
        self.totp_secret = enrol(person).data["secret"]
        assert confirm_totp(person, self.user, code_of(self.totp_secret)).status == 200
        for event in self.source.events()[:-1]:  # the stream has relayed all but the last one
            relay_later = {**event, "expires_at": {"N": str(now_ms() // 1000 + 31 * 86_400)}}
            aws.client("dynamodb").put_item(TableName=config().outbox_table, Item=relay_later)

    def _pick_an_order(self) -> None:
        """Pick an order with metadata, an address, a carrier and line numbers of the ERP."""
        erp, item = self.client_erp, {"item_code": PRODUCT["item_code"], "qty": 2}
        goods = {**item, "bin_code": "A-01"}
        found = {"increase": 9, "reason": "Found", "warehouse": "DEMO-1"}
        erp.post("/stock-adjustments", {**goods, **found} | {"qty": None}).ok(201)
        order = {
            "external_ref": "MOVED-SO", "type": "sale_order", "doc_date": "2026-03-01",
            "partner_code": "C-1", "warehouse_code": "DEMO-1", "metadata": METADATA,
            "ship_to_address": {"city": "Bath"}, "carrier_code": "DHL", "service_code": "EXPRESS",
            "lines": [{**item, "external_ref": "10", "metadata": METADATA}],
        }  # fmt: skip
        document = erp.post("/exit-documents", order, key="order of the move").id
        self.picking = f"/pickings/{erp.post('/pickings', {'document_id': document}).id}"
        erp.post(f"{self.picking}/start").ok()
        erp.post(f"{self.picking}/picks", goods).ok()
        erp.post(f"{self.picking}/finalize").ok()

    def put_files(self) -> None:
        """Put files of the tenant into both buckets of the first deployment."""
        for bucket in (config().import_bucket, config().import_work_bucket):
            for name in ("sources/0a1b", "drop/products/a.csv"):
                aws.client("s3").put_object(Bucket=bucket, Key=f"acme/{name}", Body=WORK_FILE)

    def export(self, to: Path, passphrase: str | None = PASSPHRASE) -> Path:
        """Suspend and export the tenant; return the directory."""
        self.enter_source()
        provisioning.set_state("acme", "suspended", for_move=True)
        export_tenant("acme", to, passphrase=passphrase)
        return to

    def import_(self, folder: Path) -> ImportedTenant:
        """Import the tenant into the second deployment."""
        self.enter_target()
        provisioning.set_shared_address(ADDRESS)
        done = import_export(folder)
        directory.clear()
        return done

    def token(self, host: str = "api.stowage.test") -> str:
        """Return a token of the client of the move."""
        return request_token(client_form(self.credentials), host=host).access_token

    def sign_in(self, host: str) -> OAuthResponse:
        """Sign in the user with the password and a code of the app."""
        form = {
            "grant_type": "password",
            "username": "maria.lopez@acme",
            "password": PASSWORD,
            "totp": code_of(self.totp_secret, 1),
        }
        return post("token", urlencode(form), host=host)


def with_cheap_password(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a recorded item; the hash of a login has the parameters of the tests."""
    if "password" not in item:
        return item
    *_, salt, digest = item["password"]["S"].split("$")
    return {**item, "password": {"S": f"{passwords._PHC_PREFIX}{salt}${digest}"}}


def import_export(
    folder: Path, terms: Terms | None = None, *, host: str | None = None, unchecked: bool = False
) -> ImportedTenant:
    """Import an export, by default with its own terms and the shared address."""
    export = open_export(folder, PASSPHRASE)
    base_url = None if host else ADDRESS
    terms = terms or export.terms
    return import_tenant(export, terms, base_url=base_url, host=host, unchecked=unchecked)


_SETS = {"SS", "NS", "BS"}


def table_items(stack: str) -> dict[str, dict[str, Any]]:
    """Return the items of acme's table in a stack by their keys, without limits of requests."""
    found = stored_items(ACCOUNT, REGION, f"{stack}-tenant-acme")
    items = {f"{item['PK']['S']} {item['SK']['S']}": _with_ordered_sets(item) for item in found}
    return {key: item for key, item in items.items() if not key.startswith(("rate#", "feed "))}


def _with_ordered_sets(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item whose sets, which have no order, are sorted."""
    return {
        name: {kind: sorted(value) if kind in _SETS else value for kind, value in content.items()}
        for name, content in item.items()
    }


def control_items(template: Template) -> dict[str, dict[str, Any]]:
    """Return the items of a stack's control table by their keys."""
    table = template.environment()["CONTROL_TABLE"]
    return {item["pk"]["S"]: item for item in stored_items(ACCOUNT, REGION, table)}


def edit_manifest(folder: Path, **changes: object) -> None:
    """Change the manifest of an export."""
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
