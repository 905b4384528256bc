"""The deployed stack over HTTP: who may be asked for in an end-to-end test.

`make e2e` runs them, against the stack that runs or one that it starts. They can be run again
and again on one stack: what they create carries a name of its own.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import fields as fields_of
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from local import deployment
from local.settings import REGION, aws_environment
from operations import provisioning
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.rules import TenantSettings
from shared.identity.tenancy.tenant import MODULES
from shared.kernel.errors import Conflict
from tests.e2e.answers import fields
from tests.e2e.import_calls import Bucket
from tests.e2e.patience import Patient
from tests.stack import forget_everything

STACK_FILE = Path(__file__).parents[2] / ".local" / "stack.json"
HERE = Path(__file__).parent

IMPORTER = "importer"
"""A tenant for imports alone: their catalogues would shift the ids that other tests count on."""

# Twenty cold starts at once take a 2-core machine seconds.
TIMEOUT = httpx.Timeout(60.0)


@dataclass(frozen=True)
class Tenant:
    """A demo tenant as the stack file describes it."""

    slug: str
    base_url: str
    client_id: str
    client_secret: str
    username: str
    password: str
    mobile_client_id: str

    def sign_in(self, **form: str) -> httpx.Response:
        """Ask the token route as the tenant's administrator; `form` adds or replaces fields."""
        login = {"grant_type": "password", "username": self.username, "password": self.password}
        return httpx.post(f"{self.base_url}/oauth/token", data=login | form, timeout=TIMEOUT)

    def ask_token(self, **form: str) -> httpx.Response:
        """Ask the token route with the tenant's own client; `form` adds fields."""
        return httpx.post(
            f"{self.base_url}/oauth/token",
            data={"grant_type": "client_credentials", **form},
            auth=(self.client_id, self.client_secret),
            timeout=TIMEOUT,
        )

    @cached_property
    def token(self) -> str:
        """A token with every scope of the client; asked for once."""
        answer = self.ask_token()
        assert answer.status_code == httpx.codes.OK, answer.text
        token: str = answer.json()["access_token"]
        return token

    def client(self, token: str | None = None) -> httpx.Client:
        """HTTP client of the tenant's ERP, with its own token unless another is given.

        It waits where the requests of the minute are used up.
        """
        return httpx.Client(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {token or self.token}"},
            timeout=TIMEOUT,
            transport=Patient(),
        )


@dataclass(frozen=True, slots=True)
class Deployed:
    """The stack file."""

    base_url: str
    endpoint_url: str
    import_bucket: str
    tenants: dict[str, Tenant]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def stack() -> Deployed:
    """The running stack; fails when none runs."""
    if not STACK_FILE.exists():
        pytest.fail("No stack runs on this machine: make e2e starts one.")
    content: dict[str, Any] = json.loads(STACK_FILE.read_text())
    return Deployed(
        base_url=content["base_url"],
        endpoint_url=content["endpoint_url"],
        import_bucket=content["import_bucket"],
        tenants={
            slug: Tenant(slug, **{field.name: entry[field.name] for field in fields_of(Tenant)[1:]})
            for slug, entry in content["tenants"].items()
        },
    )


@pytest.fixture(scope="session")
def acme(stack: Deployed) -> Iterator[httpx.Client]:
    """acme's ERP: Enterprise, every module, sample data."""
    with stack.tenants["acme"].client() as client:
        yield client


@pytest.fixture(scope="session")
def beta(stack: Deployed) -> Iterator[httpx.Client]:
    """beta's ERP: Enterprise, every module, empty."""
    with stack.tenants["beta"].client() as client:
        yield client


@pytest.fixture(scope="session")
def mini(stack: Deployed) -> Iterator[httpx.Client]:
    """mini's ERP: Essentials, no modules."""
    with stack.tenants["mini"].client() as client:
        yield client


@pytest.fixture
def run() -> str:
    """Eight characters that no other test and no other run has."""
    return uuid.uuid4().hex[:8].upper()


@contextmanager
def at_the_controls(stack: Deployed) -> Iterator[None]:
    """Lead `shared` to the deployed stack: its tenants, its clients, its signing key."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, value in aws_environment(stack.endpoint_url).items():
            monkeypatch.setenv(name, value)
        forget_everything()
        for name, value in deployment.operator_environment().items():
            monkeypatch.setenv(name, value)
        yield
    forget_everything()


@pytest.fixture
def operator(stack: Deployed, no_real_credentials: None) -> Iterator[None]:
    """What the operator of the stack may do."""
    assert no_real_credentials is None
    with at_the_controls(stack):
        yield


@pytest.fixture(scope="session")
def importer(stack: Deployed) -> Iterator[httpx.Client]:
    """ERP of the tenant for imports, which has the warehouses of the sample files."""
    with at_the_controls(stack):
        wanted = TenantSettings(
            IMPORTER, plan="enterprise", base_url=stack.base_url, modules=MODULES
        )
        try:
            tenant = provisioning.create_tenant(wanted)
        except Conflict:  # an earlier run made it, at another address
            tenant = provisioning.set_address(IMPORTER, base_url=stack.base_url)
        token = tokens.issue(tenant, IMPORTER, frozenset(SCOPES))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=stack.base_url, headers=headers, timeout=TIMEOUT, transport=Patient()
    ) as client:
        for code in ("CEN", "DUB"):
            made = client.post("/warehouses", json={"whs_code": code, "name": code})
            # An earlier run, or another process of this one, may have made it.
            assert made.status_code == httpx.codes.CREATED or fields(made) == ["whs_code"]
        yield client


@pytest.fixture(scope="session")
def bucket(stack: Deployed) -> Bucket:
    """The import bucket of the stack."""
    s3 = boto3.client(
        "s3",
        endpoint_url=stack.endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    return Bucket(s3, stack.import_bucket)
