"""The feed of changes has what lists show, and calls it by the name of the list."""

import json
from collections.abc import Iterable
from typing import Any

from operations.stored_collections import COLLECTIONS
from shared.identity.auth.clients import LISTED_AS
from shared.identity.auth.scopes import SCOPES
from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.kernel.caller import Caller
from shared.kernel.db.facets import pair_id
from shared.kernel.db.outbox_item import VersionChange
from shared.kernel.json_text import dumps
from tests.contract.filled_lists import FilledLists
from tests.integration.routes import operations
from tests.lists import LISTS

_CALLER = Caller(
    tenant="acme", subject="erp", kind="client", client_id="erp", scopes=frozenset(SCOPES),
    permissions=frozenset(), second_factor=True, token_id="t1",
)  # fmt: skip
_IN_NO_FEED = {"/audit-log"}


def _object_of(path: str) -> str:
    """Return the name of a list in the singular, with underscores."""
    name = path.removeprefix("/").replace("-", "_")
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def test_changes_are_noted_of_exactly_what_lists_show() -> None:
    shown = {
        listed.collection.kind: _object_of(listed.path)
        for listed in LISTS.values()
        if listed.path not in _IN_NO_FEED and not listed.fixed_query
    }

    noted = {kind: one.listed_as for kind, one in COLLECTIONS.items() if one.listed_as}

    assert noted == shown
    assert len(set(noted.values())) == len(noted)
    assert set(LISTED_OBJECTS) == {*noted.values(), LISTED_AS}


def test_objects_are_read_with_the_rights_of_their_lists() -> None:
    routes = operations()
    for name, one in LISTED_OBJECTS.items():
        route = routes[f"GET {one.path}"]
        assert _object_of(one.path) == name
        assert (one.scope, one.permission, one.feature, one.module) == (
            route.scope, route.permission, route.feature, route.module,
        ), name  # fmt: skip


def test_addresses_of_changes_lead_to_routes() -> None:
    routes = operations()
    for name, one in LISTED_OBJECTS.items():
        place = one.place(VersionChange(name, 5, None, 1, stored_id=pair_id(7, 3)))
        if place == "/5":
            assert f"GET {one.path}/{{id}}" in routes, name
        else:
            parameter = {"?ids=5": "ids", "?product_id=7": "product_id"}[place]
            assert parameter in routes[f"GET {one.path}"].parameter_names, name


def _sorted(rows: Iterable[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    return sorted((sorted(row.items()) for row in rows), key=repr)


def test_rows_of_an_object_are_those_of_its_list(lists: FilledLists, list_name: str) -> None:
    spec = LISTS[list_name]
    name = spec.collection.listed_as
    if name is None or spec.fixed_query:
        return
    with lists.filled(spec, 3) as listing:
        shown = listing.walk({"include": "version"})
        reader = Reader(lists.stack.store(), lists.stack.tenant(), _CALLER)
        ids = [spec.id_of(position) for position in (1, 2, 3)]
        rows = LISTED_OBJECTS[name].rows(reader, ids)
        found = [json.loads(dumps(row)) for row in rows.values()]
        assert [row["version"] for row in found] == [1, 1, 1]
        assert _sorted(found) == _sorted(shown)
