"""Models of clients and providers."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import (
    WHOLE_NUMBER,
    Code,
    Email,
    Input,
    Name,
    Note,
    Phone,
    Stored,
    Timestamp,
)
from shared.kernel.list_parameters import Integer, KeyedParameters, Search, Text
from shared.kernel.metadata import Metadata, MetadataChange

_MAX_DOCUMENT_ID = 2**53 - 1


def _letter(text: str) -> str:
    if len(text) != 1 or not (text.isascii() and text.isalpha()):
        raise PydanticCustomError("letter", "must be one letter, A to Z")
    return text


type DocumentType = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    AfterValidator(_letter),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z]$"}),
]
"""Type of a tax document: one letter."""
type DocumentId = Annotated[int, Field(ge=1, le=_MAX_DOCUMENT_ID), WHOLE_NUMBER]
"""Number of a tax document: 1 to 2**53 - 1, the largest integer that is exact in JSON."""


class ClientCreate(Input):
    """A new client."""

    name: Name
    code: Code | None = None
    document_type: DocumentType | None = None
    document_id: DocumentId
    email: Email | None = None
    phone: Phone | None = None
    metadata: Metadata = Field(default={})


class ClientChange(ClientCreate):
    """A change of a client. Fields that are not sent stay as they are."""

    name: Name = ""
    document_id: DocumentId = 0
    metadata: MetadataChange = Field(default={})  # type: ignore[assignment]


class Client(Stored):
    """A client."""

    id: int
    name: str
    code: str | None = None
    document_type: str | None = None
    document_id: int
    email: str | None = None
    phone: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    created_at: Timestamp
    updated_at: Timestamp


class ProviderCreate(Input):
    """A new provider."""

    name: Name
    code: Code | None = None
    description: Note | None = None
    email: Email | None = None
    phone: Phone | None = None
    paymentinfo: Note | None = None
    metadata: Metadata = Field(default={})


class ProviderChange(ProviderCreate):
    """A change of a provider. Fields that are not sent stay as they are."""

    name: Name = ""
    metadata: MetadataChange = Field(default={})  # type: ignore[assignment]


class Provider(Stored):
    """A provider."""

    id: int
    name: str
    code: str | None = None
    email: str | None = None
    phone: str | None = None
    description: str | None = None
    paymentinfo: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    created_at: Timestamp
    updated_at: Timestamp


class _PartnerParameters(KeyedParameters):
    sort: Literal[
        "id", "-id", "name", "-name", "created_at", "-created_at", "updated_at", "-updated_at"
    ] = "id"
    search: Search | None = None
    code: Text | None = None
    email: Email | None = None


class ClientParameters(_PartnerParameters):
    """Parameters of the list of clients."""

    document_id: Annotated[Integer, Field(ge=1, le=_MAX_DOCUMENT_ID)] | None = None


class ProviderParameters(_PartnerParameters):
    """Parameters of the list of providers."""
