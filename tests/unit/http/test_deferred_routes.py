"""A function imports the modules of its routes when they are requested."""

from shared.http.routes import DeferredRoutes
from tests.integration.routes import handlers
from tests.subprocesses import output_of

_REQUESTED = """
import sys
from functions.work.app import lambda_handler
imported = lambda: sorted(name for name in sys.modules if name.startswith("functions.work."))
for path in ("/nowhere", "/receipts/7/lines", "/receipts"):
    print(len(list(lambda_handler._match(path))), *imported())
"""


def test_only_the_module_of_the_requested_path_is_imported() -> None:
    shown = output_of("-c", _REQUESTED).splitlines()
    app, receipts = "functions.work.app", "functions.work.receipts"
    assert shown == [f"0 {app}", f"1 {app} {receipts}", f"2 {app} {receipts}"]


def test_every_route_of_a_deferred_module_is_found_by_its_path() -> None:
    """Except in the function of agents, whose tools use some routes of these modules."""
    deferred = [
        group
        for name, handler in handlers().items()
        for group in handler._groups
        if isinstance(group, DeferredRoutes) and name != "mcp"
    ]
    assert deferred
    for group in deferred:
        for operation in group.operations:
            path = operation.path.replace("{id}", "7")
            assert operation in [match.operation for match in group.match(path)], operation.name
