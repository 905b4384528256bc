"""The barcode of a label: an SSCC as GS1-128."""

from barcode.codex import Gs1_128

from shared.warehouse.gs1.numbers import sscc_problem

APPLICATION_IDENTIFIER = "00"
"""Application identifier of an SSCC in GS1-128."""


def sscc_text(sscc: str) -> str:
    """Return an SSCC as people read it; raise ValueError for a wrong length or check digit."""
    if problem := sscc_problem(sscc):
        raise ValueError(f"{sscc} {problem}")
    return f"({APPLICATION_IDENTIFIER}){sscc}"


def sscc_bars(sscc: str) -> tuple[list[tuple[int, int]], int]:
    """Return the bars of an SSCC in GS1-128 as start and width, and the width of all, in modules.

    There are no quiet zones.
    """
    [modules] = Gs1_128(APPLICATION_IDENTIFIER + sscc).build()
    bars, start = list[tuple[int, int]](), 0
    for run in modules.replace("10", "1 0").replace("01", "0 1").split():
        if run[0] == "1":
            bars.append((start, len(run)))
        start += len(run)
    return bars, start
