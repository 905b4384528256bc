"""Every operation of the warehouse, over the API, with any number of lines.

`make compare` measures what they cost, and the tests of the margin of transactions run them at
their largest size.
"""
