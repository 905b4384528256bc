"""A file in a multipart form."""

import hashlib
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

MAX_FILE_NAME = 200
"""Characters of the name of a file."""


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file in a form: the name that the sender gave it, and its content."""

    name: str
    """Empty if it is missing or cannot be decoded; a body with such a file is invalid."""
    content: bytes

    def __str__(self) -> str:
        """Return the name and the SHA-256 of the content, so that two forms can be compared."""
        return f"{self.name} {hashlib.sha256(self.content).hexdigest()}"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return a schema that accepts only an UploadedFile with a name."""
        is_file = core_schema.custom_error_schema(
            core_schema.is_instance_schema(cls), "file_type", custom_error_message="must be a file"
        )
        return core_schema.no_info_after_validator_function(_ensure_named, is_file)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the OpenAPI schema of a file that is not empty."""
        return {"type": "string", "format": "binary"}


def _ensure_named(file: UploadedFile) -> UploadedFile:
    if not file.name:
        raise PydanticCustomError(
            "file_name", "must have a file name, in UTF-8 or, as filename*, in ISO-8859-1"
        )
    if len(file.name) > MAX_FILE_NAME:
        raise PydanticCustomError(
            "file_name_length", f"must have a file name of at most {MAX_FILE_NAME} characters"
        )
    return file
