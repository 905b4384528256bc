"""Stock: rows, levels, movements and adjustments."""
