"""Fixtures of the end-to-end tests, which call the deployed stack over HTTP.

`make e2e` runs them against the running stack, or starts one. They can run repeatedly on one stack,
since everything that they create has a unique name.
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
from local.settings import REGION, AccessKey, aws_environment
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from tests.e2e.import_calls import ImportBucket
from tests.e2e.rate_limit_transport import RateLimitTransport
from tests.e2e.responses import fields
from tests.live_tenants import tenant_at
from tests.stack import clear_all_caches

STACK_FILE = Path(__file__).parents[2] / ".local" / "stack.json"
HERE = Path(__file__).parent

IMPORTER = "importer"
"""A tenant for imports only, since imported products would change ids that other tests expect."""

# Twenty concurrent cold starts take seconds on a 2-core machine.
TIMEOUT = httpx.Timeout(60.0)


def client_of(base_url: str, token: str) -> httpx.Client:
    """Return an HTTP client with a token, which waits when the rate limit is exhausted."""
    return httpx.Client(
        base_url=base_url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=TIMEOUT,
        transport=RateLimitTransport(),
    )


@dataclass(frozen=True)
class Tenant:
    """A demo tenant as described in the stack file."""

    slug: str
    base_url: str
    client_id: str
    client_secret: str
    username: str
    password: str

    def sign_in(self, **form: str) -> httpx.Response:
        """Request a token as the administrator; `form` adds or replaces fields."""
        login = {"grant_type": "password", "username": self.username, "password": self.password}
        return httpx.post(f"{self.base_url}/oauth/token", data=login | form, timeout=TIMEOUT)

    def ask_token(self, **form: str) -> httpx.Response:
        """Request a token with the client of the tenant; `form` adds fields."""
        return httpx.post(
            f"{self.base_url}/oauth/token",
            data={"grant_type": "client_credentials", **form},
            auth=(self.client_id, self.client_secret),
            timeout=TIMEOUT,
        )

    @cached_property
    def token(self) -> str:
        """A cached token with every scope of the client."""
        answer = self.ask_token()
        assert answer.status_code == httpx.codes.OK, answer.text
        token: str = answer.json()["access_token"]
        return token

    def client(self, token: str | None = None) -> httpx.Client:
        """Return an HTTP client of the tenant, by default with `self.token`."""
        return client_of(self.base_url, token or self.token)


@dataclass(frozen=True, slots=True)
class Deployed:
    """The content of the stack file."""

    base_url: str
    endpoint_url: str
    import_bucket: str
    tenants: dict[str, Tenant]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as an end-to-end test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def stack() -> Deployed:
    """The running stack; the test fails when none runs."""
    if not STACK_FILE.exists():
        pytest.fail("No stack is running. Start the tests with make e2e.")
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
    with stack.tenants["acme"].client() as client:
        yield client


@pytest.fixture(scope="session")
def beta(stack: Deployed) -> Iterator[httpx.Client]:
    with stack.tenants["beta"].client() as client:
        yield client


@pytest.fixture
def run() -> str:
    """Eight characters that are unique to the test and the run."""
    return uuid.uuid4().hex[:8].upper()


@contextmanager
def operator_access(stack: Deployed) -> Iterator[None]:
    """Configure `shared` for the deployed stack: its tenants, clients and signing key."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, value in aws_environment(stack.endpoint_url).items():
            monkeypatch.setenv(name, value)
        clear_all_caches()
        for name, value in deployment.operator_environment().items():
            monkeypatch.setenv(name, value)
        yield
    clear_all_caches()


@pytest.fixture
def operator(stack: Deployed, no_real_credentials: None) -> Iterator[None]:
    assert no_real_credentials is None
    with operator_access(stack):
        yield


def token_of_tenant(stack: Deployed, slug: str) -> str:
    """Create a tenant, or use that of an earlier run; return a token with every scope."""
    with operator_access(stack):
        tenant = tenant_at(slug, stack.base_url)
        return tokens.issue_to_client(tenant, "erp", frozenset(SCOPES))


@pytest.fixture(scope="session")
def importer(stack: Deployed) -> Iterator[httpx.Client]:
    """The ERP of the tenant for imports, which has the warehouses of the sample files."""
    with client_of(stack.base_url, token_of_tenant(stack, IMPORTER)) as client:
        for code in ("CEN", "DUB"):
            made = client.post("/warehouses", json={"whs_code": code, "name": code})
            # An earlier run, or another process of this one, may have made it.
            assert made.status_code == httpx.codes.CREATED or fields(made) == ["whs_code"]
        yield client


@pytest.fixture(scope="session")
def bucket(stack: Deployed) -> ImportBucket:
    """The import bucket of the stack."""
    key = AccessKey.read()
    s3 = boto3.client(
        "s3",
        endpoint_url=stack.endpoint_url,
        region_name=REGION,
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
    )
    return ImportBucket(s3, stack.import_bucket)
