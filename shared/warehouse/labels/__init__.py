"""Labels of handling units and packing slips, rendered from plain data.

Only the function of labels may import this package: its libraries and fonts are in a layer of
their own (`layers/labels/`).
"""
