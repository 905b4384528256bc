"""Random numbers that differ between the execution environments of one snapshot (SnapStart).

Python seeds the module `random` when it is imported, which is before the snapshot: without a new
seed, all environments would choose the same shards and wait for the same times between attempts,
those of botocore included. Secrets and ids come from the operating system, which needs no seed.
"""

import random
from contextlib import suppress

with suppress(ImportError):  # only the runtime has this package
    from snapshot_restore_py import register_after_restore

    register_after_restore(random.seed)
