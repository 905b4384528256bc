"""The user whom the demo and the sample data name as picker of their transfer orders."""

from collections.abc import Callable, Sequence
from typing import Any

type _Object = dict[str, Any]


def picker_id(users: Sequence[_Object], create_user: Callable[[_Object], _Object]) -> int:
    """Return the id of the tenant's first user; create one in a tenant without users.

    Args:
        users: The users of the tenant.
        create_user: Sends the body of `POST /users`, and returns the user.
    """
    if users:
        return int(users[0]["id"])
    return int(create_user({"username": "demo-picker", "name": "Demo picker"})["id"])
