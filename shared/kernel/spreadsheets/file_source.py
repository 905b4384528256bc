"""Where the bytes of a file come from: a path, or memory."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

type Source = Path | bytes

BLOCK = 1 << 18
"""Bytes that are read, inflated and decoded at a time."""


def opened(source: Source) -> BinaryIO:
    """Open it for reading; the caller closes it."""
    return BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """Read to the end, a block at a time."""
    while block := file.read(BLOCK):
        yield block
