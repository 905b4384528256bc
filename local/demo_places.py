"""The warehouses of the demo, which it creates in a tenant that does not have them."""

from local.demo_session import Demo

ORIGIN, DESTINATION = "DEMO-1", "DEMO-2"
"""Codes of the warehouses. Every run uses the same two."""
RECEIVING_BIN, SHELF_BINS = "REC-01", ("A-01", "A-02")

_NAMES = {ORIGIN: "Demo warehouse in Birmingham", DESTINATION: "Demo warehouse in Dublin"}
_BINS = {ORIGIN: (RECEIVING_BIN, *SHELF_BINS), DESTINATION: (RECEIVING_BIN,)}


def ensure_places(demo: Demo) -> None:
    """Create the warehouses and positions that the tenant does not have."""
    for code, name in _NAMES.items():
        if not demo.list_all("/warehouses", whs_code=code):
            demo.call("/warehouses", {"whs_code": code, "name": name})
        for bin_code in _BINS[code]:
            if not demo.list_all("/warehouse-positions", warehouse=code, bin_code=bin_code):
                body = {"whs_code": code, "bin_code": bin_code}
                demo.call("/warehouse-positions", body)
