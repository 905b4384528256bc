"""The actions of a transaction, what they cost, and the error of a change that must be repeated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypedDict

from shared.kernel.db.items import Key, encode, size_of
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY

MAX_ACTIONS = 100
"""Actions that DynamoDB allows in one transaction."""
MAX_BYTES = 4 * 1024 * 1024
"""Bytes of all items that DynamoDB allows in one transaction."""
MAX_PLANNED_ACTIONS = 80
"""Actions that an operation may plan, so that a new counter, event or mark needs no new design.

`tests/integration/test_transaction_margins.py` plays every operation at its largest size.
"""


class StaleRead(Exception):
    """A condition failed because another request changed the item; read it again and retry."""


type ErrorFactory = Callable[[], Exception]
"""Returns the error to raise when the condition of an action fails."""

type Verb = Literal["Put", "Update", "Delete", "ConditionCheck"]


class ActionOptions(TypedDict, total=False):
    """The condition of an action, and the names and values of its expressions.

    `as_read` is whether the condition requires that this item has not changed since it was read: it
    has the same version, or is still absent. A retry reads such items again first.
    """

    condition: str | None
    names: Mapping[str, str]
    values: Mapping[str, Any]
    on_condition_failed: ErrorFactory
    as_read: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What something takes of a transaction: actions, and bytes of items."""

    actions: int = 0
    size: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Return what both take together."""
        return Cost(self.actions + other.actions, self.size + other.size)


@dataclass(slots=True)
class Action:
    """One action of a transaction, in the form of the DynamoDB API.

    `as_read` is whether its condition requires that the item has not changed since it was read.
    """

    request: dict[str, Any]
    on_condition_failed: ErrorFactory
    as_read: bool = False
    is_counter: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The action without its verb."""
        body: dict[str, Any]
        ((_, body),) = self.request.items()
        return body

    def key(self, table: str) -> Key | None:
        """Return the key of the item in this table; None for an item of another table."""
        body = self.body
        if body["TableName"] != table:
            return None
        key = body["Item"] if "Item" in body else body["Key"]
        return (key[PARTITION_KEY]["S"], key[SORT_KEY]["S"])

    @property
    def size(self) -> int:
        """Bytes of the item that is put, or of the key and the values of another action."""
        ((verb, body),) = self.request.items()
        if verb == "Put":
            return size_of(body["Item"])
        return size_of(body["Key"]) + size_of(body.get("ExpressionAttributeValues", {}))


def action_of(verb: Verb, body: dict[str, Any], options: ActionOptions) -> Action:
    """Return the action with a `body` in the form of the DynamoDB API and these options."""
    if condition := options.get("condition"):
        body["ConditionExpression"] = condition
    if names := options.get("names"):
        body["ExpressionAttributeNames"] = dict(names)
    if values := options.get("values"):
        encoded = {name: encode(value) for name, value in values.items()}
        body["ExpressionAttributeValues"] = encoded
    on_condition_failed = options.get("on_condition_failed", StaleRead)
    return Action({verb: body}, on_condition_failed, options.get("as_read", False))


def addition_to_set(place: Mapping[str, Any], name: str, numbers: set[int]) -> Action:
    """Return the action that adds numbers to a number set of the existing item at `place`."""
    body = {
        **place,
        "UpdateExpression": "ADD #set :numbers",
        "ConditionExpression": f"attribute_exists({PARTITION_KEY})",
        "ExpressionAttributeNames": {"#set": name},
        "ExpressionAttributeValues": {":numbers": encode(numbers)},
    }
    return Action({"Update": body}, StaleRead)


class GatheredChanges(Protocol):
    """Changes of items that several parts of a use case add to, written together at the commit."""

    def cost(self) -> Cost:
        """Return what the changes take of the transaction."""

    def write(self) -> None:
        """Add the changes to the transaction; called once, at the commit."""

    def committed(self) -> None:
        """Do what follows the commit; an error would not undo it, so raise none."""

    def refused(self) -> None:
        """Undo what `write` has committed before a commit that failed; raise no error."""
