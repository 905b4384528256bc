"""Handler of labels of handling units and of packing slips."""
