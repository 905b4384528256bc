"""The barcodes of labels: GS1-128 for the numbers of GS1, Code 128 for other codes."""

from dataclasses import dataclass

from barcode.charsets import code128
from barcode.codex import Gs1_128

from shared.warehouse.gs1.numbers import sscc_problem

SSCC = "00"
"""Application identifier of an SSCC in GS1-128."""
GTIN = "01"
"""Application identifier of a GTIN of 14 digits."""
QUIET_ZONE = 10
"""Modules without bars that Code 128 needs on both sides."""
_FIRST, _LAST = " ", "~"
"""The characters of code set B of Code 128."""
_START_B = 104
_CHECK = 103
_ZPL_START_B, _ZPL_START_C_FNC1 = ">:", ">;>8"
"""Start in a code set for printers, with the function character that makes a Code 128 a GS1-128."""
_ZPL_GREATER = ">0"


@dataclass(frozen=True, slots=True)
class Barcode:
    """A barcode: the text below it, its modules (`1` is black), and its data as ZPL has it."""

    text: str
    modules: str
    zpl: str

    @property
    def width(self) -> int:
        """Width in modules, without quiet zones."""
        return len(self.modules)

    @property
    def bars(self) -> list[tuple[int, int]]:
        """The bars as start and width in modules."""
        bars, start = list[tuple[int, int]](), 0
        for run in self.modules.replace("10", "1 0").replace("01", "0 1").split():
            if run[0] == "1":
                bars.append((start, len(run)))
            start += len(run)
        return bars


def sscc_text(sscc: str) -> str:
    """Return an SSCC as people read it; raise ValueError for a wrong length or check digit."""
    if problem := sscc_problem(sscc):
        raise ValueError(f"{sscc} {problem}")
    return _gs1_text(SSCC, sscc)


def sscc_barcode(sscc: str) -> Barcode:
    """Return the barcode of an SSCC; raise ValueError for a wrong length or check digit."""
    return _gs1_barcode(SSCC, sscc, sscc_text(sscc))


def gtin_barcode(gtin: str) -> Barcode:
    """Return the barcode of a GTIN of 14 digits."""
    return _gs1_barcode(GTIN, gtin, _gs1_text(GTIN, gtin))


def _gs1_text(identifier: str, number: str) -> str:
    return f"({identifier}){number}"


def _gs1_barcode(identifier: str, number: str, text: str) -> Barcode:
    [modules] = Gs1_128(identifier + number).build()
    return Barcode(text, modules, f"{_ZPL_START_C_FNC1}{identifier}{number}")


def code_barcode(code: str) -> Barcode | None:
    """Return the barcode of a code; None if it has a character that Code 128 lacks."""
    if not all(_FIRST <= char <= _LAST for char in code):
        return None
    values = [_START_B, *(ord(char) - ord(_FIRST) for char in code)]
    check = (_START_B + sum(at * value for at, value in enumerate(values))) % _CHECK
    modules = "".join(code128.CODES[value] for value in [*values, check])
    return Barcode(
        code, f"{modules}{code128.STOP}11", _ZPL_START_B + code.replace(">", _ZPL_GREATER)
    )
