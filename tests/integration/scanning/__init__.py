"""The goods of a work, for devices that scan."""
