"""A tenant's files in S3: one prefix of a bucket, whole files in and out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from shared.kernel.observability import logger

_MISSING = frozenset({"NoSuchKey", "404", "NotFound", "AccessDenied", "403"})
"""Whoever may not list a bucket, as no tenant's session may, is told that access to what is
missing is denied."""
_CHUNK = 1 << 20


class FileMissing(Exception):
    """No file has the name, or the one that has it is not the one that was meant."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one tenant in one bucket; whoever holds it can reach no other tenant's."""

    client: Any
    bucket: str
    slug: str

    def key(self, name: str) -> str:
        """Key of a file in the bucket."""
        return f"{self.slug}/{name}"

    def put(self, name: str, content: bytes | Path, media: str) -> None:
        """Write a file, replacing what had its name."""
        arguments = {"Bucket": self.bucket, "Key": self.key(name), "ContentType": media}
        if isinstance(content, Path):
            with content.open("rb") as body:
                self.client.put_object(**arguments, Body=body)
        else:
            self.client.put_object(**arguments, Body=content)

    def read(self, name: str) -> bytes:
        """Read a small file as a whole; FileMissing when it is not there."""
        content: bytes = self._get(name)["Body"].read()
        return content

    def download(self, name: str, target: Path, *, etag: str | None = None) -> None:
        """Write a file to disk, piece by piece; FileMissing when it is not there.

        `etag`: the contents that are meant; other contents are FileMissing as well.
        """
        meant = {"IfMatch": etag} if etag else {}
        answer = self._get(name, **meant)
        with target.open("wb") as out:
            for piece in answer["Body"].iter_chunks(_CHUNK):
                out.write(piece)

    def size(self, name: str) -> int:
        """Bytes of a file; FileMissing when it is not there."""
        try:
            answer = self.client.head_object(Bucket=self.bucket, Key=self.key(name))
        except ClientError as error:
            raise _meaning(error) from error
        return int(answer["ContentLength"])

    def delete(self, name: str) -> None:
        """Remove a file; it may be gone already."""
        self.client.delete_object(Bucket=self.bucket, Key=self.key(name))

    def copy(self, name: str, to: str) -> None:
        """Copy a file within the bucket; FileMissing when it is not there."""
        source = {"Bucket": self.bucket, "Key": self.key(name)}
        try:
            # Without tags, which our sessions may not read.
            self.client.copy_object(
                Bucket=self.bucket,
                Key=self.key(to),
                CopySource=source,
                TaggingDirective="REPLACE",
            )
        except ClientError as error:
            raise _meaning(error) from error

    def address(self, name: str, *, seconds: int, download_as: str) -> str:
        """Presigned address at which anyone can read the file for a while."""
        arguments = {
            "Bucket": self.bucket,
            "Key": self.key(name),
            "ResponseContentDisposition": f'attachment; filename="{download_as}"',
        }
        url: str = self.client.generate_presigned_url(
            "get_object", Params=arguments, ExpiresIn=seconds
        )
        return url

    def form(self, name: str, *, seconds: int, most_bytes: int) -> Mapping[str, Any]:
        """Presigned form `{url, fields}` with which anyone can write the file for a while."""
        form: Mapping[str, Any] = self.client.generate_presigned_post(
            self.bucket,
            self.key(name),
            Conditions=[["content-length-range", 1, most_bytes]],
            ExpiresIn=seconds,
        )
        return form

    def _get(self, name: str, **more: Any) -> Any:
        try:
            return self.client.get_object(Bucket=self.bucket, Key=self.key(name), **more)
        except ClientError as error:
            raise _meaning(error) from error


def _meaning(error: ClientError) -> Exception:
    code = error.response["Error"]["Code"]
    if code in {"AccessDenied", "403"}:
        logger.warning("S3 denied access: taken for a file that is not there")
    replaced = code in {"PreconditionFailed", "412"}
    return FileMissing() if code in _MISSING or replaced else error
