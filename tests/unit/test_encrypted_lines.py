"""What somebody with the passphrase can encrypt is bounded when it is read."""

import zlib
from pathlib import Path

import pytest

from operations import encrypted_lines
from operations.encrypted_lines import EncryptedWriter, read_encrypted
from shared.kernel.errors import Conflict
from tests.cases import each_case
from tests.integration.moving.crafted_exports import quick_cipher

PASSPHRASE = "a passphrase of some length"


def _long_stream(mebibytes: int) -> bytes:
    """Return what so many MiB are compressed to, without compressing each of them."""
    stream = zlib.compressobj()
    start = stream.compress(b"0") + stream.flush(zlib.Z_FULL_FLUSH)
    block = stream.compress(b"0" * (1 << 20)) + stream.flush(zlib.Z_FULL_FLUSH)
    return start + mebibytes * block


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encrypted_lines, "_cipher", quick_cipher)


def test_longest_chunk_that_is_written_is_read(tmp_path: Path) -> None:
    lines = ["€" * ((1 << 20) - 1), "\\u0000" * 400_000]
    with EncryptedWriter(tmp_path / "x", PASSPHRASE) as file:
        for line in lines:
            file.write(line)
    assert list(read_encrypted(tmp_path / "x", PASSPHRASE)) == lines


@each_case(
    ("content",),
    [
        (zlib.compress(b"0" * ((16 << 20) + 1)),),
        (_long_stream(1_024),),
        (zlib.compress(b"{}")[:-3],),
        (zlib.compress(b"\xff"),),
        (b"{}",),
    ],
)
def test_chunk_that_no_export_has_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    with EncryptedWriter(path, PASSPHRASE):
        pass
    head = path.read_bytes()[: len(encrypted_lines._MAGIC) + encrypted_lines._SALT_BYTES]
    cipher = quick_cipher(PASSPHRASE, head[len(encrypted_lines._MAGIC) :])
    sealed = cipher.encrypt(encrypted_lines._nonce(0), content, b"\x01")
    path.write_bytes(head + b"\x01" + len(sealed).to_bytes(4) + sealed)
    with pytest.raises(Conflict, match="is truncated or was changed"):
        list(read_encrypted(path, PASSPHRASE))
