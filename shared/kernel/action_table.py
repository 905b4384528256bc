"""Tables of the actions of a subject: which statuses admit an action, and where it leads.

One table serves the check of the use case, the field `actions` of the detail, the descriptions of
the interface, the diagrams of the pages and the buttons of the console.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAliasType, get_args

from shared.kernel.errors import Conflict, StaleState


def _never(_entity: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class StateAction[E, S: str]:
    """An action that is possible in the statuses `starts` and leads to one of `leads_to`.

    `leads_to` is empty if the status stays. `unless` returns why an entity refuses the action in
    such a status, as the message of a conflict; None if it does not.
    """

    name: str
    starts: Sequence[S]
    leads_to: Sequence[S] = ()
    unless: Callable[[E], str | None] = _never


class ActionTable[E, S: str]:
    """The actions of a subject, in the order of the work.

    `statuses` lists the statuses in the order in which an entity gets them; those that end it
    early, such as cancelled, come last. `label` names an entity in messages.
    """

    def __init__(
        self,
        statuses: TypeAliasType,
        label: Callable[[E], str],
        *actions: StateAction[E, S],
        status: Callable[[E], Any] = attrgetter("status"),
    ) -> None:
        self.statuses: tuple[S, ...] = get_args(statuses.__value__)
        self.actions = {action.name: action for action in actions}
        self._label = label
        self._status = status

    def admits(self, entity: E, name: str) -> bool:
        """Return whether the state of an entity admits an action."""
        action = self.actions[name]
        return self._status(entity) in action.starts and action.unless(entity) is None

    def admitted(self, entity: E) -> list[str]:
        """Return the names of the actions that the state of an entity admits."""
        return [name for name in self.actions if self.admits(entity, name)]

    def ensure(self, entity: E, name: str) -> None:
        """Raise an error unless the state of an entity admits an action.

        Raises:
            StaleState: The action comes too late: the status comes after all that it starts from.
            Conflict: The action comes too early, or something else in the entity refuses it.
        """
        action, status, order = self.actions[name], self._status(entity), self.statuses
        if status not in action.starts:
            needed = " or ".join(action.starts)
            message = f"{self._label(entity)} is {status}; it must be {needed} for this action."
            if order.index(status) > max(map(order.index, action.starts)):
                raise StaleState(message)
            raise Conflict(message)
        if refusal := action.unless(entity):
            raise Conflict(refusal)
