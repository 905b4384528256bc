"""What more than one function needs, grouped by floor.

The floors are kernel, identity, warehouse, integration and http, in this order; a floor imports
only from itself and from those before it (`tests/unit/test_floors.py`).
"""

import gc

from shared.kernel import precompiled

precompiled.use()  # before anything else is imported

# Imports and clients create many objects that live as long as the process. Looking for garbage
# among them as often as Python does by default takes a twentieth of the time of a cold start.
gc.set_threshold(150_000)
