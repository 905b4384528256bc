"""The parts of the pages that are made from the code, between markers.

A part stands between two lines: `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
"""
