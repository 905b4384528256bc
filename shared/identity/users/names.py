"""Names of users, for the records that show who did the work."""

from shared.identity.users.repository import USERS
from shared.kernel.db.store import Store


def user_name(store: Store, user_id: int) -> str | None:
    """Return the name of a user; None if the company has no such user."""
    records = USERS.get_many(store, [user_id])
    return records[0].entity.name if records else None
