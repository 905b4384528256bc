"""What more than one function needs, grouped by floor.

The floors are kernel, identity, warehouse, integration and http, in this order; a floor imports
only from itself and from those before it (`tests/unit/test_floors.py`).
"""
