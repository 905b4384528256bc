"""The source of a file's bytes: a path, or the content in memory."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

type FileSource = Path | bytes

BLOCK_BYTES = 1 << 18
"""Bytes that are read, decompressed and decoded at a time."""


def open_source(source: FileSource) -> BinaryIO:
    """Open a source for reading; the caller closes it."""
    return BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def read_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of `file` in blocks."""
    while block := file.read(BLOCK_BYTES):
        yield block
