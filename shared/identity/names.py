"""Names of users and clients, for the records that show who did something.

The package `users` owns the items of users; this module only reads the name.
"""

from shared.identity.auth.clients import client_name
from shared.kernel.caller import Caller
from shared.kernel.db.collection import Collection
from shared.kernel.db.store import Store
from shared.kernel.fields import Stored

USER_KIND = "user"
"""Prefix of the keys of users."""


class _NamedUser(Stored):
    name: str


_NAMES = Collection(
    kind=USER_KIND, noun="User", model=_NamedUser, facets=lambda _user: {}, sorts={}
)


def user_name(store: Store, user_id: int) -> str | None:
    """Return the name of a user; None if the company has no such user."""
    records = _NAMES.get_many(store, [user_id])
    return records[0].entity.name if records else None


def caller_name(store: Store, caller: Caller) -> str | None:
    """Return the name of the calling user or client; None if the company has none with this id."""
    if caller.kind == "client":
        return client_name(store, caller.subject)
    return None if caller.user_id is None else user_name(store, caller.user_id)
