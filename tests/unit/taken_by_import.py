"""A module that takes at its import what must differ between environments (`test_snapshots.py`)."""

import os
import random
import ssl
import time
import uuid
from datetime import UTC, datetime

TAKEN = (
    datetime.now(UTC),
    os.urandom(8),
    random.Random(),  # noqa: S311
    random.random(),  # noqa: S311
    ssl.create_default_context(),
    time.time(),
    uuid.uuid4(),
)
