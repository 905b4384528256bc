"""Rows of API clients in an export.

Their ids are in an index of the control table, which lags. The checksums of the feed tell whether
one is missing: rows that have them are those of a position of the feed.
"""

from collections.abc import Mapping
from typing import Any

from shared.identity.auth import client_service
from shared.identity.auth.clients import LISTED_AS
from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.changes.service import feed_head
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.errors import ServiceUnavailable
from shared.kernel.events.feed import checksums_of

_ATTEMPTS, _PAUSE = 10, 1.0
"""How often the rows are read, and the seconds between: a change is in the feed seconds later."""


def client_rows(reader: Reader) -> Mapping[ResourceId, dict[str, Any]]:
    """Return the rows of all API clients at a position of the feed that is given by now.

    Raises:
        ServiceUnavailable: The index or the feed is behind; try again later.
    """
    for _ in range(_ATTEMPTS):
        ids = client_service.active_ids(reader.store)
        rows = LISTED_OBJECTS[LISTED_AS].rows(reader, ids)
        versions = ((row["id"], row["version"]) for row in rows.values())
        latest = feed_head(reader.store).checksums.get(LISTED_AS, (0, 0))
        if checksums_of(LISTED_AS, versions) == latest:
            return rows
        reader.store.pause(_PAUSE)
    raise ServiceUnavailable
