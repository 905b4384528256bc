"""API clients in the interface: request bodies, responses and list parameters."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from shared.identity.auth.clients import ClientKind
from shared.identity.auth.scopes import SCOPES, Scope
from shared.identity.webhook_deactivation import DeactivateWebhooks
from shared.kernel.fields import ONE_LINE, Input, Stored, Timestamp, distinct
from shared.kernel.list_parameters import ListParameters

type _Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), ONE_LINE
]
type _Scopes = Annotated[
    list[Scope],
    Field(max_length=len(SCOPES), json_schema_extra={"uniqueItems": True}),
    distinct(len(SCOPES)),
]


class ApiClientDraft(Input):
    """A new API client. An integration client needs scopes; a mobile application has none."""

    name: _Name
    kind: ClientKind = "integration"
    scopes: _Scopes = Field(
        default_factory=list, description="The scopes that its tokens may have."
    )


class ApiClientChange(Input):
    """Changes of an API client. Fields that are not sent keep their values."""

    name: _Name = ""
    scopes: _Scopes = Field(
        default_factory=list,
        description="The new list of scopes, empty only for a mobile application. Removing a scope"
        " revokes the client's tokens.",
    )
    deactivate_webhooks: DeactivateWebhooks = False


class ApiClientRotation(Input):
    """Options of a secret rotation."""

    keep_previous: bool = Field(
        default=True,
        description="false, after a leak: all previous secrets and all tokens are revoked.",
    )


class ApiClientSecret(Stored):
    """An active secret of a client, without its value."""

    created_at: Timestamp


class RegisteredClient(Stored):
    """An API client in responses."""

    id: str
    client_id: str = Field(description="The `client_id` of token requests; the same as `id`.")
    kind: ClientKind
    name: str
    scopes: list[Scope]
    secrets: list[ApiClientSecret] = Field(description="The active secrets, newest first.")
    created_at: Timestamp
    updated_at: Timestamp


class NewApiClient(RegisteredClient):
    """An API client with its new secret, which only this response contains."""

    client_secret: str | None = Field(
        description="Null for a mobile application, which has no secret."
    )


class ApiClientParameters(ListParameters):
    """Query parameters of the list of API clients."""

    sort: Literal["created_at", "-created_at", "name", "-name"] = "created_at"
    kind: ClientKind | None = None
