"""Handler of labels and of packing slips."""
