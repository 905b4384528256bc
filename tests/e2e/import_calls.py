"""What end-to-end tests of imports do: send files, wait, and look into the bucket."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from mypy_boto3_s3 import S3Client

from tests.e2e.responses import data
from tests.integration.imports.sheets import as_csv

HEADER = ("Item code", "Name", "Managed by batch")
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PATIENCE = 120
"""Seconds that something done in the background may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """The import bucket, as whoever may only copy files sees it."""

    s3: S3Client
    name: str

    def put(self, file: str, content: bytes) -> None:
        """Copy a file into it."""
        self.s3.put_object(Bucket=self.name, Key=file, Body=content)

    def read(self, file: str) -> bytes | None:
        """Read a file; None when it is not there."""
        try:
            return self.s3.get_object(Bucket=self.name, Key=file)["Body"].read()
        except self.s3.exceptions.NoSuchKey:
            return None


def announced(filename: str) -> dict[str, str]:
    """Return the announcement of a file of products."""
    return {"kind": "products", "filename": filename}


def upload(
    client: httpx.Client,
    kind: str,
    name: str,
    content: bytes,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Upload a file with a request."""
    return client.post(
        "/imports", data={"kind": kind}, files={"file": (name, content)}, headers=headers
    )


def eventually[Found](look: Callable[[], Found | None], what: str) -> Found:
    """Look until something is there; fail when it does not come."""
    deadline = time.monotonic() + _PATIENCE
    while (found := look()) is None:
        assert time.monotonic() < deadline, f"not there after {_PATIENCE} s: {what}"
        time.sleep(0.25)
    return found


def settled(client: httpx.Client, number: int) -> dict[str, Any]:
    """Ask for an import until nothing is being done about it."""

    def look() -> dict[str, Any] | None:
        one: dict[str, Any] = data(client.get(f"/imports/{number}"))
        return None if one["status"] in {"uploaded", "validating", "committing"} else one

    return eventually(look, f"import {number} validated or committed")


def imported(client: httpx.Client, kind: str, name: str, content: bytes) -> dict[str, Any]:
    """Upload a file and wait until it is validated."""
    return settled(client, data(upload(client, kind, name, content), 202)["id"])


def committed(client: httpx.Client, number: int) -> dict[str, Any]:
    """Commit an import and wait until that has ended."""
    data(client.post(f"/imports/{number}/commit"), 202)
    return settled(client, number)


def counts(total: int, valid: int, last: int, name: str = "error") -> dict[str, int]:
    """`rows`, or `documents` where the last count is named committed."""
    return {"total": total, "valid": valid, name: last}


def catalogue(run: str, *names: str) -> bytes:
    """A .csv of products: those with a name are valid."""
    rows = [(f"{run}-{number}", name, "no") for number, name in enumerate(names)]
    return as_csv([HEADER, *rows])
