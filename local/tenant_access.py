"""The running local stack, and the credentials of one of its tenants."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import httpx
from stowage_client import Stowage

from local import deployment
from local.server import LocalRunFailed
from local.settings import aws_environment
from operations.api_clients import create_client, revoke_client
from operations.tenant_changes import show_tenant
from shared.kernel.errors import NotFound, ServiceError

NOT_RUNNING = "The local stack is not running: run `make run` first."
_TIMEOUT_SECONDS = 60
_CLIENT_NAME = "Demo and sample data"


@dataclass(frozen=True, slots=True)
class LocalTenant:
    """A tenant of the local stack with the credentials of an API client."""

    slug: str
    plan: str
    base_url: str
    client_id: str
    client_secret: str

    def client(self, http: httpx.Client) -> Stowage:
        """Return an API client. It retries without delay: the stack is on this machine."""
        return Stowage(
            self.base_url, self.client_id, self.client_secret, http, sleep=lambda _: None
        )

    def request_token(self) -> str:
        """Request an access token.

        Raises:
            LocalRunFailed: The stack does not respond, or it refuses the tenant or its client.
        """
        try:
            answer = httpx.post(
                f"{self.base_url}/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(self.client_id, self.client_secret),
                timeout=_TIMEOUT_SECONDS,
            )
        except httpx.HTTPError as error:
            raise LocalRunFailed(NOT_RUNNING) from error
        if answer.status_code in {httpx.codes.PAYMENT_REQUIRED, httpx.codes.GONE}:
            raise LocalRunFailed(f"Tenant {self.slug} cannot be used: {answer.json()['message']}")
        if not answer.is_success:
            raise LocalRunFailed(
                f"The local stack does not know the credentials of tenant {self.slug}"
                f" ({answer.status_code}): run `make run` first."
            )
        token: str = answer.json()["access_token"]
        return token


@dataclass(frozen=True, slots=True)
class RunningStack:
    """The content of the file that the local stack writes."""

    endpoint_url: str
    import_bucket: str
    tenants: Mapping[str, Mapping[str, Any]]


def find_stack(file: Path) -> RunningStack:
    """Read the file of the local stack, and ensure that the stack responds.

    Raises:
        LocalRunFailed: There is no file, it is incomplete, or nothing responds at its address.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        stack = RunningStack(**{each.name: content[each.name] for each in fields(RunningStack)})
        ready = httpx.get(f"{stack.endpoint_url}/_ministack/ready", timeout=_TIMEOUT_SECONDS)
    except (OSError, ValueError, LookupError, TypeError, httpx.HTTPError) as error:
        raise LocalRunFailed(NOT_RUNNING) from error
    if not ready.is_success:
        raise LocalRunFailed(NOT_RUNNING)
    return stack


def pick_tenant(tenants: Mapping[str, Mapping[str, Any]], slug: str) -> LocalTenant:
    """Return a tenant of the file that the local stack writes.

    Raises:
        LocalRunFailed: The tenant is not in the file.
    """
    if slug not in tenants:
        raise LocalRunFailed(f"Tenant {slug} does not exist. Tenants: {', '.join(tenants)}.")
    names = {each.name for each in fields(LocalTenant)}
    values = {name: value for name, value in tenants[slug].items() if name in names}
    return LocalTenant(slug, **values)


@contextmanager
def tenant_access(stack: RunningStack, slug: str) -> Iterator[LocalTenant]:
    """Give access to any tenant of the running stack during the block.

    A tenant that `make run` created has an API client in the file of the stack. Another tenant
    gets one that is revoked at the end of the block. Sets the environment of AWS clients.

    Raises:
        LocalRunFailed: The tenant does not exist, or may have no further API client.
    """
    os.environ.update(aws_environment(stack.endpoint_url))
    if slug in stack.tenants:
        yield pick_tenant(stack.tenants, slug)
        return
    os.environ.update(deployment.operator_environment())
    try:
        tenant = show_tenant(slug)
        created = create_client(slug, _CLIENT_NAME)
    except NotFound as error:
        known = ", ".join(stack.tenants)
        raise LocalRunFailed(f"Tenant {slug} does not exist. Tenants: {known}.") from error
    except ServiceError as error:
        raise LocalRunFailed(f"Tenant {slug} cannot be used: {error}") from error
    try:
        yield LocalTenant(slug, tenant.plan, tenant.base_url, *created)
    finally:
        revoke_client(created.client_id)
