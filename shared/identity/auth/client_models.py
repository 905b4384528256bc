"""API clients as the interface has them: bodies, answers, parameters."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from shared.identity.auth.clients import ClientKind
from shared.identity.auth.scopes import SCOPES, Scope
from shared.kernel.fields import ONE_LINE, Input, Stored, Timestamp, distinct
from shared.kernel.list_parameters import ListParameters

type _Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), ONE_LINE
]
type _Scopes = Annotated[
    list[Scope],
    Field(min_length=1, max_length=len(SCOPES), json_schema_extra={"uniqueItems": True}),
    distinct(len(SCOPES)),
]


class ApiClientDraft(Input):
    """A new client. An integration client needs scopes; a mobile application has none."""

    name: _Name
    kind: ClientKind = "integration"
    scopes: _Scopes = Field(
        default_factory=list, description="The most that its tokens may ask for."
    )


class ApiClientChange(Input):
    """What may change of a client; only the fields sent do."""

    name: _Name = ""
    scopes: _Scopes = Field(
        default_factory=list,
        description="All that it shall have. Taking one away ends the tokens that it has.",
    )


class ApiClientRotation(Input):
    """A new secret, and whether the one before goes on working."""

    keep_previous: bool = Field(
        default=True,
        description="false, as after a leak: the secrets so far and all tokens end.",
    )


class ApiClientSecret(Stored):
    """A secret that works; what it says is shown nowhere."""

    created_at: Timestamp


class ApiClient(Stored):
    """What may ask for tokens, as answered."""

    id: str
    client_id: str = Field(description="What requests for tokens name; the same as `id`.")
    kind: ClientKind
    name: str
    scopes: list[Scope]
    secrets: list[ApiClientSecret] = Field(description="Those that work, the newest first.")
    created_at: Timestamp
    updated_at: Timestamp


class NewApiClient(ApiClient):
    """A client with the secret that it has just got, which is shown this once."""

    client_secret: str | None = Field(description="Null of a mobile application: it has none.")


class ApiClientParameters(ListParameters):
    """Parameters of the list of clients."""

    sort: Literal["created_at", "-created_at", "name", "-name"] = "created_at"
    kind: ClientKind | None = None
