"""Every part of the pages that is made from the code: its name → the function that returns it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.integration.imports.models import IMPORT_KINDS
from shared.kernel.events.kinds import EVENTS
from tools.pages import agents, commands, deployment, imports, states, storage
from tools.pages.limits import LIMITS
from tools.pages.markers import table


def _rights(header: tuple[str, str], rights: Iterable[tuple[str, str]]) -> str:
    return table(header, ((f"`{right}`", gives) for right, gives in rights))


def _events() -> str:
    rows = (
        (f"`{kind}`", f"`{name}`", occasion)
        for kind, about in EVENTS.items()
        for name, occasion in about.items()
    )
    return table(("Event", "Object", "Occurs when"), rows)


PARTS: Mapping[str, Callable[[], str]] = {
    "scopes": lambda: _rights(("Scope", "What it gives"), SCOPES.items()),
    "permissions": lambda: _rights(("Permission", "What it covers"), PERMISSIONS.items()),
    "events": _events,
    "tools of agents": agents.tools,
    "parameters": deployment.parameters,
    "functions": deployment.functions,
    "attributes of settings": deployment.settings_attributes,
    "alarms": deployment.alarms,
    "commands that ask": commands.asking,
    **{
        f"conditions of {page}": partial(deployment.conditions, page)
        for page in deployment.pages_of_alarms()
    },
    "rights of imports": imports.rights,
    **{f"states of {name}": partial(states.diagram, name) for name in states.WITH_DIAGRAM},
    "actions": states.actions,
    **{f"columns of {kind}": partial(imports.columns, kind) for kind in IMPORT_KINDS},
    **{
        f"indexes of {name}": partial(storage.indexes, *kinds)
        for name, kinds in storage.KINDS.items()
    },
    **LIMITS,
}
