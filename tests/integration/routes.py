"""The API handlers and routes of the service, read from `functions/*/app.py`."""

import importlib
from pathlib import Path

from shared.http.api_handler import ApiHandler
from shared.http.routes import Operation

_FUNCTIONS = Path(__file__).parents[2] / "functions"


def handlers() -> dict[str, ApiHandler]:
    """Return function name → API handler, for the functions that have one."""
    names = sorted(path.parent.name for path in _FUNCTIONS.glob("*/app.py"))
    handlers = {
        name: importlib.import_module(f"functions.{name}.app").lambda_handler for name in names
    }
    return {name: handler for name, handler in handlers.items() if isinstance(handler, ApiHandler)}


def operations() -> dict[str, Operation]:
    """Return `METHOD /path` → declaration of every route."""
    return {
        f"{operation.method} {operation.path}": operation
        for handler in handlers().values()
        for operation in handler.operations
    }
