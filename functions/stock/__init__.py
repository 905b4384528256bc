"""The routes of stock rows, levels, movements and adjustments."""
