"""A file as a form brings it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a form: the name that the sender gave it, and its bytes."""

    name: str
    content: bytes

    def __str__(self) -> str:
        """Name it and its contents, so that two forms can be told apart."""
        return f"{self.name} {hashlib.sha256(self.content).hexdigest()}"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Accept an UploadedFile and nothing else."""
        return core_schema.custom_error_schema(
            core_schema.is_instance_schema(cls), "file_type", custom_error_message="must be a file"
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe it as OpenAPI does; an empty file is none."""
        return {"type": "string", "format": "binary", "minLength": 1}
