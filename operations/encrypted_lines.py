"""Lines of text in a file that is encrypted with a passphrase.

The file has a header with a random salt, then chunks of compressed lines, each encrypted with
AES-256-GCM under the key that scrypt derives from passphrase and salt. The number of a chunk is its
nonce, and whether it is the last one is authenticated: a chunk that was changed, moved or left out
does not decrypt. The first chunk is empty: if it does not decrypt, the passphrase is wrong.
"""

import hashlib
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shared.kernel.errors import Conflict

MIN_PASSPHRASE = 12
"""Characters."""
_MAGIC = b"stowage encrypted lines 1\n"
_SALT_BYTES = 16
_LENGTH_BYTES = 4
_CHUNK_BYTES = 1 << 20
"""Bytes of lines from which on a chunk is written."""
_MOST_CHUNK_BYTES = 8 << 20
"""More than the encrypted bytes of any chunk: a line has at most one item of 400 kB."""
_MOST_TEXT_BYTES = 16 << 20
"""More than the decompressed bytes of any chunk: 1 MiB of characters of up to 4 bytes each, and the
JSON of one more item."""
_MORE, _LAST = b"\x00", b"\x01"


class EncryptedWriter:
    """Writes lines; the file is complete when the block ends without an error."""

    def __init__(self, path: Path, passphrase: str) -> None:
        salt = secrets.token_bytes(_SALT_BYTES)
        self._cipher = _cipher(passphrase, salt)
        self._number, self._lines, self._size = 0, list[str](), 0
        self._file = path.open("wb")
        self._file.write(_MAGIC + salt)
        self._write_chunk(_MORE)

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the last chunk, unless the block has failed."""
        with self._file:
            if kind is None:
                self._write_chunk(_LAST)

    def write(self, line: str) -> None:
        """Write a line, which contains no line break."""
        self._lines.append(line)
        self._size += len(line)
        if self._size >= _CHUNK_BYTES:
            self._write_chunk(_MORE)

    def _write_chunk(self, mark: bytes) -> None:
        content = zlib.compress("\n".join(self._lines).encode(), 6)
        sealed = self._cipher.encrypt(_nonce(self._number), content, mark)
        self._file.write(mark + len(sealed).to_bytes(_LENGTH_BYTES) + sealed)
        self._number, self._lines, self._size = self._number + 1, [], 0


def read_encrypted(path: Path, passphrase: str) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        Conflict: The passphrase is wrong, or the file was changed, is truncated, or is none of
            EncryptedWriter; for example, a chunk has more than 16 MiB of lines.
    """
    with path.open("rb") as file:
        head = file.read(len(_MAGIC) + _SALT_BYTES)
        if not head.startswith(_MAGIC) or len(head) < len(_MAGIC) + _SALT_BYTES:
            raise _damaged(path)
        cipher = _cipher(passphrase, head[len(_MAGIC) :])
        number, mark = 0, _MORE
        while mark == _MORE:
            mark, sealed = _read_chunk(file, path)
            try:
                content = cipher.decrypt(_nonce(number), sealed, mark)
            except InvalidTag:
                raise _damaged(path) if number else _wrong_passphrase(path) from None
            text = _decompressed(content, path)
            if text:
                yield from text.split("\n")
            number += 1
        if file.read(1):
            raise _damaged(path)


def _read_chunk(file: IO[bytes], path: Path) -> tuple[bytes, bytes]:
    mark, length = file.read(1), int.from_bytes(file.read(_LENGTH_BYTES))
    if mark not in {_MORE, _LAST} or length > _MOST_CHUNK_BYTES:
        raise _damaged(path)
    sealed = file.read(length)
    if len(sealed) != length:
        raise _damaged(path)
    return mark, sealed


def _decompressed(content: bytes, path: Path) -> str:
    """Return the lines of a chunk: whoever knows the passphrase can encrypt any bytes."""
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(content, _MOST_TEXT_BYTES + 1)
        if len(text) > _MOST_TEXT_BYTES or not stream.eof:
            raise _damaged(path)
        return text.decode()
    except (zlib.error, UnicodeDecodeError):
        raise _damaged(path) from None


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    # 128 MB and some tenths of a second for each guess
    key = hashlib.scrypt(
        passphrase.encode(), salt=salt, n=1 << 17, r=8, p=1, maxmem=1 << 28, dklen=32
    )
    return AESGCM(key)


def _nonce(number: int) -> bytes:
    return number.to_bytes(12)  # the salt, and thus the key, is another one in every file


def _wrong_passphrase(path: Path) -> Conflict:
    return Conflict(f"The passphrase does not open {path}. Use the one of its export.")


def _damaged(path: Path) -> Conflict:
    return Conflict(
        f"The file {path} is truncated or was changed. Copy the export again, or repeat it."
    )
