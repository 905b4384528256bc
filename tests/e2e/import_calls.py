"""Calls of the end-to-end tests of imports: uploads, waiting, and the import bucket."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from mypy_boto3_s3 import S3Client

from tests.e2e.responses import data
from tests.integration.imports.import_files import as_csv

HEADER = ("Item code", "Name", "Managed by batch")
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_TIMEOUT_SECONDS = 120
"""How long background processing may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class ImportBucket:
    """The import bucket."""

    s3: S3Client
    name: str

    def put(self, file: str, content: bytes) -> None:
        """Write a file."""
        self.s3.put_object(Bucket=self.name, Key=file, Body=content)

    def read(self, file: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        try:
            return self.s3.get_object(Bucket=self.name, Key=file)["Body"].read()
        except self.s3.exceptions.NoSuchKey:
            return None


def upload_request(filename: str) -> dict[str, str]:
    """Return the request for uploading a file of products."""
    return {"kind": "products", "filename": filename}


def upload(
    client: httpx.Client,
    kind: str,
    name: str,
    content: bytes,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Upload a file in a request."""
    return client.post(
        "/imports", data={"kind": kind}, files={"file": (name, content)}, headers=headers
    )


def eventually[Found](find: Callable[[], Found | None], what: str) -> Found:
    """Call `find` until it returns a value; fail after a timeout."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while (found := find()) is None:
        assert time.monotonic() < deadline, f"not found within {_TIMEOUT_SECONDS} s: {what}"
        time.sleep(0.25)
    return found


def wait_until_processed(client: httpx.Client, import_id: int) -> dict[str, Any]:
    """Return an import as soon as its validation or commit has ended."""

    def find() -> dict[str, Any] | None:
        one: dict[str, Any] = data(client.get(f"/imports/{import_id}"))
        return None if one["status"] in {"uploaded", "validating", "committing"} else one

    return eventually(find, f"import {import_id} validated or committed")


def import_file(client: httpx.Client, kind: str, name: str, content: bytes) -> dict[str, Any]:
    """Upload a file, and return the validated import."""
    return wait_until_processed(client, data(upload(client, kind, name, content), 202)["id"])


def commit_import(client: httpx.Client, import_id: int) -> dict[str, Any]:
    """Commit an import, and return it when the commit has ended."""
    data(client.post(f"/imports/{import_id}/commit"), 202)
    return wait_until_processed(client, import_id)


_SKIPPED = {"committed": {"skipped": 0}}


def counts(total: int, valid: int, last: int, name: str = "error") -> dict[str, int]:
    """Return the counts of `rows`, or of `documents` if `name` is committed."""
    return {"total": total, "valid": valid, name: last, **_SKIPPED.get(name, {})}


def catalog_file(run: str, *names: str) -> bytes:
    """Return a .csv of products, of which those with a name are valid."""
    rows = [(f"{run}-{import_id}", name, "no") for import_id, name in enumerate(names)]
    return as_csv([HEADER, *rows])
