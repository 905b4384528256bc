"""Pages of PDF and barcodes of ZPL as gray pictures, PNG files, and what a scanner reads."""

import re
import struct
import zlib
from dataclasses import dataclass

import pypdfium2
import zxingcpp
from barcode.charsets.code128 import CODES, STOP

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_QUIET_ZONE = 10
"""Modules that are left free beside a barcode."""
_START_B, _START_C, _FNC1, _STOP = 104, 105, 102, 106
_LAST_BAR = "11"


@dataclass(frozen=True, slots=True)
class Picture:
    """Rows of gray pixels from top to bottom: 0 is black, 255 white."""

    width: int
    height: int
    pixels: bytes


def rendered(pdf: bytes, dpi: int, page: int = 0) -> Picture:
    """Return a page of a PDF document as PDFium shows it."""
    with pypdfium2.PdfDocument(pdf) as document:
        bitmap = document[page].render(scale=dpi / 72, grayscale=True)
        pixels, stride = bytes(bitmap.buffer), bitmap.stride
        rows = [pixels[y * stride : y * stride + bitmap.width] for y in range(bitmap.height)]
        return Picture(bitmap.width, bitmap.height, b"".join(rows))


def scanned(picture: Picture) -> list[tuple[str, str]]:
    """Return format and text of the barcodes that zxing-cpp finds."""
    image = zxingcpp.ImageView(
        picture.pixels, picture.width, picture.height, zxingcpp.ImageFormat.Lum
    )
    found = zxingcpp.read_barcodes(image)
    return [(one.symbology_identifier, one.text) for one in found]


def drawn_barcode(zpl: str) -> Picture:
    """Draw the barcode of a ZPL label as a printer does."""
    [(dots, height, sent)] = re.findall(r"\^BY(\d+)\^BCN,(\d+),N,N,N\^FH\^FD(.+?)\^FS", zpl)
    data = re.sub("_([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), sent)
    if data.startswith(">:"):
        text = data.removeprefix(">:")
        assert not re.search(">(?!0)", text), "a function of the printer"
        codes = [_START_B, *(ord(char) - ord(" ") for char in text.replace(">0", ">"))]
    else:
        assert data.startswith(">;>8"), "start C, FNC1"
        pairs = [int(pair) for pair in re.findall("..", data.removeprefix(">;>8"))]
        codes = [_START_C, _FNC1, *pairs]
    check = (codes[0] + sum(at * code for at, code in enumerate(codes[1:], 1))) % 103
    assert len(CODES) == _STOP
    modules = "".join(CODES[code] for code in [*codes, check]) + STOP + _LAST_BAR
    modules = f"{'0' * _QUIET_ZONE}{modules}{'0' * _QUIET_ZONE}"
    row = b"".join((b"\x00" if one == "1" else b"\xff") * int(dots) for one in modules)
    return Picture(len(row), int(height), row * int(height))


def png_of(picture: Picture) -> bytes:
    """Return a picture as a PNG file."""
    rows = [
        b"\x00" + picture.pixels[at : at + picture.width]
        for at in range(0, len(picture.pixels), picture.width)
    ]
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def picture_of(png: bytes) -> Picture:
    """Return the picture of a PNG file that `png_of` wrote."""
    assert png.startswith(_SIGNATURE)
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    rows = zlib.decompress(png[41 : 41 + size])
    pixels = b"".join(rows[y * (width + 1) + 1 : (y + 1) * (width + 1)] for y in range(height))
    return Picture(width, height, pixels)
