"""The Markdown table of all operations: path, access rules and error codes."""

from shared.http.routes import Operation
from tools.openapi import declared

_HEAD = """# Operations

All routes that need a token. `python -m tools.openapi` generates this page from the declarations of
the routes. For fields, parameters and examples see [openapi.json](openapi.json), or
`GET {base_url}/docs` of a running instance. For error codes see [errors.md](errors.md).

Error codes of every route: """

_COLUMNS = """

| Operation | Method and path | Scope | User permission | Statuses | Further error codes |
|---|---|---|---|---|---|
"""


def table() -> str:
    """Return the text of the page."""
    operations = declared.operations()
    common = [
        code
        for code in declared.codes(operations[0])
        if all(code in declared.codes(operation) for operation in operations)
    ]
    rows = []
    for operation in operations:
        cells = (
            operation.summary,
            f"`{operation.method} {operation.path}`",
            f"`{operation.scope}`" if operation.scope else "valid token",
            _of_users(operation),
            " ".join(str(status) for status in operation.statuses),
            " ".join(f"`{code}`" for code in declared.codes(operation) if code not in common),
        )
        rows.append(f"| {' | '.join(cells)} |\n")
    return _HEAD + ", ".join(f"`{code}`" for code in common) + "." + _COLUMNS + "".join(rows)


def _of_users(operation: Operation) -> str:
    if operation.permission is None:
        return "valid token"
    named = declared.permissions(operation)
    return f"{named}, or own user" if operation.allows_self else named
