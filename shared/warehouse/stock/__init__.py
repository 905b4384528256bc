"""Stock: rows by position, batch and serial, levels by warehouse, and the ledger of movements."""
