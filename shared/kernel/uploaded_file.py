"""A file in a multipart form."""

import hashlib
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file in a form: the name that the sender gave it, and its content."""

    name: str
    content: bytes

    def __str__(self) -> str:
        """Return the name and the SHA-256 of the content, so that two forms can be compared."""
        return f"{self.name} {hashlib.sha256(self.content).hexdigest()}"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return a schema that accepts only an UploadedFile."""
        return core_schema.custom_error_schema(
            core_schema.is_instance_schema(cls), "file_type", custom_error_message="must be a file"
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the OpenAPI schema of a file that is not empty."""
        return {"type": "string", "format": "binary", "minLength": 1}
