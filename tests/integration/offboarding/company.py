"""A company with data of every kind, and the data that remains of it."""

from dataclasses import dataclass
from typing import Any

from moto.apigateway.models import apigateway_backends
from moto.s3.models import s3_backends

from operations import provisioning
from operations.api_clients import create_client, revoke_client
from operations.control_table import scan_items
from operations.deletion import delete_tenant
from operations.domains import add_domain
from shared.identity.tenancy.directory import host_key, owner_of, tenant_key
from shared.kernel import aws
from shared.kernel.config import config
from tests.gateway import Erp
from tests.stack import ACCOUNT, REGION, Stack, prepare_once
from tests.tenant_cache import apply_now

HOST = "wms.acme.test"
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/0f6c"
FILE_KEYS = (
    "acme/drop/products/a.csv",
    "acme/rejected/../../etc/passwd",
    "acme/drop/x/\u00e9 b.csv",
)


def deploy_api() -> str:
    """Create an API with the stage of the domain mappings; return its id."""
    gateway = aws.client("apigateway")
    api: str = gateway.create_rest_api(name="stowage")["id"]
    root = gateway.get_resources(restApiId=api)["items"][0]["id"]
    method = {"restApiId": api, "resourceId": root, "httpMethod": "GET"}
    gateway.put_method(**method, authorizationType="NONE")
    gateway.put_integration(**method, type="MOCK")
    gateway.create_deployment(restApiId=api, stageName="api")
    return api


@dataclass(frozen=True, slots=True)
class Company:
    """The tenant acme with a product, events, two clients (one revoked), files and its own host.

    A second tenant, beta, has the same except the host.
    """

    stack: Stack
    api: str

    def populate(self) -> None:
        """Create all of it."""
        prepare_once(self.stack.erp(), Company, self._fill_tables)
        self.put_files()
        self.add_domain()

    def _fill_tables(self) -> None:
        for slug in ("acme", "beta"):
            self._create_product(self.stack.erp(slug))
            create_client(slug, "ERP", ["products:read"])
            revoke_client(create_client(slug, "Shop", ["products:read"]).client_id)

    def put_files(self) -> None:
        """Put files of acme and of other tenants into both buckets."""
        for bucket in (config().import_bucket, config().import_work_bucket):
            for key in (*FILE_KEYS, "acme2/drop/products/a.csv", "beta/drop/products/a.csv"):
                s3_backends[ACCOUNT]["aws"].put_object(bucket, key, key.encode())

    def add_domain(self) -> None:
        """Register the host of acme, which is not its address."""
        add_domain("acme", HOST, certificate=CERTIFICATE, api=self.api, keep_address=True)

    @staticmethod
    def _create_product(erp: Erp) -> None:
        made = erp.post("/products", {"item_code": "P-1", "name": "Cable", "type": "item"}).ok(201)
        gtins = [{"gtin": "4006381333931"}, {"gtin": "14006381333938", "units": 12}]
        path = f"/products/{made['id']}/packaging"
        assert erp.put(path, {"gtins": gtins}).status == 200

    def cancel(self) -> None:
        """Cancel acme, and clear the cache of tenants."""
        apply_now(provisioning.set_state, "acme", "cancelled")

    def delete(self) -> None:
        """Cancel acme, and delete it."""
        self.cancel()
        delete_tenant("acme")

    def remains(self) -> dict[str, Any]:
        """Return the remaining data of acme by location; empty after a complete deletion."""
        tables = aws.client("dynamodb").list_tables()["TableNames"]
        names = [
            item["pk"]["S"]
            for item in scan_items("")
            if "tenant" in item and owner_of(item) == "acme"
        ]
        found = {
            "table": [name for name in tables if name == config().tenant_table("acme")],
            "control": sorted(names),
            "events": self.stack.events("acme"),
            "files": self.files("acme"),
            "domains": list(apigateway_backends[ACCOUNT][REGION].domain_names),
        }
        return {location: data for location, data in found.items() if data}

    def files(self, slug: str) -> list[str]:
        """Return the keys of a tenant's files in both buckets."""
        return [
            key
            for bucket in (config().import_bucket, config().import_work_bucket)
            for key in s3_backends[ACCOUNT]["aws"].buckets[bucket].keys
            if key.startswith(f"{slug}/")
        ]

    def tombstone(self) -> dict[str, Any] | None:
        """Return acme's item of the control table."""
        items = [
            item for item in scan_items(tenant_key("acme")) if item["pk"]["S"] == "TENANT#acme"
        ]
        return dict(items[0]) if items else None


__all__ = ["CERTIFICATE", "FILE_KEYS", "HOST", "Company", "deploy_api", "host_key"]
