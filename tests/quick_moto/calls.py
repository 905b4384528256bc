"""What botocore does about a call for AWS alone.

Nobody here checks signatures or reads user agents, and a Region's DynamoDB has one address,
which is the client's own.
"""

from typing import Any

import pytest
from botocore.auth import AUTH_TYPE_MAPS, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.client import BaseClient
from botocore.exceptions import NoCredentialsError
from botocore.useragent import UserAgentString


class _Unsigned(SigV4Auth):
    """Says who calls, and proves nothing."""

    def __init__(self, credentials: Any, service_name: str, region_name: str) -> None:
        super().__init__(credentials, service_name, region_name)
        self._scope = f"20260101/{region_name}/{service_name}/aws4_request"

    def add_auth(self, request: AWSRequest) -> None:
        if self.credentials is None:
            raise NoCredentialsError
        request.headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.credentials.access_key}/{self._scope}, "
            "SignedHeaders=host, Signature=none"
        )


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send calls bare until the test ends."""
    monkeypatch.setitem(AUTH_TYPE_MAPS, "v4", _Unsigned)
    monkeypatch.setattr(UserAgentString, "to_string", lambda _: "botocore")
    find_address = BaseClient._resolve_endpoint_ruleset  # type: ignore[attr-defined]

    def resolve(client: BaseClient, *more: Any, **named: Any) -> Any:
        if client.meta.service_model.service_name == "dynamodb":
            return client.meta.endpoint_url, {}, {}
        return find_address(client, *more, **named)

    monkeypatch.setattr(BaseClient, "_resolve_endpoint_ruleset", resolve)
