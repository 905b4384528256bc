"""Pick faces: which product is picked from which position."""
