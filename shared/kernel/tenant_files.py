"""The files of one tenant in an S3 bucket."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from shared.kernel.observability import logger

_MISSING_CODES = frozenset({"NoSuchKey", "404", "NotFound", "AccessDenied", "403"})
"""S3 answers AccessDenied for a missing object if the caller may not list the bucket. The session
of a tenant may not."""
_REPLACED_CODES = frozenset({"PreconditionFailed", "412"})
_CHUNK_BYTES = 1 << 20


class FileMissing(Exception):
    """The file does not exist, or was replaced by another one."""


@dataclass(frozen=True, slots=True)
class TenantFiles:
    """The files of one tenant in one bucket.

    Attributes:
        client: An S3 client with the credentials of the tenant.
        bucket: The bucket.
        slug: The tenant. The keys of its files begin with `SLUG/`, names do not.

    Raises:
        FileMissing: A file to be read, measured or copied does not exist.
    """

    client: Any
    bucket: str
    slug: str

    def key(self, name: str) -> str:
        """Return the key of a file in the bucket."""
        return f"{self.slug}/{name}"

    def put(self, name: str, content: bytes | Path, media_type: str) -> None:
        """Write a file; an existing file of this name is replaced."""
        arguments = {"Bucket": self.bucket, "Key": self.key(name), "ContentType": media_type}
        if isinstance(content, Path):
            with content.open("rb") as body:
                self.client.put_object(**arguments, Body=body)
        else:
            self.client.put_object(**arguments, Body=content)

    def read(self, name: str) -> bytes:
        """Return the content of a small file."""
        content: bytes = self._get(name)["Body"].read()
        return content

    def download(self, name: str, target: Path, *, etag: str | None = None) -> None:
        """Write a file to disk in chunks; with another entity tag than `etag`, it is missing."""
        condition = {"IfMatch": etag} if etag else {}
        response = self._get(name, **condition)
        with target.open("wb") as out:
            for chunk in response["Body"].iter_chunks(_CHUNK_BYTES):
                out.write(chunk)

    def size(self, name: str) -> int:
        """Return the number of bytes of a file."""
        with _missing_files():
            response = self.client.head_object(Bucket=self.bucket, Key=self.key(name))
        return int(response["ContentLength"])

    def is_replaced(self, name: str, etag: str | None) -> bool:
        """Return whether the file with this entity tag was replaced by another of its name."""
        try:
            with _missing_files():
                response = self.client.head_object(Bucket=self.bucket, Key=self.key(name))
        except FileMissing:
            return False
        return bool(response["ETag"] != etag)

    def delete(self, name: str) -> None:
        """Delete a file, if it exists."""
        self.client.delete_object(Bucket=self.bucket, Key=self.key(name))

    def copy(self, name: str, target: str) -> None:
        """Copy a file within the bucket."""
        source = {"Bucket": self.bucket, "Key": self.key(name)}
        with _missing_files():
            # Without tags, because the session of a tenant may not read them.
            self.client.copy_object(
                Bucket=self.bucket,
                Key=self.key(target),
                CopySource=source,
                TaggingDirective="REPLACE",
            )

    def presigned_url(self, name: str, *, seconds: int, download_as: str) -> str:
        """Return a URL with which anyone can download the file.

        `seconds` is the lifetime of the URL; browsers save the file as `download_as`.
        """
        arguments = {
            "Bucket": self.bucket,
            "Key": self.key(name),
            "ResponseContentDisposition": f'attachment; filename="{download_as}"',
        }
        url: str = self.client.generate_presigned_url(
            "get_object", Params=arguments, ExpiresIn=seconds
        )
        return url

    def presigned_form(self, name: str, *, seconds: int, max_bytes: int) -> Mapping[str, Any]:
        """Return a form `{url, fields}` with which anyone can upload the file.

        `seconds` is the lifetime of the form, `max_bytes` the largest size that S3 accepts.
        """
        form: Mapping[str, Any] = self.client.generate_presigned_post(
            self.bucket,
            self.key(name),
            Conditions=[["content-length-range", 1, max_bytes]],
            ExpiresIn=seconds,
        )
        return form

    def _get(self, name: str, **arguments: Any) -> Any:
        with _missing_files():
            return self.client.get_object(Bucket=self.bucket, Key=self.key(name), **arguments)


@contextmanager
def _missing_files() -> Iterator[None]:
    """Raise FileMissing for the errors of S3 that say so."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in {"AccessDenied", "403"}:
            logger.warning("S3 denied access; the file is treated as missing")
        if code in _MISSING_CODES | _REPLACED_CODES:
            raise FileMissing from error
        raise
