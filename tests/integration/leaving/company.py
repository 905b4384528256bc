"""A company that has a bit of everything, and what is left of it."""

from dataclasses import dataclass
from typing import Any

from moto.apigateway.models import apigateway_backends
from moto.s3.models import s3_backends

from shared import aws
from shared.auth.operating import create_client, revoke_client
from shared.config import config
from shared.tenancy import provisioning
from shared.tenancy.directory import directory, holder_of, host_key, scan, tenant_key
from shared.tenancy.domains import add_domain
from tests.gateway import Erp
from tests.stack import ACCOUNT, REGION, Stack, once

HOST = "wms.acme.test"
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/0f6c"
FILES = ("acme/drop/products/a.csv", "acme/rejected/../../etc/passwd", "acme/drop/x/\u00e9 b.csv")


def deploy_api() -> str:
    """Create an API with the stage that domains lead to; its id."""
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
    """The tenant acme, with stock, events, clients, files, a host of its own, and a neighbour.

    It has two clients, one of them revoked.
    """

    stack: Stack
    api: str

    def settle(self) -> None:
        """Have all of it."""
        once(self.stack.erp(), Company, self._fill_tables)
        self.leave_files()
        self.open_domain()

    def _fill_tables(self) -> None:
        for slug in ("acme", "beta"):
            self._work(self.stack.erp(slug))
            create_client(slug, "ERP", ["products:read"])
            revoke_client(create_client(slug, "Shop", ["products:read"]).client_id)

    def leave_files(self) -> None:
        """Put files into both buckets, of the neighbour, too."""
        for bucket in (config().import_bucket, config().import_work_bucket):
            for key in (*FILES, "acme2/drop/products/a.csv", "beta/drop/products/a.csv"):
                aws.client("s3").put_object(Bucket=bucket, Key=key, Body=key.encode())

    def open_domain(self) -> None:
        """Have a host of its own, which is not its address."""
        add_domain("acme", HOST, certificate=CERTIFICATE, api=self.api, keep_address=True)

    @staticmethod
    def _work(erp: Erp) -> None:
        made = erp.post("/products", {"item_code": "P-1", "name": "Cable", "type": "item"})
        assert made.status == 201, made.text

    def cancel(self) -> None:
        """Cancel acme; doors know at once."""
        provisioning.set_state("acme", "cancelled")
        directory.forget()

    # What is left

    def left(self) -> dict[str, Any]:
        """What there still is of acme, by where it is; nothing when it was deleted whole."""
        tables = aws.client("dynamodb").list_tables()["TableNames"]
        names = [
            item["pk"]["S"] for item in scan("") if "tenant" in item and holder_of(item) == "acme"
        ]
        found = {
            "table": [name for name in tables if name == config().tenant_table("acme")],
            "control": sorted(names),
            "events": self.stack.events("acme"),
            "files": self.files("acme"),
            "domains": list(apigateway_backends[ACCOUNT][REGION].domain_names),
        }
        return {where: what for where, what in found.items() if what}

    def files(self, slug: str) -> list[str]:
        """Keys of a tenant's files in both buckets."""
        return [
            key
            for bucket in (config().import_bucket, config().import_work_bucket)
            for key in s3_backends[ACCOUNT]["aws"].buckets[bucket].keys
            if key.startswith(f"{slug}/")
        ]

    def gravestone(self) -> dict[str, Any] | None:
        """What the control table has under acme's name."""
        items = [item for item in scan(tenant_key("acme")) if item["pk"]["S"] == "TENANT#acme"]
        return dict(items[0]) if items else None


__all__ = ["CERTIFICATE", "FILES", "HOST", "Company", "deploy_api", "host_key"]
