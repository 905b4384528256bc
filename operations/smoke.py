"""The smoke test of a deployment: what a company does in a day, in a tenant of its own.

The tenant has a name that no other run uses (`smoke-` and the time), because the name of a deleted
tenant cannot be used again. A later run removes the tenants of runs that were cut off.
"""

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError
from stowage_client import Stowage, StowageError

from operations import scenarios
from operations.api_clients import create_client
from operations.deletion import delete_tenant
from operations.progress import ReportProgress, no_progress
from operations.provisioning import create_tenant, set_state
from operations.tenant_overview import TenantOverview, get_overview, list_overviews
from operations.tenant_rules import NewTenant
from shared.kernel.aws import client
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.errors import NotFound, ServiceError

_SLUG = re.compile(r"smoke-(\d{14})-[0-9a-f]{4}")
_TIME = "%Y%m%d%H%M%S"
_LONGEST_CREATION = timedelta(minutes=10)
_LONGEST_RUN = timedelta(minutes=30)
"""A tenant of this age belongs to a run that was cut off, and not to one of somebody else now."""

_TIMEOUT_SECONDS = 90.0
"""Seconds to wait for what happens after the response; an idle deployment needs a few."""

_POLL_SECONDS = 0.5
_WAREHOUSE, _BIN, _ITEM = "SMOKE", "A-01", "SMOKE-1"
_RECEIVED, _ORDERED = 10, 4


class SmokeFailed(Exception):
    """A step failed; the message says which, why, and where to look."""


class _Unexpected(Exception):
    """A response has another content than expected."""


_FAILURES = (
    *(StowageError, httpx.HTTPError, _Unexpected, LookupError, ValueError),
    *(ServiceError, ClientError, BotoCoreError),
)
"""What ends a step: errors of the API, responses without the expected content, errors of AWS."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that succeeded."""

    step: str
    seconds: float
    outcome: str


def new_slug() -> str:
    """Return a name for the tenant of one run."""
    return f"smoke-{datetime.fromtimestamp(now_ms() / 1000, UTC):{_TIME}}-{uuid.uuid4().hex[:4]}"


def settings_of(slug: str, base_url: str) -> NewTenant:
    """Return the settings with which the tenant of a run is created."""
    return NewTenant(slug, "professional", base_url, modules=frozenset({"bulk_import"}))


@dataclass
class SmokeTest:
    """One run against the API at `base_url`, which ends in /api/v1."""

    slug: str
    base_url: str
    http: httpx.Client
    progress: ReportProgress = no_progress
    _api: Stowage = field(init=False, repr=False)
    _webhook: str = field(default="", init=False)

    def run(self) -> Iterator[StepResult]:
        """Perform all steps in order, and yield each that succeeds.

        Raises:
            SmokeFailed: A step failed; later ones are not performed.
        """
        stack = config().stack
        for title, perform, look_at in (
            ("create a tenant", self._create_tenant, "the events"),
            ("get a token", self._get_token, "the logs OauthLogs and AuthorizerLogs"),
            (
                "create master data",
                self._create_master_data,
                "the logs WarehousesLogs, CatalogLogs",
            ),
            ("subscribe to events", self._subscribe, "the log WebhooksLogs"),
            ("receive a purchase order", self._receive, "the logs DocumentsLogs and WorkLogs"),
            ("pick and dispatch an order", self._ship, "the logs DocumentsLogs and WorkLogs"),
            ("compare the stock", self._compare_stock, "the log StockLogs"),
            ("import a file", self._import, "the logs ImportsLogs and ImportWorkerLogs"),
            ("import a dropped file", self._drop, "the log ImportWorkerLogs and the ImportQueue"),
            ("deliver an event", self._deliver, "the logs EventRelayLogs and WebhookWorkerLogs"),
        ):
            self.progress(title)
            began = time.monotonic()
            try:
                outcome = perform()
            except _FAILURES as error:
                seconds = time.monotonic() - began
                raise SmokeFailed(
                    f"{title}: failed after {seconds:.1f} s: {_reason(error)}. Look at {look_at} of"
                    f" the stack {stack}."
                ) from error
            yield StepResult(title, time.monotonic() - began, outcome)

    def _create_tenant(self) -> str:
        create_tenant(settings_of(self.slug, self.base_url), progress=self.progress)
        credentials = create_client(self.slug, "Smoke test")
        self._api = Stowage(self.base_url, *credentials, self.http, time.sleep, time.monotonic)
        return self.slug

    def _get_token(self) -> str:
        settings = self._api.get("/settings")
        return f"plan {settings['plan']}"

    def _create_master_data(self) -> str:
        post = self._api.post
        post("/warehouses", {"whs_code": _WAREHOUSE, "name": "Smoke test"})
        post("/warehouse-positions", {"whs_code": _WAREHOUSE, "bin_code": _BIN})
        product = post("/products", {"item_code": _ITEM, "name": "Smoke test"})
        return f"product {product['id']}"

    def _subscribe(self) -> str:
        # An unknown path of the deployment itself receives the events: the data stays here. It
        # responds with 404, which the log of the subscription shows.
        url = self.base_url.replace("http://127.0.0.1:", "http://localhost:") + "/smoke-test"
        body = {"url": url, "events": ["receipt.completed"]}
        self._webhook = f"/webhooks/{self._api.post('/webhooks', body)['id']}"
        return url

    def _receive(self) -> str:
        order = self._order("purchase_order", _RECEIVED)
        goods = {"item_code": _ITEM, "qty": _RECEIVED, "bin_code": _BIN}
        return f"receipt {scenarios.receive(self._api.post, order['id'], [goods])['status']}"

    def _ship(self) -> str:
        order = self._order("sale_order", _ORDERED)
        return f"order {scenarios.ship(self._api.post, order['id'])['status']}"

    def _order(self, order_type: scenarios.OrderType, qty: int) -> scenarios.Body:
        lines = [{"item_code": _ITEM, "qty": qty}]
        order = scenarios.order_of(
            order_type,
            f"SMOKE-{order_type}",
            _WAREHOUSE,
            lines,
            doc_date=f"{datetime.now(UTC):%Y-%m-%d}",
        )
        return scenarios.create_order(self._api.post, order)

    def _compare_stock(self) -> str:
        (level,) = self._api.get("/stock-levels", item_code=_ITEM, warehouse=_WAREHOUSE)
        expected = _RECEIVED - _ORDERED
        if level["on_hand"] != expected:
            raise _Unexpected(f"{level['on_hand']} on hand instead of {expected}")
        return f"{expected} on hand"

    def _import(self) -> str:
        file = {"file": ("smoke.csv", b"Item code,Name\nSMOKE-2,Imported\n")}
        sent = self._api.send("POST", "/imports", data={"kind": "products"}, files=file)
        path = f"/imports/{sent.json()['data']['id']}"
        self._await(lambda: self._api.get(path)["status"] == "validated", "the validation")
        self._api.post(f"{path}/commit")
        self._await(lambda: self._api.get("/products", item_code="SMOKE-2"), "the product")
        return "1 product"

    def _drop(self) -> str:
        s3, bucket = client("s3"), config().import_bucket
        key = f"{self.slug}/drop/products/smoke.csv"
        s3.put_object(Bucket=bucket, Key=key, Body=b"Item code,Name\nSMOKE-3,Dropped\n")

        def result() -> Any:
            try:
                found = s3.get_object(Bucket=bucket, Key=f"{key}.result.json")
            except s3.exceptions.NoSuchKey:
                return None
            return json.loads(found["Body"].read())

        found = self._await(result, "the result beside the file")
        if found["status"] != "validated":
            raise _Unexpected(f"the import is {found['status']}")
        return f"{found['rows']['valid']} valid row"

    def _deliver(self) -> str:
        def attempted() -> Any:
            deliveries = self._api.get(f"{self._webhook}/deliveries")
            return next((each["attempts"] for each in deliveries if each["attempts"]), None)

        status = self._await(attempted, "an attempt in the log of the subscription")[0]["status"]
        if status != httpx.codes.NOT_FOUND:
            raise _Unexpected(f"the attempt has the status {status} instead of 404")
        return "attempted, 404 as expected"

    def _await[R](self, read: Callable[[], R], what: str) -> R:
        """Return what `read` returns, as soon as it is true.

        Raises:
            _Unexpected: It was not true in time.
        """
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        while not (found := read()):
            if time.monotonic() > deadline:
                raise _Unexpected(f"{what} did not appear within {_TIMEOUT_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)
        return found


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.HTTPError):
        return f"the API cannot be reached ({type(error).__name__} {error})".rstrip()
    if isinstance(error, LookupError | ValueError):
        return f"the response has another content than expected ({error})"
    return str(error).rstrip(".")


def leftovers() -> list[str]:
    """Return the tenants of earlier runs that were cut off, oldest first.

    A company with such a name is not one of them: the time in the name is not that of its creation.
    """
    return [each.slug for each in list_overviews() if _is_leftover(each)]


def _is_leftover(found: TenantOverview) -> bool:
    matched = _SLUG.fullmatch(found.slug)
    if not matched or found.created_at is None:
        return False
    try:
        named = datetime.strptime(matched[1], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return False
    age = datetime.fromtimestamp(now_ms() / 1000, UTC) - named
    made = datetime.fromisoformat(found.created_at)
    return age > _LONGEST_RUN and abs(made - named) < _LONGEST_CREATION


def remove(slug: str, *, progress: ReportProgress = no_progress) -> None:
    """Remove the tenant of a run in whatever state it is. Safe to repeat.

    Raises:
        ServiceError: AWS was not ready in time; run it again.
    """
    try:
        found = get_overview(slug)
    except NotFound:
        return  # the run ended before it created the tenant
    if found.state == "creating" and found.tenant:
        create_tenant(settings_of(slug, found.tenant.base_url), progress=progress)
    if found.state not in {"cancelled", "deleting", "deleted"}:
        set_state(slug, "cancelled")
    delete_tenant(slug, progress=progress)
